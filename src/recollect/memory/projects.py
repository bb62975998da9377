"""The projects of a memory: which one a folder belongs to, and when two are one."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.memory.collaborators import Collaborators
    from recollect.model.reports import ProjectLogs, ProjectRow


def parts(name: str) -> str:
    """A name as its parts are compared: without case, whichever way its slashes lean."""
    return "/" + name.replace("\\", "/").strip("/").lower()


class MemoryProjects:
    """Find, list, merge and split projects; say whose the logs inside them are."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def of(self, folder: str) -> str | None:
        """The project that a folder of this machine belongs to, when something of it is stored."""
        from recollect.system import git

        return self.shared.store().projects.find(git.names_of(folder))

    def get(self, name: str) -> str:
        """The key of the project that is called so: by its key, a folder of it, or the last
        names of its key, as a search takes them, where that is one project's.
        """
        from recollect.errors import NotFound, UsageError

        projects = self.shared.store().projects
        found = projects.find([name])
        if found is not None:
            return found
        ending = [key for key in projects.every_key() if parts(key).endswith(parts(name))]
        if len(ending) > 1:
            raise UsageError(
                f'Several projects are called "{name[:100]}".',
                hint=f"Name one of them whole: {', '.join(ending[:5])}.",
            )
        if not ending:
            raise NotFound(
                f'There is no project "{name[:100]}".', hint="See them: recollect projects"
            )
        return ending[0]

    def all(self) -> list[ProjectRow]:
        """Every project, the most recent first."""
        rows = self.shared.store().projects.all()
        for row in rows:
            row.domain = self.shared.settings.domain_of(row.key)
        return rows

    def merge(self, name: str, into: str) -> None:
        """Show one project's sessions under another's name; `split` undoes it."""
        self.shared.store().projects.merge(name, into)

    def external_logs(self) -> list[ProjectLogs]:
        """The logs inside projects that nobody confirmed, by the folder they were found in."""
        from recollect.model.reports import ProjectLogs
        from recollect.system import git

        return [
            ProjectLogs(
                folder=folder, logs=logs, tracked=[path for path in logs if git.tracks_any([path])]
            )
            for folder, logs in self.shared.store().confirmed_folders.logs().items()
        ]

    def trust(self, folder: str) -> list[str]:
        """Take the logs inside a project's folder for this person's own from the next import on.

        Returns those that stay external, because git tracks them.
        """
        from recollect.errors import UsageError

        if not os.path.isdir(folder):
            raise UsageError(
                f"{folder} is not a folder.", hint="Name the folder that the logs were found in."
            )
        real = self._as_stored(folder)
        self.shared.ensure_store().confirmed_folders.confirm(real)
        return next((one.tracked for one in self.external_logs() if one.folder == real), [])

    def distrust(self, folder: str) -> int:
        """Undo `trust`, with everything that was made of these logs; says how many sessions
        are external now.
        """
        return self.shared.store().confirmed_folders.withdraw(self._as_stored(folder))

    def _as_stored(self, folder: str) -> str:
        """A folder as an import notes it down: without a secret that it may be called by."""
        real = os.path.realpath(folder)
        if not self.shared.settings.flag("redact.enabled"):
            return real
        return self.shared.redactor(self.shared.ensure_store()).redact(real)

    def trusted(self) -> list[str]:
        """The folders whose logs were confirmed."""
        return self.shared.store().confirmed_folders.all()

    def split(self, name: str) -> None:
        """Undo a merge."""
        self.shared.store().projects.split(name)
