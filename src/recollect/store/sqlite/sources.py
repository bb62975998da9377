"""What is remembered about the places logs live in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from recollect.model.batch import Fingerprint, KnownSource
from recollect.model.logs import Checkpoint, Source
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.search.families import HAS_TURNS, IS_BELOW
from recollect.system.clock import now_ms


def path_value(path: str) -> str | bytes:
    """A path as SQLite can hold it: file names need not be text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def path_text(stored: object) -> str:
    """A path as it was given to `path_value`; a damaged one names no file."""
    if isinstance(stored, str):
        return stored
    return os.fsdecode(stored) if isinstance(stored, bytes) else ""


_COLUMNS = (
    "agent", "version", "inode", "size_bytes", "mtime_ns", "head", "tail", "position", "state",
    "imported_at", "failure", "rank", "in_project",
)  # fmt: skip
# Two plain statements rather than one that does either: that one would open a
# savepoint, and at every savepoint SQLite makes the text index flush.
_MARKS = ", ".join("?" * (len(_COLUMNS) + 2))
_INSERT = f"insert into sources ({', '.join(_COLUMNS)}, id, path) values ({_MARKS})"
_CHANGES = ", ".join(f"{name} = ?" for name in _COLUMNS)
_UPDATE = f"update sources set {_CHANGES} where id = ?"


class Stamp(NamedTuple):
    """How a source looked when it was read: enough to see that nothing changed."""

    size_bytes: int
    mtime_ns: int
    inode: int
    version: int


class Sources:
    """What is remembered about the places logs live in."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._all: tuple[tuple[int, int], dict[str, Stamp]] | None = None

    def known(self, paths: list[str] | None = None) -> dict[str, Stamp]:
        """What a sweep compares with, by path, of all sources or of some.

        One that failed is left out, so that it is tried again. All of them are
        kept at hand while nobody writes.
        """
        if paths is not None:
            return self._stamps(paths)
        now = (int(self.db.value("pragma data_version")), self.db.connection.total_changes())
        if self._all is None or self._all[0] != now:
            self._all = (now, self._stamps())
        return self._all[1]

    def count_sessions(self, paths: Sequence[str]) -> int:
        """How many sessions that lists show were read from some of these logs."""
        self.db.execute("create temp table if not exists asked_paths (path)")
        self.db.execute("delete from asked_paths")
        self.db.many("insert into asked_paths values (?)", [(path_value(path),) for path in paths])
        return int(
            self.db.value(
                f"""
                select count(*) from sessions join sources on sources.id = sessions.source
                 where sources.path in (select path from asked_paths)
                   and {HAS_TURNS} and not {IS_BELOW}
                """
            )
        )

    def _stamps(self, paths: list[str] | None = None) -> dict[str, Stamp]:
        chosen = "" if paths is None else f"and path in ({', '.join('?' * len(paths))})"
        rows = self.db.rows(
            f"""
            select path, size_bytes, mtime_ns, inode, version from sources
             where failure is null {chosen}
            """,
            [path_value(path) for path in paths or ()],
        )
        return {
            path_text(path): Stamp(size, mtime, inode, version)
            for path, size, mtime, inode, version in rows
        }

    def find(self, path: str) -> KnownSource | None:
        """What is remembered about one source."""
        row = self.db.row(
            """
            select id, agent, version, inode, size_bytes, mtime_ns, head, tail, position, state,
                   failure
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

    def save(
        self,
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
            point.position, point.state, now_ms(), failure, source.rank,
            source.in_project and path_value(source.in_project), number,
        )  # fmt: skip
        if new:
            self.db.execute(_INSERT, (*values, path_value(source.path)))
        else:
            self.db.execute(_UPDATE, values)

    def last_import_ms(self) -> int | None:
        """When a log was read last."""
        found: int | None = self.db.value("select max(imported_at) from sources")
        return found

    def folders(self) -> list[str]:
        """The folders that sessions took place in, and those known to belong to a project."""
        rows = self.db.rows(
            """
            select cwd from sessions where cwd is not null and not external
            union select alias from project_aliases
            union select key from projects where kind != 'remote' order by 1
            """
        )
        return [folder for (folder,) in rows]
