"""A small import, as a test or a resident process does it: modules warm, store fresh."""

from __future__ import annotations

from bench.measure import Figure, alternate, compared, spent
from bench.plan import Plan
from bench.suites.full_import import AGAINST
from recollect import Memory


def figures(plan: Plan) -> list[Figure]:
    """The one figure of this suite."""
    return [small_import(plan)]


def small_import(plan: Plan) -> Figure:
    """Open, import, close in this process, each time into a store that was not there."""
    import orjson

    environ = plan.environ(plan.home("small", redact=False), plan.small)
    paths = plan.small.paths()
    stores = (plan.work / "small" / f"{number}.db" for number in range(1_000_000))

    def import_all() -> None:
        with Memory.open(next(stores), environ=environ) as memory:
            report = memory.import_logs()
        if report.imported != len(paths):
            raise RuntimeError(f"{report.imported} of {len(paths)} files were imported")

    def read_all() -> None:
        for path in paths:
            with open(path, "rb") as file:
                for line in file:
                    orjson.loads(line)

    import_all()
    read_all()
    pairs = alternate(
        lambda: spent(import_all), lambda: spent(read_all, repeats=3), plan.runs_or(15)
    )
    return compared(
        "small",
        "import of 64 rollouts (4 MB), in process",
        AGAINST,
        pairs,
        target=4.5,
        unit="s CPU",
    )
