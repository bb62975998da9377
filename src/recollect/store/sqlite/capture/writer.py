"""Keeps what capture brings, inside one transaction.

Rows, text index and checkpoint are committed together, so a run that stops
anywhere continues without loss or repetition.
"""

from __future__ import annotations

from types import TracebackType

from recollect.model.batch import Batch, Fingerprint, Written
from recollect.model.logs import Source
from recollect.store.sqlite.capture.batches import BatchWriter
from recollect.store.sqlite.capture.pending import Pending
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.problems import Problems
from recollect.store.sqlite.sources import Sources, path_value


class Writer:
    """Writes the batches of one transaction: `with store.writing() as writer: ...`.

    All of it is kept, or nothing.
    """

    def __init__(self, db: Database) -> None:
        self.db, self._transaction = db, db.transaction()

    def __enter__(self) -> Writer:
        self._transaction.__enter__()
        self.pending = Pending(self.db)
        self.has_turns = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            try:
                if self.has_turns:
                    Jobs(self.db).mark("imported")
                self.pending.flush()
            except BaseException as failure:
                self._transaction.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self._transaction.__exit__(kind, error, trace)

    def flush(self) -> None:
        """Write what waits, but for the text index, so that it can be asked for."""
        self.pending.flush_tables()

    def keep(
        self,
        source: Source,
        batch: Batch,
        *,
        version: int,
        seen: Fingerprint,
        rewritten: set[int] | None,
        anew: bool = True,
        better: bool = False,
        failure: str = "",
    ) -> Written:
        """Store a batch together with its checkpoint.

        `rewritten` holds the turns that a pass which brings turns whole has
        met so far; None means that it goes on in the middle of them. `anew`
        says that the source is read from its start, `better` that it is read
        in a newer way, whose word counts even when it tells less.
        """
        source_id, new = self._source(source)
        Sources(self.db).save(
            source_id, source, version, seen, batch.checkpoint, failure or None, new=new
        )
        if anew and rewritten is not None and not rewritten and not new:
            self.db.execute("delete from problems where source = ?", (source_id,))
        if batch.problems:
            Problems(self.db).save(source_id, batch.problems)
        one = BatchWriter(self.pending, source, source_id, rewritten)
        if not better:
            # A turn that goes on in the next batch cannot be compared yet.
            whole = seen.size_bytes >= 0
            one.comparable = set(batch.turns) if whole else set(list(batch.turns)[:-1])
        for native, facts in batch.sessions.items():
            one.session(native, facts)
        for (native, key), part in batch.turns.items():
            one.turn(native, key, part)
        for usage in batch.usages.values():
            one.usage(usage, batch.costs.get(usage.key))
        for (native, key), live in batch.live.items():
            one.live(native, key, live)
        one.close()
        if one.kept_fuller and source.appended:
            # What this log goes on with belongs behind what it lacks now, so it
            # is read whole when it changes.
            self.db.execute(
                "update sources set position = 0, state = x'' where id = ?", (source_id,)
            )
        self.has_turns = self.has_turns or one.written.turns > 0
        return one.written

    def _source(self, source: Source) -> tuple[int, bool]:
        """The row of a source, and whether it has yet to be made."""
        known = self.db.value("select id from sources where path = ?", (path_value(source.path),))
        if known is not None:
            return known, False
        self.pending.next_source += 1
        return self.pending.next_source - 1, True
