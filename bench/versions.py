"""Two checkouts of recollect, side by side: CPU of what is started thousands of times a day.

    python -m bench.versions OTHER [--runs 25]

OTHER is a folder with another version of the source, such as a `git worktree`.
Both read the sample sessions into a store of their own; then each command is
started in turn, the first one alternating, and the medians of user and system
time are compared. The machine may be busy: both sides are, equally.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.corpora import ROOT
from bench.plan import clean_environ

SAMPLES = ROOT / "src" / "recollect" / "samples"
STARTED = {
    "session_id": "s1", "transcript_path": "/nowhere", "cwd": "/home/mara/code/webshop",
    "hook_event_name": "SessionStart", "source": "startup",
}  # fmt: skip
COMMANDS = {
    "search, words and meaning": (["search", "deadlock", "migration"], ""),
    "search, words alone": (["search", "deadlock", "--mode", "text"], ""),
    "fix": (["fix", "database is locked"], ""),
    "hook at a start": (["hook", "claude-code", "SessionStart"], json.dumps(STARTED)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, help="a folder with another version of the source")
    parser.add_argument("--runs", type=int, default=25, help="starts of each command and version")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sides = {
            name: filled(root, Path(folder, name))
            for name, root in (("other", args.other.resolve()), ("this", ROOT))
        }
        print("| CPU of a new process | other | this | ratio |\n|---|--:|--:|--:|")
        for what, (words, given) in COMMANDS.items():
            spent: dict[str, list[float]] = {name: [] for name in sides}
            for number in range(args.runs):
                for name in sorted(sides, reverse=bool(number % 2)):
                    spent[name].append(cpu_seconds(sides[name], words, given))
            other, this = (statistics.median(spent[name]) for name in ("other", "this"))
            row = f"{other * 1e3:.1f} ms | {this * 1e3:.1f} ms | {this / other:.2f}"
            print(f"| {what} | {row} |", flush=True)


def filled(root: Path, home: Path) -> dict[str, str]:
    """The variables of a version with the samples in its store and all its work done."""
    home.mkdir()
    environ = clean_environ(home) | {"HOME": str(home), "PYTHONPATH": str(root / "src")}
    words = ["import", str(SAMPLES / "claude"), str(SAMPLES / "codex"), "--wait"]
    command = [sys.executable, "-m", "recollect", *words]
    subprocess.run(command, env=environ, check=True, capture_output=True)
    return environ


def cpu_seconds(environ: dict[str, str], words: list[str], given: str) -> float:
    """What one start costs, user and system time together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "recollect", *words]
    subprocess.run(command, env=environ, input=given, text=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
