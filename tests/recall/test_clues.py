"""What of a query is looked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.search import Clue
from recollect.recall.clues import MOST_CLUES, clues
from recollect.recall.query import parse
from recollect.store.text import parts_of_name, row_of_words, words


def found(text: str) -> list[tuple[tuple[str, ...], bool, bool]]:
    return [(clue.words, clue.prefix, clue.extra) for clue in clues(parse(text))]


def extra(*words: str) -> list[tuple[tuple[str, ...], bool, bool]]:
    return [((word,), False, True) for word in words]


def plain(*words: str) -> list[tuple[tuple[str, ...], bool, bool]]:
    return [((word,), False, False) for word in words]


@pytest.mark.parametrize(
    ("text", "looked_for"),
    [
        ("lock timeout", plain("lock", "timeout")),
        ("lock lock", plain("lock")),
        ("why does the lock time out", plain("lock", "time")),
        ("is it the one", plain("one")),
        ("how to do it", plain("how", "to", "do", "it")),
        ('"to be" lock', [(("to", "be"), False, False), *plain("lock")]),
        ('"to" lock', plain("lock")),
        ("the*", [(("the",), True, False)]),
        ("parse_rollout", [*plain("parse", "rollout"), (("parse", "rollout"), False, True)]),
        (
            "parseRolloutFile",
            [*plain("parseRolloutFile"), *extra("parse", "Rollout", "File")],
        ),
        ("src/api.ts", [*plain("src", "api", "ts"), (("src", "api", "ts"), False, True)]),
        (
            "parseRollout rollout",
            [*plain("parseRollout"), *extra("parse"), *plain("rollout")],
        ),
        ("OpenGL opengl", [*plain("OpenGL"), *extra("Open", "GL")]),
        ("死锁", plain("死锁")),
        ("表", plain("表")),
        ("死锁了", [*plain("死锁", "锁了"), (("死锁", "锁了"), False, True)]),
        (
            "로그인을 했다",
            [
                *plain("로그", "그인", "인을"),
                (("로그", "그인", "인을"), False, True),
                *plain("했다"),
            ],
        ),
        ("migrat*", [(("migrat",), True, False)]),
        ("lock -staging", plain("lock")),
        ("-staging", []),
        ("☃", []),
        ("", []),
    ],
)
def test_a_query_becomes_clues(
    text: str, looked_for: list[tuple[tuple[str, ...], bool, bool]]
) -> None:
    """Words of a term by themselves and in a row.

    Words that say nothing only when there are no others.
    """
    assert found(text) == looked_for


def test_a_pasted_log_is_looked_for_in_part() -> None:
    """Each clue costs a look into the index."""
    assert len(found(" ".join(f"word{number}" for number in range(10_000)))) == MOST_CLUES


@given(st.text())
def test_clues_are_words_of_the_query_and_each_is_there_once(text: str) -> None:
    """Nothing is looked for that nobody asked for."""
    query = parse(text)
    asked = {
        part
        for term in query.terms
        if not term.negated
        for word in [*words(term.text), *row_of_words(term.text)]
        for part in [word, *parts_of_name(word)]
    }

    made = clues(query)

    assert {word for clue in made for word in clue.words} <= asked
    assert len(set(made)) == len(made)
    assert bool(made) == bool(asked)


def test_an_extra_clue_is_the_same_as_a_quoted_one() -> None:
    """Who writes `parse_rollout "parse rollout"` asks once."""
    assert Clue(("parse", "rollout"), extra=True) == Clue(("parse", "rollout"))
    assert Clue(("parse",)) != Clue(("parse",), prefix=True)
