"""Which repository a folder belongs to, read from git's own files; git is never run.

On the path of a hook: nothing heavy is imported.
"""

from __future__ import annotations

import os

from recollect.system.places import is_absolute, parents, tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    Kind = Literal["remote", "repository", "directory"]

_CONFIG_BYTES = 1 << 18
# A repository of a million files has an index of 100 MB.
_INDEX_BYTES = 256 << 20
# No system that agents run on has longer ones; every folder above would be looked at.
_PATH_CHARACTERS = 4_096
_HOST_ENDS = ("/", "\\", "?", "#")
# Where services answer ssh on the port of https, for those behind a firewall.
_SSH_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


def name_of(folder: str) -> tuple[str, Kind]:
    """What the project of a folder is called, and why: its `remote`, its
    `repository` or the `directory` itself.
    """
    found = look(folder)
    if found is None:
        return settled(folder), "directory"
    return (found.remote, "remote") if found.remote else (found.repository, "repository")


def names_of(folder: str) -> list[str]:
    """What the project of a folder of this machine may be known as, the surest name first.

    Its remote, its repository, the folder itself; without a repository those above
    that it may be a part of. Everybody who looks for a project here asks with these.
    """
    if is_absolute(folder) and not os.path.isabs(folder):
        # Another system's path, which logs of that system are known by here too.
        own = tidy(folder)
        return [own, *parents(own)]
    folder = os.path.abspath(folder)
    own = settled(folder)
    found = _look(own)
    names: list[str | None] = [own, tidy(folder)]
    if found is None:
        names += parents(own)
    else:
        names = [found.remote, found.repository, found.top, *names]
    return list(dict.fromkeys(name for name in names if name))


class WorkTree:
    """What git's own files say of a folder: the remote of its repository, the folder of that,
    which all worktrees share, and the one at the top of this worktree.
    """

    __slots__ = ("remote", "repository", "top")

    def __init__(self, remote: str | None, repository: str, top: str) -> None:
        self.remote, self.repository, self.top = remote, repository, top


def look(folder: str) -> WorkTree | None:
    """The worktree that a folder of this machine is in; None outside any repository."""
    # Seen from which folder a relative one is, nobody knows.
    return _look(settled(folder)) if os.path.isabs(folder) else None


def _look(folder: str) -> WorkTree | None:
    tree = work_tree(folder)
    common = _repository_of(tree) if tree else None
    if tree is None or common is None:
        return None
    top = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return WorkTree(origin_of(common), top, tree)


def settled(folder: str) -> str:
    """A folder under its one name: tidy, and without the links that lead to it on this machine."""
    try:
        return tidy(os.path.realpath(folder) if os.path.isabs(folder) else folder)
    except (OSError, ValueError):
        return tidy(folder)


def work_tree(folder: str) -> str | None:
    """The folder at the top of the repository that a folder is in: the nearest with a `.git`."""
    while len(folder) <= _PATH_CHARACTERS:
        try:
            # Of a link that leads nowhere nobody can say what it hides.
            if os.path.lexists(os.path.join(folder, ".git")):
                return folder
        except (OSError, ValueError):
            return None
        parent = os.path.dirname(folder)
        if parent == folder or not parent:
            return None
        folder = parent
    return None


def normalised(remote: str) -> str | None:
    """A remote as host/path: the same for https, ssh and scp
    spellings, without user, port or `.git`.

    What another reader may take for the end of the host ends it here: a remote
    must not pass for one of a host that it does not lead to.
    """
    remote = remote.strip()
    scheme, separator, rest = remote.partition("://")
    if separator and _is_scheme(scheme):
        ends = [found for mark in _HOST_ENDS if (found := rest.find(mark)) >= 0]
        end = min(ends, default=len(rest))
        place, path = rest[:end].rpartition("@")[2], rest[end + 1 :]
        host = place[: place.find("]") + 1] or place.partition(":")[0]
    else:
        # As scp spells it: user@host:path. One letter is a drive of Windows.
        place, _, path = remote.partition(":")
        if len(place) < 2 or any(mark in place for mark in _HOST_ENDS):
            return None
        if len(place.split()) != 1 or path.startswith("//"):
            return None
        user, at, host = place.rpartition("@")
        host = host if at and user else place
    path = path.strip("/").removesuffix(".git").strip("/")
    host = host.lower().rstrip(".")
    return f"{_SSH_HOSTS.get(host, host)}/{path}" if host and path else None


def _is_scheme(text: str) -> bool:
    return (
        text.isascii()
        and text[:1].isalpha()
        and all(char.isalnum() or char in "+.-" for char in text)
    )


def repository(folder: str) -> str | None:
    """The common git directory of the repository that holds `folder`, if there is one.

    A worktree's `.git` is a file that points at its own directory, and that
    one's `commondir` points at the one all worktrees share.
    """
    tree = work_tree(folder)
    return _repository_of(tree) if tree else None


def _repository_of(tree: str) -> str | None:
    dot_git = os.path.join(tree, ".git")
    try:
        return os.path.realpath(dot_git) if os.path.isdir(dot_git) else _common(tree, dot_git)
    except (OSError, ValueError):
        return None


def around() -> list[str]:
    """The folder that we are called from, and the one at the top of its repository."""
    try:
        here = os.getcwd()
    except OSError:
        return []  # It was removed while we were in it.
    common = repository(here)
    return [here] if common is None else [here, os.path.dirname(common)]


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
    for line in map(str.strip, _read(os.path.join(common, "config")).splitlines()):
        if line.startswith("["):
            name, quote, rest = line.removeprefix('[remote "').partition('"')
            section = (
                name if line.startswith('[remote "') and quote and rest.startswith("]") else ""
            )
        elif section:
            name, equals, value = line.partition("=")
            if equals and name.rstrip() == "url" and value.strip():
                remotes.setdefault(section, value.strip())
    url = remotes.get("origin") or next(iter(remotes.values()), None)
    return normalised(url) if url else None


def tracks_any(paths: Iterable[str]) -> bool:
    """Whether one of these files came with its repository, or may have: git's index has it.

    What cannot be read says yes. Links are followed, too: the file may be tracked
    where it really is.
    """
    return any(
        _tracks(one) for path in paths for one in dict.fromkeys((path, os.path.realpath(path)))
    )


def _tracks(path: str) -> bool:
    top = work_tree(os.path.dirname(path))
    if top is None:
        return False
    from recollect.system import git_index

    directory = _directory(top)
    if directory is None:
        return True
    name = os.path.relpath(path, top).replace(os.sep, "/")
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return True
    return any(
        git_index.holds(_read_bytes(os.path.join(directory, one), _INDEX_BYTES), name)
        for one in names
        if one == "index" or one.startswith("sharedindex.")
    )


def _directory(top: str) -> str | None:
    """Where git keeps what belongs to this work tree alone."""
    dot_git = os.path.join(top, ".git")
    if os.path.isdir(dot_git):
        return dot_git
    text = _read(dot_git)
    if not text.startswith("gitdir:"):
        return None
    return os.path.join(top, text.removeprefix("gitdir:").strip())


def _read(path: str) -> str:
    return (_read_bytes(path, _CONFIG_BYTES) or b"").decode("utf-8", "replace")


def _read_bytes(path: str, most: int) -> bytes | None:
    try:
        # A pipe in place of a file would be waited for.
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read(most)
    except (OSError, ValueError):
        return None
