"""What every subject here stands on."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.memory.collaborators import Collaborators


class OldBase:
    """What the parts share, and the projects."""

    def __init__(self, shared: Collaborators) -> None:
        from recollect.memory.projects import MemoryProjects

        self.shared = shared
        self.projects = MemoryProjects(shared)
