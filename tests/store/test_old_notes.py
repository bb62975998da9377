"""Notes are kept once, judged by people, and follow their project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import NotFound, UsageError
from recollect.memory import Memory
from recollect.model.old_notes import OldNote
from recollect.settings import Settings
from recollect.store.notes import compared
from tests.builders import homes
from tests.store.conftest import Filled, facts, turn

SHOP, FARM = "/home/ada/shop", "/home/ada/farm"
KEY = "sk-ant-api03-" + "Ab1_" * 23 + "AAAAAAAA"


@pytest.fixture
def memory(filled: Filled) -> Iterator[Memory]:
    """A memory of the same store, which removes no secrets: that takes a while to get ready."""
    made = Memory(Settings(str(filled.path.parent), str(filled.path), {"redact.enabled": False}))
    yield made
    made.close()


def note(number: int, text: str, **known: Any) -> OldNote:
    """A candidate of an agent, as it is expected; its times are left out."""
    values: dict[str, Any] = {
        "category": "project", "project": SHOP, "status": "candidate", "trust": "assistant",
        "author": "agent",
        "confidence": 0.5, "session": None, "turn": None, "seen": 1, "superseded_by": None,
    }  # fmt: skip
    timeless = {"created_at": None, "seen_at": None, "valid_from": None, "valid_to": None}
    return OldNote(ref=f"note:{number}", text=text, **{**values, **timeless, **known})


def own(number: int, text: str, **known: Any) -> OldNote:
    """A note of a person."""
    return note(
        number,
        text,
        **{"status": "active", "trust": "user", "author": "person", "confidence": 1.0, **known},
    )


def timeless(*notes: OldNote) -> list[OldNote]:
    return [
        msgspec.structs.replace(one, created_at=None, seen_at=None, valid_from=None, valid_to=None)
        for one in notes
    ]


def held(one: OldNote) -> tuple[bool, bool]:
    """Whether it began to hold, and whether it ceased to."""
    return one.valid_from is not None, one.valid_to is not None


# Who says what ----------------------------------------------------------------


def test_an_agents_note_is_a_candidate_and_a_persons_counts(memory: Memory) -> None:
    """What an agent says is an agent's opinion until somebody stands behind it."""
    theirs = memory.old.remember("Tests need the database.", folder=SHOP, confidence=0.7)
    ours = memory.old.remember("Use tabs", category="Preference", folder=SHOP, by="person")
    everywhere = memory.old.remember(
        "Be brief", category="preference", everywhere=True, by="person"
    )

    assert timeless(theirs, ours, everywhere) == [
        note(1, "Tests need the database.", confidence=0.7),
        own(2, "Use tabs", category="preference"),
        own(3, "Be brief", category="preference", project=None),
    ]
    assert [held(theirs), held(ours)] == [(False, False), (True, False)]


def test_a_first_note_makes_a_store(home: Path) -> None:
    """Nothing has to be imported before somebody may note something down."""
    with homes.memory(home) as memory:
        memory.old.remember("use tabs", folder=SHOP, by="person")

        assert timeless(*memory.old.notes(folder=SHOP)) == [own(1, "use tabs")]


def test_the_same_fact_is_confirmed_and_not_repeated(memory: Memory) -> None:
    """Agents say the same thing in every session, and never twice the same way."""
    first = memory.old.remember("Tests need the database.", folder=SHOP)
    again = memory.old.remember("tests  need: the database", category="decision", folder=SHOP)
    elsewhere = memory.old.remember("Tests need the database.", folder=FARM)

    assert timeless(again, elsewhere) == [
        note(1, "Tests need the database.", seen=2), note(2, "Tests need the database.",
        project=FARM),
    ]  # fmt: skip
    assert again.created_at == first.created_at
    assert str(again.seen_at) >= str(first.seen_at)


def test_what_a_person_repeats_becomes_theirs(memory: Memory) -> None:
    """In their spelling, and in their category."""
    memory.old.remember("tests need the database", folder=SHOP)

    said = memory.old.remember(
        "Tests need the database!", category="constraint", folder=SHOP, by="person"
    )

    assert timeless(said) == [own(1, "Tests need the database!", category="constraint", seen=2)]


def test_a_rejected_note_stays_rejected_whatever_agents_say(memory: Memory) -> None:
    """Or the same wrong fact would come back every day. The person may change their mind."""
    memory.old.remember("tests need the database", folder=SHOP)
    rejected = memory.old.reject_note("note:1")
    repeated = memory.old.remember("tests need the database", folder=SHOP)
    revoked = memory.old.remember("tests need the database", folder=SHOP, by="person")

    assert timeless(rejected, repeated, revoked) == [
        note(1, "tests need the database", status="rejected"),
        note(1, "tests need the database", status="rejected", seen=2),
        own(1, "tests need the database", seen=3),
    ]


