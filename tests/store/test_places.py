"""Where turns happened: what ranking needs to know of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect.model.search import Place, Query, Scope
from recollect.recall.query import parse
from tests.builders.talks import Said, Talks
from tests.store.conftest import START

EVERYTHING = Scope(Query(), {})


@pytest.fixture
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    made = Talks(tmp_path_factory.mktemp("places"))
    made.tell("a", *[f"turn {number}" for number in range(1, 8)], project="/home/ada/shop", day=1)
    made.tell(
        "b",
        "one",
        Said("two", author="agent"),
        "three",
        project="/srv/shop",
        origin="subagent",
        agent="claude-code",
    )
    yield made
    made.close()


def known(place: Place) -> tuple[object, ...]:
    return tuple(getattr(place, name) for name in Place.__slots__)


def names(places: dict[int, Place]) -> list[str]:
    return sorted(place.ref.partition(":")[2] for place in places.values())


def test_a_place_has_all_that_rank_depends_on(talks: Talks) -> None:
    """Read in one statement for all candidates."""
    found = talks.store.turns.places([9, 1, 77])

    assert sorted(found) == [1, 9]
    assert known(found[9]) == known(
        Place(
            turn=9, session=2, session_ref="claude-code:b", agent="claude-code", ordinal=2,
            at=START + 60_000,
            project="/srv/shop", origin="subagent", live=1, key="b-1", author="agent", prompt="two",
        )
    )  # fmt: skip
    assert found[9].ref == "claude-code:b#2"
    assert talks.store.turns.places([]) == {}


def test_a_place_without_a_time_has_that_of_its_session(talks: Talks) -> None:
    """Better than none: recency and filters by time need one."""
    talks.filled.db.execute("update turns set started_at = null where id = 1")

    assert talks.store.turns.places([1])[1].at == START


def test_more_turns_can_be_asked_for_than_a_statement_takes(talks: Talks) -> None:
    """SQLite takes 32,766 values."""
    assert len(talks.store.turns.places(range(100_000))) == 10


def test_a_merged_project_has_the_name_of_the_other(talks: Talks) -> None:
    """Lifting one's own project means all of it."""
    talks.store.projects.merge("/srv/shop", "/home/ada/shop")

    assert {place.project for place in talks.store.turns.places([1, 8]).values()} == {
        "/home/ada/shop"
    }
    assert talks.store.projects.find(["/srv/shop"]) == "/home/ada/shop"


def test_neighbours_are_near_in_the_same_session(talks: Talks) -> None:
    """Those asked about are among them."""
    around = talks.store.turns.places([4, 8])

    assert names(talks.store.turns.neighbours([around[4]], 1, EVERYTHING)) == ["a#3", "a#4", "a#5"]
    assert names(talks.store.turns.neighbours(list(around.values()), 2, EVERYTHING)) == [
        "a#2", "a#3", "a#4", "a#5", "a#6", "b#1", "b#2", "b#3",
    ]  # fmt: skip
    assert talks.store.turns.neighbours([], 2, EVERYTHING) == {}


def test_neighbours_pass_the_filters_too(talks: Talks) -> None:
    """What was left out must not come back as somebody's neighbour."""
    around = list(talks.store.turns.places([9]).values())

    assert names(talks.store.turns.neighbours(around, 2, Scope(parse("is:human -three"), {}))) == [
        "b#1"
    ]


def test_the_newest_turns_come_first(talks: Talks) -> None:
    """A day later is newer; of the same moment, what was stored later."""
    newest = [place.ref for place in talks.store.turns.newest(EVERYTHING, limit=8)]
    rest = [place.ref for place in talks.store.turns.newest(EVERYTHING, limit=8, offset=7)]
    of_b = [
        place.at for place in talks.store.turns.newest(Scope(parse("agent:claude"), {}), limit=8)
    ]

    assert newest == [*(f"codex:a#{number}" for number in range(7, 0, -1)), "claude-code:b#3"]
    assert rest == [f"claude-code:b#{number}" for number in (3, 2, 1)]
    assert of_b == [START + minute * 60_000 for minute in (2, 1, 0)]


def test_a_project_is_found_by_the_first_name_that_is_known(talks: Talks) -> None:
    """A folder is given with all it is in, the innermost first."""
    assert (
        talks.store.projects.find(["/home/ada/shop/src", "/home/ada/shop", "/srv/shop"])
        == "/home/ada/shop"
    )
    assert talks.store.projects.find(["/home/ada", "/home"]) is None
    assert talks.store.projects.find([]) is None


def test_the_last_turn_is_a_number(talks: Talks) -> None:
    """A cursor remembers it."""
    assert talks.store.turns.last() == 10
