"""recollect repair: save what can be saved of a damaged store.

recollect doctor          is it damaged?
recollect repair          make a new file; the damaged one is kept beside it
recollect import          read again what was lost, from logs that still exist

It prints what could not be saved.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import RepairReport
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rebuild-text",
        action="store_true",
        help="build the text index again, even when the store is fine",
    )


def run(memory: Memory, args: Namespace) -> Output:
    return Output([memory.store.repair(rebuild_text=args.rebuild_text)], _text)


def _text(report: RepairReport) -> str:
    if report.sound:
        changed = (
            " The text index was built again."
            if report.text_rebuilt
            else ""
            if report.notes
            else " Nothing was changed."
        )
        return "\n".join(
            [f"{report.path} is fine.{changed}", *(f"  {note}" for note in report.notes)]
        )
    lines = [f"{report.path} was damaged. The damaged file is kept: {report.damaged_copy}"]
    for verb, tables in (
        ("kept", report.kept),
        ("lost", report.lost),
        ("built again", report.rebuilt),
    ):
        lines += [
            f"  {verb} {counted(count, 'row')} of {table}"
            for table, count in tables.items()
            if count
        ]
    if report.lost_pages:
        lines.append(f"  lost {counted(report.lost_pages, 'page')} with an unknown number of rows")
    if report.text_rebuilt:
        lines.append("  the text index was built again")
    lines += [f"  {note}" for note in [*report.notes, *report.next_steps]]
    return "\n".join(lines)
