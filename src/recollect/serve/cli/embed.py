"""recollect embed: prepare turns for search by meaning.

recollect embed             the turns that have no vector yet
recollect embed --again     every turn, for example with another model

Each import does this in the background, so you seldom need it: to watch it
happen, or after choosing another model under [embed] in config.toml. You can
stop it at any time; it goes on where it was.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Embedded
from recollect.serve.cli import count
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--again", action="store_true", help="make every vector again, including those stored"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most N turns")


def run(memory: Memory, args: Namespace) -> Output:
    report = Embedded()
    with ProgressBar("Preparing search by meaning:") as progress:
        for report in memory.store.embed(again=args.again, limit=args.limit):
            progress(report.turns, report.turns + report.remaining, "")
    return Output([report], _text)


def _text(report: Embedded) -> str:
    if not report.turns and not report.remaining:
        return f"Every turn is embedded already, with {report.encoder}."
    rest = f"; {counted(report.remaining, 'turn')} to go" if report.remaining else ""
    return (
        f"{counted(report.turns, 'turn')} embedded in {counted(report.pieces, 'piece')}"
        f" with {report.encoder} in {report.seconds:.1f} s{rest}"
    )
