"""A turn's body as it is stored. On the path of a cold search: nothing is imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.database import Database


def stored_parts(db: Database, turn: int) -> list[bytes]:
    """A turn's body, part by part."""
    return [
        events
        for (events,) in db.rows("select events from bodies where turn = ? order by part", (turn,))
    ]


def parts_of(db: Database, turns: list[int]) -> dict[int, list[bytes]]:
    """The bodies of several turns, part by part."""
    found: dict[int, list[bytes]] = {turn: [] for turn in turns}
    marks = ", ".join("?" * len(turns))
    for turn, events in db.rows(
        f"select turn, events from bodies where turn in ({marks}) order by turn, part", turns
    ):
        found[turn].append(events)
    return found
