"""A project's own files, read and replaced with care.

Whoever wrote the project may have put a link anywhere in it, so none is
followed: not the file, nor any folder on the way to it. A file is replaced all
at once, and only if it still holds what was read.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

from recollect.errors import FileRefused, FileUnwritable, UsageError
from recollect.system import platforms

# Nobody writes guidance of this size by hand, and agents read the first few dozen kilobytes.
MOST_BYTES = 4 << 20
# As they are named by `platforms.replace_text`.
_PARTIAL = re.compile(re.escape(platforms.PARTIAL) + r"[a-z0-9_]{8}")
_AGAIN = "then run the same command again"


def root(folder: str) -> str:
    """The folder of a project, which must be there."""
    found = os.path.realpath(folder)
    if not os.path.isdir(found):
        raise UsageError(
            f"There is no folder {folder}.", hint="Name the folder of a project with --project."
        )
    return found


def read(folder: str, path: str) -> str | None:
    """What a file below a folder holds, byte for byte, line ends included.

    None when there is none.
    """
    whole = _inside(folder, path)
    found = _checked(folder, path)
    if found is None:
        return None
    if found.st_size > MOST_BYTES:
        raise FileRefused(
            f"{path} is too large to be guidance for an agent.", hint=f"Move it away, {_AGAIN}."
        )
    try:
        with open(
            os.open(whole, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)),
            "rb",
        ) as file:
            return file.read().decode()
    except UnicodeDecodeError as error:
        raise FileRefused(
            f"{path} is not UTF-8 text.", hint=f"Save it as UTF-8, {_AGAIN}."
        ) from error
    except OSError as error:
        raise FileUnwritable(whole, error.strerror or str(error)) from error


def replace(folder: str, path: str, before: str | None, after: str | None) -> None:
    """Bring a file from what was read of it to something else; None means that there is no file.

    Folders that are needed are made, and those that this leaves empty go.
    """
    whole = _inside(folder, path)
    if read(folder, path) != before:
        raise FileRefused(
            f"Another program changed {path} just now.", hint="Run the same command again."
        )
    found = _checked(folder, path)
    if found is not None and not found.st_mode & stat.S_IWUSR:
        # A rename would not mind; whoever made it so does.
        raise FileUnwritable(whole, "the file is read-only")
    try:
        _sweep(os.path.dirname(whole))
        if after is None:
            os.unlink(whole)
            _remove_empty_folders(folder, os.path.dirname(path))
        else:
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            platforms.replace_text(
                whole, after, mode=stat.S_IMODE(found.st_mode) if found else 0o644
            )
    except OSError as error:
        raise FileUnwritable(error.filename or whole, error.strerror or str(error)) from error


def _sweep(folder: str) -> None:
    """Remove what a process left that was killed while it wrote here.

    Only one writes at a time, so nobody needs it.
    """
    for entry in os.scandir(folder) if os.path.isdir(folder) else ():
        if _PARTIAL.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            os.unlink(entry.path)


def exists(folder: str, path: str) -> bool:
    """Whether something is there by that name, whatever it is."""
    return os.path.lexists(_inside(folder, path))


def top(folder: str) -> str:
    """The folder of the work tree that a folder is in, or the folder itself."""
    found = os.path.realpath(folder)
    above = found
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return found
        above = os.path.dirname(above)
    return above


def is_link(folder: str, path: str) -> str | None:
    """What a file is a link to, as seen from the project.

    None when it is no link that stays inside.
    """
    whole = _inside(folder, path)
    if not os.path.islink(whole):
        return None
    target = os.path.relpath(os.path.realpath(whole), folder)
    return (
        None
        if target.startswith(os.pardir) or os.path.isabs(target)
        else target.replace(os.sep, "/")
    )


def _inside(folder: str, path: str) -> str:
    """The whole path of something below a folder."""
    parts = path.split("/")
    if (
        os.path.isabs(path)
        or not all(parts)
        or {".", ".."} & set(parts)
        or os.path.splitdrive(path)[0]
    ):
        raise UsageError(
            f"{path[:100]} is not a path in the project.", hint="See recollect publish --help"
        )
    return os.path.join(folder, *parts)


def _checked(folder: str, path: str) -> os.stat_result | None:
    """What is there, after a look at each folder on the way; None when nothing is."""
    found = None
    whole = folder
    parts = path.split("/")
    for place, part in enumerate(parts):
        whole = os.path.join(whole, part)
        try:
            found = os.lstat(whole)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileUnwritable(whole, error.strerror or str(error)) from error
        if stat.S_ISLNK(found.st_mode):
            raise FileRefused(
                f"{'/'.join(parts[: place + 1])} is a link, to {os.readlink(whole)}",
                hint="Publish to its target, or put a plain file in its place.",
            )
        wanted = stat.S_ISREG if place == len(parts) - 1 else stat.S_ISDIR
        if not wanted(found.st_mode):
            raise FileRefused(
                f"{'/'.join(parts[: place + 1])} is not a "
                f"{'file' if wanted is stat.S_ISREG else 'folder'}",
                hint=f"Move it away, {_AGAIN}.",
            )
    if found is not None and not platforms.WINDOWS and found.st_uid != os.getuid():
        raise FileRefused(
            f"{path} belongs to another user of this machine.", hint="Run this as that user."
        )
    return found


def _remove_empty_folders(folder: str, path: str) -> None:
    """A folder that held only what is gone now goes too; the project's own stays."""
    while path:
        with suppress(OSError):
            os.rmdir(os.path.join(folder, *path.split("/")))
        if os.path.lexists(os.path.join(folder, *path.split("/"))):
            return
        path = path.rpartition("/")[0]
