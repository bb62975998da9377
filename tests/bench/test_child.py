"""The processes that are measured."""

from __future__ import annotations

from pathlib import Path

from bench.child import read


def test_a_bad_line_costs_the_reference_that_line_only(tmp_path: Path) -> None:
    """Real logs have torn lines; what is compared with them must be able to read them."""
    (tmp_path / "log.jsonl").write_bytes(b'{"a": 1}\n{"a": \n\xff\n{"a": 2}\n')

    figures = read(str(tmp_path))

    assert (figures["lines"], figures["bad_lines"]) == (4, 2)
