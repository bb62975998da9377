"""Engines: who else than the rules may write a project's memory, and what they are given."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.distill.condense import Record
    from recollect.memory.collaborators import Collaborators


class MemoryEngines:
    """What a model is given of a project, and what it made of it."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def record(self, *, project: str | None = None, folder: str | None = None) -> Record | None:
        """All sessions of a project condensed into one text, without secrets.

        The project is the one named, or that of `folder`. None when nothing is known of it.
        """
        from recollect.distill.engines.material import whole_record

        store, key = self.shared.store(), self._key(project, folder)
        return None if key is None else whole_record(store, key, self.shared.redactor(store))

    def _key(self, project: str | None, folder: str | None) -> str | None:
        from recollect.memory.projects import MemoryProjects

        projects = MemoryProjects(self.shared)
        return projects.get(project) if project is not None else projects.of(folder or os.getcwd())
