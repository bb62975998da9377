"""Review: what a person decides about a pattern stays decided, and every step of it is kept."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.errors import NotFound, UsageError
from recollect.store import repair_store
from recollect.store.sqlite.old.sql import catalogue
from tests.builders.lessons import SENTENCE, Shop

OTHER = "`npm test` needs `npm ci` first"


def state(shop: Shop, pattern: str = "3f2a90") -> tuple[str, str]:
    """What counts about a pattern: its status and its words."""
    rows = shop.db.rows(
        """
        select patterns.status, sentence from patterns join pattern_versions one
            on one.pattern = patterns.id and one.version = patterns.version where id = ?
        """,
        (pattern,),
    )
    status, sentence = rows[0]
    return status, sentence


def steps(shop: Shop, pattern: str = "3f2a90") -> list[tuple[int, str, str, str]]:
    return [
        (one.version, one.status, one.author, one.why)
        for one in catalogue.history(shop.db, pattern)
    ]


def say(shop: Shop, sentence: str, sessions: int, pattern: str = "3f2a90") -> str:
    with shop.db.transaction():
        return catalogue.propose(shop.db, pattern, sentence, sessions)


def refs(shop: Shop) -> list[str]:
    return list(shop.sessions.values())


def test_rules_may_say_a_candidate_anew_as_often_as_they_like(shop: Shop) -> None:
    """Nobody has read it yet; a version for each import would bury the decisions."""
    shop.seen(refs(shop))

    say(shop, OTHER, 4)
    say(shop, "third words", 5)

    assert state(shop) == ("candidate", "third words")
    assert steps(shop) == [(1, "candidate", "rules", "")]


def test_every_decision_is_kept_with_who_and_why(shop: Shop) -> None:
    """Somebody will ask in a year why this stands in AGENTS.md."""
    shop.seen(refs(shop))

    catalogue.accept(shop.db, "3f2a90", "seen it myself")
    catalogue.edit(shop.db, "3f2a90", OTHER, "shorter")
    catalogue.retire(shop.db, "3f2a90", "we use pnpm now")

    assert steps(shop) == [
        (1, "candidate", "rules", ""),
        (2, "accepted", "person", "seen it myself"),
        (3, "accepted", "person", "shorter"),
        (4, "retired", "person", "we use pnpm now"),
    ]
    assert [one.sentence for one in catalogue.history(shop.db, "3f2a90")] == [
        SENTENCE,
        SENTENCE,
        OTHER,
        OTHER,
    ]
    assert [one.sessions for one in catalogue.history(shop.db, "3f2a90")] == [3, 3, 3, 3]


def test_what_a_person_accepted_is_never_rewritten(shop: Shop) -> None:
    """It may stand in files by now. Other words are proposed, and wait."""
    shop.seen(refs(shop))
    catalogue.accept(shop.db, "3f2a90", "")

    assert say(shop, OTHER, 4) == "accepted"

    assert state(shop) == ("accepted", SENTENCE)
    assert catalogue.proposed_words(shop.db) == {"3f2a90": OTHER}
    catalogue.accept(shop.db, "3f2a90", "better")
    assert state(shop) == ("accepted", OTHER)
    assert catalogue.proposed_words(shop.db) == {}


def test_a_proposal_that_was_refused_is_not_made_again_until_the_evidence_doubles(
    shop: Shop,
) -> None:
    """A person who said no once is not asked at every import."""
    shop.seen(refs(shop))
    catalogue.accept(shop.db, "3f2a90", "")
    say(shop, OTHER, 3)

    catalogue.reject(shop.db, "3f2a90", "says less")
    say(shop, OTHER, 5)

    assert state(shop) == ("accepted", SENTENCE)
    assert catalogue.proposed_words(shop.db) == {}
    say(shop, OTHER, 6)
    assert catalogue.proposed_words(shop.db) == {"3f2a90": OTHER}


def test_a_proposal_goes_when_the_rules_come_back_to_what_was_accepted(shop: Shop) -> None:
    """There is nothing left to decide."""
    shop.seen(refs(shop))
    catalogue.accept(shop.db, "3f2a90", "")

    say(shop, OTHER, 4)
    say(shop, SENTENCE, 5)

    assert catalogue.proposed_words(shop.db) == {}
    assert steps(shop)[-1] == (2, "accepted", "person", "")


def test_the_rules_do_not_argue_with_a_persons_words(shop: Shop) -> None:
    """They would propose at every import what the person has replaced."""
    shop.seen(refs(shop))
    catalogue.edit(shop.db, "3f2a90", "Run `npm ci` before the tests", "")

    say(shop, SENTENCE, 4)

    assert state(shop) == ("accepted", "Run `npm ci` before the tests")
    assert catalogue.proposed_words(shop.db) == {}


def test_what_was_rejected_stays_so_until_twice_as_many_sessions_speak_for_it(shop: Shop) -> None:
    """And then it comes back as a candidate, which a person decides about again."""
    shop.seen(refs(shop))
    catalogue.reject(shop.db, "3f2a90", "a coincidence")

    assert say(shop, SENTENCE, 5) == "rejected"
    assert say(shop, SENTENCE, 6) == "candidate"

    assert steps(shop)[-1] == (
        3,
        "candidate",
        "rules",
        "6 sessions speak for it, and 3 did when it was rejected",
    )


def test_what_was_retired_comes_back_only_when_a_person_says_so(shop: Shop) -> None:
    """However often it is seen."""
    shop.seen(refs(shop))
    catalogue.accept(shop.db, "3f2a90", "")
    catalogue.retire(shop.db, "3f2a90", "")

    assert say(shop, OTHER, 100) == "retired"
    catalogue.accept(shop.db, "3f2a90", "we are back to npm")

    assert state(shop) == ("accepted", SENTENCE)


def test_deciding_the_same_twice_changes_nothing(shop: Shop) -> None:
    """Scripts repeat themselves."""
    shop.seen(refs(shop))
    for decide in (catalogue.accept, catalogue.retire):
        decide(shop.db, "3f2a90", "once")
        before = steps(shop)

        decide(shop.db, "3f2a90", "twice")

        assert steps(shop) == before


@pytest.mark.parametrize(
    ("first", "second", "message", "hint"),
    [
        (
            catalogue.accept,
            catalogue.reject,
            "is accepted, and there are no new words to accept",
            "To stop using it: recollect patterns retire 3f2a90",
        ),
        (
            None,
            catalogue.retire,
            "is candidate; only an accepted pattern can be retired.",
            "If it is wrong: recollect patterns reject 3f2a90",
        ),
        (
            catalogue.reject,
            catalogue.retire,
            "is rejected; only an accepted pattern can be retired.",
            "See them: recollect patterns list",
        ),
    ],
)
def test_a_decision_that_makes_no_sense_says_what_would(
    shop: Shop, first, second, message: str, hint: str
) -> None:  # type: ignore[no-untyped-def]
    """And changes nothing."""
    shop.seen(refs(shop))
    if first:
        first(shop.db, "3f2a90", "")
    before = steps(shop)

    with pytest.raises(UsageError, match=message) as refused:
        second(shop.db, "3f2a90", "")

    assert refused.value.hint.startswith(hint)
    assert steps(shop) == before


def test_as_much_of_an_id_as_is_enough_means_the_pattern(shop: Shop) -> None:
    """Nobody types sixteen digits."""
    for id in ("3f2a90", "3f2b17", "e0"):
        shop.seen(refs(shop), id=id, signature=id)

    assert [
        catalogue.get_id(shop.db, ref) for ref in ("3f2a", "pattern:3f2b", "e0", "pattern:e")
    ] == [
        "3f2a90",
        "3f2b17",
        "e0",
        "e0",
    ]
    with pytest.raises(UsageError, match="Several patterns begin with 3f2"):
        catalogue.get_id(shop.db, "3f2")
    for unknown in ("zz", "%", "pattern:_"):
        with pytest.raises(NotFound, match="There is no pattern"):
            catalogue.get_id(shop.db, unknown)
    with pytest.raises(UsageError, match="is not a pattern"):
        catalogue.get_id(shop.db, "pattern:")


WORDS = st.sampled_from(["one", "two", "three"])
ACTIONS = st.one_of(
    st.tuples(st.just("say"), WORDS, st.integers(1, 12)),
    st.tuples(st.sampled_from(["accept", "reject", "retire"])),
    st.tuples(st.just("edit"), WORDS),
    st.tuples(st.sampled_from(["publish", "withdraw"])),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(ACTIONS, max_size=12))
def test_only_a_person_makes_or_changes_what_is_accepted(
    shop: Shop, actions: list[tuple[object, ...]]
) -> None:
    """Whatever rules, people and publishing do in whatever order: accepted words
    are words that a person decided about.
    """
    shop.db.execute("delete from patterns")
    shop.seen(refs(shop)[:1])
    for name, *values in actions:
        before = state(shop)
        try:
            if name == "say":
                say(shop, *values)  # type: ignore[arg-type]
            elif name == "edit":
                catalogue.edit(shop.db, "3f2a90", *values, "")  # type: ignore[arg-type]
            elif name in ("publish", "withdraw"):
                with shop.db.transaction():
                    both = (["3f2a90"], []) if name == "publish" else ([], ["3f2a90"])
                    catalogue.mark_published(shop.db, *both, "AGENTS.md")
            else:
                getattr(catalogue, str(name))(shop.db, "3f2a90", "")
        except UsageError:
            assert state(shop) == before

        if name in ("say", "publish", "withdraw") and before[0] in ("accepted", "published"):
            assert state(shop)[1] == before[1]
            assert state(shop)[0] in ("accepted", "published")
        if name == "say":
            assert (state(shop)[0] in ("accepted", "published")) == (
                before[0] in ("accepted", "published")
            )
        versions = [one.version for one in catalogue.history(shop.db, "3f2a90")]
        assert versions == list(range(1, len(versions) + 1))


def test_decisions_survive_a_repair(shop: Shop) -> None:
    """No log can tell them again; what they rest on is found again in the logs' sessions."""
    shop.seen(refs(shop))
    catalogue.accept(shop.db, "3f2a90", "seen it myself")
    shop.seen(refs(shop), "A candidate", id="e0", signature="x")
    before = (state(shop), steps(shop), state(shop, "e0"))
    shop.filled.store.close()
    data = bytearray(shop.filled.path.read_bytes())
    data[:16] = bytes(16)
    shop.filled.path.write_bytes(data)

    repair_store(str(shop.filled.path))

    shop.filled.reopen()
    assert (state(shop), steps(shop), state(shop, "e0")) == before


def test_what_was_decided_about_words_that_are_lost_is_dropped_by_a_repair(shop: Shop) -> None:
    """A status without words means nothing, and words without a pattern belong nowhere."""
    shop.seen(refs(shop))
    shop.seen(refs(shop), "Another", id="e0", signature="x")
    shop.db.execute("pragma foreign_keys = off")
    shop.db.execute("delete from pattern_versions where pattern = '3f2a90'")
    shop.db.execute("delete from patterns where id = 'e0'")
    shop.filled.store.close()
    data = bytearray(shop.filled.path.read_bytes())
    data[:16] = bytes(16)
    shop.filled.path.write_bytes(data)

    repair_store(str(shop.filled.path))

    shop.filled.reopen()
    assert [
        shop.db.rows(f"select * from {table}") for table in ("patterns", "pattern_versions")
    ] == [[], []]
