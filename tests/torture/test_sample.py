"""A short sample of the campaign of each part; `make torture` does all of it."""

from __future__ import annotations

import os
import sys

import pytest

from tests.torture.campaign import PARTS, Part, run

pytestmark = pytest.mark.store


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_nothing_breaks_in_a_sample_of_the_campaign(part: Part) -> None:
    """The whole campaign is for changes of what it is about, and for releases."""
    seed = int(os.environ.get("TORTURE_SEED", "1"))

    result = run(part, seed=seed, count=part.sample)

    if result.skipped:
        pytest.skip(result.skipped)
    assert result.faults == []
    assert result.count >= part.sample
