"""The logs in tests/golden, laid out as an agent would leave them.

Databases are kept as text: `name.db.sql` holds the statements that make
`name.db`. A first line `-- wal` leaves everything in the write-ahead log, as a
program does that was not closed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw


def laid_out(root: Path, target: Path) -> Path:
    """A copy of a golden case's root, with its databases made."""
    shutil.copytree(root, target)
    for script in sorted(target.rglob("*.sql")):
        make_database(script.with_suffix(""), script.read_text(encoding="utf-8"))
        script.unlink()
    return target


def make_database(path: Path, statements: str) -> None:
    """A SQLite file out of the statements that fill it."""
    made = path.with_name(f"{path.name}.making") if statements.startswith("-- wal") else path
    connection = apsw.Connection(str(made))
    if made != path:
        connection.pragma("journal_mode", "wal")
        connection.pragma("wal_autocheckpoint", 0)
    connection.execute(f"begin; {statements}; commit")
    if made != path:
        for suffix in ("", "-wal"):
            shutil.copy(f"{made}{suffix}", f"{path}{suffix}")
    connection.close()
    if made != path:
        made.unlink()
