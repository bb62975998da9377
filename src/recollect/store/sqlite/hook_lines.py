"""What hooks tell, kept ready: packs, reminders and the lines that a prompt calls up.

`store.sqlite.ready` reads these rows for hooks, which may not wait and compose nothing.
Whoever changes what they are made of says so with `outdate`; whoever takes something back
uses `drop` or `clear`, and nothing of it is told from that moment on.
"""

from __future__ import annotations

import os
from array import array
from base64 import b32encode
from collections.abc import Sequence
from typing import NamedTuple

from recollect.store.hook_lines import PromptLine, Reminder
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.ready import Ready
from recollect.system.clock import now_ms

# A time before that of any log.
_OUTDATED = -1
_USUAL_FILES = 20
_FRAME_MARK = "frame mark"


class StoredPack(NamedTuple):
    """What an agent is told of a project, in its frame, with the notes in it; the long form."""

    text: str
    refs: list[str]
    long: str


class HookLines:
    """What hooks tell, project by project."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self._mark = ""

    def ready(self) -> Ready:
        """The same rows as a hook asks for them."""
        return Ready(self.db.connection)

    def mark(self) -> str:
        """What stands in the frame of this store, and in nothing that is told.

        Made when it is first asked for; where nothing can be written, for this process alone.
        """
        if not self._mark:
            made = b32encode(os.urandom(5)).decode().lower()
            if not self.db.read_only:
                self.db.execute(
                    "insert or ignore into store_info values (?, ?)", (_FRAME_MARK, made)
                )
            found = self.db.value("select value from store_info where name = ?", (_FRAME_MARK,))
            self._mark = str(found or made)
        return self._mark

    def pack(self, project: str) -> StoredPack | None:
        """What is ready to be told of a project, up to date or not; None when nothing was made."""
        row = self.db.row(
            """
            select text, refs, long from packs join projects on projects.id = packs.project
             where projects.id = (select coalesce(merged_into, id) from projects where key = ?)
            """,
            (project,),
        )
        return StoredPack(row[0], row[1].split(), row[2]) if row else None

    # What is out of date

    def outdated(self, project: str | None = None) -> list[tuple[int, str]]:
        """The projects whose logs were read, or whose notes changed, since their lines were
        made: number and key, the newest first; only one if that is named.
        """
        return self.db.rows(
            """
            with own (id, top) as materialized (
              select one.id, coalesce(one.merged_into, one.id) from projects one
                join projects top on top.id = coalesce(one.merged_into, one.id)
               where ?1 is null or top.key = ?1
            ), read (project, at) as (
              select own.top, max(coalesce(sources.imported_at, 0))
                from own cross join sessions on sessions.project = own.id
                left join sources on sources.id = sessions.source
               where exists (select 1 from turns where turns.session = sessions.id)
               group by 1
              union all select own.top, 0 from own join notes on notes.project = own.id
              union all select project, made_at from memory_blocks
               where project in (select top from own)
            )
            select projects.id, projects.key from read
              join projects on projects.id = read.project
              left join packs on packs.project = projects.id
             group by projects.id having packs.made_at is null
               or packs.made_at <= max(read.at) order by max(read.at) desc
            """,
            (project,),
        )

    def outdate(self, project: int | None = None) -> None:
        """Have the lines of a project, or of all, made again.

        Inside the transaction of whoever changed something. What is ready is told until then.
        """
        mine, values = "", tuple[int, ...]()
        if project is not None:
            mine = "where project = (select coalesce(merged_into, id) from projects where id = ?)"
            values = (project,)
        self.db.execute(f"update packs set made_at = {_OUTDATED} {mine}", values)
        Jobs(self.db).mark("hook lines outdated")

    def drop(self, refs: set[str]) -> None:
        """Take out what quotes any of these notes, sessions or turns."""
        for table, key, column in (
            ("packs", "project", "refs"),
            ("reminders", "id", "refs"),
            ("prompt_lines", "id", "ref"),
        ):
            quoting = [
                (number,)
                for number, cited in self.db.rows(f"select {key}, {column} from {table}")
                if refs & set(cited.split())
            ]
            if quoting and table == "prompt_lines":
                # The words of all its lines go with one, so that they have to be found again.
                self.db.many(
                    f"update packs set made_at = {_OUTDATED} where project = "
                    "(select project from prompt_lines where id = ?)",
                    quoting,
                )
            self.db.many(f"delete from {table} where {key} = ?", quoting)
            if quoting:
                Jobs(self.db).mark("hook lines outdated")

    def clear(self, projects: Sequence[int] | None = None) -> None:
        """Leave nothing of these projects ready, or of any: what it was made of is not to be
        told there any more.
        """
        for table in ("packs", "reminders", "prompt_lines"):
            if projects is None:
                self.db.execute(f"delete from {table}")
                continue
            self.db.many(
                f"delete from {table} where project in (select id from projects where id = ?1 "
                "or id = (select merged_into from projects where id = ?1))",
                [(project,) for project in projects],
            )
        # What holds everywhere may have been found there.
        self.db.execute("delete from prompt_lines where project is null")
        Jobs(self.db).mark("hook lines outdated")

    # Making them

    def begin(self, project: int) -> int:
        """Begin to make a project's lines, as of the moment that is returned.

        Until `save_pack` the pack counts as outdated, and carries that moment: when `outdate`
        or `clear` come in between, or somebody else begins, it is lost, and what was made of
        the older state is not saved. Nor is anything of a project that is gone or merged by now.
        """
        with self.db.transaction():
            # Taken while nobody writes: a log that is not to be seen yet will have a later time.
            arranged = self.db.value(
                "select made_at from memory_blocks where project = ?", (project,)
            )
            # Notes that were arranged this very millisecond are in it.
            begun = max(now_ms(), (arranged or 0) + 1)
            self.db.execute(
                """
                insert into packs (project, text, refs, made_at)
                select id, '', '', -?2 from projects where id = ?1 and merged_into is null
                on conflict (project) do update set made_at = excluded.made_at
                """,
                (project, begun),
            )
        return begun

    def save_reminders(self, project: str, found: Sequence[tuple[str, str, Reminder]]) -> None:
        """Replace a project's reminders; each with its kind and the word that it is found by."""
        with self.db.transaction():
            number = self.db.value(
                "select coalesce(merged_into, id) from projects where key = ?", (project,)
            )
            if number is None:
                return
            self.db.execute("delete from reminders where project = ?", (number,))
            self.db.many(
                "insert into reminders (project, kind, word, shape, folder, line, refs, at) "
                "values (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (number, kind, word, one.shape, one.folder, one.line, one.refs, one.at)
                    for kind, word, one in found
                ],
            )

    def drop_reminders_of_the_past(self, project: int) -> None:
        """Take out a project's reminders whose notes are not told any more."""
        self.db.execute(
            """
            delete from reminders where project = ? and refs not in (
              select ref from notes where status = 'active' and stale is null)
            """,
            (project,),
        )

    def save_prompt_lines(self, project: int, begun: int, found: Sequence[PromptLine]) -> None:
        """Replace what prompts call up in a project."""
        with self.db.transaction():
            if self._is_going_on(project, begun):
                self._replace(project, found)

    def save_common_lines(self, found: Sequence[PromptLine]) -> None:
        """Replace what prompts call up everywhere."""
        with self.db.transaction():
            self._replace(None, found)

    def save_pack(
        self, project: int, begun: int, text: str, refs: Sequence[str], *,
        compact: str, compact_refs: Sequence[str], long: str,
    ) -> None:  # fmt: skip
        """Keep what an agent is told at its start; with that the project's lines are made."""
        with self.db.transaction():
            self.db.execute(
                """
                update packs set text = ?, refs = ?, compact = ?, compact_refs = ?, long = ?,
                  made_at = ?, files = ?
                 where project = ? and made_at = -?
                """,
                (
                    text, " ".join(refs), compact, " ".join(compact_refs), long, begun,
                    "\n".join(self._usual_files(project)), project, begun,
                ),
            )  # fmt: skip

    def _is_going_on(self, project: int, begun: int) -> bool:
        sql = "select 1 from packs where project = ? and made_at = -?"
        return self.db.value(sql, (project, begun)) is not None

    def _replace(self, project: int | None, found: Sequence[PromptLine]) -> None:
        self.db.execute("delete from prompt_lines where project is ?", (project,))
        lines: dict[str, array[int]] = {}
        for place, line in enumerate(sorted(found, key=lambda one: one.at or 0)):
            self.db.execute(
                "insert into prompt_lines (project, place, facts, session, ref, line, at) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                (project, place, line.facts, line.session, line.refs, line.line, line.at),
            )
            for word, where in line.words.items():
                lines.setdefault(word, array("I")).append(place << 16 | where)
        self.db.many(
            "insert into prompt_words values (?, ?, ?)",
            [(project or 0, word, postings.tobytes()) for word, postings in lines.items()],
        )

    def _usual_files(self, project: int) -> list[str]:
        """The files that were changed most in a project, seen from its folder."""
        own = "(select id from projects where id = ?1 or merged_into = ?1)"
        folders = [
            folder.rstrip("/\\")
            for (folder,) in self.db.rows(
                f"""
                select alias from project_aliases where project in {own}
                 union select cwd from sessions
                        where project in {own} and cwd is not null and not external
                """,
                (project,),
            )
        ]
        targets = self.db.rows(
            f"""
            select target from tool_calls
              join turns on turns.id = turn join sessions on sessions.id = turns.session
             where sessions.project in {own} and kind = 'edit' and target != '' and ok is not 0
               and not external
             group by target order by count(*) desc, target limit {10 * _USUAL_FILES}
            """,
            (project,),
        )
        # The outermost folder is the one at the top of the repository.
        folders.sort(key=len)
        found = dict.fromkeys(
            name for (target,) in targets if (name := _inside(target.split(", ")[0], folders))
        )
        return list(found)[:_USUAL_FILES]


def _inside(path: str, folders: Sequence[str]) -> str | None:
    """A path as it is seen from the first of these folders that it is in."""
    for folder in folders:
        if path.startswith((f"{folder}/", f"{folder}\\")):
            path = path[len(folder) + 1 :]
            break
    path = path.replace("\\", "/").removeprefix("./")
    strange = path.startswith(("/", "~")) or path[1:2] == ":" or ".." in path.split("/")
    return None if strange or "\n" in path else path
