"""A disk that fails, is full, or takes the process with it, at a change of a file that we choose.

SQLite's own way to files is wrapped by a VFS of apsw; what Python itself changes is seen by an
audit hook. Both are installed once in a process that is there for nothing else.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import apsw

_REFUSED = "the disk refused"
_SYSTEM = apsw.vfs_names()[0]
# What changes a folder or a file, by the name that Python gives the event.
_EVENTS = {"os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir", "os.link"}


class Fault(NamedTuple):
    """What goes wrong with the disk.

    kill    the process dies just before its n-th change
    error   the n-th change fails; with `lasting` every later one, too
    full    there is room for so many bytes more
    """

    kind: Literal["kill", "error", "full", "none"] = "none"
    at: int = 0
    lasting: bool = False


class FaultyDisk:
    """Everything below a folder, as the one process that installs this sees it."""

    def __init__(self, folder: str, fault: Fault) -> None:
        self.folder, self.fault = folder, fault
        self.changes = self.grown = 0

    def install(self) -> None:
        self.vfs = _Vfs(self)
        apsw.Connection = _Connection  # type: ignore[misc]
        sys.unraisablehook = _pass_over
        sys.addaudithook(self._hear)

    def change(self, growth: int = 0) -> bool:
        """Note a change that is about to happen; False when it may not."""
        self.changes += 1
        kind, at, lasting = self.fault
        if kind == "kill" and self.changes == at:
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "full" and growth > 0:
            if self.grown + growth > at:
                return False
            self.grown += growth
        return not (kind == "error" and (self.changes == at or (lasting and self.changes > at)))

    def _hear(self, event: str, values: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = values
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event in _EVENTS:
            path = values[0]
        else:
            return
        if isinstance(path, str) and path.startswith(self.folder) and not self.change():
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)


class _Vfs(apsw.VFS):
    def __init__(self, disk: FaultyDisk) -> None:
        self.disk = disk
        super().__init__("faulty", _SYSTEM, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self.disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        if not self.disk.change():
            raise _refused(apsw.IOError, apsw.SQLITE_IOERR_DELETE)
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        self.reads_only = bool(flags[0] & apsw.SQLITE_OPEN_READONLY)
        super().__init__(_SYSTEM, name, flags)

    def xLock(self, level: int) -> None:
        try:
            super().xLock(level)
        except apsw.IOError:
            if not self.reads_only:
                raise
            # Who may only read cannot lock others out, which SQLite tries when it closes a file
            # and takes no harm from. Of what Python raises there, apsw forgives this alone.
            raise apsw.BusyError("may only read") from None

    def xWrite(self, data: bytes, offset: int) -> None:
        if not self.disk.change(offset + len(data) - self.xFileSize()):
            full = self.disk.fault.kind == "full"
            raise (
                _refused(apsw.FullError, apsw.SQLITE_FULL)
                if full
                else _refused(apsw.IOError, apsw.SQLITE_IOERR_WRITE)
            )
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if not self.disk.change():
            raise _refused(apsw.IOError, apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        if not self.disk.change():
            raise _refused(apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(newsize)


class _Connection(apsw.Connection):
    """SQLite tells nobody what failed while a file is closed; apsw would raise what Python did."""

    def close(self, force: bool = False) -> None:
        with suppress(apsw.IOError, apsw.FullError):
            super().close(force)


def _pass_over(unraisable: Any) -> None:
    if str(unraisable.exc_value) != _REFUSED:
        sys.__unraisablehook__(unraisable)


def _refused(kind: type[apsw.Error], code: int) -> apsw.Error:
    error = kind(_REFUSED)
    error.extendedresult = code
    return error
