"""Which project a turn belongs to.

In this order: the git remote that the log names, the repository found at the
folder, a folder that was seen with a repository before (the store knows), the
folder itself. Folders are looked at once, and only for the user's own home,
because a foreign log says nothing about the folders of this machine.
"""

from __future__ import annotations

from recollect.model.batch import ProjectIdentity
from recollect.system import git


class ProjectFinder:
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
        named = git.normalised(remote) if remote else None
        if named:
            return ProjectIdentity(named, "remote", cwd)
        if not cwd:
            return None
        folder = cwd.rstrip("/\\") or cwd
        key, kind = git.name_of(folder) if self._local else (folder, "directory")
        # A folder may be called by bytes that are no text; what is stored is.
        key, folder = (name.encode("utf-8", "replace").decode() for name in (key, folder))
        return ProjectIdentity(key, kind, folder)
