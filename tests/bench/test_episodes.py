"""The measuring of the episode store measures, and shows what it measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.attempts import STEPS, Making, new_memory
from bench.episodes import MIXES, main
from bench.plots import curves


def test_a_part_leaves_numbers_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each stretch of work, the same as JSON, and a plot of them."""
    assert main(["--quick", "--only", "batch", "--out", str(tmp_path)]) == 0
    (results,) = tmp_path.glob("*.json")
    rows = json.loads(results.read_text())["rows"]

    assert [row["x"] for row in rows] == [1, 10, 100, 1_000]
    assert all(0 < row["p50"] <= row["p95"] and row["rate"] > 0 for row in rows)
    assert (tmp_path / "episodes.html").read_text().count("<polyline") == 3
    assert (
        len([line for line in capsys.readouterr().out.splitlines() if line.startswith("batch")])
        == 4
    )


def test_a_curve_has_a_mark_for_every_point() -> None:
    """Also where all values are the same, and one that cannot be
    shown on such a scale is left out.
    """
    drawn = curves({"a": [(1, 5), (10, 5), (100, 5)], "b": [(1, 0), (10, 7)]}, x="threads", y="p50")

    assert drawn.count("<circle") == 4
    assert drawn.count("<polyline") == 2


def test_the_same_seed_makes_the_same_attempts(tmp_path: Path) -> None:
    """Two runs can only be compared when they do the same."""
    first, second = Making(1), Making(1)
    with new_memory(tmp_path, redact=False) as memory:
        ref = Making(2).record(memory)
        memory.episodes.flush()
        found = memory.episodes.get(ref)

    assert [first.task(), first.context()] == [second.task(), second.context()]
    assert [len(Making(3).task(words).split()) for words in (1, 10, 100)] == [1, 10, 100]
    assert found.steps == STEPS


def test_a_mix_is_whole() -> None:
    """Its shares are of one thing."""
    assert {name: sum(mix.values()) for name, mix in MIXES.items()} == dict.fromkeys(
        "ABCDEF", pytest.approx(1.0)
    )
