"""Other servers than the oldest one that is promised: the newest, and one without pgvector."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.share.people import Person
from tests.share.postgres.test_sessions import works
from tests.share.servers import Postgres, debian_folder, postgres_folder


@pytest.mark.parametrize("kind", ["newest", "of the system, without pgvector"])
def test_a_team_shares_and_searches_on_another_server(
    kind: str, person: Callable[..., Person], home: Path
) -> None:
    """Without pgvector words still find, and whoever joins is told so."""
    has_vectors = kind == "newest"
    server = Postgres(postgres_folder(18) if has_vectors else debian_folder())
    try:
        ana = person("ana").founds(server.database())
        ana.says("Use pnpm here, never npm")
        works(ana, home)
        ana.shares("sessions").syncs()
        bo = person("bo").joins(ana.memory.team.invite("bo")).syncs()

        limits = " ".join(bo.memory.team.status().limits)
        words = bo.memory.team.search("basket").hits
        meaning = bo.memory.team.search("shopping cart").hits
    finally:
        server.stop()

    assert ("no pgvector" in limits) is not has_vectors
    assert "Use pnpm here, never npm" in [text for text, *_ in bo.knows()]
    assert "turn" in {hit.kind for hit in words}
    assert bool(meaning) is has_vectors
