"""A project with a folder of its own, and a store that knows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.lessons import Shop
from tests.store.conftest import Filled


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """A project with three sessions of two agents in it."""
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "shop").mkdir()
    filled = Filled(tmp_path / "store" / "recollect.db")
    made = Shop(filled, tmp_path / "shop")
    for day, (name, agent) in enumerate([("a", "codex"), ("b", "codex"), ("c", "claude-code")]):
        made.session(name, day=day, agent=agent)
    yield made
    filled.close()
