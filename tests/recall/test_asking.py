"""From a typed query to an answer: modes, pages, and what is said besides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.recall.asking import with_those_above
from recollect.system.clock import now_ms
from tests.builders.talks import DAY, Talks, names
from tests.encoders import WordEncoder
from tests.store.conftest import START


@pytest.fixture
def told(talks: Talks) -> Talks:
    return talks.tell(
        "a", *[f"the lock timeout of worker {number}" for number in range(30)], "paint it blue"
    )


def test_a_mode_that_there_is_not_is_refused(told: Talks) -> None:
    """With those that there are."""
    with pytest.raises(UsageError) as refused:
        told.memory.search("lock", mode="fuzzy")

    assert (str(refused.value), refused.value.hint) == (
        'There is no mode "fuzzy".',
        "Choose hybrid, text, vector.",
    )


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_without_vectors_it_is_a_search_by_words_and_says_so(told: Talks, mode: str) -> None:
    """The best text answer, not an error and not a poorer one."""
    by_words = told.memory.search("lock timeout", mode="text")

    found = told.memory.search("lock timeout", mode=mode)

    assert found.hits == by_words.hits
    assert (found.mode, found.unembedded, by_words.remarks) == ("text", 31, [])
    assert [remark.partition(".")[0] for remark in found.remarks] == ["Searched by word only"]


def test_an_answer_says_how_many_turns_are_not_embedded_yet(told: Talks) -> None:
    """Those are found by words in the meantime."""
    told.embed().tell("b", "the lock is painted blue", "a new one")

    found = told.memory.search("lock painted", limit=100)

    assert (found.mode, found.unembedded, found.remarks) == ("hybrid", 2, [])
    assert dict(zip(names(found), (hit.matched for hit in found), strict=True))["b1"] == "text"


def test_vectors_of_another_encoder_are_not_used(told: Talks) -> None:
    """The setting was changed and nothing was embedded since."""
    told.embed()
    told.memory._shared._encoder = WordEncoder()

    found = told.memory.search("lock timeout")

    assert found.mode == "text"
    assert found.remarks == [
        "Searched by word only. "
        "The stored vectors are from static:recollect-static-256, not words. "
        "To make them again: recollect jobs run embed"
    ]


def test_filters_alone_need_no_vectors(told: Talks) -> None:
    """And nobody is told about them."""
    found = told.memory.search("agent:codex")

    assert (found.remarks, found.unembedded, len(found)) == ([], 0, 10)


# Cursors


def test_a_cursor_asks_for_the_page_after(told: Talks) -> None:
    """The last page has none."""
    first = told.memory.search("lock", limit=20)
    second = told.memory.search("lock", limit=20, cursor=first.cursor)

    assert (len(first), first.more, len(second), second.more, second.cursor) == (
        20,
        True,
        10,
        False,
        None,
    )
    assert not set(names(first)) & set(names(second))


@pytest.mark.parametrize(
    "other",
    [
        {"text": "timeout"}, {"text": "lock agent:codex"}, {"text": '"lock"'}, {"text": "lock*"},
        {"text": "-lock"},
        {"mode": "text"}, {"agent": "codex"},
    ],
)  # fmt: skip
def test_a_cursor_belongs_to_its_search(told: Talks, other: dict[str, str]) -> None:
    """Another search's page would be a page of nothing that anybody asked for."""
    cursor = told.memory.search("lock", limit=5).cursor

    with pytest.raises(UsageError, match="belongs to another search") as refused:
        told.memory.search(**{"text": "lock", "cursor": cursor, **other})  # type: ignore[arg-type]

    assert refused.value.hint


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """A store that nothing here writes to."""
    made = Talks(tmp_path_factory.mktemp("some")).tell("a", "lock one", "lock two", "lock three")
    yield made
    made.close()


@given(st.text(max_size=60) | st.from_regex(r"\A\d{1,40}\.\d{1,40}\.[0-9a-f]{0,8}\Z"))
def test_what_is_no_cursor_is_refused(some: Talks, cursor: str) -> None:
    """Cut off while copying, or made up."""
    with pytest.raises(UsageError) as refused:
        some.memory.search("lock", cursor=cursor)

    assert refused.value.hint


@pytest.mark.parametrize("text", ["lock", "agent:codex"])
@pytest.mark.parametrize(
    "numbers", [f"{10**40}.3", f"1.{10**40}", f"{10**19}.{10**19}", "-1.3", "1.-3", "1"]
)
def test_numbers_that_no_store_has_are_no_cursor(some: Talks, text: str, numbers: str) -> None:
    """SQLite stops at 64 bits."""
    cursor = some.memory.search(text, limit=1).cursor
    assert cursor is not None
    stamp = cursor.rpartition(".")[2]

    with pytest.raises(UsageError, match="is not a cursor"):
        some.memory.search(text, cursor=f"{numbers}.{stamp}")
    assert some.memory.search(text, cursor=f"999999.999999.{stamp}").hits == []


# Where somebody is


@pytest.mark.parametrize("folder", ["/home/ada/shop/src", "/home", "/", "relative/path", ""])
def test_a_folder_is_given_with_all_it_is_in(folder: str) -> None:
    """The innermost first, and it comes to an end."""
    found = with_those_above(folder)

    assert found[0] == folder
    assert [str(Path(one).parent) for one in found[:-1] if one] == [one or "." for one in found[1:]]


