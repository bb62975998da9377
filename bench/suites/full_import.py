"""The first import: every log of the corpus into a fresh store.

Ours is `Memory.open()`, `import_logs()` and `close()` in a fresh process, with
the modules they import; the reference is reading and decoding the same lines
with orjson, in a fresh process too. Neither counts the interpreter's start.
"""

from __future__ import annotations

import json
import shutil

from bench.measure import Figure, Pair, alternate, compared
from bench.plan import Plan, child, say

AGAINST = "reading the same lines with `orjson.loads`"
# What each import came to, for the suite that looks at sizes.
IMPORTS = "imports.json"


def figures(plan: Plan) -> list[Figure]:
    """Both figures; reading the corpus once beforehand puts it in the page cache for everybody."""
    child(["read", plan.corpus.folder], plan.environ(plan.home("full", redact=False)))
    return [import_without_redaction(plan), import_with_redaction(plan)]


def import_without_redaction(plan: Plan) -> Figure:
    """Capture alone; its last store is kept for the suites that need a full one."""
    pairs, _ = measured(plan, "full", redact=False)
    return compared("import", "full import, redaction off", AGAINST, pairs, target=6, unit="s CPU")


def import_with_redaction(plan: Plan) -> Figure:
    """What users run: secrets are removed on the way."""
    pairs, imports = measured(plan, "redacted", redact=True)
    (plan.work / IMPORTS).write_text(json.dumps(imports))
    return compared(
        "import-redacted", "full import, redaction on", AGAINST, pairs, target=10, unit="s CPU"
    )


def measured(plan: Plan, name: str, *, redact: bool) -> tuple[list[Pair], list[dict[str, float]]]:
    """Runs of both sides, and what every import came to."""
    imports: list[dict[str, float]] = []
    environ = plan.environ(plan.home(name, redact=redact))

    def ours() -> float:
        shutil.rmtree(plan.work / name)
        plan.home(name, redact=redact)
        imports.append(child(["import"], environ))
        say(f"{name} import {len(imports)}: {imports[-1]['seconds']:.2f} s")
        return imports[-1]["seconds"]

    def reference() -> float:
        return child(["read", plan.corpus.folder], environ)["seconds"]

    return alternate(ours, reference, plan.runs_or(5)), imports
