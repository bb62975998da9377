"""Notes that are forgotten, or that came from what is forgotten; and notes that survive damage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect.errors import NotFound
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
        memory.old.remember(text, folder=SHOP)
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
    memory.old.corroborate_notes()
    # Later sessions are not taken for this one.
    filled.db.execute("update turns set started_at = 1, ended_at = 2")


def texts(memory: Memory) -> dict[str, str]:
    return {note.ref: note.text for note in memory.old.notes()}


def bytes_of(filled: Filled) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(filled.path.parent.iterdir()))


# A note -----------------------------------------------------------------------


def test_a_forgotten_note_is_in_none_of_the_files(filled: Filled, memory: Memory) -> None:
    """With its earlier versions, what was said about it, what was to be told of it,
    and its project if that is all there was.
    """
    memory.old.remember("the zebraword is blue", folder=SHOP, by="person")
    memory.old.edit_note("note:1", "the zebraword is red")
    memory.old.remember("something else", everywhere=True, by="person")
    memory.old.give_feedback("note:2", False, reason="no zebraword here")
    db = filled.db
    db.execute(
        "insert or replace into packs (project, text, refs, made_at) "
        "values (1, 'told: the zebraword is red', 'note:2 note:3', 0)"
    )
    db.execute(
        "insert into tellings (project, ref, line) values (1, 'note:2', 'the zebraword is red')"
    )
    db.execute("insert into tellings (ref, line) values ('note:3', 'something else')")
    db.execute("delete from marks")
    copy_to(db.connection, f"{filled.path}.before-0003")

    forgotten = memory.old.forget_note("note:2")

    assert (forgotten.ref, forgotten.text) == ("note:2", "the zebraword is red")
    assert texts(memory) == {"note:3": "something else"}
    assert b"zebraword" not in bytes_of(filled)
    assert [
        db.rows(f"select count(*) from {table}") for table in ("feedback", "packs", "projects")
    ] == [[(0,)]] * 3
    assert db.rows("select ref from tellings") == [("note:3",)]
    assert db.rows("select name from marks") == [("hook lines outdated",)]


def test_the_number_of_a_forgotten_note_is_not_given_again(memory: Memory) -> None:
    """Whoever wrote it down somewhere would mean another note."""
    memory.old.remember("one", folder=SHOP)
    memory.old.forget_note("note:1")

    assert memory.old.remember("two", folder=SHOP).ref == "note:2"
    with pytest.raises(NotFound):
        memory.old.note("note:1")


def test_forgetting_an_earlier_version_leaves_the_later_one(memory: Memory) -> None:
    memory.old.remember("one", folder=SHOP, by="person")
    memory.old.edit_note("note:1", "two")

    memory.old.forget_note("note:1")

    assert texts(memory) == {"note:2": "two"}


# A session --------------------------------------------------------------------


def test_a_session_takes_the_notes_that_were_only_given_there(
    filled: Filled, memory: Memory
) -> None:
    """They are its content in other words.

    What a person answers for, or another session gave too, stays.
    """
    given_in(filled, memory, "s1", "only here", "accepted here", "given twice", "edited here")
    given_in(filled, memory, "s2", "given twice", "only there")
    memory.old.accept_note("note:2")
    memory.old.edit_note("note:4", "edited by a person")
    memory.old.give_feedback("codex:s1#1", True)
    memory.old.give_feedback("codex:s2#1", True)

    planned = memory.store.forget("codex:s1", dry_run=True)
    done = memory.store.forget("codex:s1")

    assert planned.notes == ["note:1", "note:4"]
    assert done == Forgotten(
        sessions=["codex:s1"], turns=4, tool_calls=4, notes=["note:1", "note:4"], scrubbed=GONE
    )
    assert {
        ref: (note.text, note.session, note.turn)
        for ref in texts(memory)
        for note in [memory.old.note(ref)]
    } == {
        "note:2": ("accepted here", None, None),
        "note:3": ("given twice", "codex:s2", 1),
        "note:5": ("only there", "codex:s2", 2),
        "note:6": ("edited by a person", None, None),
    }
    assert filled.db.rows("select ref from feedback") == [("codex:s2#1",)]
    assert b"only here" not in bytes_of(filled)
    assert b"edited here" not in bytes_of(filled)


def test_a_note_that_was_confirmed_in_other_words_goes_with_its_own(
    filled: Filled, memory: Memory
) -> None:
    """Two sessions meant the same, and the note says it as the forgotten one did."""
    given_in(filled, memory, "s1", "run the tests with zebra")
    given_in(filled, memory, "s2", "run the tests with pytest")
    filled.db.execute("update note_origins set note = 1 where session = 'codex:s2'")

    report = memory.store.forget("codex:s1")

    assert report.notes == ["note:1"]
    assert b"zebra" not in bytes_of(filled)


def test_a_turn_takes_the_notes_that_were_given_in_it(filled: Filled, memory: Memory) -> None:
    given_in(filled, memory, "s1", "in the first", "in the second")

    report = memory.store.forget("codex:s1#1")

    assert report.notes == ["note:1"]
    assert texts(memory) == {"note:2": "in the second"}


def test_a_note_whose_call_was_not_looked_for_yet_goes_with_its_session(
    filled: Filled, memory: Memory
) -> None:
    """Forgetting does not depend on what other work has been done."""
    given_in(filled, memory, "s1", "only here")
    filled.db.execute("update note_origins set session = null, turn = null")
    filled.db.execute("update turns set started_at = null, ended_at = null")

    memory.store.forget("codex:s1")

    assert texts(memory) == {}


def test_a_project_with_notes_outlives_its_sessions(filled: Filled, memory: Memory) -> None:
    given_in(filled, memory, "s1", "only here")
    memory.old.remember("a fact of my own", folder=SHOP, by="person")

    memory.store.forget("codex:s1")

    assert [note.project for note in memory.old.notes()] == [SHOP]


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


def test_notes_and_feedback_survive_the_loss_of_other_tables(
    filled: Filled, memory: Memory
) -> None:
    """They are the one thing that no log can tell again."""
    given_in(filled, memory, "s1", "one", "two")
    memory.old.accept_note("note:2")
    memory.old.remember("three", folder=SHOP)
    memory.old.forget_note("note:3")
    memory.old.give_feedback("note:1", True)
    before = memory.old.notes()
    damage(filled, memory, "usage", "rates")

    store = repaired(filled)

    assert store.old.list_notes() == before
    assert store.old.feedback_of("note:1") == (1, 0)
    assert memory.old.remember("four", folder=SHOP).ref == "note:4"


def test_a_note_whose_project_is_lost_does_not_hold_everywhere(
    filled: Filled, memory: Memory
) -> None:
    """It would be told in every other project."""
    memory.old.remember("one", folder=SHOP, by="person")
    memory.old.remember("two", everywhere=True, by="person")
    damage(filled, memory, "projects")

    store = repaired(filled)

    assert [(note.text, note.project) for note in store.old.list_notes()] == [
        ("two", None),
        ("one", "lost project 1"),
    ]
