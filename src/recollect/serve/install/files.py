"""Files that belong to other programs, changed with care.

A `Draft` is read and changed in memory, and written when every change is
known to be good: one file that is refused means that none is touched. What is
written is written beside the file and then renamed over it, so that an agent
that starts in the same moment sees the old settings or the new ones. The
first time a file is changed, a copy stays beside it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from recollect.errors import FileRefused, FileUnwritable
from recollect.system import platforms

BACKUP = ".before-recollect"


class Draft:
    """The files that one command changes: `read`, `put`, and at the end `write`.

    With a `project`, nothing outside that folder is read or written: whoever
    wrote the project may have put a link there. Without one, a link is
    followed, since that is how many people keep their settings.
    """

    def __init__(self, project: str | None = None) -> None:
        self.project = os.path.realpath(project) if project else None
        self._before: dict[str, str | None] = {}
        self._after: dict[str, str | None] = {}
        self._copied: set[str] = set()

    def read(self, path: str) -> str | None:
        """What the file holds, with what was put there in this draft; None when there is none."""
        path = self._resolve(path)
        if path not in self._after:
            self._before[path] = self._after[path] = _text(path)
        return self._after[path]

    def put(self, path: str, text: str | None, *, copy: bool = True) -> None:
        """What the file shall hold; None removes it.

        With `copy`, what it held before we first changed it stays beside it.
        Without, such a copy goes: for files that are all ours, and for those
        that nothing of ours is left in.
        """
        self.read(path)
        path = self._resolve(path)
        self._after[path] = text
        if copy:
            self._copied.add(path)
        else:
            self._copied.discard(path)

    def backup(self, path: str) -> str | None:
        """What the file held before we first changed it.

        None when we made it, or when the copy is gone.
        """
        return _text(self._resolve(path) + BACKUP)

    def write(self) -> list[str]:
        """Bring the files on the disk to what was put; the paths that changed."""
        changed = [path for path, text in self._after.items() if text != self._before[path]]
        for folder in [list(_known(path))[-1] for path in changed]:
            if not os.access(folder, os.W_OK):
                raise FileUnwritable(folder, "the folder is read-only")
        for path in changed:
            try:
                self._write(path, self._before[path], self._after[path])
            except OSError as error:
                raise FileUnwritable(
                    error.filename or path, error.strerror or str(error)
                ) from error
            self._before[path] = self._after[path]
        return changed

    def _write(self, path: str, before: str | None, after: str | None) -> None:
        if _text(path) != before:
            raise FileRefused(
                f"Another program changed {path} just now.", hint="Run the same command again."
            )
        if after is None:
            os.unlink(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            mode = 0o644 if self.project else 0o600
            if before is not None:
                mode = stat.S_IMODE(os.stat(path).st_mode)
            if before is not None and path in self._copied and _text(path + BACKUP) is None:
                platforms.replace_text(path + BACKUP, before, mode=mode)
            platforms.replace_text(path, after, mode=mode)
        if after is None or path not in self._copied:
            with suppress(FileNotFoundError):
                os.unlink(path + BACKUP)
        if after is None:
            _remove_empty_folders(os.path.dirname(path), stop=self.project or platforms.user_home())

    def _resolve(self, path: str) -> str:
        """The file behind a path, which must be the user's own to change."""
        real = os.path.realpath(path)
        if self.project is not None and not _inside(real, self.project):
            raise FileRefused(
                f"{path} leads out of the project, to {real}.",
                hint="Remove that link, or install for yourself with --scope user.",
            )
        for known in _known(real):
            _check_owner(known)
        return real


def _inside(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:
        return False  # Two drives of Windows have no path in common.


def _known(path: str) -> Iterator[str]:
    """The file, if there is one, and the nearest folder above it that there is."""
    if os.path.lexists(path):
        yield path
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    yield folder


def _check_owner(path: str) -> None:
    """Refuse what somebody else on this machine owns or may write."""
    if platforms.WINDOWS:
        return
    try:
        found = os.stat(path)
    except OSError as error:
        # Links that lead round in a circle, for one; a project may have them.
        raise FileRefused(
            f"{path}: {error.strerror}", hint="Move it away, then run the same command again."
        ) from error
    # The folders above a home are the system's, and no reason to refuse.
    trusted = (os.getuid(), 0) if stat.S_ISDIR(found.st_mode) else (os.getuid(),)
    if found.st_uid not in trusted:
        raise FileRefused(
            f"{path} belongs to another user of this machine.",
            hint="Run this as that user, or make the file your own.",
        )
    # Whoever may write a folder may not replace others' files in it when it is sticky, as /tmp is.
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        raise FileRefused(
            f"Every user of this machine can write {path}.",
            hint=f"Run `chmod o-w {platforms.as_argument(path)}` first.",
        )


def _text(path: str) -> str | None:
    """What a plain file holds, byte for byte, line ends and byte-order mark included."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise FileRefused(
                f"{path} is not a plain file.",
                hint="Move it away, then run the same command again.",
            )
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise FileRefused(
            f"{path} is not UTF-8 text.", hint="Save it as UTF-8, then run the same command again."
        ) from error
    except NotADirectoryError as error:
        raise FileUnwritable(path, "a part of its path is a file") from error
    except OSError as error:
        raise FileUnwritable(path, error.strerror or str(error)) from error


def _remove_empty_folders(folder: str, *, stop: str) -> None:
    """A folder that held only what is gone now goes too, up to
    the one that was there in any case.
    """
    stop = os.path.realpath(stop)
    while folder != stop and _inside(folder, stop):
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)
