"""recollect learn: look for patterns in new sessions.

recollect learn             do it now, with a progress bar
recollect detect            show what it found

Each import does this in the background, so you seldom need it. You can stop it
at any time; it goes on where it was.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Learned
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def run(memory: Memory, args: Namespace) -> Output:
    report = Learned()
    for _ in memory.digest_new():
        pass
    with ProgressBar("Learning from sessions:") as progress:
        for report in memory.old.learn():
            if not args.quiet:
                progress(report.sessions, report.sessions + report.remaining, "")
    return Output([report], _text)


def _text(report: Learned) -> str:
    new = [counted(report.sessions, "session")] + (
        [counted(report.episodes, "recorded attempt")] if report.episodes else []
    )
    learned = (
        f"Learned from {' and '.join(new)}."
        if report.sessions or report.episodes
        else "Nothing new to learn from."
    )
    return f"{learned} {counted(report.patterns, 'pattern')} in all: recollect detect"
