"""The rows that a job keeps ready, as hooks and `recall` read them.

A hook may not wait: it opens the store with no patience for writers, and a
store that is locked, missing, damaged or of another version has nothing to
say. Every question here reads a handful of rows by an index.

On the path of a hook: apsw and nothing else is imported.
"""

from __future__ import annotations

import apsw

from recollect.store.hook_lines import HookLine, Reminder
from recollect.store.sqlite.opening import may_write as may_write
from recollect.store.sqlite.opening import open_shared, open_to_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

# The migration that all of this was made by; a test compares it with that of the store.
SCHEMA = 13
APPLICATION_ID = 0x7265636F


class Ready:
    """A connection, asked for what is ready."""

    def __init__(self, connection: apsw.Connection, *, writable: bool = True) -> None:
        self.connection, self.writable = connection, writable

    @classmethod
    def open(cls, path: str) -> Ready | None:
        """The store at a path, without waiting for anybody.

        None when it is not one of this version. May raise apsw.Error.
        """
        # Not read-only, unless it has to be: SQLite then could not share the memory
        # that keeps readers and writers apart.
        writable = may_write(path)
        connection = open_shared(path) if writable else open_to_read(path)
        connection.set_busy_timeout(0)
        connection.execute("pragma query_only = on")
        found = connection.execute(
            "select (select user_version from pragma_user_version), (select application_id from "
            "pragma_application_id)"
        ).fetchone()
        ours = found is not None and found[0] == SCHEMA and found[1] == APPLICATION_ID
        return cls(connection, writable=writable) if ours else None

    def project(self, names: Iterable[str]) -> int | None:
        """The project that the first known of these keys or
        folders means, under its merged name.
        """
        for name in names:
            found = self.connection.execute(
                """
                select coalesce(merged_into, id) from projects
                 where key = ?1 or id = (select project from project_aliases
                   where alias = ?1) order by key = ?1 desc
                """,
                (name,),
            ).fetchone()
            if found:
                return int(found[0])
        return None

    def is_forgotten(self, session: str) -> bool:
        """Whether a person wants nothing of a session kept."""
        return bool(
            self.connection.execute(
                "select 1 from tombstones where kind = 'session' and name = ?", (session,)
            ).fetchone()
        )

    def pack(self, project: int) -> tuple[str, str] | None:
        """What an agent is told when it starts in a project, and the references in it."""
        found = self.connection.execute(
            "select text, refs from packs where project = ? and text != ''", (project,)
        ).fetchone()
        return (found[0], found[1]) if found else None

    def mark(self) -> str:
        """What stands in the frame of this store, and in nothing that is told; empty for none."""
        found = self.connection.execute(
            "select value from store_info where name = 'frame mark'"
        ).fetchone()
        return str(found[0]) if found else ""

    def after_compaction(self, project: int) -> tuple[str, str]:
        """What of a pack an agent is told again when its context was compacted."""
        found = self.connection.execute(
            "select compact, compact_refs from packs where project = ?", (project,)
        ).fetchone()
        return (found[0], found[1]) if found else ("", "")

    def asked_first(self, session: str) -> tuple[int, str] | None:
        """The first thing that a person asked for in a session: the turn's number, the words."""
        found = self.connection.execute(
            """
            select turns.ordinal, turns.prompt from turns
              join sessions on sessions.id = turns.session
             where sessions.ref = ? and live and author = 'human' and prompt != ''
               and sessions.origin != 'subagent' and not sessions.external
             order by turns.ordinal limit 1
            """,
            (session,),
        ).fetchone()
        return (int(found[0]), str(found[1])) if found else None

    def last_runs(self, session: str) -> list[tuple[str, int | None, int | None, str | None]]:
        """The commands of a session, each with how it last ended, exit code and folder; newest
        first.
        """
        rows = self.connection.execute(
            """
            select target, ok, exit_code, tool_calls.folder
              from sessions join turns on turns.session = sessions.id
              join tool_calls on tool_calls.turn = turns.id
             where sessions.ref = ? and kind = 'shell' and target != '' and live
             order by turns.ordinal desc, tool_calls.ordinal desc limit 400
            """,
            (session,),
        )
        found: dict[str, tuple[str, int | None, int | None, str | None]] = {}
        for target, ok, code, folder in rows:
            found.setdefault(str(target), (str(target), ok, code, folder))
        return list(found.values())

    def usual_files(self, project: int) -> list[str]:
        """The files that were changed most in a project, seen from its folder."""
        found = self.connection.execute(
            "select files from packs where project = ?", (project,)
        ).fetchone()
        return found[0].split("\n") if found and found[0] else []

    def reminders(self, project: int, kind: str, text: str) -> list[Reminder]:
        """Those reminders that may be about a text; whoever asks compares their shapes with it."""
        rows = self.connection.execute(
            "select shape, folder, refs, line, at from reminders where project = ? and kind = ? "
            "and instr(?, word) order by at desc, id",
            (project, kind, text.lower()),
        )
        return [Reminder(*row) for row in rows]

    def counts(self, words: Collection[str]) -> dict[str, int]:
        """In how many prompt lines each word is; words in none are left out."""
        rows = self.connection.execute(
            "select word, lines from prompt_word_counts where word in "
            f"({', '.join('?' * len(words))})",
            tuple(words),
        )
        return {str(word): int(count) for word, count in rows}

    def total(self) -> int:
        """How many prompt lines there are."""
        row = self.connection.execute("select count(*) from prompt_lines").fetchone()
        return int(row[0]) if row else 0

    def facts(self, project: int) -> list[tuple[int, int, int | None]]:
        """What is known of a project's prompt lines, and of those for every project, which have
        places below 0: place, facts, and the number of the session.
        """
        # By the index alone: the lines would be a hundred times as much to read.
        rows = self.connection.execute(
            "select place, facts, session from prompt_lines where project = ? "
            "union all select -1 - place, facts, session from prompt_lines where project is null",
            (project,),
        )
        return [(int(place), int(facts), session) for place, facts, session in rows]

    def postings(self, project: int, words: Collection[str]) -> dict[str, list[int]]:
        """Where a project's prompt lines, and those for every project, hold each of these words:
        the line's place, and in the lowest 16 bits where in it.
        """
        rows = self.connection.execute(
            "select project, word, lines from prompt_words where project in (0, ?) and word in "
            f"({', '.join('?' * len(words))})",
            (project, *words),
        )
        found: dict[str, list[int]] = {}
        for where, word, lines in rows:
            numbers = memoryview(lines).cast("I").tolist()
            if not where:
                numbers = [(-1 - (number >> 16)) << 16 | number & 0xFFFF for number in numbers]
            found[word] = found[word] + numbers if word in found else numbers
        return found

    def projects_with(self, words: Collection[str], *, limit: int) -> list[int]:
        """The projects whose prompt lines have most of these words."""
        rows = self.connection.execute(
            f"""
            select id, (select count(*) from prompt_words where project = projects.id
                and word in ({", ".join("?" * len(words))})) as had
              from projects where had and merged_into is null order by had desc, id limit ?
            """,
            (*words, limit),
        )
        return [int(project) for project, _ in rows]

    def prompt_lines(self, project: int, places: Collection[int]) -> dict[int, HookLine]:
        """These prompt lines of a project, by place."""
        marks = ", ".join("?" * len(places))
        rows = self.connection.execute(
            f"""
            select place, ref, line, at from prompt_lines where project = ? and place in ({marks})
             union all select -1 - place, ref, line, at from prompt_lines
              where project is null and -1 - place in ({marks})
            """,
            (project, *places, *places),
        )
        return {place: HookLine(ref, line, at) for place, ref, line, at in rows}

    def session(self, ref: str) -> int | None:
        """The number of a session."""
        row = self.connection.execute("select id from sessions where ref = ?", (ref,)).fetchone()
        return int(row[0]) if row else None

    def work_waits(self, now: int) -> bool:
        """Whether a job is due, or something changed that a job follows from."""
        due = "(state = 'waiting' and not_before <= ?1) or (state = 'running' and lease_until < ?1)"
        waits = (
            f"select exists (select 1 from jobs where {due}) or "
            "exists (select 1 from marks where not_before <= ?1)"
        )
        return self.connection.execute(waits, (now,)).fetchone() == (1,)

    def told_to(self, session: str) -> list[tuple[str, str]]:
        """At which events a session was told what, as far as it has been noted down."""
        return [
            (str(event), str(refs))
            for event, refs in self.connection.execute(
                "select event, refs from injections where session = ?", (session,)
            )
        ]

    def last_run(self) -> int:
        """When a hook last ran, as far as it has been noted down."""
        row = self.connection.execute("select max(last_at) from hook_runs").fetchone()
        return int(row[0] or 0) if row else 0
