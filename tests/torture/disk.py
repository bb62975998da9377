"""A disk that fails, is full, or takes the process with it, at a change of a file that we choose.

SQLite's own way to files is wrapped by a VFS of apsw; what Python itself changes is seen by an
audit hook. Both are installed once in a process that is there for nothing else.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import sys
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import apsw

AFTER_POWER_CUT = "-after-power-cut"
_SECTOR = 512
_REFUSED = "the disk refused"
_SYSTEM = apsw.vfs_names()[0]
# What changes a folder or a file, by the name that Python gives the event.
_EVENTS = {"os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir", "os.link"}


class Fault(NamedTuple):
    """What goes wrong with the disk.

    kill    the process dies just before its n-th change
    error   the n-th change fails; with `lasting` every later one, too
    full    there is room for so many bytes more
    power   just before the n-th change the power fails: what was written since the last sync
            is on the disk, or not, or in part; what is left lies in a folder beside the home
    """

    kind: Literal["kill", "error", "full", "power", "none"] = "none"
    at: int = 0
    lasting: bool = False


class Unsynced:
    """A file on a disk that writes when it likes, until it is told to."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.waiting: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        for place, data in self.waiting:
            _put(self.data, place, data)
        self.waiting.clear()

    def left(self, chance: random.Random) -> bytes:
        """All of what waits, none of it, or some, sector by sector and in any order."""
        data, share = bytearray(self.data), chance.choice((0.0, 0.3, 0.7, 1.0))
        for place, written in self.waiting:
            if written is None or chance.random() < 0.5:
                if chance.random() < share:
                    _put(data, place, written)
                continue
            for at in range(0, len(written), _SECTOR):
                if chance.random() < share:
                    _put(data, place + at, written[at : at + _SECTOR])
        return bytes(data)


def _put(data: bytearray, place: int, written: bytes | None) -> None:
    """Write to a file, or cut it off there."""
    if written is None:
        del data[place:]
        return
    if len(data) < place:
        data.extend(bytes(place - len(data)))
    data[place : place + len(written)] = written


class FaultyDisk:
    """Everything below a folder, as the one process that installs this sees it."""

    def __init__(self, folder: str, fault: Fault) -> None:
        self.folder, self.fault = folder, fault
        self.changes = self.grown = 0
        # What is surely on the disk, and what was written since, by the number of the file.
        self.synced: dict[int, Unsynced] = {}

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
        if kind == "power" and self.changes == at:
            self._cut_power()
        if kind == "full" and growth > 0:
            if self.grown + growth > at:
                return False
            self.grown += growth
        return not (kind == "error" and (self.changes == at or (lasting and self.changes > at)))

    def unsynced(self, path: str) -> Unsynced:
        """What was written to a file and may not be on the disk yet."""
        number = os.stat(path).st_ino
        if number not in self.synced:
            with open(path, "rb") as file:
                self.synced[number] = Unsynced(file.read())
        return self.synced[number]

    def forget(self, path: str) -> None:
        """A file is about to go: its number may be given to another one."""
        with suppress(OSError):
            self.synced.pop(os.stat(path).st_ino, None)

    def _cut_power(self) -> None:
        """Leave what the disk holds when the power comes back, and end."""
        chance = random.Random(f"{self.fault.at} {self.changes}")
        left = self.folder + AFTER_POWER_CUT
        shutil.copytree(self.folder, left)
        for folder, _, names in os.walk(left):
            for name in names:
                path = os.path.join(folder, name)
                number = os.stat(self.folder + path.removeprefix(left)).st_ino
                if number in self.synced:
                    with open(path, "wb") as file:
                        file.write(self.synced[number].left(chance))
        os.kill(os.getpid(), signal.SIGKILL)

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
        if event == "os.remove" and isinstance(path, str):
            self.forget(path)


class _Vfs(apsw.VFS):
    def __init__(self, disk: FaultyDisk) -> None:
        self.disk = disk
        super().__init__("faulty", _SYSTEM, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _File(self.disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        if not self.disk.change():
            raise _refused(apsw.IOError, apsw.SQLITE_IOERR_DELETE)
        self.disk.forget(filename)
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        self.reads_only = bool(flags[0] & apsw.SQLITE_OPEN_READONLY)
        super().__init__(_SYSTEM, name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        follows = disk.fault.kind == "power" and path and path.startswith(disk.folder)
        self.unsynced = disk.unsynced(path) if follows else None

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
        if self.unsynced is not None:
            self.unsynced.waiting.append((offset, bytes(data)))

    def xSync(self, flags: int) -> None:
        if not self.disk.change():
            raise _refused(apsw.IOError, apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)
        if self.unsynced is not None:
            self.unsynced.sync()

    def xTruncate(self, newsize: int) -> None:
        if not self.disk.change():
            raise _refused(apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(newsize)
        if self.unsynced is not None:
            self.unsynced.waiting.append((newsize, None))


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
