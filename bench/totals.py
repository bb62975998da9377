"""Our tokens and costs beside those of other programs: `python bench/totals.py HOME`.

HOME is a home folder with agents' logs and nothing else (`.claude/projects`, `.codex/sessions`).
It is copied for each program, because each leaves its own database there.

    python bench/totals.py HOME --agentsview BIN --codeburn BIN

BIN is the installed program; who is not named is left out. Printed are the tokens by kind and
the cost that each program counts in all, and the sessions whose costs differ by more than a
cent. docs/performance.md says where the differences that we know of come from.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

KINDS = ("input", "cache_read", "cache_write", "output")
CENT = 0.01


class Totals(NamedTuple):
    """What one program says that the logs of a home cost."""

    tokens: dict[str, int]
    cost: float
    by_session: dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("home", type=Path, help="a home folder with agents' logs")
    parser.add_argument("--agentsview", help="the agentsview program")
    parser.add_argument("--codeburn", help="the codeburn program; it wants Node 22.13 or later")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:

        def home(name: str) -> Path:
            return Path(shutil.copytree(args.home, Path(work, name)))

        found = {"recollect": ours(home("recollect"))}
        if args.agentsview:
            found["agentsview"] = agentsview(args.agentsview, home("agentsview"))
        if args.codeburn:
            found["codeburn"] = codeburn(args.codeburn, home("codeburn"))
    print("\n".join(table(found)))
    return 0


def ours(home: Path) -> Totals:
    """What the commands say after an import."""
    command = [sys.executable, "-m", "recollect"]
    run([*command, "import"], home)
    listed = ["sessions", "--subagents", "--json", "--limit", "1000000"]
    lines = run([*command, *listed], home).splitlines()
    sessions = [json.loads(line) for line in lines]
    return Totals(
        {kind: sum(each["tokens"][kind] for each in sessions) for kind in KINDS},
        sum(each["cost_usd"] or 0 for each in sessions),
        summed((each["native_id"], each["cost_usd"] or 0) for each in sessions),
    )


def agentsview(program: str, home: Path) -> Totals:
    """Its daily summary, and each session without those it started."""
    fields = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")
    run([program, "sync"], home, AGENTSVIEW_NO_DAEMON="1")
    with daemon(program, home):
        daily = ["usage", "daily", "--all", "--json", "--no-sync", "--offline"]
        sums = json.loads(run([program, *daily], home))["totals"]
        # Its lists leave sessions out, whatever they are asked to include.
        with closing(sqlite3.connect(home / ".agentsview" / "sessions.db")) as database:
            names = [name for (name,) in database.execute("select id from sessions")]
        costs = [(name, own_cost(program, name, home)) for name in names]
    return Totals(
        {kind: sums[field] for kind, field in zip(KINDS, fields, strict=True)},
        sums["totalCost"]["microdollars"] / 1e6,
        summed(costs),
    )


def own_cost(program: str, session: str, home: Path) -> float:
    """What a session cost by itself."""
    usage = [program, "session", "usage", session, "--own-only", "--no-sync", "--json"]
    try:
        return float(json.loads(run(usage, home)).get("cost_usd") or 0)
    except subprocess.CalledProcessError:
        # It says so of a session without any tokens.
        return 0.0


def codeburn(program: str, home: Path) -> Totals:
    """Its export over all time; of a session it tells the cost alone, in cents."""
    file = home / "codeburn.json"
    span = ["--from", "2020-01-01", "--to", "2099-12-31"]
    run([program, "export", "-f", "json", *span, "-o", str(file)], home)
    export = json.loads(file.read_text())
    models = export["periods"][0]["models"]
    heads = ("Input Tokens", "Cache Read Tokens", "Cache Write Tokens", "Output Tokens")
    return Totals(
        {kind: sum(each[head] for each in models) for kind, head in zip(KINDS, heads, strict=True)},
        sum(each["Cost (USD)"] for each in export["summary"]),
        summed((each["Session ID"], each["Cost (USD)"]) for each in export["sessions"]),
    )


@contextmanager
def daemon(program: str, home: Path) -> Iterator[None]:
    """agentsview answers these questions only while its server runs."""
    run([program, "daemon", "start"], home)
    try:
        yield
    finally:
        run([program, "daemon", "stop"], home)


def run(command: list[str], home: Path, **variables: str) -> str:
    """The output of a command that sees this home and none of our variables."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), **variables}
    return subprocess.run(
        command, env=environ, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def summed(costs: Any) -> dict[str, float]:
    """Costs by session, under the end of its name that the programs have in common."""
    sums: dict[str, float] = defaultdict(float)
    for name, cost in costs:
        short = name.split(":")[-1].split("/")[-1].removesuffix(".jsonl").removeprefix("agent-")
        sums[short[-36:]] += cost
    return sums


def table(found: dict[str, Totals]) -> Iterator[str]:
    """The sums of each program, then the sessions they differ about."""
    yield f"{'':<38}" + "".join(f"{name:>16}" for name in found)
    for kind in KINDS:
        yield f"{kind:<38}" + "".join(f"{each.tokens[kind]:>16,}" for each in found.values())
    yield f"{'cost':<38}" + "".join(f"{each.cost:>16,.2f}" for each in found.values())
    for session in sorted({name for each in found.values() for name in each.by_session}):
        costs = [each.by_session.get(session, 0.0) for each in found.values()]
        if max(costs) - min(costs) > CENT:
            yield f"{session:<38}" + "".join(f"{cost:>16,.4f}" for cost in costs)


if __name__ == "__main__":
    raise SystemExit(main())
