"""From the pages of a damaged file into a new store: what is found, fitted together again."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from recollect.errors import (
    StoreDamaged,
    StoreError,
)
from recollect.model.calls import TARGET_CHARACTERS
from recollect.model.reports import RepairReport
from recollect.store import bodies
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.episodes import Episodes
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.migrate import backups, migrations
from recollect.store.sqlite.notes import Notes
from recollect.store.sqlite.salvage import unsound
from recollect.store.sqlite.salvage.pages import Cell, PageFile, PageTree, PartialText, Value
from recollect.store.sqlite.salvage.table import NewTable
from recollect.store.sqlite.search.text_index import (
    TextIndex,
    prompt_lead,
    reply_lead,
)
from recollect.store.sqlite.upkeep import Upkeep
from recollect.store.sqlite.vectors.stored import Vectors
from recollect.system import platforms

# In this order, so that what a row refers to is there before it.
_TABLES = (
    "store_info", "tombstones", "sources", "projects", "project_aliases", "sessions", "turns",
    "bodies",
    "tool_calls", "usage", "rates", "problems", "notes", "note_evidence",
    "note_changes", "note_calls", "memory_lines", "memory_blocks", "engine_runs", "engine_reads",
    "feedback", "confirmed_folders", "known_secrets", "injections", "hook_runs",
    "digests", "evictions", "episodes",
    "publications", "jobs", "marks",
    "migrations",
)  # fmt: skip
# Losing a row of these means that a log has more to tell.
_TOLD_BY_LOGS = ("sessions", "turns", "bodies", "usage")
# What names the owner of a lost row once more: an index and where in it the owner is.
_WITNESSES = {
    "sessions": "sqlite_autoindex_sessions_1",
    "turns": "turns_by_key",
    "bodies": "sqlite_autoindex_bodies_1",
    "usage": "usage_by_turn",
}
# Rows of these are only believed where the tree leads to them: on a stray
# page they look like rows of the text index or entries of some other index.
_NO_STRAYS = (
    "project_aliases", "note_evidence", "note_changes", "note_calls", "memory_lines",
    "memory_blocks", "engine_runs", "engine_reads",
    "evictions", "episodes",
    "publications", "migrations",
)  # fmt: skip


class Rescue:
    """One salvage: from the pages of a damaged file into a new store beside it."""

    def __init__(self, path: str, file: PageFile) -> None:
        self.file = file
        self.path = path + ".repaired"
        self.report = RepairReport(path=path, sound=False)
        self.schema = self._schema()
        self.trees: dict[str, PageTree] = {}
        self.witnesses: dict[str, list[list[Value]]] = {}
        self.affected: set[int] = set()
        self.all_affected = False
        self.done = False
        self._discard()
        try:
            platforms.private_file(self.path)
            self.db = Database(self.path)
        except BaseException:
            self._discard()
            raise

    def close(self) -> None:
        """Leave nothing half made behind."""
        self.db.close()
        if not self.done:
            self._discard()

    def _discard(self) -> None:
        for copy in [self.path + end for end in ("", "-wal", "-shm")] + backups(self.path):
            if os.path.exists(copy):
                os.unlink(copy)

    def _schema(self) -> dict[str, tuple[str, int, str]]:
        """Everything in the damaged schema by name: kind, root page, SQL."""
        tree, found = PageTree(), {}
        for cell in self.file.walk(1, tree, index=False):
            if len(cell.values) == 5:
                kind, name, _, root, sql = cell.values
                if isinstance(kind, str) and isinstance(name, str) and isinstance(root, int):
                    found[name] = (kind, root, str(sql or ""))
        self.report.lost_pages += tree.bad_pages
        if not tree.sound:
            self.report.notes.append("the list of tables was damaged")
        return found

    def run(self) -> RepairReport:
        """Everything that can be had, in a store that is sound."""
        db = self.db
        db.execute("pragma foreign_keys = off")
        tables = {
            name for (name,) in db.rows("select name from sqlite_schema where type = 'table'")
        }
        with db.transaction():
            self._read_witnesses()
            for name in _TABLES:
                if name in tables:
                    if name == "migrations":
                        db.execute("delete from migrations")
                    self._fill(NewTable(db, name))
            self._fill_other_tables()
            if "notes" in tables:
                self._keep_notes_apart()
            if "injections" in tables:
                db.execute(
                    """
                    update injections set project = null
                     where project not in (select id from projects)
                    """
                )
            if not any(
                self.report.kept.get(name)
                for name in ("store_info", "sources", "notes", *_TOLD_BY_LOGS)
            ):
                raise StoreError(
                    f"Nothing in {self.report.path} looks like a store.",
                    hint="It is not changed. Move it away, or choose another file with --store.",
                )
            self._drop_bad_bodies()
            if "digests" in tables:
                unsound.drop_bad_digests(db)
            self._tell_again()
            unsound.drop_orphans(db, self.report)
            unsound.drop_forgotten(db)
            if "episodes" in tables:
                self._drop_bad_episodes()
            if "publications" in tables:
                unsound.drop_loose_blocks(db)
            if "evictions" in tables:
                # A turn of which nothing is left is read again whole.
                db.execute("delete from evictions where turn not in (select turn from bodies)")
            self._read_again()
            if not db.value("select 1 from migrations"):
                now = time.time_ns() // 1_000_000
                rows = [(number, name, now) for number, name, _ in migrations()]
                db.many("insert into migrations values (?, ?, ?)", rows)
        return self._finish()

    def _finish(self) -> RepairReport:
        report = self.report
        db = self.db
        db.execute("pragma foreign_keys = on")
        TextIndex(db).rebuild()
        Upkeep(db).optimize()
        report.text_rebuilt = True
        with db.transaction():
            Vectors(db).drop()
            # What hooks tell of a project is made with its memory.
            Notes(db).outdate_all()
            Jobs(db).mark("repaired")
        faults = [text for (text,) in db.rows("pragma integrity_check") if text != "ok"] + db.rows(
            "pragma foreign_key_check"
        )
        if faults:
            raise StoreDamaged(self.path, str(faults[0]))
        db.execute("pragma wal_checkpoint(truncate)")
        db.close()
        self.done = True
        if report.sources_to_read_again:
            report.next_steps.append(
                "Run `recollect import`. Logs to read again from their start: "
                f"{report.sources_to_read_again}"
            )
        report.next_steps.append("Delete the damaged copy when you miss nothing.")
        return report

    # Rows

    def _fill(self, table: NewTable) -> None:
        """Copy what can be read of a table."""
        tree = self.trees[table.name] = PageTree()
        done: set[int | None] = set()
        kept = self._insert(table, self._rows(table, tree, done))
        if tree.bad_pages and table.name in _TABLES and table.name not in _NO_STRAYS:
            kept += self._insert(table, self._stray_rows(table, done))
        self.report.kept[table.name] = kept
        self.report.lost_pages += tree.bad_pages
        if tree.bad_cells:
            self.report.lost[table.name] = self.report.lost.get(table.name, 0) + tree.bad_cells

    def _rows(
        self, table: NewTable, tree: PageTree, done: set[int | None]
    ) -> Iterator[list[Value]]:
        entry = self.schema.get(table.name)
        if entry is None:
            tree.bad_pages += 1
            return
        for cell in self.file.walk(entry[1], tree, index=table.without_rowid):
            row = table.row(cell)
            if row is None:
                tree.bad_cells += 1
            elif cell.rowid is None or cell.rowid not in done:
                done.add(cell.rowid)
                yield row

    def _stray_rows(self, table: NewTable, done: set[int | None]) -> Iterator[list[Value]]:
        """Rows on pages that lost the page above them: a page belongs here if all its rows do."""
        for cells in self.file.stray(index=table.without_rowid):
            rows = [
                table.row(cell)
                if len(cell.values) == len(table.columns) and not _is_torn(cell)
                else None
                for cell in cells
            ]
            if any(row is None for row in rows):
                continue
            if table.name == "store_info" and not any(
                row and row[0] == "redaction_key" for row in rows
            ):
                continue
            self.file.seen.add(cells[0].page)
            for cell, row in zip(cells, rows, strict=True):
                if row is not None and (cell.rowid is None or cell.rowid not in done):
                    done.add(cell.rowid)
                    yield row

    def _insert(self, table: NewTable, rows: Iterable[list[Value]]) -> int:
        connection = self.db.connection
        kept = refused = 0
        for row in rows:
            try:
                connection.execute(table.insert(len(row)), row)
                kept += connection.changes()
                refused += not connection.changes()
            except apsw.ConstraintError:
                refused += 1
        if refused:
            self.report.lost[table.name] = self.report.lost.get(table.name, 0) + refused
        return kept

    def _fill_other_tables(self) -> None:
        """What somebody added: tables with their rows, then what belongs to them."""
        known = {name for (name,) in self.db.rows("select name from sqlite_schema")}
        added = {
            name: entry
            for name, entry in self.schema.items()
            if name not in known and not name.startswith("sqlite_")
        }
        virtual = tuple(
            f"{name}_"
            for name, (_, _, sql) in added.items()
            if sql[:20].lower().startswith("create virtual")
        )
        for name, (kind, _, sql) in sorted(added.items(), key=lambda one: one[1][0] != "table"):
            if name.startswith(("turns_text_", *virtual)):
                continue
            try:
                self.db.connection.execute(sql)
                if kind == "table" and f"{name}_" not in virtual:
                    self._fill(NewTable(self.db, name))
            except apsw.Error as error:
                self.report.notes.append(f"the {kind} {name} could not be kept: {error}")

    def _keep_notes_apart(self) -> None:
        """A note whose project is lost does not hold everywhere."""
        db = self.db
        db.execute(
            """
            insert or ignore into projects (id, key, kind)
            select distinct project, 'lost project ' || project, 'directory' from notes
             where project is not null and project not in (select id from projects)
            """
        )
        db.execute(
            """
            update notes set replaced_by = null where replaced_by not in (select id from notes)
            """
        )
        for table in ("note_evidence", "note_changes", "note_calls", "memory_lines"):
            db.execute(f"delete from {table} where note not in (select id from notes)")
        for table in ("memory_lines", "memory_blocks"):
            db.execute(f"delete from {table} where project not in (select id from projects)")
        db.execute("insert or replace into outdated_memories select id, random() from projects")

    # What is written twice

    def _read_witnesses(self) -> None:
        for table, index in (*_WITNESSES.items(), ("ordinals", "sqlite_autoindex_turns_1")):
            tree = self.trees[index] = PageTree()
            entry = self.schema.get(index)
            if entry is None:
                tree.bad_pages += 1
                continue
            self.witnesses[table] = [
                cell.values for cell in self.file.walk(entry[1], tree, index=True)
            ]

    def _missing(self, table: str, width: int) -> list[list[Any]]:
        """Entries of the table's index whose row is gone."""
        there = {number for (number,) in self.db.rows(f"select id from {table}")}
        entries = (entry for entry in self.witnesses.get(table, []) if len(entry) == width)
        return list(
            {
                entry[-1]: entry
                for entry in entries
                if isinstance(entry[-1], int) and entry[-1] not in there
            }.values()
        )

    def _tell_again(self) -> None:
        """Lost rows, from the indexes and bodies; and whose sessions they are missing in."""
        db = self.db
        named = [
            (number, ref)
            for ref, number in self._missing("sessions", 2)
            if isinstance(ref, str) and ":" in ref
        ]
        sessions = [(number, ref, *ref.split(":", 1)) for number, ref in named]
        self._count_again(
            "sessions",
            "insert or ignore into sessions (id, ref, agent, native_id) values (?, ?, ?, ?)",
            sessions,
        )
        self.affected |= {session[0] for session in sessions}
        ordinals = {
            entry[2]: entry[1] for entry in self.witnesses.get("ordinals", []) if len(entry) == 3
        }
        turns = [
            (number, session, ordinals[number], key)
            for key, session, number in self._missing("turns", 3)
            if isinstance(key, str) and isinstance(ordinals.get(number), int)
        ]
        self._count_again(
            "turns",
            "insert or ignore into turns (id, session, ordinal, key) values (?, ?, ?, ?)",
            turns,
        )
        self.affected |= {turn[1] for turn in turns}
        for number, *_ in turns:
            self._summarise(number)
        lost_bodies = self._missing("bodies", 3)
        lost_usage = self._missing("usage", 2)
        self._add_lost("bodies", len(lost_bodies))
        self._add_lost("usage", len(lost_usage))
        for turn in {entry[0] for entry in (*lost_bodies, *lost_usage)}:
            self.affected.add(db.value("select session from turns where id = ?", (turn,)) or 0)
        if not self.trees["tool_calls"].sound or not self.report.kept.get("tool_calls"):
            self._tell_calls_again()
        # Without an undamaged witness nobody knows what else there was.
        self.all_affected = any(
            not self.trees[table].sound and not self.trees[_WITNESSES[table]].sound
            for table in _TOLD_BY_LOGS
        )

    def _count_again(self, table: str, sql: str, rows: list[tuple[Any, ...]]) -> None:
        before = self.db.connection.total_changes()
        self.db.many(sql, rows)
        told = self.db.connection.total_changes() - before
        if told:
            self.report.rebuilt[table] = self.report.rebuilt.get(table, 0) + told

    def _add_lost(self, table: str, count: int) -> None:
        if count:
            self.report.lost[table] = max(self.report.lost.get(table, 0), count)

    def _events(self, turn: int) -> list[bodies.Row]:
        parts = [
            events
            for (events,) in self.db.rows(
                "select events from bodies where turn = ? order by part", (turn,)
            )
        ]
        return bodies.joined([part for part in parts if bodies.find_rows(part) is not None])

    def _summarise(self, turn: int) -> None:
        events = self._events(turn)
        times = [event[bodies.AT] for event in events if isinstance(event[bodies.AT], int)]
        errors = sum(
            event[bodies.KIND] == "error"
            or (event[bodies.KIND] == "tool_call" and event[bodies.OK] is False)
            for event in events
        )
        self.db.execute(
            """
            update turns set started_at = ?, ended_at = ?, errors = ?, prompt = ?, reply = ?
             where id = ?
            """,
            (
                min(times, default=None), max(times, default=None), errors,
                prompt_lead(events), reply_lead(events), turn,
            ),
        )  # fmt: skip

    def _tell_calls_again(self) -> None:
        told = 0
        for turn, known in self.db.rows(
            "select id, (select count(*) from tool_calls where turn = turns.id) from turns"
        ):
            calls = [event for event in self._events(turn) if event[bodies.KIND] == "tool_call"]
            if len(calls) > known:
                rows = [_call_row(turn, ordinal, call) for ordinal, call in enumerate(calls)]
                self.db.many(
                    "insert or ignore into tool_calls values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
                )
                told += len(calls) - known
        if told:
            self.report.rebuilt["tool_calls"] = told

    # What cannot stay

    def _drop_bad_bodies(self) -> None:
        bad = [
            (number, turn)
            for number, turn, events, checksum in self.db.execute(
                "select id, turn, events, checksum from bodies"
            )
            if not isinstance(events, bytes)
            or bodies.checksum(events) != checksum
            or bodies.find_rows(events) is None
        ]
        self.db.many("delete from bodies where id = ?", [(number,) for number, _ in bad])
        self.report.kept["bodies"] -= len(bad)
        # As if only the index still named them.
        self.witnesses.setdefault("bodies", []).extend([turn, 0, number] for number, turn in bad)

    def _drop_bad_episodes(self) -> None:
        """What was derived is derived again with the digests.

        What was recorded stays, if it can be read.
        """
        db = self.db
        db.execute("delete from episodes where session is not null")
        db.execute(
            "update episodes set project = null where project not in (select id from projects)"
        )
        bad = [(number,) for number in Episodes(db).numbers() if not Episodes(db).is_sound(number)]
        db.many("delete from episodes where id = ?", bad)
        self._add_lost("episodes", len(bad))
        self.report.kept["episodes"] = len(Episodes(db).numbers())

    def _read_again(self) -> None:
        """Make the next import read the logs of what is not whole from their start."""
        db = self.db
        # A turn without any body, or one whose first part is not there.
        unbodied = """
            select distinct session from turns
             where id not in (select turn from bodies where part = 0)
        """
        self.affected |= {session for (session,) in db.rows(unbodied)}
        if not self.all_affected and not self.affected:
            return
        marks = ", ".join(str(int(session)) for session in self.affected)
        nameless = db.value(
            f"select count(*) from sessions where source is null and id in ({marks})"
        )
        everything = self.all_affected or nameless
        chosen = "1" if everything else f"id in (select source from sessions where id in ({marks}))"
        db.execute(
            f"""
            update sources
               set size_bytes = -1, position = 0, state = x'', head = 0, tail = 0, version = 0
             where {chosen}
            """
        )
        self.report.sources_to_read_again = db.connection.changes()


def _is_torn(cell: Cell) -> bool:
    return any(isinstance(value, PartialText) for value in cell.values)


def _call_row(turn: int, ordinal: int, call: bodies.Row) -> tuple[Any, ...]:
    target = call[bodies.TARGET]
    pending = call[bodies.CALL] if call[bodies.OK] is None and call[bodies.OUTPUT] is None else None
    return (
        turn, ordinal, call[bodies.NAME] or "", call[bodies.TOOL_KIND] or "other",
        target[:TARGET_CHARACTERS] if target else None,
        call[bodies.OK], call[bodies.EXIT_CODE], call[bodies.DURATION_MS], call[bodies.FOLDER],
        pending,
    )  # fmt: skip
