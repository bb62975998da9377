"""The first import of agents that keep their sessions in SQLite.

Ours is an import of one agent's database into a fresh store in a fresh
process, redaction off, and once more the reading alone, without a store; the
reference reads the same values with apsw and decodes what is JSON with orjson,
in a fresh process too.
"""

from __future__ import annotations

import shutil

from bench.corpora import Shape, ensure_corpus
from bench.databases import DATABASES, Database, make
from bench.measure import Figure, alternate, compared
from bench.plan import Plan, child, clean_environ, say

AGAINST = "reading the same values with apsw and `orjson.loads`"
SHAPE = Shape(files=200, turns=6000, mb=40)


def figures(plan: Plan) -> list[Figure]:
    """Two figures for each of them."""
    return [figure for database in DATABASES for figure in database_figures(plan, database)]


def database_figures(plan: Plan, database: Database) -> list[Figure]:
    """All talks of the corpus, as this agent would have stored them."""
    say(f"the corpus as {database.agent} stores it")
    corpus = ensure_corpus(plan.cache, SHAPE)
    nobody = plan.cache / f"databases-{SHAPE.mb:g}-{database.agent}"
    path = make(database, corpus, nobody)
    home = plan.work / f"database-{database.agent}"
    environ = clean_environ(plan.work) | {"HOME": str(nobody), "RECOLLECT_HOME": str(home)}

    def ours() -> float:
        shutil.rmtree(home, ignore_errors=True)
        plan.home(home.name, redact=False)
        done = child(["import", str(path)], environ)
        if done["problems"] or done["turns"] < SHAPE.turns * 0.9:
            raise RuntimeError(
                f"{database.agent}: {done['turns']:g} turns and {done['problems']:g} problems"
            )
        return done["seconds"]

    def reference() -> float:
        return child(["rows", database.agent, str(path)], environ)["seconds"]

    def reading() -> float:
        done = child(["items", database.agent, str(path)], environ)
        if done["items"] < SHAPE.turns:
            raise RuntimeError(f"{database.agent}: {done['items']:g} items")
        return done["seconds"]

    runs, name = plan.runs_or(5), f"database-{database.agent}"
    title = f"{database.agent}'s database"
    return [
        compared(name, f"import of {title}", AGAINST, alternate(ours, reference, runs), target=6,
        unit="s CPU"),
        compared(
            f"{name}-read", f"reading {title}, without a store", AGAINST, alternate(reading,
            reference, runs),
            target=None, unit="s CPU",
        ),
    ]  # fmt: skip
