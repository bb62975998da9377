"""Long texts keep their ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.models.budget import cut

MARK = " … "


def test_a_long_text_keeps_its_first_third_and_its_last_two() -> None:
    """What was wanted is at the beginning; how it went is at the end."""
    assert cut("a" * 50 + "b" * 50, 5 + 30, MARK, head=1 / 3) == "a" * 10 + MARK + "b" * 20


def test_a_text_that_fits_stays_as_it_is() -> None:
    """To the byte: what has room is not touched."""
    assert cut("äöü", 6, MARK, head=0.5) == "äöü"


@given(text=st.text(), most=st.integers(5, 60), head=st.sampled_from([1 / 3, 0.5]))
def test_a_cut_text_is_within_its_limit_and_made_of_whole_characters(
    text: str, most: int, head: float
) -> None:
    """Services count bytes, and half an emoji is no text."""
    whole = text.encode("utf-8", "replace").decode()

    found = cut(text, most, MARK, head=head)

    assert len(found.encode()) <= most
    if found != whole:
        start, _, end = found.partition(MARK)
        assert whole.startswith(start)
        assert whole.endswith(end) or MARK in end
