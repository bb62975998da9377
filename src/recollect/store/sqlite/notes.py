"""Notes: kept, confirmed, judged by people, arranged and read.

The same fact is kept once in a project: said again it is confirmed. A stage hands in all that it
finds each time, and what it does not find any more goes; but what a person wrote or decided
about stays as that person left it, and what they rejected or said better never comes back.
What a person does is written down with what was before, so that it can be taken back.

A note's name is made of its project and what it says, so that it is the same in every store of
the same logs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from recollect.errors import NotFound, UsageError
from recollect.model.answers import Listing
from recollect.model.notes import (
    Author,
    Category,
    FoundNote,
    Note,
    NoteAction,
    NoteChange,
    Section,
    Status,
    Trust,
)
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.listing import beyond, cursor_of, order
from recollect.system.clock import iso, now_ms

# So much of a reference is enough where it means just one.
FEWEST_CHARACTERS = 4
# The newest turns that are kept for a note. One of each session is kept beyond that.
MOST_EVIDENCE = 12
# A memory is made again after so many times the time that it takes.
REST = 50
# The log's clock and ours are one; a turn whose end was not logged ends early.
SLACK_MS = 5 * 60_000
# Agents delete their logs after a month: what was not imported by then never will be.
PATIENCE_MS = 35 * 86_400_000
# Nobody remembers what was said longer ago in the same session.
MOST_TURNS = 300

# C++ and C# are not C.
_WORD = re.compile(r"\w[\w+#]*")
_SECTIONS: dict[str, Section] = {
    "preference": "preferences",
    "constraint": "preferences",
    "decision": "decisions",
    "pattern": "traps",
    "project": "decisions",
}
_COLUMNS = (
    "key", "words", "text", "category", "section", "status", "trust", "author", "found_by", "form",
    "times", "sessions", "value", "is_sure", "tainted", "at", "created_at", "decided_at", "pinned",
    "replaced_by", "stale",
)  # fmt: skip
_SELECT = """
    select notes.id, notes.ref, notes.text, category, section, coalesce(b.key, a.key), status,
           trust, author, found_by, sessions, times, at, created_at, decided_at, pinned,
           memory_lines.in_pack, memory_lines.place,
           (select ref from notes old where old.replaced_by = notes.id
             order by old.id desc limit 1),
           (select ref from notes new where new.id = notes.replaced_by), stale, tainted, value,
           is_sure, form
      from notes left join projects a on a.id = notes.project
      left join projects b on b.id = a.merged_into
      left join memory_lines on memory_lines.note = notes.id
"""
_OWN = "coalesce(a.merged_into, a.id)"


def compared(text: str) -> str:
    """A text as it is compared with others: its words alone, without case."""
    return " ".join(_WORD.findall(text.casefold()))


def hashed(text: str) -> str:
    """What a key or the words of a note are kept as: it names them and does not tell them."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


class OutdatedMemory(NamedTuple):
    """A project whose memory has to be made again, with the marks that say so.

    Until `rests_until` nobody makes it who is not asked to: one that takes long is not made
    again for every turn of a session that goes on.
    """

    project: str
    marks: dict[int, int]
    rests_until: int


class NoteCall(NamedTuple):
    """A note that an agent gave at some time, in a session that is still to be found."""

    note: int
    at: int
    text: str


class MemoryBlock(NamedTuple):
    """The names beside a project's notes, a line each, and when its memory was made."""

    pack: list[str]
    long: list[str]
    made_at: str | None