# A ready vector


def test_the_vectors_of_a_turn_can_be_had(told: Talks) -> None:
    """For those who compare turns elsewhere; a turn that waits has none yet."""
    ref = told.memory.search("paint it blue", mode="text", limit=1).hits[0].ref
    assert told.memory.vectors(ref) == []
    told.embed()

    (vector,) = told.memory.vectors(ref)

    query = told.memory.encoder().encode_query("paint it blue")
    assert sum(one * other for one, other in zip(vector, query, strict=True)) > 0.9
    assert sum(one * one for one in vector) == pytest.approx(1.0)
    with pytest.raises(UsageError, match="not a turn"):
        told.memory.vectors(ref.partition("#")[0])


def test_a_ready_vector_finds_by_itself(told: Talks) -> None:
    """For those who encode elsewhere; the score is the cosine."""
    told.embed()
    vector = told.memory.encoder().encode_query("paint it blue")

    found = told.memory.search_by_vector(vector, limit=3)

    assert names(found)[0] == "a31"
    assert (found.mode, found.unembedded, len(found)) == ("vector", 0, 3)
    assert found.hits[0].score == pytest.approx(1.0, abs=0.02)
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_a_ready_vector_takes_filters(told: Talks) -> None:
    """All that pass are scored."""
    told.tell("b", "something else", project="/srv/b").embed()
    vector = told.memory.encoder().encode_query("paint it blue")

    assert names(told.memory.search_by_vector(vector, limit=50, project="/srv/b")) == ["b1"]
    assert len(told.memory.search_by_vector(vector, limit=50)) == 32


@pytest.mark.parametrize("size", [0, 3, 257])
def test_a_vector_of_another_length_is_refused(told: Talks, size: int) -> None:
    """With the name of the encoder that would do."""
    told.embed()

    with pytest.raises(
        UsageError, match=f"The vector has {size} numbers; the stored ones have 256."
    ) as refused:
        told.memory.search_by_vector([0.5] * size)

    assert "static:recollect-static-256" in refused.value.hint


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_vector_of_no_numbers_is_refused(told: Talks, number: float) -> None:
    """A model that failed may give them."""
    told.embed()

    with pytest.raises(UsageError, match="are not numbers"):
        told.memory.search_by_vector([number] * 256)


def test_a_ready_vector_finds_nothing_where_nothing_is_embedded(told: Talks) -> None:
    """And says how many wait."""
    found = told.memory.search_by_vector([0.5] * 256)

    assert (found.hits, found.unembedded) == ([], 31)


# Times, projects and agents


@pytest.fixture
def diary(talks: Talks) -> Talks:
    """Two projects: something was done yesterday in both, and long ago in one."""
    today = (now_ms() - START) / DAY
    talks.tell("old", "what did I do yesterday in webshop", "last week", project="/srv/webshop")
    talks.tell("web", "blue button", project="/srv/webshop", day=today - 1)
    talks.tell("api", "rate limits", project="/srv/api", day=today - 1)
    return talks.embed()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what did I do yesterday", {"web1", "api1"}),
        ("What did we work on yesterday in webshop?", {"web1"}),
        ("the last 2 days in api", {"api1"}),
        ("yesterday", {"web1", "api1"}),
        ("我昨天做了什么", {"web1", "api1"}),
        ("was habe ich gestern gemacht", {"web1", "api1"}),
        ("今日", set()),
    ],
)
def test_a_question_about_a_time_is_answered_by_what_was_done_then(
    diary: Talks, text: str, found: set[str]
) -> None:
    """Its words stand in other turns, or in none."""
    answer = diary.memory.search(text)

    assert set(names(answer)) == found
    some = "These are the turns " if found else "There are no turns "
    assert answer.remarks[0].startswith(some)


def test_a_time_beside_other_words_lifts_and_is_no_word(diary: Talks) -> None:
    """Only what was broken then is meant, and nothing says "yesterday" of it."""
    assert diary.find("blue button yesterday")[0] == "web1"
    assert "old1" in diary.find('"yesterday"', mode="text")


@pytest.mark.parametrize(
    ("given", "remark"),
    [
        ("clod", "There is no agent `clod`. Did you mean claude?"),
        ("codx", "There is no agent `codx`. Did you mean codex?"),
        ("zed", "There is no agent `zed`. Agents here: claude-code, codex."),
    ],
)
def test_an_agent_that_is_none_is_asked_about(talks: Talks, given: str, remark: str) -> None:
    """An empty answer to a typing mistake looks as if nothing were stored."""
    talks.tell("a", "blue button", agent="claude-code").tell("b", "rate limits", agent="codex")

    assert remark in talks.memory.search("button", agent=given).remarks
    assert talks.memory.remarks(agent=given) == [remark]


@pytest.mark.parametrize("given", ["claude", "Claude-Code", "codex", "c*"])
def test_an_agent_by_a_name_that_it_has_is_no_question(talks: Talks, given: str) -> None:
    """The first part of a name will do, as the filter has it."""
    talks.tell("a", "blue button", agent="claude-code").tell("b", "rate limits", agent="codex")

    assert talks.memory.remarks(agent=given) == []
