"""What `recollect doctor --repair` says: what was saved of a damaged store, and what was not."""

from __future__ import annotations

from recollect.model.reports import RepairReport
from recollect.serve.output import counted


def text(report: RepairReport) -> str:
    """By table and by page, and what to do about the rest."""
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
