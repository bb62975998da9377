"""The front door, projects: which one a folder belongs to, and when two are one."""

from __future__ import annotations

import os

from recollect.memory.door import Door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.model.reports import ProjectRow


class Projects(Door):
    """Find, list, merge and split projects."""

    def project_of(self, folder: str) -> str | None:
        """The project that a folder of this machine belongs to, when something of it is stored."""
        from recollect.capture import projects

        identity = projects.ProjectFinder().identify(os.path.abspath(folder), None)
        return self._existing().projects.find([identity.key, folder] if identity else [folder])

    def get_project(self, name: str) -> str:
        """The key of the project that is called so, by its key or by a folder of it."""
        from recollect.errors import NotFound

        found = self._existing().projects.find([name])
        if found is None:
            raise NotFound(
                f"no project is called {name[:100]}", hint="`recollect projects` lists them"
            )
        return found

    def projects(self) -> list[ProjectRow]:
        """Every project, the most recent first."""
        rows = self._existing().projects.all()
        for row in rows:
            row.domain = self.settings.domain_of(row.key)
        return rows

    def merge_projects(self, name: str, into: str) -> None:
        """Show one project's turns under another's name; `split_project` undoes it."""
        self._existing().projects.merge(name, into)

    def split_project(self, name: str) -> None:
        """Undo a merge."""
        self._existing().projects.split(name)
