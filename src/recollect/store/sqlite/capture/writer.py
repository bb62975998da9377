"""Keeps what capture brings, inside one transaction.

Rows, text index and checkpoint are committed together, so a run that stops
anywhere continues without loss or repetition.
"""

from __future__ import annotations

from types import TracebackType

from recollect.model.batch import Fingerprint, ProjectIdentity, Stretch, Written
from recollect.model.logs import Source
from recollect.store.sqlite.capture.batches import Incoming
from recollect.store.sqlite.capture.pending import Rows
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.problems import Problems
from recollect.store.sqlite.projects import Projects
from recollect.store.sqlite.sources import Sources, path_value


class Writing:
    """A transaction with its keeper, for `with`."""

    def __init__(self, db: Database) -> None:
        self.db, self.transaction = db, db.transaction()
        self.keeper: Keeper | None = None

    def __enter__(self) -> Keeper:
        self.transaction.__enter__()
        self.keeper = Keeper(self.db)
        return self.keeper

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self.keeper is not None:
            try:
                self.keeper.flush()
            except BaseException as failure:
                self.transaction.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self.transaction.__exit__(kind, error, trace)


class Keeper:
    """Writes the stretches of one transaction.

    Row ids are counted here rather than asked for one by one: the transaction
    holds the write lock, so nobody else can take them.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        self.rows = Rows(db)
        *last, forgotten = db.rows(
            """
            select (select max(id) from turns), (select max(id)
              from bodies), (select max(id) from sources),
                   (select max(id) from sessions), (select count(*) from tombstones)
            """
        )[0]
        self.next_turn, self.next_body, self.next_source, self.next_session = (
            (number or 0) + 1 for number in last
        )
        self.sessions: dict[str, int] = {}
        self.projects: dict[ProjectIdentity, int] = {}
        self.forgotten = set(db.rows("select kind, name from tombstones")) if forgotten else set()

    def keep(
        self,
        source: Source,
        stretch: Stretch,
        *,
        version: int,
        seen: Fingerprint,
        rewritten: set[int] | None,
        anew: bool = True,
        better: bool = False,
        failure: str = "",
    ) -> Written:
        """Store a stretch together with its checkpoint.

        `rewritten` holds the turns that a pass which brings turns whole has
        met so far; None means that it goes on in the middle of them. `anew`
        says that the source is read from its start, `better` that it is read
        in a newer way, whose word counts even when it tells less.
        """
        source_id, new = self._source(source)
        Sources(self.db).save(
            source_id, source, version, seen, stretch.checkpoint, failure or None, new=new
        )
        if anew and rewritten is not None and not rewritten and not new:
            self.db.execute("delete from problems where source = ?", (source_id,))
        if stretch.problems:
            Problems(self.db).save(source_id, stretch.problems)
        batch = Incoming(self, source, source_id, rewritten)
        if not better:
            # A turn that goes on in the next stretch cannot be compared yet.
            whole = seen.size_bytes >= 0
            batch.comparable = set(stretch.turns) if whole else set(list(stretch.turns)[:-1])
        for native, facts in stretch.sessions.items():
            batch.session(native, facts)
        for (native, key), part in stretch.turns.items():
            batch.turn(native, key, part)
        for usage in stretch.usages.values():
            batch.usage(usage, stretch.costs.get(usage.key))
        for (native, key), live in stretch.live.items():
            batch.live(native, key, live)
        batch.close()
        if batch.kept_fuller and source.appended:
            # What this log goes on with belongs behind what it lacks now, so it
            # is read whole when it changes.
            self.db.execute(
                "update sources set position = 0, state = x'' where id = ?", (source_id,)
            )
        return batch.written

    def _source(self, source: Source) -> tuple[int, bool]:
        """The row of a source, and whether it has yet to be made."""
        known = self.db.value("select id from sources where path = ?", (path_value(source.path),))
        if known is not None:
            return known, False
        self.next_source += 1
        return self.next_source - 1, True

    def flush(self) -> None:
        """Write what is still on its way; the transaction may be committed then."""
        self.rows.flush()

    def project(self, identity: ProjectIdentity | None) -> int | None:
        """The project's row; a folder seen with a repository before belongs to that."""
        if identity is None:
            return None
        found = self.projects.get(identity)
        if found is None:
            found = self.projects[identity] = Projects(self.db).ensure(identity)
        return found
