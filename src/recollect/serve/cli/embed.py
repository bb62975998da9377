"""recollect embed: make turns findable by meaning.

Turns get their vectors in the background after each import, so this is seldom
needed: to watch it happen, or after choosing another encoder under [embed] in
config.toml, whose vectors then take the place of the old ones. It can be
stopped at any time and goes on where it was.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Embedded
from recollect.serve.cli import count
from recollect.serve.cli.output import Output, counted
from recollect.serve.cli.progress import Progress


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--again", action="store_true", help="make every vector anew, also those that are there"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most N turns")


def run(memory: Memory, args: Namespace) -> Output:
    report = Embedded()
    with Progress("embedding") as progress:
        for report in memory.embed(again=args.again, limit=args.limit):
            progress(report.turns, report.turns + report.remaining, "")
    return Output([report], _text)


def _text(report: Embedded) -> str:
    if not report.turns and not report.remaining:
        return f"every turn is embedded already, with {report.encoder}"
    rest = f"; {counted(report.remaining, 'turn')} not embedded yet" if report.remaining else ""
    return (
        f"{counted(report.turns, 'turn')} embedded in {counted(report.pieces, 'piece')}"
        f" with {report.encoder} in {report.seconds:.1f} s{rest}"
    )
