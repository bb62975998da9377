"""Notes are kept once, judged by people, found anew by stages, and follow their project."""

from __future__ import annotations

import pytest

from recollect.errors import NotFound, UsageError
from recollect.model.batch import ProjectIdentity
from recollect.model.notes import FoundNote
from recollect.store.sqlite.notes import Notes, hashed
from recollect.store.sqlite.projects import Projects
from tests.store.conftest import Filled, facts, turn

SHOP, FARM = "/home/ada/shop", "/home/ada/farm"


@pytest.fixture
def notes(filled: Filled) -> Notes:
    """A store with two projects and a session in the first."""
    filled.keep("one.jsonl", facts("s1"), *turn("s1", "a", "one"), *turn("s1", "b", "two"))
    with filled.db.transaction():
        for folder in (SHOP, FARM):
            Projects(filled.db).ensure(ProjectIdentity(folder, "directory"))
    return Notes(filled.db)


def found(
    text: str, key: str | None = None, *, turns: tuple[str, ...] = (), **known: object
) -> FoundNote:
    return FoundNote(
        key or text, text, "preference", "preferences", "user", "2026-09-02T07:28:06.109Z", turns
    )._replace(**known)


def own(notes: Notes, text: str, project: str | None = SHOP) -> str:
    return notes.add(text, project=project, category="preference", author="person").ref


def texts(notes: Notes, *, project: str = SHOP, **wanted: object) -> list[str]:
    return sorted(note.text for note in notes.search(project=project, **wanted))  # type: ignore[arg-type]


# People


def test_what_a_person_says_counts_at_once_and_what_others_say_waits(notes: Notes) -> None:
    """An agent's opinion is told when somebody stands behind it."""
    ours = notes.add("Use tabs", project=SHOP, category="preference", author="person")
    theirs = notes.add("Tests need the database", project=SHOP, category="project", author="agent")

    assert (ours.status, ours.trust, ours.section) == ("active", "user", "preferences")
    assert (theirs.status, theirs.trust, theirs.section) == ("candidate", "assistant", "decisions")


def test_the_same_words_in_a_project_are_one_note(notes: Notes) -> None:
    """Case and signs make no other fact; another project does."""
    first = notes.add("Use tabs.", project=SHOP, category="preference", author="agent")
    again = notes.add("use TABS", project=SHOP, category="preference", author="agent")
    elsewhere = notes.add("Use tabs", project=FARM, category="preference", author="agent")

    assert (again.ref, again.times, again.text) == (first.ref, 2, "Use tabs.")
    assert elsewhere.ref != first.ref


def test_what_an_agent_repeats_stays_rejected_until_a_person_says_it(notes: Notes) -> None:
    ref = notes.add("Use tabs", project=SHOP, category="preference", author="agent").ref
    notes.reject(ref)

    theirs = notes.add("Use tabs", project=SHOP, category="preference", author="agent")
    assert theirs.status == "rejected"

    ours = notes.add("Use tabs", project=SHOP, category="preference", author="person")
    assert (ours.ref, ours.status, ours.author) == (ref, "active", "person")


def test_an_edit_is_a_note_of_the_persons_that_replaces_the_old_one(notes: Notes) -> None:
    old = notes.add("Use npm", project=SHOP, category="constraint", author="agent").ref

    new = notes.edit(old, "Use pnpm")

    assert (new.author, new.status, new.category, new.replaces) == (
        "person", "active", "constraint", old,
    )  # fmt: skip
    assert (notes.get(old).status, notes.get(old).replaced_by) == ("retired", new.ref)
    with pytest.raises(UsageError, match="was replaced by"):
        notes.accept(old)


