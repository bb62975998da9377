"""recollect tui: browse and search in the terminal.

recollect tui                   the newest sessions here; type to search everything

Enter, Enter continues the chosen session in its agent; `?` lists the keys.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    """None of its own."""


def run(memory: Memory, args: Namespace) -> Output:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "This needs a terminal.", hint="In a script, use: recollect sessions, recollect search"
        )
    from recollect.serve.resume import start
    from recollect.serve.tui.app import RecollectApp

    found = RecollectApp(memory).run()
    if found is not None and not isinstance(found, str):
        memory.close()
        start(found)
    return Output([])
