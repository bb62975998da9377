"""Makes a sound store out of a damaged one, and says what is missing.

The damaged file is only read, and in the end renamed: it stays beside the new
one for whoever wants to try more. Its pages are read by ourselves (see `pages`),
so that one bad page costs the rows on it and no others. What was on it is told
again where it is written twice: a session's name and a turn's number are in
their indexes too, and a turn's tool calls and leads are in its body.

The text index is made anew, and the vectors are left to the next `recollect
work`. Sources whose sessions lost something are to be read again from their
start; where it cannot be told which those are, all of them. That is always
safe: turns are found again by their native key.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from recollect.errors import (
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    StoreTooOld,
    StoreUnwritable,
)
from recollect.model.calls import TARGET_CHARACTERS
from recollect.model.reports import RepairReport
from recollect.store import bodies
from recollect.store.sqlite.database import OLDEST, SCHEMA, Database
from recollect.store.sqlite.doctor import Doctor
from recollect.store.sqlite.episodes import Episodes
from recollect.store.sqlite.jobs import Jobs
from recollect.store.sqlite.migrate import backups, migrations
from recollect.store.sqlite.old.sql import digests
from recollect.store.sqlite.salvage.pages import Cell, PageFile, Tree, Value
from recollect.store.sqlite.search.text_index import (
    TextIndex,
    prompt_lead,
    read_body,
    reply_lead,
)
from recollect.store.sqlite.vectors.stored import Vectors
from recollect.system import platforms

# In this order, so that what a row refers to is there before it.
_TABLES = (
    "store_info", "tombstones", "sources", "projects", "project_aliases", "sessions", "turns",
    "bodies",
    "tool_calls", "usage", "rates", "problems", "notes", "note_origins", "feedback", "recalls",
    "confirmed_folders", "known_secrets",
    "firings", "digests", "evictions", "traces", "publications", "consolidations", "memory_folders",
    "episodes",
    "signals", "occasions", "patterns", "pattern_versions", "published_blocks", "jobs",
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
    "project_aliases", "note_origins", "recalls", "firings", "evictions", "traces", "publications",
    "consolidations",
    "memory_folders", "episodes", "signals", "occasions", "patterns", "pattern_versions",
    "published_blocks", "migrations",
)  # fmt: skip


def repair(path: str, *, rebuild: bool = False) -> RepairReport:
    """Put a sound store in the place of a damaged one.

    A sound store is left alone, except that its text index is made again when that is asked for
    or called for, and digests that cannot be read. Nobody else should use the store meanwhile;
    whoever has it open goes on with the damaged file.
    """
    if not os.path.exists(path):
        raise NotFound(f"nothing is stored at {path} yet", hint="run `recollect import` first")
    faults = _faults(path)
    if not faults:
        return _keep(path, rebuild)
    try:
        with PageFile(path) as file:
            _check_version(path, file.user_version or SCHEMA)
            salvage = _Salvage(path, file)
            try:
                report = salvage.run()
            except apsw.Error as error:
                raise salvage.db.explain(error) from error
            finally:
                salvage.close()
        report.notes = [*faults[:5], *report.notes]
        report.damaged_copy = _exchange(path, salvage.path)
    except OSError as error:
        raise StoreUnwritable(
            path, os.strerror(error.errno) if error.errno else str(error)
        ) from error
    return report


def _check_version(path: str, found: int) -> None:
    if found > SCHEMA:
        raise StoreTooNew(path, found=found, known=SCHEMA)
    if found < OLDEST:
        raise StoreTooOld(path, found=found, oldest=OLDEST)


def _faults(path: str) -> list[str]:
    """What is wrong with a store, found without writing to it; empty when it is sound."""
    connection = None
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(5_000)
        row = connection.execute("pragma user_version").fetchone()
        _check_version(path, row[0] if row and row[0] else SCHEMA)
        names = {name for (name,) in connection.execute("select name from sqlite_schema")}
        told = [
            line
            for (text,) in connection.execute("pragma integrity_check(20)")
            for line in str(text).splitlines()
        ]
        faults = [line for line in told if line != "ok" and not line.startswith("***")]
        if names and not faults and not {"sessions", "turns", "bodies"} & names:
            raise StoreError(
                f"{path} is a database, but not one of ours",
                hint="choose another file with --store",
            )
        # The text index is looked at later: it can be made again in place.
        faults = [fault for fault in faults if "FTS5 table main.turns_text" not in fault]
        if not names or faults:
            return faults
        faults = [
            f"a row of {row[0]} points nowhere"
            for row in connection.execute("pragma foreign_key_check")
        ][:5]
        wrong = 0
        for events, checksum in connection.execute("select events, checksum from bodies"):
            wrong += not isinstance(events, bytes) or bodies.checksum(events) != checksum
        faults += [f"{wrong} bodies are not what was written"] if wrong else []
        return faults
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(path, 5) from error
    except apsw.Error as error:
        return [str(error)]
    finally:
        if connection is not None:
            connection.close()


def _keep(path: str, rebuild: bool) -> RepairReport:
    db = Database(path, create=False)
    try:
        report = RepairReport(path=path, sound=True)
        unwell = [
            one
            for one in Doctor(db).examine().findings
            if one.name.startswith("text index") and not one.ok
        ]
        if rebuild or unwell:
            report.notes = [f"{one.name}: {one.detail}" for one in unwell]
            TextIndex(db).rebuild()
            TextIndex(db).optimize()
            report.text_rebuilt = True
        with db.transaction():
            dropped = digests.drop_unreadable(db)
        if dropped:
            report.notes.append(f"digests that could not be read, and are made again: {dropped}")
        return report
    finally:
        db.close()


def _exchange(path: str, made: str) -> str:
    """Put the new store in the place of the damaged one, which gets another name."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    kept, number = f"{path}.damaged-{stamp}", 1
    while os.path.exists(kept):
        number += 1
        kept = f"{path}.damaged-{stamp}-{number}"
    # The log first: beside the new file it would be taken for its own.
    if os.path.exists(path + "-wal"):
        os.replace(path + "-wal", kept + "-wal")
    if os.path.exists(path + "-shm"):
        os.unlink(path + "-shm")
    os.replace(path, kept)
    os.replace(made, path)
    return kept


