"""The jobs of a memory: work that can wait."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.memory.collaborators import Collaborators
    from recollect.memory.old import OldMemory
    from recollect.model.reports import JobRow


class MemoryJobs:
    """List the jobs that wait, and run them."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def all(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        return self.shared.store().jobs.all(limit)

    def count_due(self) -> int:
        """How many could be run now; one that waits for its time is not counted."""
        return self.shared.store().jobs.count_due()

    def work(self, limit: int | None = None) -> int:
        """Do the jobs that are due; returns how many were done."""
        from recollect.memory.old import OldMemory
        from recollect.memory.store import MemoryStore

        store, old, upkeep = self.shared.store(), OldMemory(self.shared), MemoryStore(self.shared)
        store.old.drain_spool()
        handlers = {
            "digest": lambda subject: self._digest_and_learn_later(old),
            "learn": lambda subject: old.learn(),
            "prepare": lambda subject: old.prepare(),
            "distill": lambda subject: old.distill_due(),
            "trace": old.distill_again,
            "memory": old.consolidate_again,
            "consolidate": lambda subject: old.consolidate_due(),
            "optimize": lambda subject: upkeep.optimize(),
            "embed": lambda subject: upkeep.embed(),
            "retain": lambda subject: upkeep.retain(),
        }
        return store.jobs.work(handlers, limit)

    def _digest_and_learn_later(self, old: OldMemory) -> Iterator[str]:
        yield from old.digest_sessions()
        self.shared.store().jobs.request("learn", "sessions")
