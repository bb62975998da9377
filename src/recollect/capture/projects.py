"""Which project a turn belongs to.

In this order: the git remote that the log names, the repository found at the
folder, a folder that was seen with a repository before (the store knows), the
folder itself. Git is never run: `.git` and its config are read as files, once
per folder, and only for the user's own home, because a foreign log says
nothing about the folders of this machine.
"""

from __future__ import annotations

import os
import re

from recollect.store.stretch import ProjectIdentity

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)$")
_REMOTE_SECTION = re.compile(r'^\s*\[remote "([^"]+)"\]')
_URL = re.compile(r"^\s*url\s*=\s*(.+?)\s*$")
_CONFIG_BYTES = 1 << 18


class Projects:
    """Identities of folders, remembered for the length of a run."""

    def __init__(self, *, local: bool = True) -> None:
        self._local = local
        self._seen: dict[tuple[str | None, str | None], ProjectIdentity | None] = {}

    def identify(self, cwd: str | None, remote: str | None) -> ProjectIdentity | None:
        """Where a turn with this folder and remote happened; None when the log names neither."""
        try:
            return self._seen[cwd, remote]
        except KeyError:
            found = self._seen[cwd, remote] = self._identify(cwd, remote)
            return found

    def _identify(self, cwd: str | None, remote: str | None) -> ProjectIdentity | None:
        named = normalised(remote) if remote else None
        if named:
            return ProjectIdentity(named, "remote", cwd)
        if not cwd:
            return None
        folder = cwd.rstrip("/\\") or cwd
        common = repository(folder) if self._local else None
        if common is None:
            return ProjectIdentity(folder, "directory", folder)
        origin = origin_of(common)
        if origin:
            return ProjectIdentity(origin, "remote", folder)
        name = os.path.dirname(common) if os.path.basename(common) == ".git" else common
        return ProjectIdentity(name, "repository", folder)


def normalised(remote: str) -> str | None:
    """A remote as host/path: the same for https, ssh and scp spellings, without user, port or `.git`."""
    remote = remote.strip()
    if _SCHEME.match(remote):
        rest = remote.split("://", 1)[1]
        authority, _, path = rest.partition("/")
        host = authority.rpartition("@")[2].partition(":")[0]
    else:
        match = _SCP.match(remote)
        if not match:
            return None
        host, path = match[1], match[2]
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host.lower()}/{path}" if host and path else None


def repository(folder: str) -> str | None:
    """The common git directory of the repository that holds `folder`, if there is one.

    A worktree's `.git` is a file that points at its own directory, and that
    one's `commondir` points at the one all worktrees share.
    """
    while True:
        dot_git = os.path.join(folder, ".git")
        try:
            if os.path.isdir(dot_git):
                return os.path.realpath(dot_git)
            if os.path.isfile(dot_git):
                return _common(folder, dot_git)
        except (OSError, ValueError):
            return None
        parent = os.path.dirname(folder)
        if parent == folder or not parent:
            return None
        folder = parent


def _common(folder: str, dot_git: str) -> str | None:
    text = _read(dot_git)
    if not text.startswith("gitdir:"):
        return None
    directory = os.path.join(folder, text.removeprefix("gitdir:").strip())
    common = _read(os.path.join(directory, "commondir")).strip()
    found = os.path.realpath(os.path.join(directory, common) if common else directory)
    return found if os.path.isdir(found) else None


def origin_of(common: str) -> str | None:
    """The normalised remote of a repository: origin, else the first one."""
    remotes: dict[str, str] = {}
    section = ""
    for line in _read(os.path.join(common, "config")).splitlines():
        if match := _REMOTE_SECTION.match(line):
            section = match[1]
        elif line.lstrip().startswith("["):
            section = ""
        elif section and (match := _URL.match(line)):
            remotes.setdefault(section, match[1])
    url = remotes.get("origin") or next(iter(remotes.values()), None)
    return normalised(url) if url else None


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(_CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
