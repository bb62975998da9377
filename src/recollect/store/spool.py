"""What hooks leave to be noted down: a line for each time one ran, in a file beside the store.

A hook may not wait for the store's writers, so it appends a line here, and the
next import or resident process takes them in. A line has references, paths and
times; never text. It is the user's own file: whatever else is in its place (a
link, a pipe, somebody else's file) is left alone.

On the path of a hook: nothing is imported but what Python has loaded anyway.
"""

from __future__ import annotations

import os
from stat import S_ISREG

# Nobody took the lines in for a long time: better to lose the newest
# knowledge of use than to fill a disk.
MOST_BYTES = 4 << 20
# Where a fault would stand: nothing of this session is to be kept.
OFF = "off"
TRIES = 10


def path_of(store: str) -> str:
    """The spool of a store."""
    return store + ".spool"


def append(path: str, line: str) -> bool:
    """Add one line, whole or not at all; says whether it was added.

    Somebody may take the spool away between our opening and our writing, and
    miss the line. Then it is added to the next one as well: its id makes it
    count once.
    """
    for _ in range(TRIES):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CAREFUL, 0o600)
        except OSError:
            return False
        try:
            state = os.fstat(handle)
            if not _is_own_file(state) or state.st_size > MOST_BYTES:
                return False
            data = line.encode("utf-8", "replace") + b"\n"
            if os.write(handle, data) != len(data):
                return False
            if _is_at(path, state):
                return True
        except OSError:
            return False
        finally:
            os.close(handle)
    return False


def read(path: str) -> bytes:
    """All that is in a spool; nothing when it is missing or not the user's own file."""
    try:
        handle = os.open(path, os.O_RDONLY | _CAREFUL)
    except OSError:
        return b""
    try:
        return os.read(handle, MOST_BYTES * 2) if _is_own_file(os.fstat(handle)) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)


def take(path: str, mark: str) -> list[str]:
    """Put a spool aside under a mark of the taker.

    The paths of all that is aside, also by somebody who died over it.
    """
    folder, name = os.path.split(path)
    try:
        if _is_ours(path):
            os.rename(path, f"{path}.{mark}")
        aside = [
            os.path.join(folder, entry)
            for entry in os.listdir(folder)
            if entry.startswith(name + ".")
        ]
    except OSError:
        # Somebody else was faster, or may change things here and we may not.
        return []
    return [taken for taken in aside if _is_ours(taken)]


# Not followed when it is a link, and not waited for when it is a pipe. Windows has neither flag.
_CAREFUL = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def _is_at(path: str, state: os.stat_result) -> bool:
    try:
        return os.path.samestat(state, os.stat(path))
    except OSError:
        return False


def _is_ours(path: str) -> bool:
    try:
        return _is_own_file(os.lstat(path))
    except OSError:
        return False


def _is_own_file(state: os.stat_result) -> bool:
    # A second name may be that of any file of the user's; none means
    # that it was taken away this moment.
    return (
        S_ISREG(state.st_mode)
        and state.st_nlink <= 1
        and (not hasattr(os, "getuid") or state.st_uid == os.getuid())
    )
