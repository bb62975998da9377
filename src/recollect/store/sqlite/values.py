"""Stored values that SQLite takes and nobody can read.

SQLite does not look into texts: one that is not UTF-8 any more, or JSON with a
hole in it, passes its own checks and stops whoever asks for it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.errors import StoreDamaged
from recollect.store.sqlite.database import Database

# Texts that hold JSON and are read as such.
_JSON = (("sessions", "meta"),)


def find_unreadable(db: Database) -> dict[str, int]:
    """How many rows of each table hold a value that cannot be read, where there are any."""
    # `read_meta` is on the way of every import, which wants no attempts.
    from recollect.store.sqlite.episodes import Episodes

    torn = {table: _torn(db, table, columns) for table, columns in _texts(db).items()}
    found = {table: count for table, count in torn.items() if count}
    for table, column in _JSON:
        if table not in found:
            count = db.value(f"select count(*) from {table} where not json_valid({column})")
            found.update({table: count} if count else {})
    if "episodes" not in found:
        episodes = Episodes(db)
        count = sum(not episodes.is_sound(number) for number in episodes.numbers())
        found.update({"episodes": count} if count else {})
    return found


def read_meta(stored: str) -> dict[str, Any]:
    """What a session's log told besides; nothing when that is damaged, which `doctor` names."""
    try:
        found = msgspec.json.decode(stored)
    except (msgspec.MsgspecError, UnicodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(db: Database) -> dict[str, list[str]]:
    """The columns of our tables that are text, by table; not those that SQLite keeps for itself."""
    rows = db.rows(
        """
        select tables.name, columns.name
          from pragma_table_list tables join pragma_table_info(tables.name) columns
         where tables.schema = 'main' and tables.type = 'table' and lower(columns.type) = 'text'
         order by tables.name, columns.cid
        """
    )
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(table, []).append(column)
    return found


def _torn(db: Database, table: str, columns: list[str]) -> int:
    """How many rows of a table have a text that is not UTF-8."""
    names = ", ".join(f'"{column}"' for column in columns)
    try:
        for _ in db.each(f'select {names} from "{table}"'):
            pass
        return 0
    except StoreDamaged as error:
        if not isinstance(error.__cause__, UnicodeError):
            raise
    # As bytes, which can always be had.
    plain = ", ".join(f'cast("{column}" as blob)' for column in columns)
    return sum(not _is_text(row) for row in db.each(f'select {plain} from "{table}"'))


def _is_text(row: tuple[bytes | None, ...]) -> bool:
    try:
        for value in row:
            (value or b"").decode()
    except UnicodeDecodeError:
        return False
    return True