class _Table:
    """A table of the new store, and what its rows look like on a page."""

    def __init__(self, db: Database, name: str) -> None:
        self.name = name
        columns = db.rows(f"pragma table_info({_quoted(name)})")
        self.without_rowid = bool(
            db.value("select wr from pragma_table_list where name = ?", (name,))
        )
        keys = sorted((row for row in columns if row[5]), key=lambda row: row[5])
        if self.without_rowid:
            columns = keys + [row for row in columns if not row[5]]
        self.columns = [str(row[1]) for row in columns]
        self.types = [str(row[2]).lower() for row in columns]
        self.required = [bool(row[3]) for row in columns]
        # An `integer primary key` is the rowid and is left out of the row itself.
        single = len(keys) == 1 and not self.without_rowid and str(keys[0][2]).lower() == "integer"
        self.rowid_column = self.columns.index(str(keys[0][1])) if single else None

    def row(self, cell: Cell) -> list[Value] | None:
        """The values of a cell as a row of this table, or None when it cannot be one."""
        values = list(cell.values)
        if (cell.rowid is None) != self.without_rowid or len(values) > len(self.columns):
            return None
        if self.rowid_column is not None:
            if values[self.rowid_column] is not None:
                return None
            values[self.rowid_column] = cell.rowid
        for value, kind, required in zip(values, self.types, self.required, strict=False):
            if (value is None and required) or not _suits(value, kind):
                return None
        return values

    def insert(self, width: int) -> str:
        names = ", ".join(_quoted(name) for name in self.columns[:width])
        return f"insert or ignore into {_quoted(self.name)} ({names}) values ({', '.join('?' * width)})"


