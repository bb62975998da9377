"""When notes are taken from a session, and that it is come back
to later when it was not the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.distill.notes import gate
from recollect.distill.notes.extract import extract_waiting
from recollect.distill.notes.gate import LIVES_MS, Answer, Progress
from recollect.model.logs import Event, Item, TurnFacts
from recollect.store.notes import Extraction
from recollect.system.clock import iso
from tests.builders.passages import call, edit, passage, prompt, reply, run, said
from tests.builders.talks import SHOP, Said, Talks
from tests.store.conftest import START, facts

NOW = 100 * LIVES_MS
TAKEN = Extraction(message=25, calls=0, times=1)
RULE = "Never push to main."


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    made = Talks(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("progress", "since", "answer"),
    [
        (Progress(19, 19, False, NOW), None, "short"),
        (Progress(20, 0, False, NOW), None, "open"),
        (Progress(30, 2, False, NOW), TAKEN, "early"),
        (Progress(30, 3, False, NOW), TAKEN, "open"),
        (Progress(30, 0, False, NOW), Extraction(0, 30, 0), "open"),
        (Progress(30, 9, True, NOW), None, "busy"),
        (Progress(30, 9, True, NOW - LIVES_MS + 1), TAKEN, "busy"),
        (Progress(30, 9, True, NOW - LIVES_MS), None, "open"),
        (Progress(30, 9, True, None), None, "open"),
        (Progress(19, 9, True, NOW), None, "short"),
    ],
)
def test_notes_are_taken_after_twenty_messages_and_then_every_three_calls(
    progress: Progress, since: Extraction | None, answer: Answer
) -> None:
    """A short session has nothing to tell yet, and one that is in the middle of
    something may still change its mind.
    """
    assert gate.ask_gate(progress, since, NOW) == answer


def test_the_gate_and_the_form_of_a_note_are_for_other_programs_too() -> None:
    """Who has a model of their own need not write either again."""
    from recollect import distill

    facts, dropped = distill.read_facts("MEMORY: constraint | 9 | use make check\nMEMORY: x")

    assert [(one.category, one.confidence, one.text) for one in facts] == [
        ("constraint", 0.9, "use make check")
    ]
    assert dropped == 1
    assert distill.ask_gate(distill.Progress(30, 3, False, None)) == "open"
    assert all(getattr(distill, name) for name in distill.__all__)


def test_messages_are_what_was_asked_answered_and_done() -> None:
    """What was undone, and what an agent only thought, is no message."""
    turns = [
        passage(
            1, prompt("mend it"), said("reasoning", "hm"), run("ls"), edit("a.py"), reply("done")
        ),
        passage(2, prompt("undone"), run("rm a.py"), live=False),
        passage(3, prompt("and now"), run("pytest")),
    ]

    assert gate.progress_of(turns, None) == Progress(
        messages=6, calls=3, is_pending=False, last_at=None
    )
    assert gate.progress_of(turns, Extraction(message=4, calls=0, times=1)).calls == 1


def test_a_call_without_an_end_is_pending() -> None:
    """Neither an output nor a verdict: the agent waits for it, or for the person to allow it."""
    waiting = call("pytest")
    waiting[8:11] = [None, None, None]

    assert gate.progress_of([passage(1, prompt("go"), waiting)], None).is_pending
    assert not gate.progress_of([passage(1, prompt("go"), run("pytest", code=1))], None).is_pending


def tell_pending(talks: Talks) -> None:
    """A long session whose last call has no end yet."""
    turns = [Said(RULE), *(Said(f"go on {number}", reply="ok") for number in range(12))]
    items: list[Item] = [facts("a", cwd=SHOP)]
    for number, one in enumerate(turns):
        items += one.items("a", f"t{number}", START + number, SHOP)
    items += [
        TurnFacts(session="a", turn="last", at=START + 50, cwd=SHOP, author="human"),
        Event(session="a", turn="last", kind="prompt", at=START + 50, text="run it"),
        Event(
            session="a",
            turn="last",
            kind="tool_call",
            at=START + 60,
            call="c",
            name="Bash",
            tool_kind="shell",
            target="make",
        ),
    ]
    talks.filled.keep("a.jsonl", *items, agent="codex", again=True)


def test_a_session_that_waits_for_a_call_is_come_back_to(
    talks: Talks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said in it would be lost otherwise: nothing new may ever be logged there."""
    tell_pending(talks)
    monkeypatch.setattr("recollect.distill.notes.extract.now_ms", lambda: START + 1_000)

    list(talks.memory.digest_new())

    assert talks.memory.old.notes() == []
    quiet_at = talks.store.db.value("select not_before from marks where name = 'session quiet'")
    assert iso(quiet_at) == iso(START + 60 + LIVES_MS)

    extract_waiting(talks.store, now=START + 1_000)
    assert talks.memory.old.notes() == []

    extract_waiting(talks.store, now=START + 60 + LIVES_MS)
    assert [note.text for note in talks.memory.old.notes()] == ["Never push to main"]
    assert talks.store.old.waiting_extractions() == []


def test_taking_notes_again_from_a_session_that_grew_repeats_nothing(talks: Talks) -> None:
    """The state of each session is kept: how far, how many calls since, and how often."""
    turns = [
        Said(RULE),
        *(Said(f"go on {number}", command="git add .", reply="ok") for number in range(8)),
    ]
    talks.tell("a", *turns)
    list(talks.memory.digest_new())
    number = talks.store.db.value("select id from sessions")
    first = talks.store.old.find_extraction(number)

    talks.tell("a", *turns, Said("one more", command="git add ."))
    list(talks.memory.digest_new())
    second = talks.store.old.find_extraction(number)
    talks.tell("a", *turns, *(Said(f"{number} more", command="git add .") for number in range(3)))
    list(talks.memory.digest_new())

    assert (first, second) == (Extraction(25, 0, 1), Extraction(25, 1, 1))
    assert talks.store.old.find_extraction(number) == Extraction(31, 0, 2)
    (note,) = talks.memory.old.notes()
    assert (note.text, note.seen, note.status) == ("Never push to main", 1, "candidate")


def test_notes_are_taken_only_where_a_person_talked_and_wants_it_remembered(talks: Talks) -> None:
    """A sub-agent is told by an agent.

    A run of a script, by a script; and a person may switch remembering off.
    """
    turns = [Said(RULE), *(Said(f"go on {number}", reply="ok") for number in range(12))]
    talks.tell("child", *turns, origin="subagent")
    talks.tell("script", *turns, origin="headless")
    talks.tell("quiet", *turns, meta={"memory_mode": "disabled"})

    list(talks.memory.digest_new())

    assert talks.memory.old.notes() == []
