"""recollect measure: check whether what agents are told helps.

recollect measure                         every pattern and note that is or was in use
recollect measure pattern:3f2a            one of them, by its id or the start of it
recollect measure --report FILE.html      the same as a page with plots

It shows how often a line was offered to agents, opened and used, and in how
many of 100 sessions its subject came up before and after. Before and after is
not an experiment; docs/measure.md says what these numbers can show.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.publications import Amount, Measured, Share
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ref", nargs="?", metavar="REF", help="a pattern or a note (default: all of them)"
    )
    parser.add_argument("--all", action="store_true", help="all of them, the same as without REF")
    parser.add_argument("--report", metavar="FILE", help="write a page with plots to this file")


def run(memory: Memory, args: Namespace) -> Output:
    if args.all and args.ref:
        raise UsageError("--all does not go with a reference.", hint="Leave one of them out.")
    rows = (
        memory.old.measure_report(args.report, args.ref)
        if args.report
        else memory.old.measure(args.ref)
    )
    empty = "Nothing to measure yet: accept something first (recollect patterns)."
    return Output(rows, text, empty=empty, note=f"Wrote {args.report}" if args.report else "")


def text(row: Measured) -> str:
    """What was measured, for a person."""
    since = f" since {row.since[:10]}" if row.since else ""
    lines = [
        f"{row.ref}  {row.status}{since}  {row.kind}",
        f"    {row.text}",
        f"    offered {counted(row.offered, 'time')} in "
        f"{counted(row.offered_sessions, 'known session')}, opened {row.opened},"
        f" used in {counted(row.cited, 'session')}, came back in {row.came_back}; helpful "
        f"{row.helpful}, harmful {row.harmful}",
    ]
    if row.before is not None and row.after is not None:
        if row.wanted is not None:
            lines.append(
                f"    seen in 100 sessions: {_share(row.before.sessions)} before, "
                f"{_share(row.after.sessions)} after"
            )
        lines.append(
            f"    successes in 100 tasks: {_share(row.before.success)} before, "
            f"{_share(row.after.success)} after"
        )
        lines.append(
            f"    tokens a task: {_amount(row.before.tokens)} before, {_amount(row.after.tokens)} "
            "after"
        )
        lines.append(
            f"    seconds a task: {_amount(row.before.seconds)} before, "
            f"{_amount(row.after.seconds)} after"
        )
    return "\n".join([*lines, f"    {row.verdict}"])


def _share(one: Share) -> str:
    if one.share is None or one.low is None or one.high is None:
        return f"not enough data ({one.count} of {one.of})"
    share, low, high = (f"{100 * part:.1f}" for part in (one.share, one.low, one.high))
    return f"{share} ({low} to {high}, {one.count} of {one.of})"


def _amount(one: Amount) -> str:
    if one.typical is None or one.low is None or one.high is None:
        return f"not enough data ({one.of})"
    return f"{one.typical:,.0f} ({one.low:,.0f} to {one.high:,.0f}, n = {one.of})"
