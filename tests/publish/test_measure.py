"""Measuring: what was offered and used is counted, before and after compared,
and too little data is said to be that.
"""

from __future__ import annotations

import pytest

from recollect.errors import NotFound, UsageError
from recollect.model.publications import Measured, Share
from recollect.publish.measure import measure
from recollect.store.sqlite.old.sql import catalogue, prepared
from tests.builders.lessons import Shop

PATTERN = "pattern:3f2a90"


def accepted(shop: Shop, seen_in: list[str], *, day: float, **more: object) -> None:
    """A pattern that was seen in these sessions, and accepted so many days after the first."""
    pattern = shop.seen(seen_in, **more)  # type: ignore[arg-type]
    catalogue.accept(shop.db, pattern, "")
    shop.accepted_at(pattern, day)


def sessions(shop: Shop, count: int, *, first: int, day: float) -> list[str]:
    """So many sessions from a day on, an hour apart."""
    return [shop.session(f"s{first + place}", day=day + place / 24) for place in range(count)]


def one(shop: Shop, ref: str = PATTERN) -> Measured:
    (row,) = measure(shop.filled.store, ref)
    return row


def test_a_failure_that_came_back_less_often_is_seen_to(shop: Shop) -> None:
    """12 of 40 before, 1 of 40 after: the interval of the change leaves 0 out."""
    before, after = sessions(shop, 40, first=0, day=10), sessions(shop, 40, first=40, day=30)
    accepted(shop, [*before[:12], after[0]], day=20, kind="failure", went_well=False)

    row = one(shop)

    assert row.before is not None
    assert row.after is not None
    assert (row.before.sessions.count, row.before.sessions.of) == (12, 43)
    assert (row.after.sessions.count, row.after.sessions.of) == (1, 40)
    assert row.change == pytest.approx(1 / 40 - 12 / 43)
    assert row.change_low is not None
    assert row.change_high is not None
    assert row.change_low < row.change < row.change_high < 0
    assert (row.enough, row.wanted) == (True, "fewer")
    assert row.verdict == "seen less often since (-25.4 sessions in 100), which is good"


def test_more_of_what_works_is_good_and_more_of_a_failure_is_bad(shop: Shop) -> None:
    """The same numbers mean the opposite for the two."""
    before, after = sessions(shop, 30, first=0, day=10), sessions(shop, 30, first=40, day=30)
    accepted(shop, [before[0], *after[:20]], day=20, kind="failure", went_well=False)
    accepted(
        shop, [before[0], *after[:20]], day=20, id="e0", kind="tool_sequence", signature="make"
    )

    assert one(shop).verdict.endswith("which is bad")
    assert one(shop, "pattern:e0").verdict.endswith("which is good")


def test_a_change_that_chance_explains_is_none(shop: Shop) -> None:
    """5 of 30 and 3 of 30 say nothing."""
    before, after = sessions(shop, 30, first=0, day=10), sessions(shop, 30, first=40, day=30)
    accepted(shop, [*before[:5], *after[:3]], day=20)

    assert one(shop).verdict == "no clear change (-5.2 sessions in 100)"


def test_too_few_sessions_are_not_enough_data(shop: Shop) -> None:
    """Counts are shown, shares are not."""
    before, after = sessions(shop, 30, first=0, day=10), sessions(shop, 19, first=40, day=30)
    accepted(shop, [*before[:5], *after[:3]], day=20)

    row = one(shop)

    assert row.after is not None
    assert row.after.sessions == Share(count=3, of=19)
    assert (row.change, row.enough) == (None, False)
    assert row.verdict == "not enough data: before and after take 20 sessions each"


def test_what_is_published_counts_from_then_on(shop: Shop) -> None:
    """Until it stood in a file, no agent could read it."""
    (first, *_) = sessions(shop, 3, first=0, day=10)
    accepted(shop, [first], day=5)
    assert one(shop).since == "2026-01-06T09:00:00.000Z"
    with shop.db.transaction():
        catalogue.mark_published(shop.db, ["3f2a90"], [], "AGENTS.md")
    shop.db.execute("update pattern_versions set at = at + 86400000 where status = 'published'")

    assert one(shop).since != "2026-01-06T09:00:00.000Z"


