"""What differs between Linux, macOS and Windows, in one place."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from types import TracebackType

WINDOWS = sys.platform == "win32"
# How the names of files begin that are not whole yet.
PARTIAL = ".recollect-"
# Handles that a process may have got from the one that started it: those are low numbers.
MOST_PASSED_ON = 64


def user_home() -> str:
    """The user's home folder, from the environment first: tests and sudo move it."""
    return os.path.expanduser("~")


def data_home(environ: dict[str, str] | os._Environ[str]) -> str:
    """Where recollect keeps its store and settings unless RECOLLECT_HOME says otherwise."""
    if WINDOWS:
        return os.path.join(
            environ.get("LOCALAPPDATA") or os.path.join(user_home(), "AppData", "Local"),
            "recollect",
        )
    if sys.platform == "darwin":
        return os.path.join(user_home(), "Library", "Application Support", "recollect")
    return os.path.join(
        environ.get("XDG_DATA_HOME") or os.path.join(user_home(), ".local", "share"), "recollect"
    )


def private_folder(path: str) -> None:
    """Make a folder that only its owner may look into. Windows profiles are private already."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    if not WINDOWS and os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o700)


def private_file(path: str) -> None:
    """Make sure a file exists that only its owner may read."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    if not WINDOWS and os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o600)


class PartialFile:
    """`with PartialFile(path) as partial:` another name to write a private file under.

    In the end it takes the place of the one at `path`. When the disk is full,
    or somebody stops us, nothing is left of it, nor of what SQLite keeps beside it.
    """

    def __init__(self, path: str) -> None:
        self.path, self.partial = path, path + ".partial"

    def __enter__(self) -> str:
        self._forget()
        private_file(self.partial)
        return self.partial

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                os.replace(self.partial, self.path)
        finally:
            self._forget()

    def _forget(self) -> None:
        for end in ("", "-journal", "-wal", "-shm"):
            if os.path.exists(self.partial + end):
                os.unlink(self.partial + end)


def replace_text(path: str, text: str, *, mode: int = 0o600) -> None:
    """Write a file all at once, so that nobody ever sees half of it."""
    from contextlib import suppress
    from tempfile import mkstemp

    handle, temporary = mkstemp(prefix=PARTIAL, dir=os.path.dirname(path))
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def open_to_others(path: str) -> bool:
    """Whether somebody else on this machine may read or enter `path`."""
    return not WINDOWS and bool(os.stat(path).st_mode & 0o077)


_started: list[subprocess.Popen[bytes]] = []


def spawn_detached(
    command: list[str], *, gently: bool = False, environ: Mapping[str, str] | None = None
) -> None:
    """Start a process that outlives this one and shares none of its pipes.

    `gently`, it only gets time that nobody wants. `environ` is added to this environment.
    """
    import subprocess

    # Those that have ended are asked for it, so that the system lets go of them.
    _started[:] = [process for process in _started if process.poll() is None]
    nothing = subprocess.DEVNULL
    flags = 0
    if WINDOWS:
        # CREATE_NO_WINDOW and not DETACHED_PROCESS: without a console of its own, each program
        # that it starts, such as git, would open a window.
        flags = 0x08000000 | 0x00000200  # CREATE_NO_WINDOW, CREATE_NEW_PROCESS_GROUP
    if WINDOWS and gently:
        flags |= 0x00004000  # BELOW_NORMAL_PRIORITY_CLASS
    _started.append(
        subprocess.Popen(
            command,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            env={**os.environ, **environ} if environ else None,
            creationflags=flags,
            start_new_session=not WINDOWS,
        )
    )
    if gently and hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, _started[-1].pid, 10)


def spawn_and_leave(command: list[str]) -> None:
    """The same from a process that ends at once: without waiting for
    anything, and without what that would load.
    """
    if not hasattr(os, "posix_spawn"):
        spawn_detached(command)
        return
    nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    # Whoever started us may have passed on more than those, and wait for their end.
    for handle in range(3, MOST_PASSED_ON):
        # A hook has not loaded contextlib.
        try:  # noqa: SIM105
            os.set_inheritable(handle, False)
        except OSError:
            pass
    os.posix_spawn(command[0], command, os.environ, file_actions=nothing, setsid=True)


def as_argument(text: str) -> str:
    """A name as one word of a command to type: a folder may be called anything."""
    if not WINDOWS:
        import shlex

        return shlex.quote(text)
    # No folder of Windows has a double quote in its name.
    return f'"{text}"' if " " in text else text
