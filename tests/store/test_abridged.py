"""What stays of a turn: short, stable, and with every word
that its session's digest tells of it.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.digests import Digest, Evidence, Run, Task, Trouble
from recollect.store import bodies
from recollect.store.sqlite.abridged import (
    LINE_CHARACTERS,
    abridged,
    told_by,
    with_digest,
    words_of,
)
from recollect.store.sqlite.capture.content import LEAD_CHARACTERS, text_row

NOISE = " ".join(map(str, range(1_000)))
LINES = st.text(st.characters(codec="utf-8"), max_size=1_200)
SAID = st.tuples(
    st.sampled_from(["prompt", "reply", "reasoning", "error", "abort"]), st.none(), LINES
)
PRINTED = st.lists(LINES | st.just("…") | st.just("E   KeyError: 'lintel'")).map("\n".join)
CALLED = st.tuples(
    st.just("tool_call"), st.none(), st.text(max_size=5), st.sampled_from([None, "c1"]),
    st.just("shell"), st.just("shell"),
    st.none() | st.text(max_size=2_100), st.dictionaries(st.just("command"), st.text(max_size=9)),
    st.none() | PRINTED, st.none() | st.booleans(), st.none(), st.none(), st.none(),
)  # fmt: skip
ROWS = st.lists((SAID | CALLED).map(list))


def failed(output: str) -> list[Any]:
    return [
        "tool_call", 1, "", "c1", "shell", "shell", "make door", {"command": "make door"}, output,
        False, 2, 10, None,
    ]  # fmt: skip


@given(ROWS)
def test_what_stays_is_never_made_smaller_again(rows: list[list[Any]]) -> None:
    """Else a turn that grows by a word would lose what it kept."""
    once = abridged(rows, ["KeyError: 'lintel'"])

    assert abridged(once, ["KeyError: 'lintel'"]) == once
    assert {row[bodies.INPUT] for row in once if row[bodies.KIND] == "tool_call"} <= {None}


def test_texts_are_cut_between_words() -> None:
    """Half a key that a later version would recognise could never be found again."""
    key = "k" * 40
    prompt = "x" * 980 + f" {key} and so on"
    output = "y" * 220 + f" {key} " + NOISE + f" {key} " + "z" * 220

    asked, call = abridged([["prompt", 0, prompt], failed(output)])

    assert asked == ["prompt", 0, "x" * 980]
    assert call[bodies.OUTPUT] == "y" * 220 + "\n…\n" + "z" * 220


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    """Some scripts have none, and some outputs are one long line."""
    ((_, _, reply),) = abridged([["reply", 0, "字" * 999]])

    assert reply == "字" * LEAD_CHARACTERS


def test_the_error_that_a_digest_quotes_stays_where_it_was_printed() -> None:
    """`recollect fix` looks for it in what failed, however much was printed before and after it."""
    ((*_, output, _, _, _, _),) = abridged(
        [failed(f"{NOISE}\nE   KeyError:  'lintel'\n{NOISE}\nE   KeyError:  'lintel'\n{NOISE}")],
        ["KeyError: 'lintel'"],
    )

    assert output.split("\n…\n")[1:-1] == ["E KeyError: 'lintel'"]
    assert len(output) < 2 * LEAD_CHARACTERS + LINE_CHARACTERS


def test_what_a_digest_tells_is_told_of_the_turn_that_it_is_about() -> None:
    """A hit leads to the place, and not just to the session."""
    digest = Digest(
        session="codex:s1", project=None, title="The shop", outcome="partial",
        summary="“mend the door” partial",
        tasks=[
            Task(
                title="mend", asked="mend the door", turns=[2, 3], outcome="partial",
                files=["door.py"],
                evidence=[Evidence(kind="accepted", ref="codex:s1#3", text="thanks")],
                runs=[Run(ref="codex:s1#3", command="make door", ok=True)],
                errors=[Trouble(ref="codex:s1#2", error="KeyError", command="make",
                steps=["edit door.py"], worked="codex:s1#3")],
            )
        ],
        open_ends=["`make wall` still fails (codex:s1#3)"],
    )  # fmt: skip

    told = told_by(digest, 1)

    assert {turn: (texts, errors) for turn, (texts, errors) in told.items()} == {
        1: (["The shop", "`make wall` still fails"], []),
        2: (["mend", "mend the door", "door.py", "KeyError", "make", "edit door.py"], ["KeyError"]),
        3: (["thanks", "make door"], []),
    }


def test_only_what_is_not_said_already_is_added() -> None:
    """Room is what all this is for."""
    rows = [["prompt", 0, "mend the door of the Shop"], failed("")]
    texts = ["Mend the door", "door.py", "mend the wall", "wall", "of the shop and the win…"]

    kept = with_digest(rows, texts, words_of(["door.py"]))

    assert kept == [*rows, ["digest", None, "mend the wall\nof the shop and the win…"]]


@given(ROWS, st.lists(st.text(max_size=50)))
def test_every_word_of_a_digest_is_in_the_index(rows: list[list[Any]], texts: list[str]) -> None:
    """Whatever a person reads in a digest finds the session, with or without its events."""
    kept = with_digest(abridged(rows), texts, frozenset())

    whole = [text for text in texts if not text.endswith("…")]
    assert words_of(whole) <= words_of(text_row(0, kept)[1:])
