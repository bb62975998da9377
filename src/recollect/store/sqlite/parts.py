"""A turn's body as it is stored, and read with care.

Whoever asks for one turn is told that it is damaged. Whoever lists many gets
the others: what is missing is noted in `Database.left_out`, which faces tell.

On the path of a cold search: nothing is imported.
"""

from __future__ import annotations

from recollect.errors import StoreDamaged, TurnDamaged
from recollect.store import bodies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recollect.store.sqlite.database import Database

_AT_ONCE = 100


def turn_rows(db: Database, turn: int) -> list[bodies.Row]:
    """The rows of a turn; `TurnDamaged` when they are not all to be had."""
    try:
        return bodies.joined(stored_parts(db, turn))
    except (bodies.Damaged, StoreDamaged) as error:
        raise TurnDamaged(db.path, name_of(db, turn)) from error


def readable_rows(db: Database, turn: int) -> list[bodies.Row]:
    """The rows of a turn without the parts that are damaged, which is noted."""
    try:
        return turn_rows(db, turn)
    except TurnDamaged as error:
        db.left_out[error.turn] = None
    return bodies.joined(list(_sound_parts(db, turn)))


def readable_rows_of(db: Database, turns: Iterable[int]) -> Iterator[tuple[int, list[bodies.Row]]]:
    """The rows of several turns, each without its damaged parts, which is noted."""
    wanted = list(turns)
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        try:
            found = _parts_of(db, some)
        except StoreDamaged:
            found = None
        for turn in some:
            try:
                rows = bodies.joined(found[turn]) if found is not None else None
            except bodies.Damaged:
                rows = None
            yield turn, readable_rows(db, turn) if rows is None else rows


def stored_parts(db: Database, turn: int) -> list[bytes]:
    """A turn's body, part by part."""
    return [
        events
        for (events,) in db.rows("select events from bodies where turn = ? order by part", (turn,))
    ]


def name_of(db: Database, turn: int) -> str:
    """What a person calls a turn, as far as that can be read."""
    try:
        found = db.value(
            "select sessions.ref || '#' || turns.ordinal from turns "
            "join sessions on sessions.id = turns.session where turns.id = ?",
            (turn,),
        )
    except StoreDamaged:
        found = None
    return str(found or f"turn {turn}")


def _parts_of(db: Database, turns: list[int]) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {turn: [] for turn in turns}
    marks = ", ".join("?" * len(turns))
    for turn, events in db.each(
        f"select turn, events from bodies where turn in ({marks}) order by turn, part", turns
    ):
        found[turn].append(events)
    return found


def _sound_parts(db: Database, turn: int) -> Iterator[bytes]:
    """Those parts of a turn that can be read, each asked for by itself."""
    try:
        numbers = db.rows("select id from bodies where turn = ? order by part", (turn,))
    except StoreDamaged:
        return
    for number in numbers:
        try:
            part = db.value("select events from bodies where id = ?", number)
        except StoreDamaged:
            continue
        if part is not None and bodies.find_rows(part) is not None:
            yield part
