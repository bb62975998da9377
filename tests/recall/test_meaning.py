"""A question as a vector: when there is one, and what is said when there is none."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.errors import EncoderUnavailable
from recollect.recall.meaning import Meaning, RedactingEncoder, without_mean
from tests.builders.talks import Talks
from tests.encoders import WordEncoder

if TYPE_CHECKING:
    from recollect.embed import Encoder


class Missing:
    """An encoder whose model is gone."""

    name, dimensions = "words", 64

    def encode_query(self, text: str) -> array[float]:
        raise EncoderUnavailable("There is no model.", hint="Fetch one.")

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EncoderUnavailable("There is no model.", hint="Fetch one.")


@pytest.fixture
def told(talks: Talks) -> Talks:
    """Three turns, embedded with an encoder called words."""
    talks.memory._shared._encoder = WordEncoder()
    return talks.tell("a", "apple bridge", "copper dragon", "engine forest").embed()


def meaning(talks: Talks, encoder: Encoder, text: str = "apple") -> Meaning:
    return Meaning(talks.store, lambda: encoder, text)


def test_a_question_has_a_vector(told: Talks) -> None:
    """Of the encoder that the stored ones are by."""
    found = meaning(told, WordEncoder())

    assert found.vector is not None
    assert (len(found.vector), found.why_not, found.unembedded) == (64, "", 0)


def test_turns_that_wait_are_counted(told: Talks) -> None:
    """They can be found by words only, for now."""
    told.tell("b", "garden", "hammer")

    assert meaning(told, WordEncoder()).unembedded == 2


def test_without_embedded_turns_it_says_what_to_do(talks: Talks) -> None:
    """And the encoder is not even opened, which may take seconds."""

    def never() -> Encoder:
        raise AssertionError("nobody needs it")

    found = Meaning(talks.tell("a", "apple").store, never, "apple")

    assert (found.vector, found.unembedded) == (None, 1)
    assert "recollect jobs run embed" in found.why_not


def test_a_store_without_turns_is_said_to_be_empty(talks: Talks) -> None:
    found = meaning(talks, WordEncoder())

    assert found.why_not == "Nothing is imported yet. Try: recollect import"


@pytest.mark.parametrize(
    ("encoder", "why_not"),
    [
        (
            WordEncoder("others"),
            "The stored vectors are from words, not others. "
            "To make them again: recollect jobs run embed",
        ),
        (Missing(), "There is no model. Fetch one."),
    ],
)
def test_an_encoder_that_cannot_be_used_is_named(
    told: Talks, encoder: Encoder, why_not: str
) -> None:
    """Vectors of two encoders would give an answer that looks like one."""
    found = meaning(told, encoder)

    assert (found.vector, found.why_not) == (None, why_not)


def test_a_text_of_which_the_encoder_knows_nothing_has_no_vector(told: Talks) -> None:
    """Not a fault: an emoji has no meaning here."""
    found = meaning(told, WordEncoder(), "☃")

    assert (found.vector, found.why_not) == (None, "")


def test_nobody_asked() -> None:
    """A search by words pays for no count either."""
    none = Meaning.none()

    assert (none.vector, none.why_not, none.unembedded) == (None, "", 0)


# What sets it apart


numbers = st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3)


@given(numbers, numbers)
def test_what_all_have_in_common_is_taken_out(vector: list[float], direction: list[float]) -> None:
    """What is left is at a right angle to it."""
    length = sqrt(sum(number * number for number in direction))
    if length < 0.01:
        return
    mean = array("f", [number / length for number in direction])

    found = without_mean(array("f", vector), mean)

    assert found is None or sum(
        one * other for one, other in zip(found, mean, strict=True)
    ) == pytest.approx(0, abs=1e-5)


def test_a_vector_that_is_nothing_else_is_none() -> None:
    """A query about what every turn is about can be answered by words only."""
    one = array("f", [1.0, 0.0])

    assert without_mean(one, array("f", [1.0, 0.0])) is None
    assert without_mean(one, None) == one
    assert without_mean(array("f", [0.0, 0.0]), None) is None
    assert without_mean(one, array("f", [1.0, 0.0, 0.0])) == one


# Another machine


def test_a_question_is_redacted_before_it_is_sent() -> None:
    """What is stored was redacted before; what somebody just typed was not."""
    sent: list[str] = []

    class Remote(WordEncoder):
        def encode_query(self, text: str) -> array[float]:
            sent.append(text)
            return super().encode_query(text)

    careful = RedactingEncoder(Remote("far", 16), lambda text: text.replace("hunter2", "[gone]"))
    vector = careful.encode_query("the password hunter2")
    careful.encode_documents(["from the store"])

    assert sent == ["the password [gone]"]
    assert (careful.name, careful.dimensions, len(vector)) == ("far", 16, 16)
