"""Scans what is stored for secrets again, after the table of secrets has grown.

Everything that holds text is gone through, turn by turn in short transactions;
how far that came is kept with the store, so a run that stops continues. Only
what changed is written. What a turn's own row and its tool calls quote is cut
again from the clean body, because half a secret at the end of a lead could not
be told any more. In the end the files are scrubbed of what was replaced.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from recollect.model.calls import TARGET_CHARACTERS
from recollect.model.reports import Rescanned, RescannedValue
from recollect.redact import table_version
from recollect.redact.values import OUR_TAG
from recollect.redact.values_in import RedactsMany, Slots, known_to
from recollect.store import bodies
from recollect.store.sqlite.capture.content import INSERT_TEXT
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.digests import Digests
from recollect.store.sqlite.episodes import Episodes
from recollect.store.sqlite.hook_lines import HookLines
from recollect.store.sqlite.notes import compared, hashed
from recollect.store.sqlite.scrub import Scrub
from recollect.store.sqlite.search.text_index import (
    prompt_lead,
    reply_lead,
    text_rows,
)
from recollect.store.sqlite.values import read_meta
from recollect.store.sqlite.vectors.stored import Vectors
from recollect.store.text import packed_lengths

# Stored bytes are about a quarter of the text in them; a batch holds the
# write lock for a few tenths of a second.
BATCH_BYTES = 1 << 20
BATCH_ROWS = 256

VERSION = "redaction_version"
_WATERMARK = "rescan"
_EVENT_TEXTS = (bodies.TEXT, bodies.TARGET, bodies.OUTPUT, bodies.FOLDER)


def _count(redactor: RedactsMany) -> int:
    return sum(getattr(redactor, "counts", {}).values())


class _Turn(Struct):
    id: int
    prompt: str
    reply: str
    parts: list[tuple[int, list[bodies.Row]]]
    calls: list[list[Any]]
    # Slots of the parts come first, then those of everything else.
    first: int = 0
    after_parts: int = 0
    after: int = 0


def _tags_in(turn: _Turn) -> Counter[str]:
    """The tags in a turn; its lead and its calls only quote its events."""
    said = turn.parts or (turn.prompt, turn.reply, turn.calls)
    return Counter(OUR_TAG.findall(repr(said)))


class _Batch(Struct):
    turns: list[_Turn] = field(default_factory=list)
    slots: Slots = field(default_factory=Slots)


def _any_within(changed: list[int], start: int, end: int) -> bool:
    place = bisect_left(changed, start)
    return place < len(changed) and changed[place] < end


_SESSION_TEXTS = ("title", "cwd", "git_branch", "git_sha", "git_remote")


class Rescan:
    """Looks for secrets in what is stored already."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def survey(
        self, redactor: RedactsMany, *, progress: Callable[[int, int, str], None] | None = None
    ) -> list[RescannedValue]:
        """Which values would be taken out of turns, those in most turns first; writes nothing.

        What is learned from a late turn may stand in an early one, so all are
        looked at again until nothing more is learned.
        """
        known = -1
        found: dict[str, RescannedValue] = {}
        while known < known_to(redactor):
            known, found = known_to(redactor), {}
            total = int(self.db.value("select count(*) from turns"))
            for done, (turn, tags) in enumerate(self._tags_to_come(redactor), 1):
                for tag, times in tags.items():
                    self._count(turn, tag, times, found)
                if progress:
                    progress(done, max(total, done), self.db.path)
        return sorted(found.values(), key=lambda one: (-one.turns, -one.times, one.tag))

    def _tags_to_come(self, redactor: RedactsMany) -> Iterator[tuple[int, Counter[str]]]:
        """Each turn with the tags that it would have and has not yet."""
        done = 0
        while numbers := self._next_turns(done):
            for done in numbers:
                batch = _Batch()
                self._collect(batch, done)
                for turn in batch.turns:
                    before = _tags_in(turn)
                    changed = batch.slots.replace(redactor)
                    yield done, _tags_in(turn) - before if changed else Counter()

    def _count(self, turn: int, tag: str, times: int, found: dict[str, RescannedValue]) -> None:
        _, kind, digits = tag.strip("[]").split(":")
        if digits not in found:
            sql = """
                select sessions.ref || '#' || turns.ordinal from turns
                  join sessions on sessions.id = turns.session where turns.id = ?
                """
            first = str(self.db.value(sql, (turn,)))
            found[digits] = RescannedValue(kind=kind, tag=digits, first=first)
        found[digits].turns += 1
        found[digits].times += times

    def run(
        self, redactor: RedactsMany, *, progress: Callable[[int, int, str], None] | None = None
    ) -> Rescanned:
        """Take out of the store whatever the redactor finds now.

        `progress` hears of turns done and turns in all.
        """
        version = table_version()
        report = Rescanned(version=version)
        before = _count(redactor)
        secure_before = self.db.value("pragma secure_delete")
        self.db.execute("pragma secure_delete = on")
        try:
            # A scan that knew less would have left more in what it has done.
            state = f"{version}-{known_to(redactor)}"
            done = self._watermark(state)
            report.resumed = done > 0
            total = int(self.db.value("select count(*) from turns where id > ?", (done,)))
            while (last := self._scan_batch(redactor, done, state, report)) is not None:
                done = last
                if progress:
                    progress(report.turns, max(total, report.turns), self.db.path)
            with self.db.transaction():
                self._scan_sessions(redactor, report)
                self._scan_others(redactor, report)
                self.db.execute("delete from store_info where name = ?", (_WATERMARK,))
                self.db.execute(
                    "insert or replace into store_info values (?, ?)", (VERSION, version)
                )
            report.redactions = _count(redactor) - before
            if Scrub(self.db).is_pending():
                report.scrubbed = Scrub(self.db).run()
        finally:
            self.db.execute(f"pragma secure_delete = {int(secure_before):d}")
        return report

    def _watermark(self, state: str) -> int:
        """The last turn that an unfinished run which knew as much has done."""
        stored = self.db.value("select value from store_info where name = ?", (_WATERMARK,))
        known, _, turn = str(stored or "").partition(" ")
        return int(turn) if known == state else 0

    def _scan_batch(
        self, redactor: RedactsMany, after: int, state: str, report: Rescanned
    ) -> int | None:
        with self.db.transaction():
            batch = _Batch()
            for number in self._next_turns(after):
                self._collect(batch, number)
            if not batch.turns:
                return None
            changed = batch.slots.replace(redactor)
            for turn in batch.turns:
                if _any_within(changed, turn.first, turn.after):
                    self._rewrite(
                        turn, body_changed=_any_within(changed, turn.first, turn.after_parts)
                    )
                    report.turns_changed += 1
            if changed:
                self._digest_again(
                    [
                        turn.id
                        for turn in batch.turns
                        if _any_within(changed, turn.first, turn.after)
                    ],
                )
                HookLines(self.db).clear()
                Scrub(self.db).request()
            last = batch.turns[-1].id
            self.db.execute(
                "insert or replace into store_info values (?, ?)", (_WATERMARK, f"{state} {last}")
            )
        report.turns += len(batch.turns)
        return last

    def _next_turns(self, after: int) -> list[int]:
        chosen: list[int] = []
        size = 0
        for number, size_bytes in self.db.rows(
            """
            select id, (select coalesce(sum(length(events)), 0) from bodies where turn = turns.id)
              from turns where id > ? order by id limit ?
            """,
            (after, BATCH_ROWS),
        ):
            size += size_bytes
            if chosen and size > BATCH_BYTES:
                break
            chosen.append(number)
        return chosen

    def _collect(self, batch: _Batch, number: int) -> None:
        found = self.db.row("select prompt, reply from turns where id = ?", (number,))
        if found is None:
            # An index that is damaged names turns that are not there.
            return
        prompt, reply = found
        stored = self.db.rows(
            "select id, events from bodies where turn = ? order by part", (number,)
        )
        read = [(body, bodies.find_rows(events)) for body, events in stored]
        parts = [(body, rows) for body, rows in read if rows is not None]
        calls = [
            list(row)
            for row in self.db.rows(
                "select ordinal, target, folder from tool_calls where turn = ? order by ordinal",
                (number,),
            )
        ]
        turn = _Turn(number, prompt, reply, parts, calls)
        slots = batch.slots
        turn.first = len(slots.texts)
        for _, rows in parts:
            for row in rows:
                for column in _EVENT_TEXTS:
                    if column < len(row) and row[column]:
                        slots.add(row, column, row[column])
                if len(row) > bodies.INPUT and row[bodies.INPUT]:
                    slots.add_value(row, bodies.INPUT, row[bodies.INPUT])
        turn.after_parts = len(slots.texts)
        slots.add(turn, "prompt", prompt)
        slots.add(turn, "reply", reply)
        for call in calls:
            for column in (1, 2):
                if call[column]:
                    slots.add(call, column, call[column])
        turn.after = len(slots.texts)
        batch.turns.append(turn)

    def _rewrite(self, turn: _Turn, *, body_changed: bool) -> None:
        if body_changed:
            # Made of what is taken out; with its new body the turn is queued for others.
            Vectors(self.db).remove([turn.id])
            events = [row for _, rows in turn.parts for row in rows]
            turn.prompt = prompt_lead(events) or turn.prompt
            turn.reply = reply_lead(events) or turn.reply
            made = [row for row in events if row[bodies.KIND] == "tool_call"]
            for call in turn.calls:
                if call[0] < len(made) and made[call[0]][bodies.TARGET]:
                    call[1] = made[call[0]][bodies.TARGET][:TARGET_CHARACTERS]
            size = "(select sum(length(events)) from bodies where turn = ?1)"
            before = self.db.value(f"select {size}", (turn.id,))
            texts = text_rows(turn.parts)
            for (body, rows), text in zip(turn.parts, texts, strict=True):
                packed = bodies.pack(rows)
                self.db.execute(
                    "update bodies set events = ?, checksum = ?, lengths = ? where id = ?",
                    (packed, bodies.checksum(packed), packed_lengths(text[1:]), body),
                )
            self.db.execute(
                f"update evictions set kept = max(0, kept + {size} - ?2) where turn = ?1",
                (turn.id, before),
            )
            self.db.many(
                "delete from turns_text where rowid = ?", [(body,) for body, _ in turn.parts]
            )
            self.db.many(INSERT_TEXT, texts)
        self.db.execute(
            "update turns set prompt = ?, reply = ? where id = ?",
            (turn.prompt, turn.reply, turn.id),
        )
        self.db.many(
            "update tool_calls set target = ?, folder = ? where turn = ? and ordinal = ?",
            [(target, folder, turn.id, n) for n, target, folder in turn.calls],
        )

    def _digest_again(self, turns: list[int]) -> None:
        """What was made of these turns may quote half a secret.

        Only where their events are gone, it is all that there is.
        """
        marks = ", ".join("?" * len(turns))
        sessions = self.db.rows(
            f"""
            select distinct session from turns
             where id in ({marks}) and session not in (
               select session from turns join evictions on evictions.turn = turns.id
             )
            """,
            turns,
        )
        Digests(self.db).drop([session for (session,) in sessions])

    def _scan_sessions(self, redactor: RedactsMany, report: Rescanned) -> None:
        rows = [
            list(row)
            for row in self.db.rows(f"select {', '.join(_SESSION_TEXTS)}, meta, id from sessions")
        ]
        slots, owners = Slots(), []
        for row in rows:
            row[5] = read_meta(row[5])
            for column in range(5):
                if row[column]:
                    slots.add(row, column, row[column])
                    owners.append(row)
            first = len(slots.texts)
            if row[5]:
                slots.add_value(row, 5, row[5])
            owners += [row] * (len(slots.texts) - first)
        changed = {owners[slot][6]: owners[slot] for slot in slots.replace(redactor)}
        for row in changed.values():
            names = ", ".join(f"{name} = ?" for name in _SESSION_TEXTS)
            self.db.execute(
                f"update sessions set {names}, meta = ? where id = ?",
                (*row[:5], msgspec.json.encode(row[5]).decode(), row[6]),
            )
        if changed:
            Scrub(self.db).request()
        report.sessions_changed += len(changed)

    def _scan_others(self, redactor: RedactsMany, report: Rescanned) -> None:
        changed = Digests(self.db).redact(redactor) + Episodes(self.db).redact(redactor)
        for table, column, key in (
            ("problems", "reason", "rowid"), ("sources", "failure", "id"), ("jobs", "error", "id"),
            ("feedback", "reason", "id"), ("memory_blocks", "pack", "project"),
            ("memory_blocks", "long", "project"), ("note_changes", "text", "id"),
            ("note_changes", "why", "id"), ("note_changes", "before", "id"),
            ("engine_runs", "why", "id"),
        ):  # fmt: skip
            for number, _, new in self._changed(
                redactor, f"select {key}, {column} from {table} where {column} is not null"
            ):
                self.db.execute(f"update {table} set {column} = ? where {key} = ?", (new, number))
                changed += 1
        for note, _, new in self._changed(redactor, "select id, text from notes"):
            self.db.execute(
                "update notes set text = ?, words = ? where id = ?",
                (new, hashed(compared(new)), note),
            )
            changed += 1
        for source, _, _ in self._changed(
            redactor, "select id, state from sources where length(state) > 0"
        ):
            # Only its adapter could rewrite a state; without one the log is
            # read from its start once it changes.
            self.db.execute(
                "update sources set position = 0, state = x'', head = 0, tail = 0 where id = ?",
                (source,),
            )
            changed += 1
        changed += self._scan_names(redactor)
        if changed:
            HookLines(self.db).clear()
            Scrub(self.db).request()
        report.other_rows_changed += changed

    def _scan_names(self, redactor: RedactsMany) -> int:
        """What projects, folders and logs are called; says how many names changed."""
        changed = 0
        for project, _, new in self._changed(redactor, "select id, key from projects"):
            self._rename_project(project, new)
            changed += 1
        for _, old, new in self._changed(redactor, "select 0, alias from project_aliases"):
            self.db.execute(
                "update or replace project_aliases set alias = ? where alias = ?", (new, old)
            )
            changed += 1
        for column in ("path", "in_project"):
            # A name that is no text is kept as bytes, and looked at by nobody.
            for source, _, new in self._changed(
                redactor, f"select id, {column} from sources where typeof({column}) = 'text'"
            ):
                # Of two that differed in a secret only, one takes the name that an import gives.
                self.db.execute(
                    f"update or ignore sources set {column} = ? where id = ?", (new, source)
                )
                changed += 1
        for _, old, new in self._changed(
            redactor, "select 0, folder from confirmed_folders where typeof(folder) = 'text'"
        ):
            self.db.execute(
                "update or replace confirmed_folders set folder = ? where folder = ?", (new, old)
            )
            changed += 1
        return changed

    def _changed(self, redactor: RedactsMany, sql: str) -> list[tuple[int, str, str]]:
        """(id, old, new) of the rows of (id, text) that hold a secret."""
        rows = [
            (number, text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text))
            for number, text in self.db.rows(sql)
        ]
        texts = [text for _, text in rows]
        return [
            (number, old, new)
            for (number, old), new in zip(rows, redactor.redact_all(texts), strict=True)
            if new is not old
        ]

    def _rename_project(self, project: int, key: str) -> None:
        """Two projects that differed in a secret only are one."""
        twin = self.db.value("select id from projects where key = ?", (key,))
        if twin is None:
            self.db.execute("update projects set key = ? where id = ?", (key, project))
            return
        for table in ("sessions", "project_aliases", "notes", "episodes"):
            self.db.execute(f"update {table} set project = ? where project = ?", (twin, project))
        self.db.execute(
            "update projects set merged_into = ? where merged_into = ?", (twin, project)
        )
        self.db.execute("update projects set merged_into = null where id = merged_into")
        self.db.execute("delete from projects where id = ?", (project,))