class Notes:
    """The lines that are remembered."""

    def __init__(self, db: Database) -> None:
        self.db = db

    # Reading

    def get(self, ref: str) -> Note:
        """One note, by its reference or the beginning of it."""
        return self._read(self._number(ref))

    def search(
        self,
        *,
        project: str | None = None,
        everywhere: bool = False,
        statuses: Sequence[Status] = (),
        authors: Sequence[Author] = (),
        category: Category | None = None,
        text: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[Note]:
        """Notes that hold in a project, with those that hold everywhere; only the latter; or all.

        The last one said first. `text` are words that all have to occur.
        """
        # Of some only the key is left.
        clauses, values = ["notes.text != ''"], list[Any]()
        if project is not None:
            clauses.append("(notes.project is null or coalesce(b.key, a.key) = ?)")
            values.append(project)
        elif everywhere:
            clauses.append("notes.project is null")
        for column, wanted in (("status", statuses), ("author", authors)):
            if wanted:
                clauses.append(f"{column} in ({', '.join('?' * len(wanted))})")
                values += wanted
        if category is not None:
            clauses.append("category = ?")
            values.append(category)
        for word in (text or "").casefold().split():
            clauses.append("instr(lower(notes.text), ?)")
            values.append(word)
        total = self.db.value(
            f"select count(distinct ref) from ({_SELECT} where {' and '.join(clauses)})", values
        )
        said = "coalesce(notes.at, notes.created_at)"
        clause, more = beyond(cursor, said, "notes.id")
        rows = self.db.rows(
            f"{_SELECT} where {' and '.join([*clauses, clause])} group by notes.id"
            f" order by {order(said, 'notes.id')} limit ?",
            [*values, *more, -1 if limit is None else limit + 1],
        )
        left = limit is not None and len(rows) > limit
        rows = rows[:limit]
        last = cursor_of(rows[-1][12] or rows[-1][13], rows[-1][0]) if left else None
        return Listing([self._note(row) for row in rows], total=total, cursor=last)

    def in_memory(self, project: str) -> list[Note]:
        """What a project's memory tells, in order."""
        rows = self.db.rows(
            f"""{_SELECT}
             where memory_lines.project = (select coalesce(merged_into, id) from projects
                                            where key = ?)
               and status = 'active' and stale is null
             order by memory_lines.place
            """,
            (project,),
        )
        return [self._note(row) for row in rows]

    def of_session(self, session: str) -> list[Note]:
        """What is remembered from a session: told, or waiting for a decision."""
        rows = self.db.rows(
            f"""{_SELECT}
             where notes.id in (select note from note_evidence where session =
                                  (select id from sessions where ref = ?))
               and status in ('active', 'candidate') and stale is null
             group by notes.id order by notes.id
            """,
            (session,),
        )
        return [self._note(row) for row in rows]

    def to_arrange(self, project: str, *, stale: bool = False) -> list[Note]:
        """Every note that a project's memory could tell: active, its own or everywhere's.

        With those that are `stale`, where the files may speak for them again.
        """
        rows = self.db.rows(
            f"""{_SELECT}
             where status = 'active' and (?2 or stale is null)
               and (notes.project is null or coalesce(b.key, a.key) = ?1)
             group by notes.id order by notes.id
            """,
            (project, stale),
        )
        return [self._note(row) for row in rows]

    def blocked(self, project: str) -> list[Note]:
        """What a person rejected in a project or everywhere, or said in other words."""
        rows = self.db.rows(
            f"""{_SELECT}
             where (notes.project is null or coalesce(b.key, a.key) = ?)
               and ((status = 'rejected' and decided_at is not null) or replaced_by is not null
                    or (status = 'retired' and decided_at is not null))
             group by notes.id order by notes.id
            """,
            (project,),
        )
        return [self._note(row) for row in rows]

    def blocked_keys(self, project: str) -> set[str]:
        """The keys and words, as `hashed` gives them, of what is blocked in a project."""
        refs = [note.ref for note in self.blocked(project)]
        rows = [
            row
            for ref in refs
            for row in self.db.rows("select key, words from notes where ref = ?", (ref,))
        ]
        return {one for row in rows for one in row}

    def block(self, project: str) -> MemoryBlock:
        """The block of names that belongs to a project's memory."""
        row = self.db.row(
            """
            select pack, long, made_at from memory_blocks
             where project = (select coalesce(merged_into, id) from projects where key = ?)
            """,
            (project,),
        )
        pack, long, made_at = row or ("", "", None)
        return MemoryBlock(pack.splitlines(), long.splitlines(), iso(made_at))

    def remembered(self) -> list[str]:
        """The projects that have a memory."""
        rows = self.db.rows(
            """
            select key from memory_blocks join projects on projects.id = project
             where merged_into is null order by key
            """
        )
        return [str(key) for (key,) in rows]

    def history(self, ref: str) -> list[NoteChange]:
        """What people did to a note, the oldest first."""
        rows = self.db.rows(
            """
            select at, author, action, text, status, why, undone from note_changes
             where note = ? order by id
            """,
            (self._number(ref),),
        )
        return [NoteChange(at=iso(at) or "", author=author, action=action, text=text,
                           status=status, why=why, undone=bool(undone))
                for at, author, action, text, status, why, undone in rows]  # fmt: skip

    # What a person or an agent says

    def add(
        self,
        text: str,
        *,
        project: str | None,
        category: Category,
        author: Author,
        section: Section | None = None,
        by: str | None = None,
        trust: Trust | None = None,
        status: Status | None = None,
        turns: Sequence[str] = (),
        tainted: bool = False,
    ) -> Note:
        """Keep a note, or confirm the one that says the same in this project.

        Without a project it holds everywhere. What a person says is active and theirs. What
        anybody else says is a candidate unless a `status` is given, and changes nothing about a
        note that is there but for how often it was said; a rejected one stays rejected.
        """
        is_person = author == "person"
        status = status or ("active" if is_person else "candidate")
        trust = trust or ("user" if is_person else "assistant")
        section = section or _SECTIONS[category]
        with self.db.transaction():
            scope = None if project is None else self._project(project)
            number = self._same(text, scope)
            if number is None:
                number = self._insert(
                    scope, project or "", hashed(compared(text)), text=text, category=category,
                    section=section, status=status, trust=trust, author=author, found_by=by,
                    at=now_ms(), tainted=int(tainted), is_sure=int(is_person),
                )  # fmt: skip
                if is_person:
                    self._decide(number, "added", author, before=None)
            elif is_person:
                self._decide(
                    number, "added", author, text=text, category=category, section=section,
                    status="active", trust="user", author_is="person", replaced_by=None,
                    is_sure=1, tainted=0, stale=None,
                )  # fmt: skip
            else:
                self.db.execute(
                    "update notes set times = times + 1, at = ? where id = ?", (now_ms(), number)
                )
            if author == "agent":
                self.db.execute(
                    "insert or ignore into note_calls values (?, ?)", (number, now_ms())
                )
            self._keep_evidence(number, turns, replace=False)
            self._changed(number)
        return self._read(number)

    def take_in(
        self,
        text: str,
        project: str,
        *,
        category: Category,
        section: Section,
        form: str,
        by: str,
        at: str | None,
        status: Status,
    ) -> int:
        """The number of what a team mate says, inside a transaction: a new note of theirs, or the
        one that says the same here, which is left as it is.
        """
        scope = self._project(project)
        number = self._same(text, scope)
        if number is None:
            number = self._insert(
                scope, project, hashed(compared(text)), text=text, category=category,
                section=section, status=status, trust="team", author="member", found_by=by,
                form=form, at=_milliseconds(at) or now_ms(),
                is_sure=int(status == "active"),
            )  # fmt: skip
            self._changed(number)
        return number

    def accept(self, ref: str, by: str = "person", why: str = "") -> Note:
        """A person says that a note is right: it counts, and stays until they say otherwise."""
        number = self._standing(ref, "accept")
        with self.db.transaction():
            self._decide(number, "accepted", by, why=why, status="active", trust="user",
                         is_sure=1, tainted=0)  # fmt: skip
        return self._read(number)

    def reject(self, ref: str, by: str = "person", why: str = "") -> Note:
        """A person says that a note is wrong; it stays, so that nobody brings it up again."""
        number = self._standing(ref, "reject")
        with self.db.transaction():
            self._decide(number, "rejected", by, why=why, status="rejected", pinned=0)
        return self._read(number)

    def retire(self, ref: str, by: str = "person", why: str = "") -> Note:
        """A note was right, and holds no more."""
        number = self._standing(ref, "retire")
        with self.db.transaction():
            self._decide(number, "retired", by, why=why, status="retired", pinned=0)
        return self._read(number)

    def pin(self, ref: str, by: str = "person") -> Note:
        """Told first, before everything that is not pinned."""
        number = self._standing(ref, "pin")
        with self.db.transaction():
            self._decide(number, "pinned", by, status="active", trust="user", pinned=1, is_sure=1,
                         tainted=0)  # fmt: skip
        return self._read(number)

    def unpin(self, ref: str, by: str = "person") -> Note:
        """Told in its own place again."""
        number = self._standing(ref, "unpin")
        with self.db.transaction():
            self._decide(number, "unpinned", by, pinned=0)
        return self._read(number)

    def edit(self, ref: str, text: str, by: str = "person") -> Note:
        """A person says it better: the new note takes the place of the old one."""
        number = self._standing(ref, "edit")
        old = self._read(number)
        if text == old.text:
            raise UsageError(
                f"{old.ref} says that already.",
                hint=f"To accept it: recollect memory accept {old.ref}",
            )
        with self.db.transaction():
            scope = self.db.value("select project from notes where id = ?", (number,))
            new = self._same(text, scope, other_than=number)
            if new is None:
                new = self._insert(
                    scope, old.project or "", hashed(compared(text)), text=text,
                    category=old.category, section=old.section, status="active", trust="user",
                    author="person", at=now_ms(), is_sure=1, pinned=int(old.pinned),
                )  # fmt: skip
                self._decide(new, "edited", by, before=None)
            else:
                self._decide(
                    new, "edited", by, text=text, status="active", trust="user", is_sure=1,
                    author_is="person", replaced_by=None, pinned=int(old.pinned), tainted=0,
                )  # fmt: skip
            self.db.execute(
                """
                insert or ignore into note_evidence (note, session, turn)
                select ?, session, turn from note_evidence where note = ?
                """,
                (new, number),
            )
            self._decide(number, "replaced", by, status="retired", pinned=0, replaced_by=new)
        return self._read(new)

    def undo(self, ref: str) -> Note | None:
        """Take back the last thing that a person did to a note; None when that was to write it.

        An edit is taken back on both notes, whichever is named.
        """
        number = self._number(ref)
        with self.db.transaction():
            row = self.db.row(
                """
                select id, action, before from note_changes
                 where note = ? and not undone order by id desc limit 1
                """,
                (number,),
            )
            if row is None:
                raise UsageError(
                    f"Nothing was done to {self._read(number).ref}.",
                    hint=f"See it: recollect memory history {ref}",
                )
            change, action, before = row
            if action == "edited":
                old = self.db.value("select max(id) from notes where replaced_by = ?", (number,))
                if old is not None:
                    self._take_back(old, "replaced")
            elif action == "replaced":
                new = self.db.value("select replaced_by from notes where id = ?", (number,))
                if new is not None:
                    self._take_back(new, "edited")
            self._restore(number, change, before)
        return self._read(number) if before is not None else None

    def forget(self, ref: str) -> Note:
        """Remove a note with every version that it took the place of; says what it was.

        `store.forgetting.note` does the same and leaves nothing of it in the file.
        """
        number = self._number(ref)
        note = self._read(number)
        with self.db.transaction():
            self._changed(number)
            self.delete(self._with_earlier(number))
        return note

    def team_names(self, ref: str) -> list[str]:
        """What a note, and then the versions that it took the place of, are called for a team:
        the project, and a hash of the words.
        """
        number = self._number(ref)
        return [
            f"{project or ''}\n{words}"
            for one in dict.fromkeys((number, *self._with_earlier(number)))
            for project, words in self.db.rows(
                """
                select coalesce(b.key, a.key), words from notes
                  left join projects a on a.id = notes.project
                  left join projects b on b.id = a.merged_into where notes.id = ?
                """,
                (one,),
            )
        ]

    def mark_stale(self, ref: str, why: str | None) -> None:
        """Say why a note is not told although it is active; None when it is told again."""
        with self.db.transaction():
            self.db.execute(
                "update notes set stale = ? where id = ? and stale is not ?",
                (why, self._number(ref), why),
            )

    # What agents give

    def sought_calls(self) -> list[NoteCall]:
        """The times that agents gave a note whose call has not been found yet, the oldest first."""
        with self.db.transaction():
            self.db.execute("delete from note_calls where at < ?", (now_ms() - PATIENCE_MS,))
        rows = self.db.rows(
            """
            select note, note_calls.at, text from note_calls join notes on notes.id = note
             order by note_calls.at, note
            """
        )
        return [NoteCall(*row) for row in rows]

    def turns_remembering(self, at: int) -> list[int]:
        """The turns that ran at a time and called a tool to remember something."""
        # Sessions first, of which there are few: only turns of those that ran then are looked at.
        rows = self.db.rows(
            """
            select turns.id from sessions cross join turns on turns.session = sessions.id
             where coalesce(sessions.started_at <= :latest, 1)
               and coalesce(sessions.ended_at >= :earliest, 1) and not sessions.external
               and coalesce(turns.started_at <= :latest, 1)
               and coalesce(turns.ended_at >= :earliest, 1)
               and exists (select 1 from tool_calls
                            where turn = turns.id and name like '%remember')
             order by turns.id
            """,
            {"earliest": at - SLACK_MS, "latest": at + SLACK_MS},
        )
        return [turn for (turn,) in rows]

    def typed_turns(self, turn: int) -> list[int]:
        """The turns of a session up to this one in which a person spoke, the newest first.

        None of a sub-agent's.
        """
        rows = self.db.rows(
            """
            select turns.id from turns join sessions on sessions.id = turns.session, turns here
             where here.id = ? and turns.session = here.session and turns.ordinal <= here.ordinal
               and turns.author = 'human' and turns.live and sessions.origin != 'subagent'
               and not sessions.external
             order by turns.ordinal desc limit ?
            """,
            (turn, MOST_TURNS),
        )
        return [one for (one,) in rows]

    def save_call(self, found: NoteCall, turn: int, *, said: bool) -> bool:
        """Keep where a note was given.

        True when a person `said` the same and the note counts from now on.
        """
        with self.db.transaction():
            self.db.execute(
                "delete from note_calls where note = ? and at = ?", (found.note, found.at)
            )
            self.db.execute(
                "insert or ignore into note_evidence select ?, session, ordinal from turns "
                "where id = ?",
                (found.note, turn),
            )
            if not said:
                return False
            self.db.execute(
                """
                update notes set status = 'active', trust = 'user', is_sure = 1, tainted = 0
                 where id = ? and status = 'candidate'
                """,
                (found.note,),
            )
            believed = self.db.connection.changes() > 0
            self._changed(found.note)
            return believed

    # What stages find

    def bring_up_to_date(
        self,
        project: str | None,
        found: Sequence[FoundNote],
        author: Author,
        *,
        disproved: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Make an author's notes of a project those that were found; their references by key.

        What was found and is not there comes in, what changed is changed, and what was not found
        goes, unless a person decided about it. A person's note that says the same is confirmed.

        Without a project they are notes that hold everywhere. Nobody finds all of these at once,
        so those go that are `disproved`: keys, each with a time; what is newer stays.
        """
        refs: dict[str, str] = {}
        with self.db.transaction():
            scope = None if project is None else self._project(project)
            there = self._of_author(scope, author)
            blocked = self.blocked_keys(project or "")
            seen: set[int] = set()
            for one in found:
                known = there.get(hashed(one.key))
                if one.stale is not None:
                    if known is not None:
                        self.db.execute(
                            "update notes set stale = ? where id = ?", (one.stale, known.id)
                        )
                        seen.add(known.id)
                    continue
                if known is None:
                    number = self._bring_in(one, scope, project or "", author, blocked)
                else:
                    number = known.id
                    words = hashed(compared(one.text))
                    self._update(known, one, words, is_all=project is not None)
                if number is not None:
                    seen.add(number)
                    refs[one.key] = self.db.value("select ref from notes where id = ?", (number,))
            gone = there
            if project is None:
                until = {hashed(key): _milliseconds(at) for key, at in (disproved or {}).items()}
                gone = {
                    key: row for key, row in there.items() if (until.get(key) or -1) > (row.at or 0)
                }
            self.delete(
                [row.id for row in gone.values() if row.id not in seen and not row.is_decided]
            )
        return refs

    def found_elsewhere(self, keys: Collection[str], *, other_than: str) -> dict[str, list[Note]]:
        """Notes of other projects that stages found by these keys and nobody rejected."""
        found: dict[str, list[Note]] = {}
        for key in keys:
            rows = self.db.rows(
                f"""
                {_SELECT}
                 where notes.key = ? and notes.project is not null and status != 'rejected'
                   and coalesce(b.key, a.key) != ? and author in ('rules', 'pattern')
                 group by notes.id order by notes.id
                """,
                (hashed(key), other_than),
            )
            if rows:
                found[key] = [self._note(row) for row in rows]
        return found

    def arrange(
        self,
        project: str,
        lines: Sequence[tuple[str, bool]],
        *,
        pack_block: Sequence[str] | None = None,
        long_block: Sequence[str] = (),
        took_ms: int = 0,
    ) -> None:
        """Say what a project's memory tells, in order: each reference with whether the pack has it.

        Without a block the one that is there stays. `took_ms` is how long that all took.
        """
        with self.db.transaction():
            scope = self._project(project)
            self.db.execute("delete from memory_lines where project = ?", (scope,))
            self.db.many(
                "insert into memory_lines select ?, ?, id, ? from notes where ref = ?",
                [(scope, place, int(in_pack), ref) for place, (ref, in_pack) in enumerate(lines)],
            )
            if pack_block is not None:
                self.db.execute(
                    "insert or replace into memory_blocks values (?, ?, ?, ?, ?)",
                    (scope, "\n".join(pack_block), "\n".join(long_block), now_ms(), took_ms),
                )

    def outdated(self) -> list[OutdatedMemory]:
        """The projects whose sessions or notes changed since their memory was made, those with
        the newest session first.
        """
        found: dict[str, OutdatedMemory] = {}
        for key, number, mark, rests_until in self.db.rows(
            """
            select coalesce(b.key, a.key), a.id, mark, coalesce(made_at + :rest * took_ms, 0)
              from outdated_memories
              join projects a on a.id = outdated_memories.project
              left join projects b on b.id = a.merged_into
              left join memory_blocks on memory_blocks.project = coalesce(b.id, a.id)
             order by (select max(started_at) from sessions where project = a.id) desc, a.key
            """,
            {"rest": REST},
        ):
            found.setdefault(key, OutdatedMemory(key, {}, rests_until)).marks[number] = mark
        return list(found.values())

    def find_outdated(self, project: str) -> OutdatedMemory | None:
        """A project's own, if its memory has to be made again."""
        return next((one for one in self.outdated() if one.project == project), None)

    def settle(self, outdated: OutdatedMemory) -> None:
        """A project's memory is made; what changed since then is left."""
        with self.db.transaction():
            self.db.many(
                "delete from outdated_memories where project = ? and mark = ?",
                list(outdated.marks.items()),
            )

    def outdate(self, project: str | None) -> None:
        """Have a project's memory made again, or everybody's."""
        with self.db.transaction():
            self.db.execute(
                """
                insert or replace into outdated_memories
                select id, random() from projects
                 where merged_into is null and (?1 is null or key = ?1)
                   and (?1 is not null or id in (select project from memory_blocks))
                """,
                (project,),
            )
            Jobs(self.db).mark("notes changed")

    def resting_on(self, turns: Collection[tuple[int, int]]) -> list[str]:
        """The notes that rest on these turns alone, by session and number, and that no person
        stands behind.
        """
        sessions = sorted({session for session, _ in turns})
        found = {
            row
            for session in sessions
            for row in self.db.rows(
                """
                select notes.id, ref from notes join note_evidence on note = notes.id
                 where session = ? and (decided_at is null or status != 'active')
                """,
                (session,),
            )
        }
        return sorted(ref for number, ref in found if self._places(number) <= set(turns))

    def unlearn(
        self, sessions: Iterable[int], gone: Collection[tuple[int, int]] | None = None
    ) -> list[str]:
        """Remove, inside a transaction, what was found in sessions that may not be told of any
        more; says what that was.

        What other sessions say too is found again in them; what an agent gave elsewhere too
        stays. What a person accepted stays. With the turns that are `gone`, of what a person
        rejected or replaced only the key is kept.
        """
        removed: list[str] = []
        for session in sessions:
            rows = self.db.rows(
                """
                select notes.id, ref, status, author, decided_at from notes
                  join note_evidence on note = notes.id where session = ? group by notes.id
                """,
                (session,),
            )
            for number, ref, status, author, decided_at in rows:
                self._changed(number)
                places = self._places(number)
                lost = {
                    one for one in places if one[0] == session and (gone is None or one in gone)
                }
                if decided_at is None and (author != "agent" or places <= lost):
                    removed.append(ref)
                    self.delete([number])
                    continue
                if gone is not None and lost and status in ("rejected", "retired"):
                    self.db.execute("update notes set text = '' where id = ?", (number,))
                    self.db.execute("delete from note_changes where note = ?", (number,))
                self.db.many(
                    "delete from note_evidence where note = ? and session = ? and turn = ?",
                    [(number, *place) for place in sorted(lost)],
                )
        return removed

    def outdate_all(self) -> None:
        """Have every project's memory made anew, without a rest, inside a transaction."""
        self.db.execute("update memory_blocks set took_ms = 0")
        self.db.execute(
            "insert or replace into outdated_memories select id, random() from projects"
        )
        Jobs(self.db).mark("notes changed")

    def drop_blocks(self, projects: Iterable[int]) -> None:
        """Leave no names beside the notes of these projects, inside a transaction; they are made
        anew.
        """
        for project in projects:
            self.db.execute("delete from memory_blocks where project = ?", (project,))
            self.db.execute(
                "insert or replace into outdated_memories select id, random() from projects "
                "where id = ?",
                (project,),
            )
        Jobs(self.db).mark("notes changed")

    def delete(self, numbers: Sequence[int]) -> None:
        """Remove notes and what was said about them, inside a transaction."""
        ones = [(number,) for number in numbers]
        self.db.many("delete from feedback where ref = (select ref from notes where id = ?)", ones)
        self.db.many("delete from notes where id = ?", ones)

    # Inside

    def _number(self, ref: str) -> int:
        wanted = ref.strip().lower().removeprefix("note:")
        if len(wanted) < FEWEST_CHARACTERS or not re.fullmatch(r"[a-z2-7]{4,8}", wanted):
            raise UsageError(
                f'"{ref[:50]}" is not a note.',
                hint="A note looks like note:k7m2pq4x. See them: recollect memory list",
            )
        found = self.db.rows(
            "select id, ref from notes where ref >= ? and ref < ? limit 3",
            (f"note:{wanted}", f"note:{wanted}~"),
        )
        if not found:
            raise NotFound(
                f"There is no note:{wanted}.", hint="See them: recollect memory list --all"
            )
        if len(found) > 1:
            raise UsageError(
                f"Several notes begin with note:{wanted}.",
                hint=f"Such as {found[0][1]} and {found[1][1]}.",
            )
        return int(found[0][0])

    def _standing(self, ref: str, verb: str) -> int:
        """The number of a note that nothing has taken the place of."""
        number = self._number(ref)
        note = self._read(number)
        if note.replaced_by is not None:
            raise UsageError(
                f"{note.ref} was replaced by {note.replaced_by}.",
                hint=f"Try: recollect memory {verb} {note.replaced_by}",
            )
        return number

    def _read(self, number: int) -> Note:
        row = self.db.row(f"{_SELECT} where notes.id = ? order by place limit 1", (number,))
        if row is None:
            raise NotFound("That note is gone.", hint="See them: recollect memory list --all")
        return self._note(row)

    def _note(self, row: tuple[Any, ...]) -> Note:
        turns = [
            f"{session}#{turn}"
            for session, turn in self.db.rows(
                """
                select sessions.ref, turn from note_evidence
                  join sessions on sessions.id = note_evidence.session join turns
                    on turns.session = note_evidence.session and turns.ordinal = turn
                 where note = ? order by coalesce(turns.started_at, sessions.started_at) desc,
                       sessions.id desc, turn desc
                """,
                (row[0],),
            )
        ]
        return Note(
            ref=row[1], text=row[2], category=row[3], section=row[4], project=row[5],
            status=row[6], trust=row[7], author=row[8], by=row[9], turns=turns, sessions=row[10],
            times=row[11], at=iso(row[12]), created_at=iso(row[13]) or "",
            decided_at=iso(row[14]), pinned=bool(row[15]), in_pack=bool(row[16]), place=row[17],
            replaces=row[18], replaced_by=row[19], stale=row[20], tainted=bool(row[21]),
            value=row[22], is_sure=bool(row[23]), form=row[24],
        )  # fmt: skip

    def _project(self, key: str) -> int:
        number = self.db.value(
            "select coalesce(merged_into, id) from projects where key = ?", (key,)
        )
        if number is None:
            raise NotFound(f"No project {key} is stored.", hint="See them: recollect projects")
        return int(number)

    def _same(self, text: str, scope: int | None, *, other_than: int = 0) -> int | None:
        """The note that says the same in this project, or in one that is merged with it.

        One that holds before one that does not.
        """
        found: int | None = self.db.value(
            f"""
            select notes.id from notes left join projects a on a.id = notes.project
             where words = ?1 and notes.id != ?3 and notes.text != ''
               and {_OWN} is (select coalesce(merged_into, id) from projects where id = ?2)
             order by instr('active candidate rejected retired', status), notes.id desc
            """,
            (hashed(compared(text)), scope, other_than),
        )
        return found

    def _insert(self, scope: int | None, place: str, key: str, **values: Any) -> int:
        words = hashed(compared(values["text"]))
        row = {"project": scope, "key": key, "words": words, "created_at": now_ms(), **values}
        for salt in ("", "1", "2", "3", "4"):
            digest = hashlib.blake2b(f"{place}\n{key}{salt}".encode(), digest_size=5).digest()
            row["ref"] = f"note:{base64.b32encode(digest).decode().lower()}"
            if self.db.value("select 1 from notes where ref = ?", (row["ref"],)) is None:
                break
        self.db.execute(
            f"insert into notes ({', '.join(row)}) values ({', '.join('?' * len(row))})",
            list(row.values()),
        )
        return int(self.db.connection.last_insert_rowid())

    def _decide(
        self,
        number: int,
        action: NoteAction,
        by: str,
        *,
        why: str = "",
        before: str | None = "",
        author_is: str | None = None,
        **values: Any,
    ) -> None:
        """Write down what a person does to a note, and do it."""
        if before is not None:
            row = self.db.row(f"select {', '.join(_COLUMNS)} from notes where id = ?", (number,))
            before = json.dumps(dict(zip(_COLUMNS, row or (), strict=True)), ensure_ascii=False)
        if author_is is not None:
            values["author"] = author_is
        if "text" in values:
            values["words"] = hashed(compared(values["text"]))
        values["decided_at"] = now_ms()
        self.db.execute(
            f"update notes set {', '.join(f'{name} = ?' for name in values)} where id = ?",
            [*values.values(), number],
        )
        self.db.execute(
            """
            insert into note_changes (note, at, author, action, text, status, why, before)
            select id, ?, ?, ?, text, status, ?, ? from notes where id = ?
            """,
            (now_ms(), by, action, why, before, number),
        )
        self._changed(number)

    def _take_back(self, number: int, action: str) -> None:
        """Take back the last change of a note, if it was this."""
        row = self.db.row(
            "select id, action, before from note_changes where note = ? and not undone "
            "order by id desc limit 1",
            (number,),
        )
        if row is not None and row[1] == action:
            self._restore(number, row[0], row[2])

    def _restore(self, number: int, change: int, before: str | None) -> None:
        self._changed(number)
        if before is None:
            self.delete([number])
            return
        values = json.loads(before)
        self.db.execute(
            f"update notes set {', '.join(f'{name} = ?' for name in values)} where id = ?",
            [*values.values(), number],
        )
        self.db.execute("update note_changes set undone = 1 where id = ?", (change,))

    def _with_earlier(self, number: int) -> list[int]:
        rows = self.db.rows(
            """
            with recursive versions (id) as (
              values (?) union select notes.id from notes join versions
                on notes.replaced_by = versions.id
            )
            select id from versions order by id
            """,
            (number,),
        )
        return [one for (one,) in rows]

    def _of_author(self, scope: int | None, author: Author) -> dict[str, _Stored]:
        rows = self.db.rows(
            f"""
            select notes.key, notes.id, text, category, section, trust, found_by, form, times,
                   sessions, value, is_sure, tainted, at, stale, decided_at is not null
              from notes left join projects a on a.id = notes.project
             where {_OWN} is ? and (author = ? or decided_at is not null)
             order by decided_at is not null, notes.id
            """,
            (scope, author),
        )
        return {key: _Stored(*row) for key, *row in rows}

    def _bring_in(
        self, one: FoundNote, scope: int | None, place: str, author: Author, blocked: set[str]
    ) -> int | None:
        """Store what is found for the first time, or confirm the note that says the same.

        None where a person wants neither.
        """
        key = hashed(one.key)
        if {key, hashed(compared(one.text))} & blocked:
            return None
        same = self._same(one.text, scope)
        if same is not None:
            self._confirm(same, one)
            return same
        number = self._insert(
            scope, place, key, text=one.text, category=one.category, section=one.section,
            status=one.status, trust=one.trust, author=author, found_by=one.by, form=one.form,
            times=one.times, sessions=one.sessions, value=one.value, is_sure=int(one.is_sure),
            tainted=int(one.tainted), at=_milliseconds(one.at),
        )  # fmt: skip
        self._keep_evidence(number, one.turns)
        return number

    def _update(self, known: _Stored, one: FoundNote, words: str, *, is_all: bool) -> None:
        """Have a stored note say what was found; words that a person accepted stay.

        Unless what was found `is_all` that there is, older evidence stays too.
        """
        if known.is_decided:
            one = one._replace(
                text=known.text, category=known.category, section=known.section, trust=known.trust,
                is_sure=known.is_sure, tainted=known.tainted,
            )  # fmt: skip
        values = (
            one.text, one.category, one.section, one.trust, one.by, one.form, one.times,
            one.sessions, one.value, int(one.is_sure), int(one.tainted), _milliseconds(one.at),
            one.stale,
        )  # fmt: skip
        if values != known[1:-1]:
            self.db.execute(
                """
                update notes set text = ?, category = ?, section = ?, trust = ?, found_by = ?,
                       form = ?, times = ?, sessions = ?, value = ?, is_sure = ?, tainted = ?,
                       at = ?, stale = ?
                 where id = ?
                """,
                (*values, known.id),
            )
            if one.text != known.text:
                self.db.execute("update notes set words = ? where id = ?", (words, known.id))
        self._keep_evidence(known.id, one.turns, replace=is_all)

    def _confirm(self, number: int, one: FoundNote) -> None:
        """Somebody's note is said again by what a stage found."""
        self.db.execute(
            """
            update notes set times = max(times, ?), sessions = max(sessions, ?),
                   at = max(coalesce(at, 0), ?)
             where id = ?
            """,
            (one.times, one.sessions, _milliseconds(one.at) or 0, number),
        )
        self._keep_evidence(number, one.turns, replace=False)

    def _places(self, number: int) -> set[tuple[int, int]]:
        return {
            (session, turn)
            for session, turn in self.db.rows(
                "select session, turn from note_evidence where note = ?", (number,)
            )
        }

    def _keep_evidence(self, number: int, turns: Sequence[str], *, replace: bool = True) -> None:
        kept: dict[tuple[str, int], None] = {}
        sessions: set[str] = set()
        for turn in turns:
            session, _, ordinal = turn.rpartition("#")
            if ordinal.isdecimal() and (len(kept) < MOST_EVIDENCE or session not in sessions):
                kept[session, int(ordinal)] = None
                sessions.add(session)
        rows = {
            (number, int(session), ordinal)
            for name, ordinal in kept
            for (session,) in self.db.rows("select id from sessions where ref = ?", (name,))
        }
        there = set(self.db.rows("select * from note_evidence where note = ?", (number,)))
        if replace:
            self.db.many(
                "delete from note_evidence where note = ? and session = ? and turn = ?",
                sorted(there - rows),
            )
        self.db.many("insert into note_evidence values (?, ?, ?)", sorted(rows - there))

    def _changed(self, number: int) -> None:
        """Have the memories that may tell a note made again."""
        key = self.db.value(
            """
            select coalesce(b.key, a.key) from notes join projects a on a.id = notes.project
              left join projects b on b.id = a.merged_into where notes.id = ?
            """,
            (number,),
        )
        self.outdate(key)


class _Stored(NamedTuple):
    """What is stored of a note that a stage may find again."""

    id: int
    text: str
    category: Category
    section: Section
    trust: Trust
    by: str | None
    form: str
    times: int
    sessions: int
    value: float
    is_sure: bool
    tainted: bool
    at: int | None
    stale: str | None
    is_decided: int


def _milliseconds(at: str | None) -> int | None:
    if not at:
        return None
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
