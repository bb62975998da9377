"""A hub that is restored to yesterday, or newer than we are, and clocks that are wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg import sql

from recollect.errors import HubRefused
from tests.share.people import Person
from tests.share.servers import Postgres

Joins = Callable[..., Person]


class Backup:
    """A copy of a hub's database, to go back to."""

    def __init__(self, server: Postgres, url: str) -> None:
        self.server, self.name = server, url.rpartition("/")[2]
        self.copy = f"{self.name}_copy"

    def take(self) -> None:
        self._run("create database {copy} template {name}")

    def restore(self) -> None:
        self._run("drop database {name} with (force)")
        self._run("alter database {copy} rename to {name}")

    def _run(self, statement: str) -> None:
        names = {"name": sql.Identifier(self.name), "copy": sql.Identifier(self.copy)}
        with self.server.connect() as owner:
            owner.execute(sql.SQL(statement).format(**names))  # type: ignore[arg-type]


def test_a_hub_restored_to_yesterday_has_everything_again(
    ana: Person, joins: Joins, postgres: Postgres, hub_url: str
) -> None:
    """What was shared since is offered again, and what was forgotten since is forgotten again."""
    wrong = ana.says("The password is on the wiki")
    ana.shares().syncs()
    bo = joins("bo").syncs()
    yesterday = Backup(postgres, hub_url)
    yesterday.take()
    ana.memory.notes.forget(wrong.ref)
    ana.says("Deploys go out on Tuesdays only")
    ana.syncs()
    bo.says("Use pnpm here, never npm")
    bo.shares().syncs()

    yesterday.restore()
    remarks = ana.memory.team.sync().remarks
    for person in (bo, ana, bo):
        person.syncs()
    cy = joins("cy").syncs()

    assert "compared anew" in " ".join(remarks)
    assert [text for text, *_ in cy.knows()] == [
        "Deploys go out on Tuesdays only", "Use pnpm here, never npm",
    ]  # fmt: skip
    assert [text for text, *_ in bo.knows()] == ["Deploys go out on Tuesdays only"]
    assert [text for text, *_ in ana.knows()] == ["Use pnpm here, never npm"]


@pytest.mark.parametrize("year", ["1999", "2099"])
def test_a_wrong_clock_changes_no_order(ana: Person, joins: Joins, year: str) -> None:
    """What the hub committed first comes first, whatever the devices' clocks say."""
    note = ana.says("Use npm here")
    store = ana.memory._shared.store()
    with store.transaction():
        store.db.execute("update notes set at = unixepoch(? || '-01-01') * 1000", (year,))
    bo = joins("bo").syncs()
    ana.shares().syncs()
    bo.syncs()

    ana.memory.notes.edit(note.ref, "Prefer pnpm everywhere")
    ana.syncs()
    bo.syncs()

    assert bo.knows("candidate") == [("Prefer pnpm everywhere", "ana", "candidate")]


def test_a_hub_that_needs_a_newer_recollect_is_left_alone(
    ana: Person, postgres: Postgres, hub_url: str
) -> None:
    """Half of what a newer one wrote would be worse than nothing."""
    ana.shares().syncs()
    with postgres.connect(hub_url.rpartition("/")[2]) as owner:
        owner.execute("create or replace function recollect.oldest_protocol() returns int "
                      "language sql immutable return 2")  # fmt: skip

    with pytest.raises(HubRefused, match="needs a newer recollect") as refused:
        ana.syncs()

    assert refused.value.hint.startswith("Upgrade recollect.")
