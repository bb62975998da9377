"""Makes sure that what was deleted cannot be read from the store's files any more.

Deleting a row leaves its bytes behind in four places. The text index keeps
the words in its segments until these are merged; FTS5's `secure-delete` does
nothing for a contentless table, which only notes what is deleted, so we merge.
Pages hold remains of rows that were moved or deleted, by us today or by an
import months ago; `vacuum` writes every page anew. (Running every connection
with `secure_delete` would not do: it does not clear what moving rows between
pages leaves over.) The planner's samples (sqlite_stat4) quote indexed columns.
And the write-ahead log keeps earlier versions of pages until it is truncated,
which a reader of an old version can prevent; then the scrub stays pending, and
a job to optimise the store, or the next deletion, finishes it.

What a file system or a disk keeps of overwritten and deleted files is beyond
us, and so are copies that somebody made elsewhere.
"""

from __future__ import annotations

import os
import re

from recollect.errors import StoreBusy, StoreError
from recollect.model.reports import Scrubbed
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs

_PENDING = "scrub_pending"


def copies_beside(path: str) -> list[str]:
    """Copies of the whole store that migrations and repairs left beside
    it, and the index of its vectors.
    """
    folder, name = os.path.split(path)
    shape = re.compile(
        re.escape(name)
        + r"(\.(before-\d{4}|damaged-[\w-]+|repaired|partial)|-vectors)(\.partial)?(-wal|-shm)?"
    )
    return sorted(
        os.path.join(folder, entry) for entry in os.listdir(folder or ".") if shape.fullmatch(entry)
    )


def remove_copies(path: str) -> list[str]:
    """Delete those copies; says which."""
    removed = copies_beside(path)
    for copy in removed:
        os.unlink(copy)
    return removed


class Scrub:
    """Makes sure that deleted text is not in the file any more."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def request(self) -> None:
        """Ask for a scrub in the transaction that deletes: whoever dies in
        between leaves it to the next job.
        """
        if self.db.value("select 1 from sqlite_schema where name = 'sqlite_stat4'"):
            self.db.execute("delete from sqlite_stat4")
        self.db.execute("insert or replace into store_info values (?, 1)", (_PENDING,))
        Jobs(self.db).mark("scrub unfinished")

    def is_pending(self) -> bool:
        """Whether something was deleted and may still be readable."""
        return self.db.value("select 1 from store_info where name = ?", (_PENDING,)) is not None

    def run(self) -> Scrubbed:
        """Clear every trace of deleted rows out of the files; may be called twice.

        Copies of the store that stand beside it go: they hold what was deleted.
        """
        result = Scrubbed()
        if self.db.path != ":memory:":
            remove_copies(self.db.path)
        try:
            result.text_index = self._merged()
            self.vacuum()
            result.pages = True
            result.log = self.empty_log()
        except StoreError as error:
            result.detail = str(error)
        if result.complete:
            # Only now, and it costs a few bytes of log that say nothing.
            with self.db.transaction():
                self.db.execute("delete from store_info where name = ?", (_PENDING,))
                Jobs(self.db).unmark("scrub unfinished")
            self.empty_log()
        else:
            in_the_way = (
                "Another process reads an older state of the store"
                if result.pages
                else "The store is being written to"
            )
            result.detail = f"{result.detail or in_the_way}. Finish this later: recollect jobs run"
            with self.db.transaction():
                Jobs(self.db).mark("scrub unfinished")
        return result

    def _merged(self) -> bool:
        from recollect.store.sqlite.search.text_index import TextIndex

        # An import may go on deleting while we merge, but not for ever.
        for _ in range(3):
            TextIndex(self.db).merge()
            if not TextIndex(self.db).has_deleted_text():
                return True
        return False

    def vacuum(self) -> None:
        """Write every page anew, and the file no longer than it has to be."""
        # The temporary copy can be as large as the store: not in memory.
        self.db.execute("pragma temp_store = file")
        try:
            self.db.execute("vacuum")
        finally:
            self.db.execute("pragma temp_store = memory")

    def empty_log(self) -> bool:
        """Bring the write-ahead log into the file and make it empty.

        False when somebody reads an older state.
        """
        try:
            row = self.db.row("pragma wal_checkpoint(truncate)")
        except StoreBusy:
            return False
        return row is not None and row[0] == 0
