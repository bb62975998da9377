"""Results are compared with earlier ones, so that a slow change is seen before it is merged."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import report
from bench.corpora import Corpus
from bench.measure import Figure, absolute, compared

MACHINE = {"recollect": "1", "cpus": 2, "cpu": "x", "system": "y", "python": "z", "sqlite": "3"}


def ratio(name: str, value: float) -> Figure:
    """A figure against a reference that takes a second."""
    return compared(name, f"the {name}", "a second", [(value, 1.0)], target=None, unit="s CPU")


def speed(value: float) -> Figure:
    return absolute("speed", "the speed", [value], target=None, unit="MB/s CPU", better="higher")


def results(*figures: Figure) -> report.Results:
    return report.Results("search", "2026-11-18 09:00:00", {**MACHINE, "load": 0.1}, {}, [*figures])


@pytest.fixture
def against(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The options for comparing with earlier results, in which searching took 4 times as long."""
    old = report.write(tmp_path / "old", results(ratio("search", 4.0)))
    monkeypatch.setattr(bench, "RESULTS", tmp_path / "new")
    return ("search", "--against", str(old), "--table", str(tmp_path / "new.md"))


def measure(monkeypatch: pytest.MonkeyPatch, figure: Figure) -> None:
    """Let the benchmark measure this, in no time."""
    monkeypatch.setattr(bench, "_corpora", lambda _: (Corpus("/nowhere"), Corpus("/nowhere")))
    monkeypatch.setattr(bench, "run_apart", lambda *_: [figure])


@pytest.mark.parametrize(("now", "code"), [(4.3, 0), (4.5, 1), (2.0, 0)])
def test_more_than_a_tenth_worse_is_a_failure(
    against: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, now: float, code: int
) -> None:
    measure(monkeypatch, ratio("search", now))

    assert bench.main([*against]) == code


def test_the_table_names_what_got_worse_first(tmp_path: Path) -> None:
    old = results(ratio("search", 4.0), ratio("hook", 2.0), ratio("gone", 1.0), speed(100.0))
    new = results(ratio("search", 3.0), ratio("hook", 3.0), ratio("new", 1.0), speed(50.0))

    _, _, *rows = report.as_markdown(new, old).splitlines()

    assert rows[:3] == [
        "| the hook | 2× | 3× | +50% | **worse** |",
        "| the search | 4× | 3× | -25% |  |",
        "| the speed | 100 MB/s CPU | 50 MB/s CPU |  |  |",
    ]


def test_the_table_is_left_where_it_was_asked_for(
    against: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(monkeypatch, ratio("search", 8.0))

    bench.main([*against])

    assert "+100%" in Path(against[-1]).read_text(encoding="utf-8")
