"""Whose logs those inside projects are: a person's, or anybody's.

A cloned repository can bring logs along. So what a log inside a project tells
is external until a person confirms that the logs of this folder are theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import Digests
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.notes import Notes
from recollect.store.sqlite.sources import path_text, path_value
from recollect.system.clock import now_ms

_READ_AGAIN = "update sources set version = -1 where in_project = ?"


class ConfirmedFolders:
    """The folders whose own logs a person confirmed as theirs."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def all(self) -> list[str]:
        """Every confirmed folder."""
        return [
            path_text(folder)
            for (folder,) in self.db.rows("select folder from confirmed_folders order by 1")
        ]

    def has(self, folder: str) -> bool:
        """Whether this folder, and no other one above it, was confirmed."""
        sql = "select 1 from confirmed_folders where folder = ?"
        return self.db.value(sql, (path_value(folder),)) is not None

    def confirm(self, folder: str) -> None:
        """Take the logs in a folder for the person's own; the next import reads them again."""
        place = path_value(folder)
        with self.db.transaction():
            self.db.execute(
                "insert or ignore into confirmed_folders values (?, ?)", (place, now_ms())
            )
            self.db.execute(_READ_AGAIN, (place,))

    def withdraw(self, folder: str) -> int:
        """Undo that, and everything that was made of these logs; says how many sessions that is."""
        place = path_value(folder)
        with self.db.transaction():
            self.db.execute("delete from confirmed_folders where folder = ?", (place,))
            sessions = [
                number
                for (number,) in self.db.rows(
                    """
                    select id from sessions where not external
                       and source in (select id from sources where in_project = ?)
                    """,
                    (place,),
                )
            ]
            make_external(self.db, sessions)
            self.db.execute(_READ_AGAIN, (place,))
        return len(sessions)

    def logs(self) -> dict[str, list[str]]:
        """The logs inside projects that external sessions come from, by folder."""
        rows = self.db.rows(
            """
            select in_project, path from sources
             where in_project is not null
               and id in (select source from sessions where external)
             order by 1, 2
            """
        )
        found: dict[str, list[str]] = {}
        for folder, path in rows:
            found.setdefault(path_text(folder), []).append(path_text(path))
        return found


def make_external(db: Database, sessions: Sequence[int]) -> None:
    """Take sessions for anybody's, inside a transaction: nothing that was made of them stays.

    A note that a person wrote or accepted is that person's, wherever it came from.
    """
    if not sessions:
        return
    rows = [(number,) for number in sessions]
    refs: dict[int, str] = {
        number: db.value("select ref from sessions where id = ?", (number,)) for number in sessions
    }
    db.many("update sessions set external = 1 where id = ?", rows)
    Digests(db).drop(sessions)
    names = [(ref,) for ref in refs.values()]
    db.many("delete from jobs where subject = ?", names)
    Notes(db).unlearn(sessions)
    projects = [
        project
        for row in rows
        for (project,) in db.rows(
            "select project from sessions where id = ? and project is not null", row
        )
    ]
    Notes(db).drop_blocks(projects)
    HookLines(db).clear(projects)


def make_own(db: Database, session: int) -> None:
    """Take a session for this person's, inside a transaction, and have it looked at again."""
    db.execute("update sessions set external = 0 where id = ?", (session,))
    Digests(db).drop([session])
    Jobs(db).mark("imported")
