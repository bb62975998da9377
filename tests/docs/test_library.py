"""The examples in the pages are run, block by block, as somebody would who follows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.install.setup import Setup
from tests.docs.conftest import ROOT, leave_samples


def examples(page: str) -> list[tuple[int, str]]:
    """The Python blocks of a page with the line each begins on."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, found.start(1)), found[1])
        for found in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S)
    ]


def run(page: str) -> dict[str, object]:
    """What all blocks of a page leave behind; an error names the line of the page."""
    known: dict[str, object] = {"__name__": page}
    for line, code in examples(page):
        exec(compile("\n" * line + code, str(ROOT / page), "exec", dont_inherit=True), known)
    return known


def test_the_library_page_does_what_it_says(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People copy examples; one that fails costs more trust than none."""
    leave_samples(home)
    monkeypatch.chdir(tmp_path)

    known = run("docs/library.md")

    assert known["found"].relaxed  # type: ignore[attr-defined]
    assert len(examples("docs/library.md")) > 12


def test_the_page_about_episodes_does_what_it_says(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first attempt to forgetting it."""
    monkeypatch.chdir(tmp_path)

    known = run("docs/episodes.md")

    assert known["told"].kept == 1  # type: ignore[attr-defined]
    assert known["hit"].episode.task == "round the tax of an order per line"  # type: ignore[attr-defined]


def test_the_example_adapter_does_what_it_says(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk through a new format ends with its turns in a search."""
    monkeypatch.chdir(tmp_path)

    known = run("CONTRIBUTING.md")

    assert [hit.ref for hit in known["hits"]] == ["scribe:monday#2"]  # type: ignore[attr-defined]
    suite: Any = known["TestScribe"]
    for name in [name for name in dir(suite) if name.startswith("test_")]:
        (tmp_path / name).mkdir()
        for sample in suite.samples:
            getattr(suite(), name)(sample, tmp_path / name)
    # The last part of the page has it served as well.
    setup = Setup("scribe", "user", folder=str(tmp_path), environ={}, program=["recollect"])
    parts = known["AGENT"].installer.parts(setup)  # type: ignore[attr-defined]
    assert [part.name for part in parts] == ["hooks", "mcp", "skill"]
    assert "recollect hook scribe SessionStart" in parts[0].added(None)