def test_accepting_makes_a_candidate_count(memory: Memory) -> None:
    memory.old.remember("tests need the database", folder=SHOP)

    accepted = memory.old.accept_note("note:1")
    again = memory.old.accept_note("1")
    rejected = memory.old.reject_note("note:1")

    assert timeless(accepted) == [
        note(1, "tests need the database", status="active", trust="user", confidence=1.0)
    ]
    assert again == accepted
    assert [held(accepted), held(rejected)] == [(True, False), (True, True)]


def test_an_edited_note_takes_the_place_of_the_old_one(memory: Memory) -> None:
    """What was believed, and until when, can still be told."""
    memory.old.remember("use tabs", category="preference", folder=SHOP, by="person")

    new = memory.old.edit_note("note:1", "use spaces")
    old = memory.old.note("note:1")

    assert timeless(new, old) == [
        own(2, "use spaces", category="preference"),
        own(1, "use tabs", category="preference", status="superseded", superseded_by="note:2"),
    ]
    assert held(old) == (True, True)
    assert old.valid_to == new.valid_from


def test_an_edit_may_say_what_another_note_says(memory: Memory) -> None:
    """Then that one takes its place: a fact is kept once."""
    memory.old.remember("use tabs", folder=SHOP, by="person")
    memory.old.remember("use spaces", folder=SHOP)

    new = memory.old.edit_note("note:1", "Use spaces")

    assert timeless(new) == [own(2, "Use spaces")]
    assert memory.old.note("note:1").superseded_by == "note:2"


def test_a_change_of_case_is_an_edit_too(memory: Memory) -> None:
    memory.old.remember("use postgres", folder=SHOP, by="person")

    assert memory.old.edit_note("note:1", "Use Postgres").ref == "note:2"
    assert memory.old.remember("use postgres", folder=SHOP).ref == "note:2"


def test_what_was_replaced_is_neither_judged_nor_revived_by_agents(memory: Memory) -> None:
    """One correction retires the old fact; the hint says where to go on."""
    memory.old.remember("use tabs", folder=SHOP, by="person")
    memory.old.edit_note("note:1", "use spaces")

    for change in (
        memory.old.accept_note,
        memory.old.reject_note,
        lambda ref: memory.old.edit_note(ref, "whatever"),
    ):
        with pytest.raises(UsageError, match="note:1 was replaced by note:2"):
            change("note:1")
    assert memory.old.remember("use tabs", folder=SHOP).status == "superseded"
    assert memory.old.remember("use tabs", folder=SHOP, by="person").status == "active"


@pytest.mark.parametrize("ref", ["note:99", "99"])
def test_a_note_that_is_not_there_is_an_error(memory: Memory, ref: str) -> None:
    with pytest.raises(NotFound):
        memory.old.note(ref)


@pytest.mark.parametrize("ref", ["note:", "note:x", "codex:s1", "", "note:-1", "note:" + "9" * 40])
def test_what_is_no_reference_is_refused(memory: Memory, ref: str) -> None:
    with pytest.raises(UsageError, match="is not a note"):
        memory.old.note(ref)


@given(
    st.lists(st.from_regex(r"[A-Za-z0-9]+[+#]?", fullmatch=True)),
    st.lists(st.sampled_from([" ", ", ", ".\n", " — ", "/"])),
)
def test_texts_are_compared_by_their_words(words: list[str], between: list[str]) -> None:
    """Case, space and punctuation make no other fact."""
    spaced = "".join(
        f"{word}{gap}" for word, gap in zip(words, [*between, *" " * len(words)], strict=False)
    )

    assert compared(spaced.upper()) == compared(" ".join(words)) == " ".join(words).lower()


# Where it holds ---------------------------------------------------------------


def test_notes_of_a_project_come_with_those_that_hold_everywhere(memory: Memory) -> None:
    """And never with those of another project."""
    for text, folder in (("shop fact", SHOP), ("farm fact", FARM)):
        memory.old.remember(text, folder=folder)
    memory.old.remember("world fact", everywhere=True, by="person")

    def texts(**chosen: Any) -> list[str]:
        return [one.text for one in memory.old.notes(**chosen)]

    assert texts(folder=SHOP) == texts(project=SHOP) == ["world fact", "shop fact"]
    assert texts(folder="/home/ada/nowhere") == texts(everywhere=True) == ["world fact"]
    assert texts() == ["world fact", "farm fact", "shop fact"]
    assert texts(limit=1, status="candidate") == ["farm fact"]
    assert texts(status=["active", "rejected"]) == ["world fact"]
    assert texts(category="decision") == []
    with pytest.raises(NotFound):
        texts(project="/home/ada/nowhere")


