"""recollect resume: continue a session in its agent.

recollect resume 453d                     go on with it; in a pipe, print the command
recollect resume                          choose one of this project's first
recollect resume 453d --print             only print the command

When it may not work it says why and prints the command: agents delete their old
logs, and cannot continue a session whose log is gone.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.cli.lists import agent_name, shown_path
from recollect.serve.output import Output, say
from recollect.serve.resume import continuation, start

INTERRUPTED = 130


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", metavar="REF", help="a session, or one of its turns")
    parser.add_argument(
        "--print", dest="prints", action="store_true", help="print the command, do not run it"
    )


def run(memory: Memory, args: Namespace) -> Output:
    is_person = sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")
    runs = is_person and not (args.prints or args.json)
    ref = args.ref or (_picked(memory) if runs else None)
    if ref is None:
        if runs:
            return Output([], exit_code=INTERRUPTED)
        raise UsageError("Which session?", hint="Usage: recollect resume REF")
    found = continuation(memory, ref)
    if runs and not found.warnings:
        branch = memory.session(found.session).git.branch
        where = f", {shown_path(found.cwd)}" if found.cwd else ""
        say(f"Resuming in {agent_name(found.agent)}{where}{f' ({branch})' if branch else ''}")
        # What runs next has the store to itself.
        memory.close()
        start(found)
    notes = list(found.warnings)
    if runs:
        notes.append(f"Start anew with its context: recollect handoff {args.ref or found.session}")
    return Output([found], lambda row: row.command, note="\n".join(notes))


def _picked(memory: Memory) -> str | None:
    """The session that a person chooses in the terminal."""
    from recollect.serve.tui.app import RecollectApp

    found = RecollectApp(memory, picks=True).run(inline=True)
    return found if isinstance(found, str) else None
