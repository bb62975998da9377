"""Accepted patterns reach agents like notes do: told, read by their reference, and judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.store.sqlite.old.sql import catalogue
from tests.builders.lessons import SENTENCE, Shop
from tests.serve.mcp.direct_client import DirectClient
from tests.store.conftest import Filled


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A project with a pattern that a person accepted, and a server that was started there."""
    (tmp_path / "store").mkdir(mode=0o700)
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    filled = Filled(tmp_path / "store" / "recollect.db")
    made = Shop(filled, tmp_path / "shop")
    made.seen([made.session(name) for name in "abc"], id="3f2a9011")
    catalogue.accept(made.db, "3f2a9011", "")
    yield made
    filled.close()


def test_an_agent_is_told_of_it_and_can_read_and_judge_it(shop: Shop) -> None:
    """All by the reference that stands in packs and in published files; each is counted."""
    client = DirectClient(shop.filled.path)

    (told, *_) = client.hits("recall", prompt="")
    (read,) = client.hits("get", ref=told["id"])
    client.call("feedback", id=told["id"], helpful=False)

    assert told["id"] == "pattern:3f2a9011"
    assert SENTENCE in told["text"]
    assert read["text"].startswith(f"error_recovery (accepted): {SENTENCE} (seen in ")
    assert (read["provenance"], read["trust"], read["project"]) == (
        "tool",
        "tool-verified",
        str(shop.folder),
    )
    rows = shop.db.rows(
        "select event, instr(refs, 'pattern:3f2a9011') > 0 from recalls order by id"
    )
    assert rows == [("recall", 1), ("get", 1)]
    with shop.memory() as memory:
        (measured,) = memory.old.measure("3f2a")
        assert memory.old.feedback_of("pattern:3f2a") == (0, 1)
    assert (measured.offered, measured.opened, measured.harmful) == (1, 1, 1)


def test_a_pattern_that_is_not_there_is_said_not_to_be(shop: Shop) -> None:
    """Agents make up references."""
    complaint = DirectClient(shop.filled.path).complaint("get", ref="pattern:ffff")

    assert complaint == 'There is no pattern "ffff". See them: recollect patterns list --all'
