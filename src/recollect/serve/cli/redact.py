"""recollect redact: remove secrets from text, or check for them.

recollect redact < log.txt           the text without its secrets
recollect redact --check < log.txt   exit 1 when there is one, and print where
recollect redact --rescan --dry-run  what a scan of the whole store would remove, and how often
recollect redact --rescan            remove it, after an upgrade or when a secret became known late
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import EXIT_NOTHING_FOUND, UsageError
from recollect.memory import Memory
from recollect.memory.store import MOST_TURNS
from recollect.model.reports import Rescanned, RescannedValue
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--check", action="store_true", help="exit 1 when there is a secret, change nothing"
    )
    group.add_argument("--rescan", action="store_true", help="check the whole store again")
    parser.add_argument(
        "--dry-run", action="store_true", help="with --rescan: list what would go, change nothing"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help=f"with --rescan: do not ask about values that stand in more than {MOST_TURNS} turns",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.rescan:
        return Output([_rescan(memory, args)], _rescanned)
    if args.dry_run or args.yes:
        raise UsageError("--dry-run and --yes go with --rescan.")
    text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    if args.check:
        found = list(_findings(memory, text))
        return Output(
            found,
            lambda row: f"line {row['line']}: {row['kind']}",
            exit_code=EXIT_NOTHING_FOUND if found else 0,
        )
    clean = memory.redact(text)
    if args.json:
        return Output([{"text": clean}])
    sys.stdout.buffer.write(clean.encode("utf-8", "surrogateescape"))
    return Output([])


def _rescan(memory: Memory, args: Namespace) -> Rescanned:
    with ProgressBar("Looking for secrets") as progress:
        report = memory.store.rescan(progress, dry_run=args.dry_run, frequent=args.yes)
    waiting = [one for one in report.values if one.waits]
    if waiting and not args.dry_run and not args.json and sys.stdin.isatty():
        sys.stderr.write("\n".join(map(_listed, waiting)) + "\nRemove these, too? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return memory.store.rescan(frequent=True)
    return report


def _findings(memory: Memory, text: str) -> Iterator[dict[str, object]]:
    for finding in memory.secrets(text):
        yield {
            "kind": finding.kind,
            "line": text.count("\n", 0, finding.start) + 1,
            "start": finding.start,
            "end": finding.end,
        }


def _listed(value: RescannedValue) -> str:
    times, turns = counted(value.times, "time"), counted(value.turns, "turn")
    return f"[REDACTED:{value.kind}:{value.tag}]  {times} in {turns}, first in {value.first}"


def _rescanned(row: Rescanned) -> str:
    if row.dry_run:
        total = counted(len(row.values), "value")
        return "\n".join([*map(_listed, row.values), f"{total} would go. Nothing was changed."])
    rest = "" if row.scrubbed is None or row.scrubbed.complete else f"\n{row.scrubbed.detail}"
    secrets = counted(row.redactions, "secret")
    turns = counted(row.turns, "turn")
    waiting = [one for one in row.values if one.waits]
    if waiting:
        listed = "\n".join(map(_listed, waiting))
        rest += f"\nLeft, in more than {MOST_TURNS} turns each; --yes removes them:\n{listed}"
    return f"{turns} checked, {row.turns_changed} changed, {secrets} removed.{rest}"
