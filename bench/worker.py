"""A suite in a process of its own, with a clean environment.

So no suite inherits another's heap, and nothing of this user, neither logs nor
secrets nor Python options, gets into the figures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.corpora import ROOT, Corpus
from bench.measure import Figure
from bench.plan import Plan, clean_environ
from bench.suites import get_suite


def run_apart(suite: str, plan: Plan) -> list[Figure]:
    """The figures of a suite, measured elsewhere."""
    folders = {
        "corpus": plan.corpus.folder,
        "small": plan.small.folder,
        "work": str(plan.work),
        "cache": str(plan.cache),
    }
    told = json.dumps({**folders, "runs": plan.runs})
    command = [sys.executable, "-m", "bench.worker", suite, told]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env=clean_environ(plan.work), cwd=ROOT
    )
    if done.returncode:
        raise SystemExit(f"bench: the suite {suite} failed")
    return [Figure.from_dict(values) for values in json.loads(done.stdout)]


def main(suite: str, told: str) -> None:
    """The other side of `run_apart`."""
    values = json.loads(told)
    corpora = Corpus(values["corpus"]), Corpus(values["small"])
    plan = Plan(*corpora, Path(values["work"]), Path(values["cache"]), values["runs"])
    json.dump([figure.as_dict() for figure in get_suite(suite)(plan)], sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
