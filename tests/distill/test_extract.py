"""From what was found in a session to notes: whose word it is, what it
confirms, and what it puts an end to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.distill.notes.extract import Candidate, Rules, keep
from recollect.model.digests import Digest
from recollect.model.old_notes import OldNote
from recollect.store.history import Passage
from recollect.system.clock import iso
from tests.builders.passages import REF, edit, passage, prompt, reply, run
from tests.builders.talks import DAY, SHOP, Said, Talks
from tests.store.conftest import START

BLOG = "/home/ada/blog"
DIGEST = Digest(session=REF, project=SHOP, title="", outcome="uncertain", summary="")
TABS, SPACES = "Use tabs instead of spaces", "Use spaces instead of tabs"


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    made = Talks(tmp_path)
    yield made
    made.close()


def long(*said: str | Said) -> list[str | Said]:
    """A conversation that is long enough for notes to be taken from it."""
    return [*said, *(Said(f"go on, part {number}", reply="ok") for number in range(12))]


def tell(talks: Talks, session: str, *said: str | Said, **known: Any) -> list[OldNote]:
    """Have a long conversation; all notes afterwards."""
    talks.tell(session, *long(*said), **known)
    list(talks.memory.digest_new())
    return talks.memory.old.notes()


def found(*passages: Passage) -> list[Candidate]:
    return Rules().extract(passages, DIGEST)


# The rules ---------------------------------------------------------------------


def test_what_people_state_and_what_tools_prove_is_found_with_its_turn() -> None:
    """A rule that a person states is their own word; a command that passed is proved."""
    turns = [
        passage(
            1,
            prompt("mend the cart. Never push to main."),
            run("uv run pytest", "3 passed"),
            reply("done"),
        ),
        passage(2, prompt("Let's use SQLite because it needs no server")),
    ]

    assert found(*turns) == [
        Candidate("constraint", "Never push to main", 0.9, f"{REF}#1", "user"),
        Candidate(
            "decision", "Let's use SQLite because it needs no server", 0.8, f"{REF}#2", "user"
        ),
        Candidate(
            "project", "To check work here, run `uv run pytest`", 0.8, f"{REF}#1", "tool-verified"
        ),
    ]


def test_a_correction_right_after_an_edit_is_surer() -> None:
    """Whoever looks at a change and says how it should have been means it."""
    rule = prompt("no, don't use mocks in tests")

    (plain,) = found(passage(1, prompt("go"), reply("ok")), passage(2, rule))
    (correcting,) = found(passage(1, prompt("go"), edit("a.py")), passage(2, rule))
    (after_failure,) = found(passage(1, prompt("go"), edit("a.py", ok=False)), passage(2, rule))

    assert (plain.confidence, correcting.confidence, after_failure.confidence) == pytest.approx(
        (0.7, 0.8, 0.7)
    )


def test_only_what_a_person_typed_and_did_not_take_back_is_their_word() -> None:
    """Sub-agents are told things by agents, and an undone turn was undone for a reason."""
    rule = prompt("Never push to main.")

    assert (
        found(
            passage(1, rule, author="agent"),
            passage(2, rule, author="system"),
            passage(3, rule, live=False),
        )
        == []
    )
    assert found(passage(1, reply("Never push to main."))) == []


# What becomes of it --------------------------------------------------------------


def test_a_fact_is_a_candidate_until_another_session_says_the_same(talks: Talks) -> None:
    """Nobody says a thing twice by mistake; then it is told to agents, with when it was said."""
    (first,) = tell(talks, "a", "Always run the tests before you commit.")
    (second,) = tell(talks, "b", "please run the tests before every commit", day=1)

    assert first == OldNote(
        ref="note:1", category="preference", text="Always run the tests before you commit",
        project=SHOP, status="candidate",
        trust="user", author="rules", confidence=0.9, session="codex:a", turn=1, seen=1,
        created_at=first.created_at,
        seen_at=iso(START), valid_from=None, valid_to=None, superseded_by=None,
    )  # fmt: skip
    assert (second.ref, second.text, second.status, second.seen) == (
        "note:1",
        first.text,
        "active",
        2,
    )
    assert (second.valid_from, second.seen_at) == (iso(START), iso(START + DAY))


def test_the_same_session_and_its_copies_are_one_witness(talks: Talks) -> None:
    """Resuming or forking a session copies what was said: that is still one moment."""
    tell(talks, "a", "Never push to main.", "never push to main")
    (note,) = tell(talks, "copy", "Never push to main.")

    assert note.status == "candidate"


def found_without_times(talks: Talks, session: str) -> OldNote:
    """The note that is kept of a session whose log tells no time."""
    talks.tell(session, f"{TABS} in all files")
    number = talks.store.db.value("select max(id) from sessions")
    (place,) = talks.store.digests.passages(number)
    place.at = None
    fact = Candidate("preference", TABS, 0.9, f"codex:{session}#1", "user")
    (note,) = keep(talks.store, [place], [fact], by="rules")
    return note


def test_a_note_from_a_log_without_times_has_none(talks: Talks) -> None:
    """It was not said in 1970, nor on the day when the log was imported."""
    note = found_without_times(talks, "a")

    assert (note.created_at, note.seen_at) == (None, None)


def test_sessions_without_times_are_not_copies_of_each_other(talks: Talks) -> None:
    """Nothing says that they tell of the same moment: they are two witnesses."""
    found_without_times(talks, "a")

    note = found_without_times(talks, "b")

    assert (note.status, note.seen, note.valid_from) == ("active", 2, None)


def test_a_person_may_accept_what_was_found(talks: Talks) -> None:
    """Then it counts at once, and finding it again only confirms it."""
    (note,) = tell(talks, "a", "Never push to main.")
    talks.memory.old.accept_note(note.ref)

    (again,) = tell(talks, "b", "never push to main", day=1)

    assert (again.status, again.trust, again.confidence, again.seen) == ("active", "user", 1.0, 2)


def test_a_newer_rule_supersedes_the_one_it_speaks_against(talks: Talks) -> None:
    """The old one is kept with the time it held, and is not told any more."""
    tell(talks, "a", f"{TABS}.")
    tell(talks, "b", f"{TABS}.", day=1)

    new, old = tell(talks, "c", f"{SPACES}.", day=2)

    assert (new.text, new.status, new.superseded_by) == (SPACES, "candidate", None)
    assert (old.text, old.status, old.superseded_by) == (TABS, "superseded", new.ref)
    assert (old.valid_from, old.valid_to) == (iso(START), iso(START + 2 * DAY))


def test_logs_may_arrive_in_any_order(talks: Talks) -> None:
    """What was said last holds, not what was imported last."""
    tell(talks, "new", f"{SPACES}.", day=2)
    notes = {note.text: note for note in tell(talks, "old", f"{TABS}.")}

    assert (notes[SPACES].status, notes[TABS].status) == ("candidate", "superseded")


def test_what_comes_back_into_use_is_news(talks: Talks) -> None:
    """People change their minds twice; the last word is what counts."""
    tell(talks, "a", f"{TABS}.")
    tell(talks, "b", f"{SPACES}.", day=1)

    notes = tell(talks, "c", f"{TABS}.", day=2)

    assert [(note.text, note.status) for note in notes] == [
        (TABS, "candidate"),
        (SPACES, "superseded"),
        (TABS, "superseded"),
    ]


def test_what_a_person_wrote_or_rejected_is_not_changed_by_what_is_found(talks: Talks) -> None:
    """Rules may be wrong; a person who took the trouble is asked before anything of theirs goes."""
    tell(talks, "a", "Never push to main.")
    talks.memory.old.reject_note("note:1")
    own = talks.memory.old.remember(TABS, project=SHOP, by="person")

    notes = {
        note.text: note for note in tell(talks, "b", "Never push to main.", f"{SPACES}.", day=1)
    }

    assert notes["Never push to main"].status == "rejected"
    assert (notes[TABS].ref, notes[TABS].status) == (own.ref, "active")


def test_a_fact_belongs_to_the_project_it_was_found_in(talks: Talks) -> None:
    """Only a person can say that something holds everywhere."""
    tell(talks, "a", "Never push to main.")
    notes = tell(talks, "b", "Never push to main.", project=BLOG, day=1)

    assert {(note.project, note.status, note.seen) for note in notes} == {
        (SHOP, "candidate", 1),
        (BLOG, "candidate", 1),
    }


@pytest.mark.parametrize(
    "text",
    [
        "Always use [REDACTED:github-token:0123abcd] here", "Use tabs [recalled: note:7]",
        "<recollect recalled by=hook>Use tabs",
        "...", "x" * 601, "a\0b",
    ],
)  # fmt: skip
def test_secrets_what_we_told_and_what_is_no_note_are_left_out(talks: Talks, text: str) -> None:
    """Whatever an extractor says; the others it found are kept all the same."""
    talks.tell("a", "hello")
    (number,) = talks.store.db.row("select id from sessions")
    passages = talks.store.digests.passages(number)
    given: Sequence[Candidate] = [
        Candidate("project", text, 0.5, "codex:a#1", "assistant"),
        Candidate("project", "Use tabs", 0.5, "codex:a#7", "assistant"),
        Candidate("project", "Use make", 0.5, "codex:a#1", "assistant"),
    ]

    kept = keep(talks.store, passages, given, by="model")

    assert [(note.text, note.author, note.trust) for note in kept] == [
        ("Use make", "model", "assistant")
    ]
    assert talks.memory.old.notes() == kept


def test_a_models_word_alone_never_becomes_active(talks: Talks) -> None:
    """However often it says so: an agent may have read it anywhere."""
    talks.tell("a", "hello").tell("b", "hello", day=1)
    for number, ref in talks.store.db.rows("select id, ref from sessions"):
        found = [Candidate("project", "Use make", 0.9, f"{ref}#1", "assistant")]
        keep(talks.store, talks.store.digests.passages(number), found, by="model")

    (note,) = talks.memory.old.notes()
    assert (note.status, note.seen) == ("candidate", 2)
