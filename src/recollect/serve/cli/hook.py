"""recollect hook: what an agent is told while it works; agents call this, not people.

Reads one JSON object from stdin, as the agent's hooks pass it, and writes at
most one: what this project taught at the start of a session, what is known
about a prompt, what a command that failed here before was replaced by. It ends
with 0 whatever happens, and says nothing when it has nothing to say.

  echo '{"cwd": "'$PWD'", "transcript_path": "-"}' | recollect hook AGENT SessionStart --debug

`recollect install AGENT` sets the hooks up; `recollect doctor` tells when each
last ran.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve import hook


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent", help="which agent calls, such as codex")
    parser.add_argument("event", help="which of its events, by the agent's own name")
    parser.add_argument("--debug", action="store_true", help="say on stderr what went wrong")


def run(memory: Memory, args: Namespace) -> int:
    return hook.main([args.agent, args.event])
