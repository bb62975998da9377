"""The table of jobs: what follows from what, and how what is due is done."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import signature
from pathlib import Path

import pytest

from recollect.jobs import JOBS, Job, find_handler, follow_marks, parameters_of, run_due
from recollect.store import Store, open_store

ROOT = Path(__file__).parents[1] / "src" / "recollect"
# What `memory` gives to handlers, and what `run_due` adds.
GIVEN = {
    "settings", "domains", "encoder", "writer", "readable", "redactor", "redact", "at_once",
    "exchange", "store", "subject",
}  # fmt: skip

done: list[str] = []


def note_down(subject: str) -> None:
    """A handler that works."""
    done.append(subject)


def fails(subject: str) -> None:
    """A handler that does not."""
    raise OSError("no room")


def in_two_steps(subject: str, encoder: str) -> Iterator[str]:
    """A handler that takes long and needs something."""
    yield subject
    done.append(encoder)


def job(kind: str = "optimize", handler: str = "note_down", **options: object) -> Job:
    """A job whose handler is one of this module."""
    return Job(kind, run=(f"{__name__}:{handler}",))._replace(**options)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    done.clear()
    opened = open_store(str(tmp_path / "recollect.db"))
    yield opened
    opened.close()


def states(store: Store) -> list[tuple[str, str, str, int]]:
    return [(row.kind, row.subject, row.state, row.tries) for row in store.jobs.all()]


def marks_set() -> set[str]:
    """Every mark that some line of code sets."""
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "mark"
                and node.args
            ):
                name = node.args[0]
                assert isinstance(name, ast.Constant), f"{path}: a mark is written out"
                found.add(str(name.value))
    return found


@pytest.mark.parametrize("one", JOBS, ids=lambda one: one.kind)
def test_a_handler_is_there_and_gets_what_it_asks_for(one: Job) -> None:
    """It is only a string in the table, so nobody else would notice."""
    for name in one.run:
        handler = find_handler(name)

        assert callable(handler), name
        assert signature(handler).return_annotation != signature(handler).empty
        assert set(parameters_of(handler)) <= GIVEN, name


def test_every_mark_has_a_job_and_every_job_a_mark_that_somebody_sets() -> None:
    """A mark that is misspelt is work that is never done."""
    assert marks_set() == {mark for one in JOBS for mark in one.due_after}


def test_every_kind_has_one_row() -> None:
    """Two would take each other's jobs."""
    kinds = [one.kind for one in JOBS]

    assert len(kinds) == len(set(kinds))


def test_what_follows_from_a_mark_is_done_and_gone(store: Store) -> None:
    """Nobody has to ask for it."""
    store.jobs.mark("notes changed")
    table = (job(subject="text", due_after=("notes changed",)),)

    assert run_due(store, {}, table=table) == 1

    assert done == ["text"]
    assert states(store) == []


def test_a_handler_gets_what_it_names(store: Store) -> None:
    """An encoder takes a while to load: only who needs it pays."""
    store.jobs.enqueue("optimize", "text")
    store.jobs.enqueue("embed", "turns")
    table = (job(), job("embed", "in_two_steps"))

    assert run_due(store, {"encoder": lambda: "encoder"}, table=table) == 2

    assert done == ["text", "encoder"]


def test_the_handlers_of_a_job_run_one_after_the_other(store: Store) -> None:
    """The second needs what the first leaves; if that fails, it does not begin."""
    store.jobs.enqueue("optimize", "text")
    handlers = tuple(f"{__name__}:{name}" for name in ("note_down", "fails", "note_down"))

    assert run_due(store, {}, table=(job(run=handlers),)) == 0

    assert done == ["text"]


def test_a_job_that_nobody_knows_waits(store: Store) -> None:
    """A newer recollect may have asked for it."""
    store.jobs.enqueue("dream", "x")

    assert run_due(store, {}, table=(job(),)) == 0

    assert states(store) == [("dream", "x", "waiting", 0)]


def test_a_failing_job_is_tried_later_and_kept_in_the_end(store: Store) -> None:
    """A person can see what keeps failing and why; asking again gives it new tries."""
    table = (job(handler="fails", tries=3),)
    store.jobs.enqueue("optimize", "text")
    for _ in range(3):
        store.db.execute("update jobs set not_before = 0")
        assert run_due(store, {}, table=table) == 0

    (row,) = store.jobs.all()
    assert (row.state, row.tries, row.error) == ("failed", 3, "OSError: no room")
    assert run_due(store, {}, table=table) == 0
    store.jobs.enqueue("optimize", "text")
    assert states(store) == [("optimize", "text", "waiting", 0)]


def test_a_limit_leaves_the_rest_waiting(store: Store) -> None:
    """A pass can be kept short."""
    for subject in ("a", "b", "c"):
        store.jobs.enqueue("optimize", subject)

    assert run_due(store, {}, limit=2, table=(job(),)) == 2

    assert len(states(store)) == 1


def test_what_a_stage_leaves_is_given_up_after_the_tries_of_the_table(store: Store) -> None:
    """The stage does not know how often that is."""
    for _ in range(3):
        store.jobs.leave("engine", "projects", "busy")

    follow_marks(store)

    assert states(store) == [("engine", "projects", "failed", 3)]
