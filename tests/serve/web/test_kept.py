"""Sums that are kept, while somebody writes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.web.kept import KeptAnswers
from tests.serve.web.conftest import Browser

PATIENT, AT_ONCE = 60.0, 0.0


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.db", environ={"RECOLLECT_HOME": str(tmp_path)}) as one:
        one.notes.add("the coffee is black")
        yield one


@pytest.fixture
def kept(memory: Memory) -> Iterator[KeptAnswers]:
    answers = KeptAnswers(memory)
    yield answers
    answers.close()


def notes_of(memory: Memory) -> int:
    return memory.notes.search(limit=1).total


def test_nothing_is_made_twice_until_somebody_writes(memory: Memory, kept: KeptAnswers) -> None:
    made: list[int] = []

    def make(one: Memory) -> int:
        made.append(notes_of(one))
        return made[-1]

    answers = [kept.get(memory, "notes", make, PATIENT).answer for _ in range(3)]
    memory.notes.add("the tea is green")
    answers += [kept.get(memory, "notes", make, PATIENT).answer for _ in range(3)]

    assert answers == [1, 1, 1, 2, 2, 2]
    assert made == [1, 2]


def test_who_has_no_patience_sees_the_last_one_while_a_new_one_is_made(
    memory: Memory, kept: KeptAnswers
) -> None:
    first = kept.get(memory, "notes", notes_of, AT_ONCE)
    memory.notes.add("the tea is green")

    meanwhile = kept.get(memory, "notes", notes_of, AT_ONCE)
    end = time.monotonic() + 20
    while (later := kept.get(memory, "notes", notes_of, AT_ONCE)).is_due:
        assert time.monotonic() < end
        time.sleep(0.01)

    assert (first.answer, first.is_due) == (1, False)
    assert (meanwhile.answer, meanwhile.is_due, meanwhile.at) == (1, True, first.at)
    assert later.answer == 2


def test_what_is_being_made_ahead_is_waited_for_and_not_made_again(
    memory: Memory, kept: KeptAnswers
) -> None:
    made, begun, may_end = [], threading.Event(), threading.Event()

    def make(one: Memory) -> str:
        made.append(threading.get_ident())
        begun.set()
        may_end.wait(20)
        return "slow"

    kept.ahead(lambda own: kept.get(own, "slow", make, PATIENT))
    assert begun.wait(20)
    threading.Timer(0.05, may_end.set).start()

    assert kept.get(memory, "slow", make, PATIENT).answer == "slow"
    assert len(made) == 1
    assert made != [threading.get_ident()]


def test_a_page_says_of_when_its_sums_are(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until newer ones are made."""
    monkeypatch.setattr("recollect.serve.web.app.PATIENCE_SECONDS", -1.0)
    monkeypatch.setattr("recollect.serve.web.app.OLD_SECONDS", 0)
    assert "Sums as of" not in browser.get("/usage").text
    with Memory.open(
        browser.web.like.settings.store, environ=dict(browser.web.like.environ)
    ) as writer:
        note = writer.notes.add("the tea is green")

        shown = browser.get("/usage").text

        writer.notes.forget(note.ref)
    assert re.search(r"Sums as of \d\d:\d\d:\d\d: something was written since", shown)
