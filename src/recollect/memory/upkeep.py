"""The front door, upkeep: the health of the store, forgetting, and work that can wait."""

from __future__ import annotations

import os

from recollect.memory.capture import Capture
from recollect.memory.notes import Notes
from recollect.memory.publish import Publish
from recollect.memory.recall import Recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from recollect.capture.sweep import Progress
    from recollect.model.reports import (
        Forgotten,
        Health,
        JobRow,
        RepairReport,
        Rescanned,
        Retained,
    )
    from recollect.model.search import Filter


class Upkeep(Capture, Recall, Notes, Publish):
    """Looking after the store and what waits to be done in it."""

    # Looking after the store

    def rescan(self, progress: Progress | None = None) -> Rescanned:
        """Scan everything stored for secrets again, after the table of them grew."""
        store = self._existing()
        report = store.rescan.run(self.redactor(store), progress=progress)
        # The files of memories follow their rows.
        self._refresh()
        return report

    def doctor(self, *, verify: bool = False) -> Health:
        """What is wrong, if anything; `verify` also recomputes every checksum."""
        from recollect.retain.budgets import Budget, check

        store = self._existing()
        health = store.doctor.examine(verify=verify, home=self.settings.home)
        health.findings += check(store, Budget.of(self.settings))
        health.ok = all(finding.ok for finding in health.findings)
        return health

    def repair(self, *, rebuild_text: bool = False) -> RepairReport:
        """Salvage a damaged store; the damaged file is kept beside it."""
        from recollect.store import repair_store

        self.close()
        return repair_store(self.settings.store, rebuild_text=rebuild_text)

    def backup(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """An online copy of the store; returns its size in bytes."""
        return self._existing().upkeep.back_up(os.fspath(path), force=force)

    def export(
        self, text: str = "", *, limit: int | None = None, **filters: Filter
    ) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values, one after the other."""
        from itertools import islice

        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        for session in islice(self._existing().sessions.export(self._scope(query)), limit):
            yield {**session, "domain": self.settings.domain_of(session["project"])}

    def forget(self, ref: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session or a turn for good, with its copies; the next import leaves it out.

        Notes that only came from there go too, unless a person wrote or accepted them.
        """
        from recollect.errors import NotFound

        store = self._existing()
        # So that notes know where they came from.
        self.corroborate_notes()
        try:
            session, ordinal = store.sessions.resolve(ref)
        except NotFound:
            # Perhaps it was forgotten before, and something in the way kept its words in the files.
            session, ordinal = ref, None
        report = store.forgetting.session_or_turn(session, ordinal, dry_run=dry_run)
        if not dry_run:
            # What was made of it goes from the files too, and what still
            # holds is put together again.
            self._refresh()
            self._settle_patterns()
        return report

    def retain(self, *, dry_run: bool = False) -> Iterator[Retained]:
        """Keep the store within the budget of the settings, a report after each batch.

        The last one counts.

        Sessions without a digest get theirs first, because only then may
        their events go. A dry run changes nothing.
        """
        from recollect.model.reports import Retained
        from recollect.retain.budgets import Budget, retain

        budget = Budget.of(self.settings)
        if budget.limits_raw and not dry_run:
            for _ in self.digest_sessions():
                yield Retained()
        yield from retain(self._existing(), budget, dry_run=dry_run)

    # Work that can wait

    def jobs(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        return self._existing().jobs.all(limit)

    def has_work(self) -> bool:
        """Whether a job is due; one that waits for its time is not."""
        return self._existing().jobs.count_due() > 0

    def work(self, limit: int | None = None) -> int:
        """Do the jobs that are due; returns how many were done."""
        store = self._existing()
        store.old.drain_spool()
        handlers = {
            "digest": lambda subject: self._digest_and_learn_later(),
            "learn": lambda subject: self.learn(),
            "prepare": lambda subject: self.prepare(),
            "distill": lambda subject: self._distill(),
            "trace": self._distill_again,
            "memory": self._consolidate_again,
            "consolidate": lambda subject: self._consolidate(
                by=self._llm() if self._engine() == "llm" else None
            ),
            "optimize": lambda subject: store.upkeep.optimize(),
            "embed": lambda subject: self.embed(),
            "retain": lambda subject: self.retain(),
        }
        return store.jobs.work(handlers, limit)

    def _digest_and_learn_later(self) -> Iterator[str]:
        yield from self.digest_sessions()
        self._existing().jobs.request("learn", "sessions")

    def prepare(self) -> Iterator[str]:
        """Make ready what hooks tell, for the projects whose logs or notes changed.

        Each project's key once it is done.
        """
        from recollect.recall.prepare import prepare

        self.corroborate_notes()
        yield from prepare(self._existing(), self.settings.domains())

    # A first look

    def sample_logs(self) -> str:
        """The folder of sample sessions that comes with recollect."""
        return os.path.join(os.path.dirname(os.path.dirname(__file__)), "samples")

    def example_query(self) -> str:
        """Two words of a recent prompt, for somebody who does not know what to ask yet."""
        return self._existing().text.example_query()
