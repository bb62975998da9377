"""What is remembered about the places logs live in."""

from __future__ import annotations

import os

from recollect.model.batch import Fingerprint, KnownSource
from recollect.model.logs import Checkpoint, Problem, Source
from recollect.store.sqlite.database import Database
from recollect.system.clock import now_ms

# A log full of rubbish may not fill the store with complaints about it.
PROBLEMS_KEPT = 100


def path_value(path: str) -> str | bytes:
    """A path as SQLite can hold it: file names need not be text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def known_sources(
    db: Database, paths: list[str] | None = None
) -> dict[str, tuple[int, int, int, int]]:
    """(size, time, inode, version) of sources by path, of all or of some:
    enough to see that nothing changed.

    One that failed is left out, so that it is tried again.
    """
    chosen = "" if paths is None else f"and path in ({', '.join('?' * len(paths))})"
    return {
        path if isinstance(path, str) else os.fsdecode(path): (size, mtime, inode, version)
        for path, size, mtime, inode, version in db.rows(
            "select path, size_bytes, mtime_ns, inode, version from sources where failure is null "
            f"{chosen}",
            [path_value(path) for path in paths or ()],
        )
    }


def find_source(db: Database, path: str) -> KnownSource | None:
    """What is remembered about one source."""
    row = db.row(
        """
        select id, agent, version, inode, size_bytes, mtime_ns, head, tail, position, state, failure
          from sources where path = ?
        """,
        (path_value(path),),
    )
    if row is None:
        return None
    number, agent, version, inode, size, mtime, head, tail, position, state, failure = row
    seen = Fingerprint(inode, size, mtime, head, tail)
    return KnownSource(
        number, agent, path, version, seen, Checkpoint(position, bytes(state)), failure
    )


_COLUMNS = (
    "agent", "version", "inode", "size_bytes", "mtime_ns", "head", "tail", "position", "state",
    "imported_at", "failure", "rank",
)  # fmt: skip
# Two plain statements rather than one that does either: that one would open a
# savepoint, and at every savepoint SQLite makes the text index flush.
_INSERT = f"insert into sources ({', '.join(_COLUMNS)}, id, path) values ({', '.join('?' * (len(_COLUMNS) + 2))})"
_UPDATE = f"update sources set {', '.join(f'{name} = ?' for name in _COLUMNS)} where id = ?"


def save_source(
    db: Database,
    number: int,
    source: Source,
    version: int,
    seen: Fingerprint,
    point: Checkpoint,
    failure: str | None,
    *,
    new: bool,
) -> None:
    """Record how far a source was read, in the transaction that keeps what was read."""
    values = (
        source.agent, version, seen.inode, seen.size_bytes, seen.mtime_ns, seen.head, seen.tail,
        point.position, point.state, now_ms(), failure, source.rank, number,
    )  # fmt: skip
    if new:
        db.execute(_INSERT, (*values, path_value(source.path)))
    else:
        db.execute(_UPDATE, values)


def save_problems(db: Database, source_id: int, problems: list[Problem]) -> None:
    """Keep what was wrong in a source, up to a number that still says something."""
    kept = db.value("select count(*) from problems where source = ?", (source_id,))
    now = now_ms()
    db.many(
        "insert into problems (source, kind, line, reason, count, at) values (?, ?, ?, ?, ?, ?)",
        [
            (source_id, one.kind, one.line, one.reason, one.count, now)
            for one in problems[: max(0, PROBLEMS_KEPT - kept)]
        ],
    )


def folders(db: Database) -> list[str]:
    """The folders that sessions took place in, and those known to belong to a project."""
    rows = db.rows(
        """
        select cwd from sessions where cwd is not null
        union select alias from project_aliases
        union select key from projects where kind != 'remote' order by 1
        """
    )
    return [folder for (folder,) in rows]
