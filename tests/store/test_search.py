"""What the text index answers: who holds a word, how strongly, and at what cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import Clue, Findings, Query, Scope
from recollect.recall.query import parse
from recollect.store.sqlite.search import text
from recollect.store.sqlite.search.text import COMMON_SHARE, Text
from recollect.store.text import COLUMNS
from recollect.store.text import words as words_of
from tests.builders.talks import Said, Talks

EVERYTHING = Scope(Query(), {})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """A session whose turns hold words in one place each; nothing here writes to it."""
    made = Talks(tmp_path_factory.mktemp("small"))
    made.tell(
        "a",
        "quokka parsing",
        Said("go", reply="a quokka"),
        Said("go", command="feed quokka"),
        Said("go", command="make", output="wombat: no quokka left", ok=False),
        Said("go", command="make", output="the quokka sleeps"),
        "parseRolloutFile in src/capture/adapters/codex.py hangs",
        "naïve Ärger 数据库死锁",
        "the quokka, a Quokka and QUOKKAS",
    )
    made.tell("b", "nothing to see", "parsed it", project="/srv/b")
    yield made
    made.close()


LARGE, OFTEN, SELDOM = 4_200, 10, 30
# As if the store were larger: fewer turns are read than this in any store.
NEVER_COMMON = 200


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """A store in which words can be common: `all` is in each turn, others in every so manieth."""
    made = Talks(tmp_path_factory.mktemp("large"))
    common = pytest.MonkeyPatch()
    common.setattr(text, "NEVER_COMMON", NEVER_COMMON)
    for session in range(20):
        numbers = range(session * LARGE // 20, (session + 1) * LARGE // 20)
        made.tell(f"s{session}", *map(_prompt, numbers), project=f"/home/{session % 2}")
    yield made
    made.close()
    common.undo()


def _prompt(number: int) -> str:
    words = ["everywhere"]
    words += (
        ["often"] * (number % OFTEN == 0)
        + ["frequent"] * (number % OFTEN == 5)
        + ["usual"] * (number % 14 == 0)
    )
    words += (
        ["seldom"] * (number % SELDOM == 0)
        + ["unique"] * (number == 4_000)
        + ["elsewhere"] * (number == 3)
    )
    return " ".join(words)


# Each mention counts by its column alone, whatever the column's length.
FIELDS = {
    "prompt": (1.0, 0.0, 1), "answer": (0.9, 0.0, 1), "replies": (0.8, 0.0, 1),
    "commands": (0.7, 0.0, 1), "files": (0.65, 0.0, 1), "errors": (0.6, 0.0, 1),
    "output": (0.3, 0.0, 1),
}  # fmt: skip


def find(
    talks: Talks,
    *wanted: str,
    scope: Scope = EVERYTHING,
    fields: dict[str, tuple[float, float, int]] = FIELDS,
) -> Findings:
    """What is found for words, phrases and beginnings such as `mig*`."""
    clues = [Clue(tuple(words_of(text)), prefix=text.endswith("*")) for text in wanted]
    return Text(talks.filled.db).find(clues, scope, fields)


def held(talks: Talks, *wanted: str, scope: Scope = EVERYTHING) -> dict[str, dict[int, float]]:
    found = find(talks, *wanted, scope=scope)
    return {" ".join(holding.clue.words): holding.turns for holding in found.holdings}


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseRolloutFile", ["parseRolloutFile"]),
        ("parse_rollout-file", ["parse", "rollout", "file"]),
        ("HTTPServer", ["HTTPServer"]),
        ("src/api/client.ts:42", ["src", "api", "client", "ts", "42"]),
        ("死锁 in Postgres", ["死锁", "in", "Postgres"]),
        ("端口占用表", ["端口", "口占", "占用", "用表"]),
        ("ポートを使う", ["ポー", "ート", "トを", "を使", "使う"]),
        ("로그인이 안 된다", ["로그", "그인", "인이", "안", "된다"]),
        ("修bug吧", ["修", "bug", "吧"]),
        ("人々", ["人々"]),
        ("naïve", ["naïve"]),
        ("\ud800☃\0 -*\"'", []),
    ],
)
def test_text_is_taken_apart_as_the_index_is(text: str, words: list[str]) -> None:
    """Otherwise nobody would find what is there."""
    assert words_of(text) == words


@given(st.text())
def test_words_can_stand_in_a_phrase(text: str) -> None:
    """Letters and digits only: no quote, operator or NUL reaches SQLite."""
    assert all(word.isalnum() for word in words_of(text))


# Who holds it


def test_a_mention_counts_by_where_it_is(small: Talks) -> None:
    """What a person asked says most about a turn, output least; several mentions add up."""
    assert held(small, "quokka") == {
        "quokka": pytest.approx({1: 1.0, 2: 0.9, 3: 0.7, 4: 0.6, 5: 0.3, 8: 3.0})
    }


def test_a_mention_in_a_long_text_counts_less(tmp_path: Path) -> None:
    """A report that has everything in it is about nothing much."""
    talks = Talks(tmp_path)
    talks.tell("a", "the quokka", "the quokka " + "and so on " * 400)
    by_length = dict.fromkeys(COLUMNS, (1.0, 0.5, 320))

    (holding,) = find(talks, "quokka", fields=by_length).holdings

    talks.close()
    assert 1 < holding.turns[1] < 2
    assert holding.turns[2] < 0.2


def test_output_is_told_apart(small: Talks) -> None:
    """Ranking believes a word in output less."""
    (holding,) = find(small, "quokka").holdings

    assert set(holding.turns) - set(holding.firm) == {5}


@pytest.mark.parametrize(
    ("clue", "turns"),
    [
        ("parse", {1, 6, 10}),
        ("parses", {1, 6, 10}),
        ("rollout", {6}),
        ("parse_rollout", {6}),
        ("rollout_parse", set()),
        ("codex.py", {6}),
        ("adapters/codex.py", {6}),
        ("capture/codex.py", set()),
        ("quok*", {1, 2, 3, 4, 5, 8}),
        ("wom*", {4}),
        ("a quo*", {2, 8}),
        ("naive", {7}),
        ("arger", {7}),
        ("死锁", {7}),
        ("锁死", set()),
        ("库", {7}),
        ("zyzzyva", set()),
    ],
)
def test_a_clue_is_found(small: Talks, clue: str, turns: set[int]) -> None:
    """By stem, by part of an identifier, by the end of a path, by beginning, in
    scripts without spaces, without accents.
    """
    (holding,) = find(small, clue).holdings

    assert set(holding.turns) == turns
    assert holding.count == len(turns)


def test_the_rarest_clue_comes_first_and_sessions_are_told(small: Talks) -> None:
    """Ranking asks which session a turn belongs to, and how much there is in all."""
    found = find(small, "quokka", "see", "wombat", "zyzzyva")

    assert [" ".join(holding.clue.words) for holding in found.holdings] == [
        "zyzzyva",
        "see",
        "wombat",
        "quokka",
    ]
    assert found.sessions == {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 8: 1, 9: 2}
    assert (found.all_turns, found.all_sessions) == (10, 2)


def test_a_filter_hides_turns_and_changes_no_count(small: Talks) -> None:
    """How rare a word is does not depend on where somebody looks for it."""
    (holding,) = find(small, "parse", scope=Scope(parse("project:b"), {})).holdings

    assert (set(holding.turns), holding.count) == ({10}, 3)


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("quokka -feed", {1, 2, 4, 5, 8}),
        ('quokka "no quokka"', {4}),
        ("quokka -quo*", set()),
        ("quokka session:b", set()),
    ],
)
def test_a_scope_has_phrases_and_not_what_is_negated(
    small: Talks, text: str, turns: set[int]
) -> None:
    """Phrases and negations are no matter of rank."""
    assert set(held(small, "quokka", scope=Scope(parse(text), {}))["quokka"]) == turns


def test_turns_that_were_stored_later_can_be_left_out(small: Talks) -> None:
    """The second page of an answer is a page of the same answer."""
    assert set(held(small, "quokka", scope=Scope(Query(), {}, upto=4))["quokka"]) == {1, 2, 3, 4}


# Common words


def test_the_large_store_is_large_enough(large: Talks) -> None:
    """Below this size no word is common, and the tests below would test nothing."""
    assert LARGE * COMMON_SHARE > NEVER_COMMON
    assert LARGE / SELDOM < LARGE * COMMON_SHARE < LARGE / 14


def test_a_common_word_only_joins_in(large: Talks) -> None:
    """It scores what rarer words found, and finds nothing by itself:
    that is what keeps a search quick.
    """
    found = held(large, "seldom", "often", "everywhere")

    assert len(found["seldom"]) == LARGE / SELDOM
    assert set(found["often"]) == set(found["everywhere"]) == set(found["seldom"])
    assert held(large, "unique", "frequent")["frequent"] == {}
    assert set(held(large, "unique", "often")["often"]) == {4_001}


@pytest.mark.parametrize("word", ["often", "everywhere"])
def test_common_words_alone_are_answered(large: Talks, word: str) -> None:
    """Nobody should hear that "error" is nowhere."""
    assert len(held(large, word)[word]) == (LARGE / OFTEN if word == "often" else LARGE)


def test_of_common_words_those_turns_are_found_that_hold_all(large: Talks) -> None:
    """`often` and `usual` stand together in every seventieth turn."""
    found = held(large, "often", "usual", "everywhere")

    assert len(found["often"]) == LARGE / 70
    assert set(found["usual"]) == set(found["everywhere"]) == set(found["often"])
    assert all(0 < weight <= 1 for weight in found["usual"].values())


def test_common_words_that_are_never_together_are_not_claimed_to_be(large: Talks) -> None:
    """The rarest of them finds turns, and the others are where they are and nowhere else."""
    found = held(large, "often", "frequent", "everywhere")
    first, second = (found[word] for word in ("often", "frequent"))

    assert sorted([len(first), len(second)]) == [0, LARGE / OFTEN]
    assert set(found["everywhere"]) == set(first) | set(second)


def test_a_rare_word_of_another_project_hides_nothing_here(large: Talks) -> None:
    """Filters come first: what does not pass must not decide which words count."""
    here = Scope(parse("project:/home/1"), {})

    found = held(large, "elsewhere", "often", scope=here)

    assert found["elsewhere"] == {}
    assert len(found["often"]) == LARGE / OFTEN / 2


def test_a_very_common_word_is_counted_roughly(large: Talks) -> None:
    """Counting a million rows to learn that a word says nothing would cost more than the search."""
    (holding,) = find(large, "everywhere").holdings

    assert holding.count == pytest.approx(LARGE, rel=0.02)


# An example for the first screen


def test_an_example_query_is_made_of_a_recent_prompt(
    small: Talks, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two long words, which find something."""
    example = small.store.text.example_query()

    assert len(example.split()) == 2
    assert small.find(example, mode="text")
    empty = Talks(tmp_path_factory.mktemp("empty"))
    assert empty.store.text.example_query() == ""
    empty.close()
