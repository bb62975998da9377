"""The jobs of a memory: work that can wait."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.memory.collaborators import Collaborators
    from recollect.model.reports import JobRow

# The lease of who waits until no turn has ended for a while.
QUIET = "quiet"
# A session that never rests has it done all the same.
LONGEST_SECONDS = 600.0


class MemoryJobs:
    """List the jobs that wait, and run them."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def all(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        from recollect.jobs import follow_marks

        store = self.shared.store()
        follow_marks(store)
        return store.jobs.all(limit)

    def count_due(self) -> int:
        """How many could be run now; one that waits for its time is not counted."""
        from recollect.jobs import follow_marks

        store = self.shared.store()
        follow_marks(store)
        return store.jobs.count_due()

    def count_undigested(self) -> int:
        """How many sessions wait for what they came to: tasks, outcomes, errors."""
        return self.shared.store().digests.count_outdated()

    def is_waiting_for_quiet(self) -> bool:
        """Whether a process waits until agents are quiet, and does then what is due."""
        return self.shared.store().leases.is_held(QUIET)

    def wait_for_quiet(self, *, longest_seconds: float = LONGEST_SECONDS) -> bool:
        """Wait until no log was read for a while; False when another process waits already.

        A session of many turns then has its jobs done once and not at each turn. Meanwhile the
        store is not open.
        """
        import time

        from recollect.system.clock import now_ms

        lease = self.shared.store().leases.take(QUIET, seconds=int(longest_seconds) + 60)
        if lease is None:
            return False
        until = now_ms() + int(longest_seconds * 1000)
        quiet_ms = self.shared.settings.number("jobs.quiet_seconds") * 1000
        try:
            while True:
                last = self.shared.store().sources.last_import_ms() or 0
                left_ms = min(last + quiet_ms, until) - now_ms()
                if left_ms <= 0:
                    return True
                self.shared.close()
                time.sleep(left_ms / 1000)
        finally:
            self.shared.store().leases.release(lease)

    def work(self, limit: int | None = None, *, at_once: bool = False) -> int:
        """Do the jobs that are due; returns how many were done.

        Memories that take long to make rest in between, unless all is wanted `at_once`.
        """
        from recollect.jobs import run_due
        from recollect.memory.engines import MemoryEngines
        from recollect.memory.team import MemoryTeam

        store, engines = self.shared.store(), MemoryEngines(self.shared)
        if store.read_only:
            return 0
        store.injections.drain()
        if at_once and store.notes.outdated():
            store.jobs.mark("notes changed")
        given = {
            "settings": lambda: self.shared.settings,
            "domains": self.shared.settings.domains,
            "encoder": self.shared.encoder,
            "writer": engines.open_writer,
            "readable": engines.readable,
            "redactor": lambda: self.shared.redactor(store),
            "at_once": lambda: at_once,
            "redact": lambda: self.shared.redact_strictly,
            "exchange": lambda: MemoryTeam(self.shared).sync,
        }
        return run_due(store, given, limit=limit)
