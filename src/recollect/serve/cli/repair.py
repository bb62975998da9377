"""recollect repair: salvage a damaged store.

The damaged file is kept beside the new one. What could not be saved is said,
and read again from the agents' logs by the next import where those still exist.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import RepairReport
from recollect.serve.cli.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rebuild-text",
        action="store_true",
        help="make the text index again, even when the store is sound",
    )


def run(memory: Memory, args: Namespace) -> Output:
    return Output([memory.repair(rebuild_text=args.rebuild_text)], _text)


def _text(report: RepairReport) -> str:
    if report.sound:
        changed = (
            "; its text index was made again"
            if report.text_rebuilt
            else ""
            if report.notes
            else "; nothing was changed"
        )
        return "\n".join(
            [f"{report.path} is sound{changed}", *(f"  {note}" for note in report.notes)]
        )
    lines = [f"{report.path} was damaged; the damaged file is kept as {report.damaged_copy}"]
    for verb, tables in (
        ("kept", report.kept),
        ("lost", report.lost),
        ("told again", report.rebuilt),
    ):
        lines += [
            f"  {verb} {counted(count, 'row')} of {table}"
            for table, count in tables.items()
            if count
        ]
    if report.lost_pages:
        lines.append(f"  lost {counted(report.lost_pages, 'page')} with an unknown number of rows")
    if report.text_rebuilt:
        lines.append("  the text index was made again")
    lines += [f"  {note}" for note in [*report.notes, *report.next_steps]]
    return "\n".join(lines)
