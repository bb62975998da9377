"""recollect pick: choose a session in the terminal and print its reference.

recollect show "$(recollect pick)"      read the one that you choose

The screen is drawn on stderr, so that the reference alone is the answer.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.output import Output

INTERRUPTED = 130


def arguments(parser: ArgumentParser) -> None:
    """None of its own."""


def run(memory: Memory, args: Namespace) -> Output:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("This needs a terminal.", hint="In a script, use: recollect sessions")
    from recollect.serve.tui.app import RecollectApp

    found = RecollectApp(memory, picks=True).run(inline=True)
    return Output([found] if found else [], exit_code=0 if found else INTERRUPTED)
