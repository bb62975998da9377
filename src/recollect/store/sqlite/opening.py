"""Opens the file of a store, also where nothing may be written: another user's, a backup
on a disc, a folder that is mounted read-only.

A store in WAL mode is shared through a file beside it that a reader makes as well. Where it
cannot be made, a store without a write-ahead log is read as it stands, and one with a log that
nobody uses together with that log, whose index is then kept in memory.

On the path of a hook: apsw and nothing else is imported.
"""

from __future__ import annotations

import os
import sys

import apsw

# Without locks: nobody else uses the file, or SQLite would have left its index.
_UNLOCKED = "win32-none" if sys.platform == "win32" else "unix-none"


def may_write(path: str) -> bool:
    """Whether this user may change a store that is there, and make the files beside it."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.access(path, os.W_OK) and os.access(folder, os.W_OK)


def open_shared(path: str, *, read_only: bool = False) -> apsw.Connection:
    """The file as whoever may write opens it, beside others; nothing is created."""
    return apsw.Connection(
        path, flags=apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    )


def open_to_read(path: str) -> apsw.Connection:
    """The file as it can be read here, without a trace beside it. May raise apsw.Error."""
    if not _size(path + "-wal"):
        return _opened(path, "&immutable=1")
    if os.path.exists(path + "-shm"):
        connection = _opened(path, "")
        try:
            connection.execute("select 1 from sqlite_schema").fetchone()
            return connection
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            connection.close()
    connection = _opened(path, f"&vfs={_UNLOCKED}")
    connection.execute("pragma locking_mode = exclusive")
    return connection


def _opened(path: str, way: str) -> apsw.Connection:
    # Only what has a meaning in a name like this one: urllib would cost a hook its time.
    name = os.path.abspath(path).replace("\\", "/")
    for character in "%?#":
        name = name.replace(character, f"%{ord(character):02x}")
    # A drive's letter is no name of a machine.
    uri = f"file:{'' if name.startswith('/') else '/'}{name}?mode=ro{way}"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
