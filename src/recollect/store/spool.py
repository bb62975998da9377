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

# Nobody took the lines in for a long time: better to lose the oldest knowledge of use than to fill a disk.
MOST_BYTES = 4 << 20


def path_of(store: str) -> str:
    """The spool of a store."""
    return store + ".spool"


def append(path: str, line: str) -> bool:
    """Add one line, whole or not at all; says whether it was added."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _CAREFUL, 0o600)
    except OSError:
        return False
    try:
        if not _ours(handle) or os.fstat(handle).st_size > MOST_BYTES:
            return False
        data = line.encode("utf-8", "replace") + b"\n"
        return os.write(handle, data) == len(data)
    except OSError:
        return False
    finally:
        os.close(handle)


def read(path: str) -> bytes:
    """All that is in a spool; nothing when it is missing or not the user's own file."""
    try:
        handle = os.open(path, os.O_RDONLY | _CAREFUL)
    except OSError:
        return b""
    try:
        return os.read(handle, MOST_BYTES * 2) if _ours(handle) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)


# Not followed when it is a link, and not waited for when it is a pipe. Windows has neither flag.
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _ours(handle: int) -> bool:
    state = os.fstat(handle)
    return S_ISREG(state.st_mode) and (not hasattr(os, "getuid") or state.st_uid == os.getuid())
