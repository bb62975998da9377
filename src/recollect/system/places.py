"""Folders that are nobody's project, and folders as they are compared.

A home, a folder of repositories and a temporary folder hold the work of many
projects: what lies in them is not theirs. Paths may be those of another
machine, so both kinds of separators are understood everywhere.

On the path of a hook: nothing heavy is imported.
"""

from __future__ import annotations

import os

from recollect.system import platforms

_HOMES = ("/home", "/Users", "/export/home", "/var/home")
# What every home has, and what people keep many things in.
_SHELVES = frozenset({"Desktop", "Documents", "Downloads", "OneDrive"})
_TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/dev/shm")
_VARIABLES = ("TMPDIR", "TEMP", "TMP")
# A folder of repositories is known by its first few hundred entries.
_MOST_ENTRIES = 400


def tidy(folder: str) -> str:
    """A folder without separators at its end; a drive has one spelling."""
    if _has_drive(folder):
        folder = folder[0].upper() + folder[1:].replace("/", "\\")
        return folder.rstrip("\\") if len(folder) > 3 else folder[:2] + "\\"
    if folder.startswith("\\\\"):
        return folder.rstrip("\\") or folder[:1]
    return folder.rstrip("/") or folder[:1]


def is_absolute(folder: str) -> bool:
    """Whether a folder is named from the top of this machine or of another."""
    return folder.startswith(("/", "\\\\")) or _has_drive(folder)


def parent_of(folder: str) -> str | None:
    """The folder above a tidy one; None at the top."""
    separator = "\\" if _has_drive(folder) or folder.startswith("\\\\") else "/"
    at = folder.rfind(separator)
    above = tidy(folder[: at + 1])
    return above if at >= 0 and len(above) < len(folder) else None


def is_within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith((folder.rstrip("/\\") + "/", folder + "\\"))


def parents(folder: str) -> list[str]:
    """The folders above a tidy one that it may be a part of, the nearest first:
    those below the first that is nobody's project.
    """
    found: list[str] = []
    above = parent_of(folder)
    while above is not None and not gathers(above):
        found.append(above)
        above = parent_of(above)
    return found


def gathers(folder: str) -> bool:
    """Whether a tidy folder is a home, a folder of repositories or a temporary one."""
    above = parent_of(folder)
    if above is None or folder in _temporary() or _is_home(folder) or folder in _HOMES:
        return True
    name = folder[len(above) :].strip("/\\")
    return (name in _SHELVES and _is_home(above)) or _holds_repositories(folder)


def is_temporary(folder: str) -> bool:
    """Whether a folder is one of those that are emptied now and then, or below one."""
    return any(is_within(folder, top) for top in _temporary())


def _temporary() -> set[str]:
    named = {tidy(os.environ[name]) for name in _VARIABLES if os.environ.get(name)}
    return named.union(_TEMPORARY)


def _is_home(folder: str) -> bool:
    above = parent_of(folder) or ""
    return (
        folder == tidy(platforms.user_home())
        or above in _HOMES
        or folder == "/root"
        or (_has_drive(above) and above[2:].lower() in ("\\users", "\\documents and settings"))
    )


def _holds_repositories(folder: str) -> bool:
    """Whether two repositories, or more, lie in a folder of this machine that is none itself."""
    found = 0
    try:
        if os.path.exists(os.path.join(folder, ".git")):
            return False
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                if entry.is_dir() and os.path.exists(os.path.join(entry.path, ".git")):
                    found += 1
                    if found > 1:
                        return True
    except (OSError, ValueError):
        pass
    return False


def _has_drive(folder: str) -> bool:
    return folder[1:3] in (":\\", ":/", ":") and folder[0].isascii() and folder[0].isalpha()
