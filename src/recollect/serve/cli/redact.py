"""recollect redact: remove secrets from text, or check for them.

recollect redact < log.txt           the text without its secrets
recollect redact --check < log.txt   exit 1 when there is one, and print where
recollect redact --rescan            check the whole store again, after an upgrade
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import EXIT_NOTHING_FOUND
from recollect.memory import Memory
from recollect.model.reports import Rescanned
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--check", action="store_true", help="exit 1 when there is a secret, change nothing"
    )
    group.add_argument("--rescan", action="store_true", help="check the whole store again")


def run(memory: Memory, args: Namespace) -> Output:
    if args.rescan:
        with ProgressBar("Looking for secrets:") as progress:
            return Output([memory.store.rescan(progress)], _rescanned)
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


def _findings(memory: Memory, text: str) -> Iterator[dict[str, object]]:
    for finding in memory.secrets(text):
        yield {
            "kind": finding.kind,
            "line": text.count("\n", 0, finding.start) + 1,
            "start": finding.start,
            "end": finding.end,
        }


def _rescanned(row: Rescanned) -> str:
    rest = "" if row.scrubbed is None or row.scrubbed.complete else f"\n{row.scrubbed.detail}"
    secrets = counted(row.redactions, "secret")
    turns = counted(row.turns, "turn")
    return f"{turns} checked, {row.turns_changed} changed, {secrets} removed.{rest}"
