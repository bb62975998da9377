"""recollect learn: look at new sessions for what recurs.

This happens in the background after each import, so it is seldom needed: to
watch it happen, or to have it done now. It can be stopped at any time and
goes on where it was. `recollect detect` shows what came of it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Learned
from recollect.serve.cli.output import Output, counted
from recollect.serve.cli.progress import Progress


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def run(memory: Memory, args: Namespace) -> Output:
    report = Learned()
    for _ in memory.digest_sessions():
        pass
    with Progress("learning") as progress:
        for report in memory.learn():
            if not args.quiet:
                progress(report.sessions, report.sessions + report.remaining, "")
    return Output([report], _text)


def _text(report: Learned) -> str:
    new = [counted(report.sessions, "session")] + (
        [counted(report.episodes, "recorded attempt")] if report.episodes else []
    )
    learned = (
        f"learned from {' and '.join(new)}"
        if report.sessions or report.episodes
        else "nothing is new"
    )
    return f"{learned}; {counted(report.patterns, 'pattern')} in all, `recollect detect` shows them"
