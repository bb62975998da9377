"""How fast secrets are taken out, and how many: the figures of
bench/redaction.py with their targets.

The shares need the labelled cases, which stand beside the project because
secret scanners flag them; without them only speed is measured.
"""

from __future__ import annotations

from pathlib import Path

from bench import redaction
from bench.corpora import ROOT
from bench.measure import Figure, absolute
from bench.plan import Plan, say
from recollect.redact import Redactor, hyper

LABELS = ROOT.parent / "shared" / "redaction"
TEXT_BYTES = 8_000_000
SPEEDS = {"hyperscan": 90, "python": 10}
SHARES = {"gitleaks": 0.99, "agentlog": 0.97, "fresh": 0.97}


def figures(plan: Plan) -> list[Figure]:
    """Speed with each engine there is, and the shares on labelled cases with the best of them."""
    engines = ["hyperscan", "python"] if hyper.available else ["python"]
    redactors = {
        engine: Redactor(b"bench", engine=engine, cache=plan.work / "redaction")
        for engine in engines
    }
    found = [speed(plan, engine, redactor) for engine, redactor in redactors.items()]
    for path in sorted(LABELS.glob("*.jsonl")):
        found += labelled(redactors[engines[0]], path)
    if not LABELS.is_dir():
        say("the labelled cases are not there: no shares")
    return found


def speed(plan: Plan, engine: str, redactor: Redactor) -> Figure:
    """Megabytes of a log's strings per second of CPU time."""
    texts = list(redaction.first(redaction.strings(Path(plan.corpus.folder)), TEXT_BYTES))
    samples = [redaction.speed(redactor, texts) for _ in range(plan.runs_or(5))]
    title = "redaction with hyperscan" if engine == "hyperscan" else "redaction without hyperscan"
    return absolute(
        f"redaction-{engine}",
        title,
        samples,
        target=SPEEDS[engine],
        unit="MB/s CPU",
        better="higher",
    )


def labelled(redactor: Redactor, path: Path) -> list[Figure]:
    """The share of secrets gone; for our own cases also how many benign texts changed."""
    name = path.stem.partition("-")[0]
    shares = redaction.shares(redactor, path)
    gone = absolute(
        f"redaction-{name}",
        f"secrets gone, {name} cases",
        [shares["gone"]],
        target=SHARES[name],
        unit="share",
        better="higher",
    )
    if name not in ("agentlog", "fresh"):
        return [gone]
    changed = shares["negatives_changed"]
    return [
        gone,
        absolute(
            f"redaction-{name}-benign",
            f"benign texts changed, {name} cases",
            [changed],
            target=0,
            unit="texts",
        ),
    ]
