"""What the first day costs: all logs into a fresh store, and the jobs after it until none is due.

    python bench/first_day.py LOGS [--runs N] [--against CHECKOUT]

LOGS is a folder of anybody's logs, which are only read. CPU time, as multiples of reading the same
lines with `orjson.loads`; each run measures both sides in turn, and the least of each side
counts, because other work on the machine only adds to it. Another checkout is measured in the
same runs with --against.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.corpora import ROOT, Corpus
from bench.plan import clean_environ

Costs = dict[str, float]


def measured(checkout: Path, work: Path, what: list[str]) -> Costs:
    """What a process of `bench.child` says, with the code of a checkout."""
    environ = clean_environ(work) | {
        "RECOLLECT_HOME": str(work / "home"),
        "PYTHONPATH": f"{checkout / 'src'}:{ROOT}",
    }
    command = [sys.executable, "-m", "bench.child", *what]
    said = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environ, cwd=ROOT
    ).stdout
    return {name: float(value) for name, _, value in (word.partition("=") for word in said.split())}


def first_day(checkout: Path, logs: str, work: Path) -> Costs:
    """An import into a fresh store and the jobs after it."""
    shutil.rmtree(work / "home", ignore_errors=True)
    imported = measured(checkout, work, ["import", logs])
    after = measured(checkout, work, ["jobs"])
    return {
        "import": imported["seconds"],
        "jobs": after["seconds"],
        "import MB": imported["peak_bytes"] / 1e6,
        "jobs MB": after["peak_bytes"] / 1e6,
        "store": imported["store_bytes"],
    }


def main() -> None:
    """Measure in turn, and print the ratios of each checkout."""
    parser = ArgumentParser(description="what the first day costs")
    parser.add_argument("logs")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--against", type=Path, action="append", default=[])
    args = parser.parse_args()
    checkouts = [ROOT, *args.against]
    raw = Corpus(args.logs).size_bytes()
    reading: list[float] = []
    costs: dict[Path, list[Costs]] = {checkout: [] for checkout in checkouts}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.runs):
            for checkout in checkouts:
                reading.append(measured(ROOT, Path(folder), ["read", args.logs])["seconds"])
                costs[checkout].append(first_day(checkout, args.logs, Path(folder)))
    for checkout, runs in costs.items():
        least = {name: min(run[name] for run in runs) for name in runs[0]}
        print(
            f"{checkout}: import {least['import'] / min(reading):.1f}x of reading"
            f" ({least['import']:.2f} s), {least['import MB']:.0f} MB;"
            f" jobs {least['jobs'] / least['import']:.2f}x of the import"
            f" ({least['jobs']:.2f} s), {least['jobs MB']:.0f} MB;"
            f" store {least['store'] / raw:.3f}x of the logs"
        )


if __name__ == "__main__":
    main()
