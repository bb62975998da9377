"""How sure one may be of what was counted."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.episodes.odds import EXACT, chance_of, lower_bound, tail, upper_bound


@pytest.mark.parametrize(
    ("good", "tries", "bound"),
    [(3, 3, 0.4385), (30, 30, 0.8865), (0, 5, 0.0), (0, 0, 0.0), (1, 2, 0.0945)],
)
def test_few_tries_prove_little(good: int, tries: int, bound: float) -> None:
    """Three out of three is no certainty."""
    assert lower_bound(good, tries) == bound


@given(st.integers(0, 200), st.integers(1, 200))
def test_the_share_lies_between_its_bounds(good: int, tries: int) -> None:
    """Whatever was counted."""
    good = min(good, tries)

    assert lower_bound(good, tries) <= round(good / tries, 4) <= upper_bound(good, tries)


def test_chances_are_those_of_tossing_coins() -> None:
    """Eight coins, all heads; at least one head; and a coin that never falls that way."""
    assert chance_of(8, [0.5] * 8) == pytest.approx(0.5**8)
    assert chance_of(1, [0.5] * 8) == pytest.approx(1 - 0.5**8)
    assert chance_of(2, [0.5, 0.0, 0.5]) == pytest.approx(0.25)
    assert (chance_of(0, [0.1]), chance_of(2, [0.9])) == (1.0, 0.0)


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.01, 0.6))
def test_both_ways_to_work_it_out_agree(seen: int, tries: int, chance: float) -> None:
    """Above so many tries another formula takes over; nobody should notice."""
    if seen > tries * chance:
        assert tail(min(seen, tries), tries, chance) == pytest.approx(
            chance_of(min(seen, tries), [chance] * tries), rel=1e-6, abs=1e-12
        )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3 * EXACT), st.integers(1, 20), st.randoms())
def test_the_order_of_sessions_does_not_matter(
    chances: list[float], seen: int, shuffler: random.Random
) -> None:
    """Not even in the last digit: a verdict must not depend on which log was read first."""
    shuffled = list(chances)
    shuffler.shuffle(shuffled)

    assert chance_of(seen, shuffled) == chance_of(seen, chances)