def test_every_decision_can_be_taken_back_step_by_step(notes: Notes) -> None:
    """Nothing that a person does to a note is final but forgetting it."""
    ref = notes.add("Use tabs", project=SHOP, category="preference", author="agent").ref
    notes.accept(ref)
    notes.pin(ref)
    notes.reject(ref)

    seen = []
    for _ in range(3):
        note = notes.undo(ref)
        assert note is not None
        seen.append((note.status, note.pinned, note.trust))

    assert seen == [
        ("active", True, "user"), ("active", False, "user"), ("candidate", False, "assistant"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="Nothing was done"):
        notes.undo(ref)
    assert [(one.action, one.undone) for one in notes.history(ref)] == [
        ("accepted", True), ("pinned", True), ("rejected", True),
    ]  # fmt: skip


@pytest.mark.parametrize("named", ["old", "new"])
def test_an_edit_is_taken_back_on_both_notes(notes: Notes, named: str) -> None:
    old = notes.add("Use npm", project=SHOP, category="preference", author="agent").ref
    new = notes.edit(old, "Use pnpm").ref

    notes.undo(old if named == "old" else new)

    assert (notes.get(old).status, notes.get(old).replaced_by) == ("candidate", None)
    with pytest.raises(NotFound):
        notes.get(new)


def test_taking_back_what_a_person_wrote_removes_it(notes: Notes) -> None:
    ref = own(notes, "Use tabs")

    assert notes.undo(ref) is None
    assert texts(notes) == []


def test_forgetting_takes_what_a_note_replaced_with_it(notes: Notes) -> None:
    old = own(notes, "the password is hidden in the garden")
    new = notes.edit(old, "the password is elsewhere").ref

    notes.forget(new)

    for ref in (old, new):
        with pytest.raises(NotFound):
            notes.get(ref)
    assert notes.db.rows("select * from note_changes") == []


def test_a_note_is_named_by_as_little_as_means_just_one(notes: Notes) -> None:
    ref = own(notes, "Use tabs")

    assert {notes.get(ref[: len("note:") + n]).ref for n in (4, 6, 8)} == {ref}
    assert notes.get(ref.removeprefix("note:").upper()).ref == ref
    for wrong in ("note:7", "abc", "note:!!!!", ""):
        with pytest.raises(UsageError, match="is not a note"):
            notes.get(wrong)


def test_the_same_note_has_the_same_name_in_every_store(notes: Notes) -> None:
    """What was said about it is found again after a new import."""
    before = own(notes, "Use tabs")
    notes.forget(before)

    assert own(notes, "Use tabs") == before


def test_lists_can_be_narrowed_and_come_in_pages(notes: Notes) -> None:
    for text in ("Use tabs", "Use uv", "Deploy on Mondays"):
        own(notes, text)
    own(notes, "Be brief", None)
    own(notes, "Use spaces", FARM)

    assert texts(notes, text="use") == ["Use tabs", "Use uv"]
    assert [note.text for note in notes.search(everywhere=True)] == ["Be brief"]
    page = notes.search(project=SHOP, limit=3)
    rest = notes.search(project=SHOP, limit=3, cursor=page.cursor)
    assert (page.total, len(page), len(rest), rest.cursor) == (4, 3, 1, None)
    assert len({note.ref for note in [*page, *rest]}) == 4


# Stages


def test_what_is_found_comes_in_changes_and_goes(notes: Notes) -> None:
    """A stage hands in all it finds; nobody keeps a list of what is new."""
    notes.bring_up_to_date(SHOP, [found("Use tabs", "indent"), found("Use uv")], "rules")
    notes.bring_up_to_date(SHOP, [found("Use tabs!", "indent", times=3)], "rules")

    (note,) = notes.search(project=SHOP)
    assert (note.text, note.times, note.author) == ("Use tabs!", 3, "rules")


def test_authors_do_not_remove_each_others_notes(notes: Notes) -> None:
    notes.bring_up_to_date(SHOP, [found("Use tabs")], "rules")
    notes.bring_up_to_date(SHOP, [found("Use uv", by="some-model")], "engine")
    notes.bring_up_to_date(SHOP, [], "rules")

    assert texts(notes) == ["Use uv"]


@pytest.mark.parametrize("said", ["Use tabs", "Indent with tabs"])
def test_what_a_person_rejected_does_not_come_back(notes: Notes, said: str) -> None:
    """Not in its own words, nor in others that the same finder knows it by."""
    notes.bring_up_to_date(SHOP, [found("Use tabs", "indent")], "rules")
    (note,) = notes.search(project=SHOP)
    notes.reject(note.ref)

    for _ in range(2):
        notes.bring_up_to_date(SHOP, [found(said, "indent")], "rules")

    assert texts(notes, statuses=["active"]) == []
    assert hashed("indent") in notes.blocked_keys(SHOP)


def test_what_a_person_said_better_stays_so(notes: Notes) -> None:
    notes.bring_up_to_date(SHOP, [found("Use npm", "packages")], "rules")
    (note,) = notes.search(project=SHOP)
    notes.edit(note.ref, "Use pnpm")

    notes.bring_up_to_date(SHOP, [found("Use npm again", "packages")], "rules")
    notes.bring_up_to_date(SHOP, [], "rules")

    assert texts(notes, statuses=["active"]) == ["Use pnpm"]


def test_what_a_person_accepted_keeps_its_words_and_stays(notes: Notes) -> None:
    notes.bring_up_to_date(SHOP, [found("Use tabs", "indent")], "rules")
    (note,) = notes.search(project=SHOP)
    notes.accept(note.ref)

    notes.bring_up_to_date(SHOP, [found("Tabs, please", "indent", times=4)], "rules")
    assert [(one.text, one.times) for one in notes.search(project=SHOP)] == [("Use tabs", 4)]

    notes.bring_up_to_date(SHOP, [], "rules")
    assert texts(notes) == ["Use tabs"]


def test_a_persons_note_is_confirmed_by_what_is_found(notes: Notes) -> None:
    ref = own(notes, "Use tabs")

    refs = notes.bring_up_to_date(
        SHOP, [found("use tabs.", "indent", turns=("codex:s1#1",), times=2)], "rules"
    )

    assert refs == {"indent": ref}
    assert (notes.get(ref).times, notes.get(ref).turns) == (2, ["codex:s1#1"])


def test_evidence_names_turns_newest_first_and_only_those_that_are_there(notes: Notes) -> None:
    turns = ("codex:s1#2", "codex:s1#1", "codex:gone#1", "nonsense")
    notes.bring_up_to_date(SHOP, [found("Use tabs", turns=turns)], "rules")

    (note,) = notes.search(project=SHOP)
    assert sorted(note.turns) == ["codex:s1#1", "codex:s1#2"]


def test_what_is_stale_is_kept_and_not_told(notes: Notes) -> None:
    """The branch may be checked out again tomorrow."""
    one = found("Run `make test`", "make")
    refs = notes.bring_up_to_date(SHOP, [one], "rules")
    notes.arrange(SHOP, [(refs["make"], True)])

    notes.bring_up_to_date(SHOP, [one._replace(stale="gone")], "rules")
    assert notes.in_memory(SHOP) == []
    assert [note.stale for note in notes.search(project=SHOP)] == ["gone"]

    notes.bring_up_to_date(SHOP, [one], "rules")
    assert [note.ref for note in notes.in_memory(SHOP)] == [refs["make"]]


def test_a_stale_line_that_was_never_told_is_not_kept(notes: Notes) -> None:
    notes.bring_up_to_date(SHOP, [found("Run `make test`", stale="gone")], "rules")

    assert texts(notes) == []


# Order


def test_a_memory_is_the_active_notes_in_the_order_given(notes: Notes) -> None:
    first, second, third = (own(notes, text) for text in ("one", "two", "three"))
    everywhere = own(notes, "be brief", None)
    notes.arrange(SHOP, [(everywhere, True), (second, True), (first, False), (third, False)])

    assert [(note.text, note.in_pack) for note in notes.in_memory(SHOP)] == [
        ("be brief", True), ("two", True), ("one", False), ("three", False),
    ]  # fmt: skip
    notes.reject(second)
    assert [note.text for note in notes.in_memory(SHOP)] == ["be brief", "one", "three"]
    assert notes.in_memory(FARM) == []


def test_the_block_stays_until_another_is_given(notes: Notes) -> None:
    notes.arrange(SHOP, [], pack_block=["Run most: `make`"], long_block=["a", "b"])
    notes.arrange(SHOP, [])

    block = notes.block(SHOP)
    assert (block.pack, block.long) == (["Run most: `make`"], ["a", "b"])


# What is out of date


def settle_all(notes: Notes) -> None:
    for one in notes.outdated():
        notes.settle(one)


def outdated(notes: Notes) -> list[str]:
    return [one.project for one in notes.outdated()]


def test_a_project_whose_sessions_grow_has_to_be_remembered_anew(
    notes: Notes, filled: Filled
) -> None:
    assert outdated(notes) == [SHOP]
    settle_all(notes)

    filled.keep("one.jsonl", facts("s1"), *turn("s1", "c", "three"))

    assert outdated(notes) == [SHOP]


def test_what_changes_meanwhile_is_left(notes: Notes, filled: Filled) -> None:
    (before,) = notes.outdated()
    filled.keep("one.jsonl", facts("s1"), *turn("s1", "c", "three"))
    notes.settle(before)

    assert outdated(notes) == [SHOP]


def test_what_holds_everywhere_outdates_every_memory(notes: Notes) -> None:
    for project in (SHOP, FARM):
        notes.arrange(project, [], pack_block=[])
    settle_all(notes)

    own(notes, "be brief", None)

    assert sorted(outdated(notes)) == [FARM, SHOP]


# Sessions that may not be told of


def test_what_was_found_in_a_session_goes_with_it(notes: Notes, filled: Filled) -> None:
    turns = ("codex:s1#1",)
    kept = found("Use uv", turns=turns)
    notes.bring_up_to_date(SHOP, [found("Use tabs", turns=turns), kept], "rules")
    (ref,) = [note.ref for note in notes.search(project=SHOP, text="uv")]
    notes.accept(ref)
    session = filled.db.value("select id from sessions")

    with filled.db.transaction():
        notes.unlearn([session], {(session, 1)})

    assert texts(notes) == ["Use uv"]


def test_of_what_was_rejected_only_the_key_outlives_its_session(
    notes: Notes, filled: Filled
) -> None:
    notes.bring_up_to_date(SHOP, [found("Use tabs", "indent", turns=("codex:s1#1",))], "rules")
    (note,) = notes.search(project=SHOP)
    notes.reject(note.ref)

    with filled.db.transaction():
        session = filled.db.value("select id from sessions")
        notes.unlearn([session], {(session, 1)})

    stored = filled.db.rows("select * from notes") + filled.db.rows("select * from note_changes")
    assert "tabs" not in str(stored)
    notes.bring_up_to_date(SHOP, [found("Use tabs", "indent")], "rules")
    assert texts(notes, statuses=["active"]) == []


def test_what_holds_for_the_machine_is_one_note_for_all_its_projects(notes: Notes) -> None:
    """Two projects that miss the same program need no two notes, and one rejection is enough."""
    missing = found("`rg` is not installed here", "missing rg")

    one = notes.bring_up_to_date(None, [missing], "rules")
    other = notes.bring_up_to_date(None, [missing._replace(text="`rg` is not there")], "rules")
    nobody = notes.bring_up_to_date(None, [], "rules")

    assert one == other
    assert nobody == {}
    assert notes.get(one["missing rg"]).project is None
    assert notes.get(one["missing rg"]).text == "`rg` is not there"


def test_what_holds_for_the_machine_goes_when_it_is_disproved_later(notes: Notes) -> None:
    missing = found("`rg` is not installed here", "missing rg")
    (ref,) = notes.bring_up_to_date(None, [missing], "rules").values()

    notes.bring_up_to_date(None, [], "rules", disproved={"missing rg": "2026-09-01T00:00:00Z"})
    assert notes.get(ref)

    notes.bring_up_to_date(None, [], "rules", disproved={"missing rg": "2026-09-03T00:00:00Z"})
    with pytest.raises(NotFound):
        notes.get(ref)
