"""recollect retain: keep the store within its budget.

The limits are under [retain] in config.toml; without any, nothing goes. Events
that have a digest are let go, the oldest first: what was asked, the beginning
of the answer and the tool calls stay, and sessions are listed, shown and found
as before. It is done after each import; --dry-run says what would be.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Retained
from recollect.serve.cli.output import Output, counted, say

_REASONS = {"age": "by age", "soft": "for the soft cap", "hard": "for the hard cap"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and keep it")


def run(memory: Memory, args: Namespace) -> Output:
    *_, report = memory.retain(dry_run=args.dry_run)
    for alert in report.alerts:
        say(alert)
    return Output([report], _text)


def _text(report: Retained) -> str:
    turns = sum(report.evicted.values())
    usage = f"events take {_size(report.final_usage)}, what was distilled from them {_size(report.distilled_usage)}"
    if not turns:
        return f"nothing has to go; {usage}"
    verb = "would let go of" if report.dry_run else "let go of"
    passes = ", ".join(
        f"{count} {_REASONS[name]}" for name, count in report.evicted.items() if count
    )
    smaller = f"; the file is {_size(report.given_back)} smaller" if report.given_back else ""
    return f"{verb} the events of {counted(turns, 'turn')} ({passes}), {_size(report.freed)}{smaller}\n{usage}"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB"
