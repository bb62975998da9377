"""`python -m tests.torture [--minutes N] [--only PART] [--seed S]`: the campaign, and its counts.

Parts are given their shares of the minutes, one after the other, and stop when they have done
what is asked of them in full. The same seed does the same again. The counts are printed, and
with `--write` put into docs/reliability.md. 1 when anything did not hold.
"""

from __future__ import annotations

import os
import random
import shlex
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from tests.torture.campaign import PARTS, Result, run, write_page


def main(argv: list[str]) -> int:
    names = [part.name for part in PARTS]
    parser = ArgumentParser(
        prog="python -m tests.torture",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=30, help="for all parts (default: 30)")
    parser.add_argument("--only", action="append", choices=names, help="this part (repeatable)")
    parser.add_argument("--count", type=int, help="so many rounds of each part")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--write", action="store_true", help="put the counts into the page")
    args = parser.parse_args(argv)
    chosen = [part for part in PARTS if not args.only or part.name in args.only]
    shares = sum(part.share for part in chosen)
    results = []
    for part in chosen:
        seconds = args.minutes * 60 * part.share / shares
        result = run(part, seed=args.seed, count=args.count or part.full, seconds=seconds)
        results.append(result)
        show(result)
    if args.write:
        write_page(results, f"python -m tests.torture {shlex.join(argv)}".strip())
    print(f"seed: {args.seed}")
    return 1 if any(result.faults for result in results) else 0


def show(result: Result) -> None:
    part = result.part
    if result.skipped:
        print(f"{part.name}: skipped: {result.skipped}", flush=True)
        return
    print(
        f"{part.name}: {result.count:,} {part.unit} of {part.full:,}, "
        f"{len(result.faults)} faults, {result.seconds:.0f} s",
        flush=True,
    )
    for what, count in sorted(result.done.items()):
        print(f"    {count:9,}  {what}")
    for fault in result.faults:
        print(f"  FAULT {fault}", flush=True)


if __name__ == "__main__":
    # A store makes sure that the disk has what it was given: in memory that costs nothing.
    if "TMPDIR" not in os.environ and Path("/dev/shm").is_dir():
        os.environ["TMPDIR"] = "/dev/shm"
    sys.exit(main(sys.argv[1:]))
