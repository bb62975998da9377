"""recollect hook: what agents call while they work.

  echo '{"cwd": "'$PWD'", "transcript_path": "-"}' | recollect hook AGENT SessionStart --debug

It reads one JSON object from stdin, as the agent's hooks pass it, and writes
at most one: what is known about this project, about a prompt, or about a
command that failed here before. It always exits with 0, and prints nothing
when it has nothing to say.

`recollect install AGENT` sets the hooks up; `recollect doctor` says when each
last ran.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve import hook


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent", help="the agent that calls, such as codex")
    parser.add_argument("event", help="the event, by the agent's own name for it")
    parser.add_argument("--debug", action="store_true", help="print what went wrong on stderr")


def run(memory: Memory, args: Namespace) -> int:
    return hook.main([args.agent, args.event])
