"""The store of a memory: its health, its copies, its size, and what is removed from it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from recollect.capture.sweep import Progress
    from recollect.memory.collaborators import Collaborators
    from recollect.model.reports import (
        Embedded,
        Forgotten,
        Health,
        Optimized,
        RepairReport,
        Rescanned,
        Retained,
        Room,
    )
    from recollect.model.search import Filter


# A value in more turns than this is taken out of them only when a person says so.
MOST_TURNS = 50


class MemoryStore:
    """Look after the store."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def rescan(
        self, progress: Progress | None = None, *, dry_run: bool = False, frequent: bool = False
    ) -> Rescanned:
        """Scan everything stored for secrets again: the table of them grew, or more are known.

        A value that would go in more than `MOST_TURNS` turns is listed and
        waits, unless `frequent` says that those go too: a word that only
        looks like a secret would be missed everywhere.
        """
        from recollect.model.reports import Rescanned
        from recollect.redact import table_version
        from recollect.redact.known import digits_of

        store = self.shared.store()
        redactor = self.shared.redactor(store)
        values = store.rescan.survey(redactor, progress=progress)
        for one in values:
            one.waits = one.turns > MOST_TURNS and not frequent
        if dry_run:
            return Rescanned(values=values, dry_run=True, version=table_version())
        waiting = {one.tag for one in values if one.waits}
        redactor.leave(waiting)
        learned = redactor.take_learned()
        store.known_secrets.keep(
            {digest: kind for digest, kind in learned.items() if digits_of(digest) not in waiting}
        )
        report = store.rescan.run(redactor, progress=progress)
        report.values = values
        return report

    def unembedded(self) -> int:
        """How many turns are found by word only so far."""
        return self.shared.store().vectors.waiting()

    def room(self) -> Room | None:
        """How much is used of what the settings allow; None when they have no limits."""
        from recollect.retain.budgets import Budget, find_room

        return find_room(self.shared.store(), Budget.of(self.shared.settings))

    def doctor(self, *, verify: bool = False) -> Health:
        """What is wrong, if anything; `verify` also recomputes every checksum."""
        from recollect.retain.budgets import Budget, check

        store = self.shared.store()
        health = store.doctor.examine(verify=verify, home=self.shared.settings.home)
        health.findings += check(store, Budget.of(self.shared.settings))
        health.ok = all(finding.ok for finding in health.findings)
        return health

    def repair(self, *, rebuild_text: bool = False) -> RepairReport:
        """Salvage a damaged store; the damaged file is kept beside it."""
        from recollect.store import repair_store

        self.shared.close()
        return repair_store(self.shared.settings.store, rebuild_text=rebuild_text)

    def backup(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """An online copy of the store; returns its size in bytes."""
        return self.shared.store().upkeep.back_up(os.fspath(path), force=force)

    def export(
        self, text: str = "", *, limit: int | None = None, **filters: Filter
    ) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values, one after the other."""
        from itertools import islice

        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        for session in islice(self.shared.store().sessions.export(self.shared.scope(query)), limit):
            yield {**session, "domain": self.shared.settings.domain_of(session["project"])}

    def forget(self, ref: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session or a turn for good, with its copies; the next import leaves it out.

        Notes that only came from there go too, unless a person wrote or accepted them.
        """
        from recollect.distill.corroborate import corroborate
        from recollect.errors import NotFound

        store = self.shared.store()
        # So that notes know where they came from.
        corroborate(store)
        try:
            session, ordinal = store.sessions.resolve(ref)
        except NotFound:
            # Perhaps it was forgotten before, and something in the way kept its words in the files.
            session, ordinal = ref, None
        return store.forgetting.session_or_turn(session, ordinal, dry_run=dry_run)

    def retain(self, *, dry_run: bool = False) -> Iterator[Retained]:
        """Keep the store within the budget of the settings, a report after each batch.

        The last one counts.

        Sessions without a digest get theirs first, because only then may
        their events go. A dry run changes nothing.
        """
        from recollect.distill.tasks.digest import digest_new
        from recollect.model.reports import Retained
        from recollect.retain.budgets import Budget, retain

        budget = Budget.of(self.shared.settings)
        if dry_run:
            yield from self._rehearse_retain()
            return
        if budget.limits_raw:
            for _ in digest_new(self.shared.store()):
                yield Retained()
        yield from retain(self.shared.store(), budget)

    def _rehearse_retain(self) -> Iterator[Retained]:
        from recollect.memory.collaborators import Collaborators
        from recollect.memory.rehearsal import rehearsed

        with rehearsed(self.shared.settings, self.shared.store()) as settings:
            copy = Collaborators(settings, environ=self.shared.environ)
            try:
                for report in MemoryStore(copy).retain():
                    report.dry_run = True
                    yield report
            finally:
                copy.close()

    def embed(self, *, again: bool = False, limit: int | None = None) -> Iterator[Embedded]:
        """Make the vectors of turns that have none yet, a report after each batch.

        The last one counts.

        Nothing happens before the first report is asked for, and a run that
        is left in between is continued by the next.
        """
        from recollect.recall import embedding

        return embedding.embed(self.shared.store(), self.shared.encoder(), again=again, limit=limit)

    def secret_kinds(self) -> dict[str, int]:
        """How many different secrets of each kind were removed, of those that cannot be chance."""
        return self.shared.store().known_secrets.kinds()

    def optimize(self) -> Optimized:
        """Merge the text index into one segment, which makes searches faster."""
        return self.shared.store().upkeep.optimize()

    def example_query(self) -> str:
        """Two words of a recent prompt, for somebody who does not know what to ask yet."""
        return self.shared.store().text.example_query()
