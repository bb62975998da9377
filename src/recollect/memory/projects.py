"""The projects of a memory: which one a folder belongs to, and when two are one."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.memory.collaborators import Collaborators
    from recollect.model.reports import ProjectRow


class MemoryProjects:
    """Find, list, merge and split projects."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def of(self, folder: str) -> str | None:
        """The project that a folder of this machine belongs to, when something of it is stored."""
        from recollect.capture import projects

        identity = projects.ProjectFinder().identify(os.path.abspath(folder), None)
        return self.shared.store().projects.find([identity.key, folder] if identity else [folder])

    def get(self, name: str) -> str:
        """The key of the project that is called so, by its key or by a folder of it."""
        from recollect.errors import NotFound

        found = self.shared.store().projects.find([name])
        if found is None:
            raise NotFound(
                f'There is no project "{name[:100]}".', hint="See them: recollect projects"
            )
        return found

    def all(self) -> list[ProjectRow]:
        """Every project, the most recent first."""
        rows = self.shared.store().projects.all()
        for row in rows:
            row.domain = self.shared.settings.domain_of(row.key)
        return rows

    def merge(self, name: str, into: str) -> None:
        """Show one project's turns under another's name; `split` undoes it."""
        self.shared.store().projects.merge(name, into)

    def split(self, name: str) -> None:
        """Undo a merge."""
        self.shared.store().projects.split(name)