def _suits(value: Value, kind: str) -> bool:
    if value is None or kind in ("blob", ""):
        return True
    if kind == "integer":
        return isinstance(value, int)
    if kind == "real":
        return isinstance(value, (int, float))
    # A path that is no text is kept as bytes.
    return kind != "text" or isinstance(value, (str, bytes))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class _Salvage:
    """One salvage: from the pages of a damaged file into a new store beside it."""

    def __init__(self, path: str, file: PageFile) -> None:
        self.file = file
        self.path = path + ".repaired"
        self.report = RepairReport(path=path, sound=False)
        self.schema = self._schema()
        self.trees: dict[str, Tree] = {}
        self.witnesses: dict[str, list[list[Value]]] = {}
        self.affected: set[int] = set()
        self.all_affected = False
        self.done = False
        self._discard()
        self.db = self._new_store()

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
        tree, found = Tree(), {}
        for cell in self.file.walk(1, tree, index=False):
            if len(cell.values) == 5:
                kind, name, _, root, sql = cell.values
                if isinstance(kind, str) and isinstance(name, str) and isinstance(root, int):
                    found[name] = (kind, root, str(sql or ""))
        self.report.lost_pages += tree.bad_pages
        if not tree.sound:
            self.report.notes.append("the list of tables was damaged")
        return found

    def _new_store(self) -> Database:
        platforms.private_file(self.path)
        return Database(self.path)

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
                    self._fill(_Table(db, name))
            self._fill_other_tables()
            if "notes" in tables:
                self._keep_notes_apart()
            if "recalls" in tables:
                db.execute(
                    "update recalls set project = null where project not in (select id from "
                    "projects)"
                )
            if not any(
                self.report.kept.get(name)
                for name in ("store_info", "sources", "notes", *_TOLD_BY_LOGS)
            ):
                raise StoreError(
                    f"nothing in {self.report.path} looks like a store",
                    hint="it is left as it is; move it away, or choose another file with --store",
                )
            self._drop_bad_bodies()
            if "digests" in tables:
                self._drop_bad_digests()
            self._tell_again()
            self._drop_orphans()
            self._drop_forgotten()
            if "publications" in tables:
                self._drop_unsupported()
            if "episodes" in tables:
                self._drop_bad_episodes()
            if "signals" in tables:
                self._drop_loose_signals()
            if "patterns" in tables:
                self._drop_loose_patterns()
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
        TextIndex(db).optimize()
        report.text_rebuilt = True
        with db.transaction():
            Vectors(db).drop()
            Jobs(db).enqueue("embed", "turns")
            Jobs(db).enqueue("digest", "sessions")
            Jobs(db).enqueue("prepare", "projects")
            Jobs(db).enqueue("distill", "sessions")
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
                "run `recollect import`; sources to read again from their start: "
                f"{report.sources_to_read_again}"
            )
        report.next_steps.append("delete the damaged copy once nothing is missed")
        return report

    # Rows

    def _fill(self, table: _Table) -> None:
        """Copy what can be read of a table."""
        tree = self.trees[table.name] = Tree()
        done: set[int | None] = set()
        kept = self._insert(table, self._rows(table, tree, done))
        if tree.bad_pages and table.name in _TABLES and table.name not in _NO_STRAYS:
            kept += self._insert(table, self._stray_rows(table, done))
        self.report.kept[table.name] = kept
        self.report.lost_pages += tree.bad_pages
        if tree.bad_cells:
            self.report.lost[table.name] = self.report.lost.get(table.name, 0) + tree.bad_cells

    def _rows(self, table: _Table, tree: Tree, done: set[int | None]) -> Iterator[list[Value]]:
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

    def _stray_rows(self, table: _Table, done: set[int | None]) -> Iterator[list[Value]]:
        """Rows on pages that lost the page above them: a page belongs here if all its rows do."""
        for cells in self.file.stray(index=table.without_rowid):
            rows = [
                table.row(cell) if len(cell.values) == len(table.columns) else None
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

    def _insert(self, table: _Table, rows: Iterable[list[Value]]) -> int:
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
                    self._fill(_Table(self.db, name))
            except apsw.Error as error:
                self.report.notes.append(f"the {kind} {name} could not be kept: {error}")

    def _keep_notes_apart(self) -> None:
        """A number that was given to a note is not given again, and a note whose
        project was lost does not hold everywhere.
        """
        db = self.db
        sequence = self.schema.get("sqlite_sequence")
        for cell in self.file.walk(sequence[1], Tree(), index=False) if sequence else ():
            if cell.values[:1] == ["notes"] and isinstance(cell.values[-1], int):
                db.execute("delete from sqlite_sequence where name = 'notes'")
                db.execute("insert into sqlite_sequence values ('notes', ?)", (cell.values[-1],))
        db.execute(
            """
            insert or ignore into projects (id, key, kind)
            select distinct project, 'lost project ' || project, 'directory' from notes
             where project is not null and project not in (select id from projects)
            """
        )
        db.execute(
            "update notes set superseded_by = null where superseded_by not in (select id from "
            "notes)"
        )
        db.execute("delete from note_origins where note not in (select id from notes)")

    # What is written twice

    def _read_witnesses(self) -> None:
        for table, index in (*_WITNESSES.items(), ("ordinals", "sqlite_autoindex_turns_1")):
            tree = self.trees[index] = Tree()
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
        return bodies.joined([part for part in parts if read_body(part) is not None])

    def _summarise(self, turn: int) -> None:
        events = self._events(turn)
        times = [event[bodies.AT] for event in events if isinstance(event[bodies.AT], int)]
        errors = sum(
            event[bodies.KIND] == "error"
            or (event[bodies.KIND] == "tool_call" and event[bodies.OK] is False)
            for event in events
        )
        self.db.execute(
            "update turns set started_at = ?, ended_at = ?, errors = ?, prompt = ?, reply = ? "
            "where id = ?",
            (
                min(times, default=None),
                max(times, default=None),
                errors,
                prompt_lead(events),
                reply_lead(events),
                turn,
            ),
        )

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
            or read_body(events) is None
        ]
        self.db.many("delete from bodies where id = ?", [(number,) for number, _ in bad])
        self.report.kept["bodies"] -= len(bad)
        # As if only the index still named them.
        self.witnesses.setdefault("bodies", []).extend([turn, 0, number] for number, turn in bad)

    def _drop_bad_digests(self) -> None:
        """All digests are made again.

        Of turns whose events were let go, what they say is all there is.
        """
        stored = self.db.rows("select session, digest from digests")
        bad = [(session,) for session, packed in stored if not digests.is_sound(packed)]
        self.db.many("delete from digests where session = ?", bad)
        self.db.execute("delete from digests where session not in (select id from sessions)")
        self.db.execute("insert or replace into undigested select id, random() from sessions")

    def _drop_orphans(self) -> None:
        db = self.db
        for table, column, other in (
            ("sessions", "source", "sources"), ("sessions", "project", "projects"),
            ("turns", "project", "projects"), ("projects", "merged_into", "projects"),
        ):  # fmt: skip
            db.execute(
                f"update {table} set {column} = null where {column} not in (select id from {other})"
            )
        for table, column, other in (
            ("project_aliases", "project", "projects"), ("turns", "session", "sessions"), ("bodies",
            "turn", "turns"),
            ("tool_calls", "turn", "turns"), ("usage", "turn", "turns"),
            ("problems", "source", "sources"),
        ):  # fmt: skip
            db.execute(f"delete from {table} where {column} not in (select id from {other})")
            dropped = db.connection.changes()
            if dropped:
                self.report.lost[table] = self.report.lost.get(table, 0) + dropped
                self.report.kept[table] = max(0, self.report.kept.get(table, 0) - dropped)

    def _drop_forgotten(self) -> None:
        """A page that was free may have brought back what somebody asked to forget."""
        db = self.db
        turns = db.rows(
            """
            select turns.id from turns join sessions on sessions.id = turns.session
             where exists (select 1 from tombstones where kind = 'turn'
               and name = sessions.agent || ':' || turns.key)
                or exists (select 1 from tombstones where kind = 'session' and name = sessions.ref)
            """
        )
        for table in ("bodies", "tool_calls", "usage"):
            db.many(f"delete from {table} where turn = ?", turns)
        if db.value("select 1 from sqlite_schema where name = 'digests'"):
            db.many(
                "delete from digests where session = (select session from turns where id = ?)",
                turns,
            )
        db.many("delete from turns where id = ?", turns)
        db.execute(
            "delete from sessions where ref in (select name from tombstones where kind = 'session')"
        )

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

    def _drop_loose_signals(self) -> None:
        """What was seen is seen again by the next `learn`, except in events
        that were let go: of those it stays.
        """
        for table in ("signals", "occasions"):
            self.db.execute(
                f"delete from {table} where (session is not null and session not in (select id "
                "from sessions))"
                " or (episode is not null and episode not in (select id from episodes))"
            )

    def _drop_loose_patterns(self) -> None:
        """Decisions about patterns stay, if what was decided can be read.

        The evidence is found again by the next `learn`.
        """
        db = self.db
        db.execute(
            "delete from patterns where (id, version) not in (select pattern, version from "
            "pattern_versions)"
            " or (kind, signature, id) not in (select kind, signature, min(id) from patterns group "
            "by kind, signature)"
        )
        db.execute("delete from pattern_versions where pattern not in (select id from patterns)")
        db.execute(
            "update published_blocks set project = null where project not in (select id from "
            "projects)"
        )

    def _drop_unsupported(self) -> None:
        """What was made of sessions that are not there.

        `recollect distill` makes it again of those that are.
        """
        db = self.db
        db.execute("delete from traces where session not in (select session from digests)")
        db.execute(
            """
            delete from publications where project not in (select id from projects)
              or not json_valid(sessions)
                or exists (select 1 from json_each(sessions)
                  where value not in (select ref from sessions))
            """
        )
        db.execute(
            "delete from consolidations where project not in (select project from publications "
            "where gone_at is null)"
        )

    def _read_again(self) -> None:
        """Make the next import read the logs of what is not whole from their start."""
        db = self.db
        # A turn without any body, or one whose first part is not there.
        unbodied = "select distinct session from turns where id not in (select turn from bodies where part = 0)"
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
            "update sources set size_bytes = -1, position = 0, state = x'', head = 0, tail = 0, "
            f"version = 0 where {chosen}"
        )
        self.report.sources_to_read_again = db.connection.changes()


def _call_row(turn: int, ordinal: int, call: bodies.Row) -> tuple[Any, ...]:
    target = call[bodies.TARGET]
    pending = call[bodies.CALL] if call[bodies.OK] is None and call[bodies.OUTPUT] is None else None
    return (
        turn, ordinal, call[bodies.NAME] or "", call[bodies.TOOL_KIND] or "other",
        target[:TARGET_CHARACTERS] if target else None,
        call[bodies.OK], call[bodies.EXIT_CODE], call[bodies.DURATION_MS], call[bodies.FOLDER],
        pending,
    )  # fmt: skip
