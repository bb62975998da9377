"""`python -m tests.suite [TIER...]`: run tiers one after the other, and say what they took.

What follows `--` goes to pytest. Without a tier all of them are run, with
coverage, which is shown by package. A tier over its budget is a warning only:
machines are noisy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from tests.suite.tiers import BY_NAME, TIERS, Tier

ROOT = Path(__file__).parents[2]
Plan = dict[str, list[str]]


class Took(NamedTuple):
    """What running a tier came to."""

    tier: Tier
    tests: int
    seconds: float
    cpu_seconds: float
    passed: bool


def main(argv: list[str]) -> int:
    """Run the tiers and print a table; 1 when a test failed or too little is covered."""
    parser = ArgumentParser(prog="python -m tests.suite", description=__doc__)
    parser.add_argument("tiers", nargs="*", metavar="TIER", help=f"of {' '.join(BY_NAME)}")
    split = argv.index("--") if "--" in argv else len(argv)
    names, options = parser.parse_args(argv[:split]).tiers, argv[split + 1 :]
    if unknown := set(names) - set(BY_NAME):
        parser.error(f"no tier is called {', '.join(sorted(unknown))}")
    plan = collect()
    chosen = [tier for tier in TIERS if plan.get(tier.name) and (not names or tier.name in names)]
    covered = not names
    if covered:
        call("coverage", "erase")
        options = ["--cov", "--cov-append", "--cov-report=", "--cov-fail-under=0", *options]
    all_took = [run(tier, plan[tier.name], options) for tier in chosen]
    enough = not covered or show_coverage()
    show(all_took)
    return 0 if enough and all(took.passed for took in all_took) else 1


def collect() -> Plan:
    """The tests of each tier, by name; what is wrong with any of them ends everything."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "plan.json")
        done = call("pytest", "--collect-only", "-qq", f"--write-plan={plan}", quiet=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        tests: Plan = json.loads(plan.read_text())
        return tests


def run(tier: Tier, tests: list[str], options: list[str]) -> Took:
    """Run the tests of one tier, in the files that have any."""
    print(f"\n{tier.name}: {len(tests)} tests, {tier.what}", flush=True)
    files = sorted({test.partition("::")[0] for test in tests})
    # In groups: what takes long to set up is set up in one worker.
    workers = [f"--numprocesses={tier.workers}", "--dist=loadgroup"] if tier.workers else []
    slowest = ["--durations=10", "--durations-min=1"]
    began, cpu_began = time.monotonic(), cpu_seconds()
    done = call("pytest", "-m", tier.name, *workers, *slowest, *options, *files)
    for killed in ROOT.glob(".coverage.*"):
        killed.unlink()  # Half a file, of a process that a test had killed.
    seconds, cpu = time.monotonic() - began, cpu_seconds() - cpu_began
    return Took(tier, len(tests), seconds, cpu, done.returncode == 0)


def call(module: str, *arguments: str, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=quiet,
        text=True,
        check=False,
    )


def cpu_seconds() -> float:
    """What all processes have used that we started and that ended."""
    used = os.times()
    return used.children_user + used.children_system


def show(all_took: list[Took]) -> None:
    """A line for each tier; a warning for one that was over its budget."""
    print(f"\n{'tier':8}{'tests':>7}{'took':>9}{'budget':>9}{'CPU':>9}")
    for took in all_took:
        budget = took.tier.budget_seconds
        remarks = [
            "" if took.passed else "FAILED",
            "over its budget" if took.seconds > budget else "",
        ]
        print(
            f"{took.tier.name:8}{took.tests:7}{took.seconds:7.0f} s{budget:7} s"
            f"{took.cpu_seconds:7.0f} s  {', '.join(filter(None, remarks))}".rstrip()
        )


def show_coverage() -> bool:
    """Print what is covered, by package; whether it is enough in all."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "coverage.json")
        done = call("coverage", "json", "-q", "-o", str(file), "--fail-under=0", quiet=True)
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        files = json.loads(file.read_text())["files"]
    print(f"\n{'package':12}{'statements':>11}{'missed':>8}{'covered':>9}")
    for package, (statements, missed) in sorted(by_package(files).items()):
        print(f"{package:12}{statements:11}{missed:8}{1 - missed / statements:9.1%}")
    return call("coverage", "report", "--format=total").returncode == 0


def by_package(files: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Statements and how many of them no test reached, by package of ours, and in all."""
    packages: dict[str, tuple[int, int]] = {}
    for name, file in files.items():
        inside = PurePosixPath(Path(name).as_posix()).relative_to("src/recollect").parts
        summary = file["summary"]
        for package in (inside[0] if len(inside) > 1 else "(top)", "TOTAL"):
            statements, missed = packages.get(package, (0, 0))
            packages[package] = (
                statements + summary["num_statements"],
                missed + summary["missing_lines"],
            )
    return packages


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
