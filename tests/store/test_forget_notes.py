"""Notes that are forgotten, or that came from what is forgotten; and notes that survive damage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect.distill.corroborate import corroborate
from recollect.memory import Memory
from recollect.model.logs import Event, SessionFacts, TurnFacts
from recollect.model.reports import Forgotten, Scrubbed
from recollect.settings import Settings
from recollect.store.sqlite.migrate import copy_to
from recollect.store.sqlite.salvage.repair import repair
from recollect.store.sqlite.store import Store
from recollect.system.clock import now_ms
from tests.store.conftest import Filled

SHOP = "/home/ada/shop"
GONE = Scrubbed(text_index=True, pages=True, log=True)


@pytest.fixture
def memory(filled: Filled) -> Iterator[Memory]:
    """A memory of the same store, which removes no secrets: that takes a while to get ready."""
    made = Memory(Settings(str(filled.path.parent), str(filled.path), {"redact.enabled": False}))
    yield made
    made.close()


def given_in(filled: Filled, memory: Memory, session: str, *texts: str) -> None:
    """A session that runs now, in which an agent remembers something in each turn."""
    for text in texts:
        memory.notes.add(text, folder=SHOP, by="agent")
    items = [SessionFacts(session=session, cwd=SHOP, started_at=now_ms())]
    for number, text in enumerate(texts):
        key = f"{session}-{number}"
        at = now_ms()
        items += [
            TurnFacts(session=session, turn=key, at=at, cwd=SHOP),
            Event(session=session, turn=key, kind="prompt", at=at, text="go on"),
            Event(
                session=session, turn=key, kind="tool_call", at=at, call=f"call {key}",
                name="mcp__recollect__remember",
                tool_kind="mcp", input={"text": text}, output="kept", ok=True,
            ),
        ]  # fmt: skip
    filled.keep(f"{session}.jsonl", *items, again=True)
    corroborate(filled.store)
    # Later sessions are not taken for this one.
    filled.db.execute("update turns set started_at = 1, ended_at = 2")


def texts(memory: Memory) -> list[str]:
    return sorted(note.text for note in memory.notes.search())


def ref(memory: Memory, text: str) -> str:
    (note,) = (note for note in memory.notes.search() if f" {text} " in f" {note.text} ")
    return note.ref


def bytes_of(filled: Filled) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(filled.path.parent.iterdir()))


# A note -----------------------------------------------------------------------


def test_a_forgotten_note_is_in_none_of_the_files(filled: Filled, memory: Memory) -> None:
    """With its earlier versions, what was said about it, and its project if there is no more."""
    memory.notes.add("the zebraword is blue", folder=SHOP)
    memory.notes.edit(ref(memory, "blue"), "the zebraword is red")
    memory.notes.add("something else", everywhere=True)
    db = filled.db
    db.execute(
        "insert into feedback (at, ref, helpful, author, reason) "
        "values (0, ?, 0, 'person', 'no zebraword here')",
        (ref(memory, "red"),),
    )
    copy_to(db.connection, f"{filled.path}.before-0003")

    forgotten = memory.notes.forget(ref(memory, "red"))

    assert forgotten.text == "the zebraword is red"
    assert texts(memory) == ["something else"]
    assert b"zebraword" not in bytes_of(filled)
    assert [db.rows(f"select count(*) from {table}") for table in ("feedback", "projects")] == [
        [(0,)]
    ] * 2


def test_forgetting_an_earlier_version_leaves_the_later_one(memory: Memory) -> None:
    old = memory.notes.add("one", folder=SHOP).ref
    memory.notes.edit(old, "two")

    memory.notes.forget(old)

    assert texts(memory) == ["two"]


# A session --------------------------------------------------------------------


def test_a_session_takes_the_notes_that_were_only_given_there(
    filled: Filled, memory: Memory
) -> None:
    """They are its content in other words.

    What a person answers for, or another session gave too, stays.
    """
    given_in(filled, memory, "s1", "only here", "accepted here", "given twice", "edited here")
    given_in(filled, memory, "s2", "given twice", "only there")
    memory.notes.accept(ref(memory, "accepted"))
    going = [ref(memory, "only here"), ref(memory, "edited here")]
    memory.notes.edit(ref(memory, "edited here"), "said better by a person")

    planned = memory.store.forget("codex:s1", dry_run=True)
    done = memory.store.forget("codex:s1")

    assert planned.notes == sorted(going)
    assert done == Forgotten(
        sessions=["codex:s1"], turns=4, tool_calls=4, notes=sorted(going), scrubbed=GONE
    )
    assert {note.text: note.turns for note in memory.notes.search()} == {
        "accepted here": [], "given twice": ["codex:s2#1"], "only there": ["codex:s2#2"],
        "said better by a person": [],
    }  # fmt: skip
    assert b"only here" not in bytes_of(filled)
    assert b"edited here" not in bytes_of(filled)


def test_a_turn_takes_the_notes_that_were_given_in_it(filled: Filled, memory: Memory) -> None:
    given_in(filled, memory, "s1", "in the first", "in the second")

    report = memory.store.forget("codex:s1#1")

    assert len(report.notes) == 1
    assert texts(memory) == ["in the second"]


def test_what_rules_found_goes_with_its_session_and_is_not_made_again(
    filled: Filled, memory: Memory
) -> None:
    said = "remember: we use pnpm, never npm"
    at = now_ms()
    filled.keep(
        "s1.jsonl",
        SessionFacts(session="s1", cwd=SHOP, started_at=at),
        TurnFacts(session="s1", turn="a", at=at, cwd=SHOP),
        Event(session="s1", turn="a", kind="prompt", at=at, text=said),
        Event(session="s1", turn="a", kind="reply", at=at, text="Noted."),
    )
    told = memory.remember(project=SHOP)
    assert told is not None
    assert "pnpm" in told.pack

    memory.store.forget("codex:s1")

    assert texts(memory) == []
    assert b"pnpm" not in bytes_of(filled)


def test_a_project_with_notes_outlives_its_sessions(filled: Filled, memory: Memory) -> None:
    given_in(filled, memory, "s1", "only here")
    memory.notes.add("a fact of my own", folder=SHOP)

    memory.store.forget("codex:s1")

    assert [note.project for note in memory.notes.search()] == [SHOP]


# Damage -----------------------------------------------------------------------


def damage(filled: Filled, memory: Memory, *tables: str) -> None:
    """Overwrite the first page of each of these tables."""
    filled.db.execute("pragma wal_checkpoint(truncate)")
    size = filled.db.value("pragma page_size")
    roots = [
        filled.db.value("select rootpage from sqlite_schema where name = ?", (table,))
        for table in tables
    ]
    memory.close()
    filled.close()
    data = bytearray(filled.path.read_bytes())
    for root in roots:
        data[(root - 1) * size : root * size] = b"\xff" * size
    filled.path.write_bytes(data)


def repaired(filled: Filled) -> Store:
    report = repair(str(filled.path))
    assert not report.sound
    filled.reopen()
    return filled.store


def test_notes_survive_the_loss_of_other_tables(filled: Filled, memory: Memory) -> None:
    """They are the one thing that no log can tell again."""
    given_in(filled, memory, "s1", "one", "two")
    memory.notes.accept(ref(memory, "two"))
    memory.notes.add("three", folder=SHOP)
    before = memory.notes.search().rows
    history = memory.notes.history(ref(memory, "two"))
    damage(filled, memory, "usage", "rates")

    store = repaired(filled)

    assert store.notes.search().rows == before
    assert store.notes.history(ref(memory, "two")) == history


def test_a_note_whose_project_is_lost_does_not_hold_everywhere(
    filled: Filled, memory: Memory
) -> None:
    """It would be told in every other project."""
    memory.notes.add("one", folder=SHOP)
    memory.notes.add("two", everywhere=True)
    damage(filled, memory, "projects")

    store = repaired(filled)

    assert sorted((note.text, note.project) for note in store.notes.search()) == [
        ("one", "lost project 1"), ("two", None),
    ]  # fmt: skip