def test_notes_follow_a_merge_and_come_back_with_a_split(memory: Memory) -> None:
    """A merge is a pointer, for notes as for turns.

    The same fact on both sides of it is the same.
    """
    memory.old.remember("shop fact", folder=SHOP)
    memory.old.remember("farm fact", folder=FARM)

    memory.projects.merge(FARM, SHOP)
    merged = memory.old.notes(project=SHOP)
    confirmed = memory.old.remember("farm fact", folder=SHOP)
    memory.projects.split(FARM)

    assert timeless(*merged) == [note(2, "farm fact"), note(1, "shop fact")]
    assert timeless(confirmed) == [note(2, "farm fact", seen=2)]
    assert timeless(*memory.old.notes(project=SHOP)) == [note(1, "shop fact")]
    assert timeless(*memory.old.notes(project=FARM)) == [note(2, "farm fact", project=FARM, seen=2)]


def test_a_note_is_in_the_project_that_the_sessions_of_its_folder_are_in(
    memory: Memory, filled: Filled
) -> None:
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one"))

    memory.old.remember("shop fact", folder=SHOP + "/")

    assert filled.db.rows("select key from projects") == [(SHOP,)]
    assert memory.summary().notes == 1


@pytest.mark.parametrize("change", ["remember", "accept_note", "reject_note", "edit_note"])
def test_whatever_agents_are_told_is_made_again_after_a_change(
    memory: Memory, filled: Filled, change: str
) -> None:
    """Packs are made of notes, and a correction has to reach them."""
    memory.old.remember("shop fact", folder=SHOP)
    filled.db.execute("delete from marks")

    if change == "remember":
        memory.old.remember("another", folder=SHOP)
    else:
        getattr(memory.old, change)("note:1", *["better"] if change == "edit_note" else [])

    assert filled.db.rows("select name from marks") == [("hook lines outdated",)]


# Secrets ----------------------------------------------------------------------


def test_secrets_do_not_get_into_notes_or_reasons(filled: Filled) -> None:
    """A note is read by every later session."""
    with Memory(Settings(str(filled.path.parent), str(filled.path), {})) as memory:
        kept = memory.old.remember(f"deploy with {KEY}", folder=SHOP)
        memory.old.give_feedback(kept.ref, False, reason=f"it names {KEY}")

    assert "REDACTED" in kept.text
    assert KEY not in repr(
        filled.db.rows("select * from old_notes") + filled.db.rows("select * from feedback")
    )


class Redactor:
    """Knows one secret."""

    def redact_all(self, texts: list[str]) -> list[str]:
        return [
            text.replace("hushword", "[REDACTED]") if "hushword" in text else text for text in texts
        ]


def test_scanning_again_takes_secrets_out_of_notes(memory: Memory, filled: Filled) -> None:
    """The table of secrets grows, and older notes have to follow."""
    memory.old.remember("log in with hushword", folder=SHOP)
    memory.old.give_feedback("note:1", True, reason="hushword worked")

    report = filled.store.rescan.run(Redactor())

    assert report.other_rows_changed == 2
    assert memory.old.note("note:1").text == "log in with [REDACTED]"
    assert b"hushword" not in filled.path.read_bytes()
    assert memory.old.remember("log in with [redacted]", folder=SHOP).ref == "note:1"


# Feedback ---------------------------------------------------------------------


def test_feedback_is_counted_for_sessions_turns_and_notes(memory: Memory, filled: Filled) -> None:
    """By whatever name the memory was mentioned."""
    filled.keep("a.jsonl", facts("abc"), *turn("abc", "k1", "one"))
    memory.old.remember("shop fact", folder=SHOP)

    memory.old.give_feedback("codex:abc#1", True)
    memory.old.give_feedback("abc#1", False, by="person", reason="it was about another shop")
    memory.old.give_feedback("codex:abc", False)
    memory.old.give_feedback("note:1", True)
    memory.old.give_feedback("note:1", True)

    assert [memory.old.feedback_of(ref) for ref in ("codex:abc#1", "codex:abc", "note:1")] == [
        (1, 1),
        (0, 1),
        (2, 0),
    ]
    assert filled.db.rows("select ref, helpful, author, reason from feedback")[1] == (
        "codex:abc#1", 0, "person", "it was about another shop",
    )  # fmt: skip


@pytest.mark.parametrize("ref", ["codex:nobody", "codex:abc#7", "note:7"])
def test_feedback_on_what_is_not_there_is_an_error(
    memory: Memory, filled: Filled, ref: str
) -> None:
    filled.keep("a.jsonl", facts("abc"), *turn("abc", "k1", "one"))

    with pytest.raises(NotFound):
        memory.old.give_feedback(ref, True)
    with pytest.raises(NotFound):
        memory.old.feedback_of(ref)
