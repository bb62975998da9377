"""The suite's own plugins, in runs of tests that a test writes."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def plugins_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """From any folder."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
