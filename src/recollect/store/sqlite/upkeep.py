"""Looking after the file itself."""

from __future__ import annotations

import os

import apsw

from recollect.errors import StoreUnwritable, UsageError
from recollect.model.reports import Optimized
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.migrate import copy_to
from recollect.store.sqlite.scrub import Scrub
from recollect.store.sqlite.search.text_index import TextIndex


class Upkeep:
    """The key of a store, copies of it, and its index in few pieces."""

    def __init__(self, db: Database) -> None:
        self.db = db
        # What SQLite counts, it counts for each connection.
        self._connection = os.urandom(4).hex()

    def change_mark(self) -> str:
        """Another text as soon as anybody has written, whoever it was."""
        others, own = self.db.value("pragma data_version"), self.db.connection.total_changes()
        return f"{self._connection}.{others}.{own}"

    def redaction_key(self) -> bytes:
        """The key that redaction tags of this store are derived with, made at first use."""
        find = "select value from store_info where name = 'redaction_key'"
        if self.db.value(find) is None:
            if self.db.read_only:
                # Nothing was removed here yet that another secret could be equal to.
                return os.urandom(32)
            with self.db.transaction():
                self.db.execute(
                    "insert into store_info values ('redaction_key', ?) on conflict do nothing",
                    (os.urandom(32),),
                )
        return bytes(self.db.value(find))

    def names(self) -> list[str]:
        """What projects, folders, branches, commits and sessions are called here."""
        return [
            name
            for (name,) in self.db.rows(
                """
                select key from projects
                union select alias from project_aliases
                union select cwd from sessions where cwd is not null
                union select git_branch from sessions where git_branch is not null
                union select git_sha from sessions where git_sha is not null
                union select native_id from sessions
                """
            )
        ]

    def back_up(self, path: str, *, force: bool = False) -> int:
        """A copy where a person wants it; returns its size in bytes."""
        path = os.path.abspath(path)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            raise UsageError(
                f"There is no folder {folder}.", hint="Create it first, or choose another place."
            )
        if os.path.isdir(path):
            raise UsageError(f"{path} is a folder.", hint="Name a file for the copy.")
        if os.path.exists(path) and not force:
            raise UsageError(
                f"{path} already exists.", hint="Choose another name, or replace it with --force."
            )
        if os.path.exists(path) and os.path.samefile(path, self.db.path):
            raise UsageError("The store cannot be copied onto itself.")
        try:
            copy_to(self.db.connection, path)
        except (OSError, apsw.Error) as error:
            raise StoreUnwritable(path, str(error)) from error
        return os.path.getsize(path)

    def optimize(self) -> Optimized:
        """One segment, fresh figures; also finishes a scrub that something was in the way of."""
        scrubbed = Scrub(self.db).run() if Scrub(self.db).is_pending() else None
        index = TextIndex(self.db)
        steps = index.merge()
        self.db.execute("pragma optimize")
        return Optimized(merge_steps=steps, segments=index.segments(), scrubbed=scrubbed)
