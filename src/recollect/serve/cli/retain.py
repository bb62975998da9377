"""recollect retain: keep the store within its size limits.

recollect retain --dry-run     what would be removed
recollect retain               remove it now; each import does this too

The limits are under [retain] in config.toml; without any, nothing is removed.
It removes old events of sessions that have a digest. Prompts, the start of
each answer and the tool calls stay, so sessions are still listed, shown and
found.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import Retained
from recollect.serve.output import Output, counted, say

_REASONS = {"age": "by age", "soft": "for the soft cap", "hard": "for the hard cap"}


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would go, remove nothing")


def run(memory: Memory, args: Namespace) -> Output:
    *_, report = memory.store.retain(dry_run=args.dry_run)
    for alert in report.alerts:
        say(alert)
    return Output([report], _text)


def _text(report: Retained) -> str:
    turns = sum(report.evicted.values())
    usage = (
        f"Events take {_size(report.final_usage)}; digests, notes and memories "
        f"{_size(report.distilled_usage)}."
    )
    if not turns:
        return f"Nothing to remove. {usage}"
    verb = "Would remove" if report.dry_run else "Removed"
    reasons = ", ".join(
        f"{count} {_REASONS[name]}" for name, count in report.evicted.items() if count
    )
    smaller = f" The file is {_size(report.given_back)} smaller." if report.given_back else ""
    what = f"{verb} the events of {counted(turns, 'turn')} ({reasons})"
    return f"{what}: {_size(report.freed)}.{smaller}\n{usage}"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB"
