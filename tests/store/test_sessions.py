"""Sessions as they are listed."""

from __future__ import annotations

import pytest

from recollect.model.logs import Usage
from recollect.model.search import Query, Scope
from tests.store.conftest import START, Filled, facts, turn


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("mend the door\nand paint it", "mend the door"),
        (
            '<teammate-message id="lead" color="green">\nCheck the docs.\n</teammate-message>',
            "Check the docs.",
        ),
        ("<command-name>/init</command-name>", "/init"),
        ("<div> is not closed", "is not closed"),
        ("compare a < b", "compare a < b"),
        ("return a List<String>", "return a List<String>"),
        ("<note>\n</note>", None),
    ],
)
def test_a_session_without_a_title_is_known_by_what_was_asked(
    filled: Filled, prompt: str, title: str | None
) -> None:
    """Programs frame what they ask; a list of their tags says nothing."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", prompt))

    (session,) = filled.store.sessions.search(Scope(Query(), {}), limit=None)

    assert session.title == title


def test_a_lesser_place_that_goes_on_is_still_passed_over(filled: Filled) -> None:
    """What it says about its session was said in an earlier batch.

    The better place was imported since.
    """
    filled.keep("copy.jsonl", facts("a"), *turn("a", "k1", "mend the door"), rank=1)
    filled.keep("own.jsonl", facts("a"), *turn("a", "k1", "mend the door", "done, with oil"))
    filled.keep("copy.jsonl", *turn("a", "k2", "and the gate"), rank=1)

    (only,) = filled.store.sessions.get("codex:a").turn_list
    assert (only.prompt, only.reply, only.live) == ("mend the door", "done, with oil", True)


def test_tokens_go_to_the_turn_that_is_part_of_the_conversation(filled: Filled) -> None:
    """Two places may cut a session into turns differently.

    What was spent belongs to those that count.
    """
    spent = {"session": "a", "key": "a/1", "at": START, "input": 7}
    filled.keep("copy.jsonl", facts("a"), *turn("a", "x", "mend"), Usage(turn="x", **spent), rank=1)  # type: ignore[arg-type]
    filled.keep("own.jsonl", facts("a"), *turn("a", "k1", "mend it"), Usage(turn="k1", **spent))  # type: ignore[arg-type]

    turns = filled.store.sessions.get("codex:a").turn_list
    assert [(turn.prompt, turn.live, turn.tokens.input) for turn in turns] == [
        ("mend", False, 10),
        ("mend it", True, 17),
    ]


def test_a_place_of_its_own_goes_on_as_ever(filled: Filled) -> None:
    """A rank matters only where somebody else tells the same session."""
    filled.keep("copy.jsonl", facts("a"), *turn("a", "k1", "mend the door"), rank=1)
    filled.keep("copy.jsonl", *turn("a", "k2", "and the gate"), rank=1)

    turns = filled.store.sessions.get("codex:a").turn_list
    assert [(turn.prompt, turn.live) for turn in turns] == [
        ("mend the door", True),
        ("and the gate", True),
    ]
