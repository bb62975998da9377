"""Lines that a person accepted, in the files of a project that agents read."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.memory.collaborators import Collaborators
    from recollect.model.publications import Decide, Publication, Target


class MemoryPublish:
    """What stands in a project's files."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def update(
        self,
        targets: Sequence[str] = (),
        *,
        folder: str | None = None,
        apply: bool = False,
        undo: bool = False,
        decide: Decide | None = None,
        agent_targets: Sequence[Target] = (),
    ) -> list[Publication]:
        """What is, or with `apply` was, done to the files of a project that agents read.

        The folder is the one given, or the top of the work tree that the
        current one is in. Without targets: those that are published to already,
        or AGENTS.md. `undo` takes out everything of ours. `decide` is asked about each
        file that was changed by hand between our markers; without it such a
        file is refused, and nothing is written. `agent_targets` are files that only single
        agents read: a file that is not among them is not published to.
        """
        from recollect.memory.projects import MemoryProjects
        from recollect.publish import files
        from recollect.publish.publishing import publish, refuse

        store = self.shared.store()
        place = os.path.abspath(folder) if folder is not None else files.top(os.getcwd())
        # Whatever the settings say: these files are shared.
        redact = self.shared.redactor(store).redact_strictly
        return publish(
            store,
            place,
            MemoryProjects(self.shared).of(place),
            targets,
            redact,
            apply=apply,
            undo=undo,
            decide=decide or refuse,
            agent_targets=agent_targets,
        )

    def folders(self) -> list[str]:
        """Every folder in which something is published."""
        return self.shared.store().publications.folders()