def test_other_projects_do_not_count(shop: Shop, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """They could not have met it."""
    (tmp_path / "other").mkdir()
    for place in range(30):
        shop.session(f"o{place}", day=30, folder=tmp_path / "other")
    accepted(shop, list(shop.sessions.values())[:3], day=20)

    row = one(shop)

    assert row.before is not None
    assert row.after is not None
    assert (row.before.sessions.of, row.after.sessions.of) == (3, 0)


def test_the_tasks_it_came_up_in_are_compared(shop: Shop) -> None:
    """How they went and what they took; tasks it did not come up in say nothing about it."""
    before, after = sessions(shop, 25, first=0, day=10), sessions(shop, 25, first=40, day=30)
    accepted(shop, [*before[:12], *after[:12]], day=20)
    for place, ref in enumerate(before):
        shop.came_to(ref, "fail" if place < 9 else "success", tokens=8_000, seconds=600)
    for place, ref in enumerate(after):
        shop.came_to(ref, "success" if place < 11 else "uncertain", tokens=2_000, seconds=120)

    row = one(shop)

    assert row.before is not None
    assert row.after is not None
    assert (row.before.success.count, row.before.success.of) == (3, 12)
    assert (row.after.success.count, row.after.success.of) == (11, 11)
    assert [round(side.tokens.typical or 0) for side in (row.before, row.after)] == [8_000, 2_000]
    assert [round(side.seconds.typical or 0) for side in (row.before, row.after)] == [600, 120]
    assert [side.tokens.of for side in (row.before, row.after)] == [12, 12]


def test_what_was_offered_opened_and_used_is_counted(shop: Shop) -> None:
    """Opening is no offer; using is to name it, or to do what it says
    with success, after it was offered.
    """
    a, b, c = shop.sessions.values()
    named = shop.session("d", day=4, reply="As pattern:3f2a90 says, `npm ci` first.")
    other = shop.session("e", day=5, reply="pattern:3f2a901 is another, and so is pattern:3f2a.")
    accepted(shop, [a, b, c], day=3)
    for ref in (a, b, named, other):
        shop.offered(f"{PATTERN} note:9", ref)
    shop.offered(PATTERN, a, event="get", after_minutes=5)

    row = one(shop)

    assert (row.offered, row.offered_sessions, row.opened) == (4, 4, 1)
    assert row.cited == 3, "a and b did what it says, d names it; c was not offered it"
    assert (row.helpful, row.harmful, row.came_back) == (2, 0, 0)


def test_a_failure_that_comes_back_right_after_it_was_offered_counts_as_harm(shop: Shop) -> None:
    """Not one from before, nor one from much later."""
    a, b, c = shop.sessions.values()
    accepted(shop, [a], day=1, kind="failure", went_well=False, after_minutes=10)
    accepted(shop, [b], day=1, kind="failure", went_well=False, after_minutes=120)
    accepted(shop, [c], day=1, kind="failure", went_well=False, after_minutes=10)
    for ref, minutes in ((a, 0), (a, 1), (b, 0), (c, 20)):
        shop.offered(PATTERN, ref, after_minutes=minutes)

    row = one(shop)

    assert (row.came_back, row.helpful, row.harmful, row.retire) == (1, 0, 1, False)


def test_what_is_offered_with_a_prompt_is_offered_before_what_follows_it(shop: Shop) -> None:
    """A turn begins with the prompt, and the hook answers a moment later."""
    a, b, _ = shop.sessions.values()
    accepted(shop, [a, b], day=1, kind="failure", went_well=False, after_minutes=10)
    shop.offered(PATTERN, a, after_minutes=10 + 2 / 60, event="UserPromptSubmit")
    shop.offered(PATTERN, b, after_minutes=10 + 20 / 60, event="UserPromptSubmit")

    assert one(shop).came_back == 1


def test_what_harms_more_than_it_helps_is_not_told_and_should_be_retired(shop: Shop) -> None:
    """By three, so that one bad afternoon decides nothing."""
    accepted(shop, list(shop.sessions.values()), day=1)
    with shop.memory() as memory:
        memory.old.remember("Use tabs here", by="person", folder=str(shop.folder))
        told = prepared.trusted_notes(shop.db, shop.number)
        assert [ref for ref, *_ in told] == ["note:1", PATTERN]

        for _ in range(3):
            memory.old.give_feedback("pattern:3f2a", False, reason="wrong here")
            memory.old.give_feedback("note:1", False)

        assert prepared.trusted_notes(shop.db, shop.number) == []
        memory.old.give_feedback("note:1", True)
        assert [ref for ref, *_ in prepared.trusted_notes(shop.db, shop.number)] == ["note:1"]
    row = one(shop)
    assert (row.harmful, row.retire) == (3, True)
    assert (
        row.verdict
        == "harmful 3 times and helpful 0: it is not told any more, and should be retired"
    )


def test_what_helped_is_told_first(shop: Shop) -> None:
    """There is room for ten."""
    with shop.memory() as memory:
        for text in ("one", "two", "three"):
            memory.old.remember(f"Rule {text}", by="person", folder=str(shop.folder))
        memory.old.give_feedback("note:2", True)
        memory.old.give_feedback("note:3", False)

    assert [ref for ref, *_ in prepared.trusted_notes(shop.db, shop.number)] == [
        "note:2",
        "note:1",
        "note:3",
    ]


def test_accepted_patterns_are_told_where_they_were_seen(shop: Shop, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Candidates are not, and neither is anything in other projects."""
    (tmp_path / "other").mkdir()
    accepted(shop, list(shop.sessions.values()), day=1)
    shop.seen(list(shop.sessions.values()), "A candidate", id="e0", signature="x")
    shop.session("o", folder=tmp_path / "other")
    other = int(shop.db.value("select id from projects where key = ?", (str(tmp_path / "other"),)))

    with shop.memory() as memory:
        pack = memory.recall(folder=str(shop.folder))

    assert "`npm test` fails with ENOENT until `npm ci` has run" in pack.text
    assert "A candidate" not in pack.text
    assert prepared.trusted_notes(shop.db, other) == []


def test_a_note_is_measured_without_a_failure_to_count(shop: Shop) -> None:
    """Offered and used are counted; there is no one thing that could come back."""
    with shop.memory() as memory:
        memory.old.remember("Use tabs here", by="person", folder=str(shop.folder))
    a, *_ = shop.sessions.values()
    shop.offered("note:1", a)

    row = one(shop, "note:1")

    assert (row.ref, row.kind, row.offered, row.wanted, row.change) == (
        "note:1",
        "project",
        1,
        None,
        None,
    )
    assert (
        row.verdict
        == "a note is about no one failure, so there is nothing to count before and after"
    )


def test_all_of_them_are_measured_without_a_name(shop: Shop) -> None:
    """Candidates are not in use, and what was rejected never was, so
    there is nothing to measure of them.
    """
    refs = list(shop.sessions.values())
    accepted(shop, refs, day=1)
    catalogue.reject(shop.db, shop.seen(refs, "Wrong", id="e1", signature="y"), "")
    shop.seen(refs, "A candidate", id="e0", signature="x")
    with shop.memory() as memory:
        memory.old.remember("Use tabs here", by="person", folder=str(shop.folder))
        memory.old.remember("An agent's idea", by="agent", folder=str(shop.folder))

    assert [row.ref for row in measure(shop.filled.store)] == [PATTERN, "note:1"]


def test_what_cannot_be_measured_says_so(shop: Shop) -> None:
    """A slip of the finger, or a turn."""
    with pytest.raises(NotFound, match="There is no note:7"):
        one(shop, "note:7")
    with pytest.raises(NotFound, match='There is no pattern "zz"'):
        one(shop, "zz")
    with pytest.raises(UsageError, match="is a turn"):
        one(shop, "codex:a#1")
