"""How the store is doing: looks at everything, changes nothing.

Each check stands alone: a store too damaged for one of them is still looked at
by the others. What is only worth knowing is a finding that is well.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

from recollect.errors import RecollectError
from recollect.model.reports import Health, HealthCheck
from recollect.store import bodies
from recollect.store.sqlite import scrub, values
from recollect.store.sqlite.database import SCHEMA, Database
from recollect.store.sqlite.digests import Digests
from recollect.store.sqlite.problems import PROBLEMS_KEPT
from recollect.store.sqlite.scrub import Scrub
from recollect.store.sqlite.sources import path_text
from recollect.store.sqlite.vectors.stored import Vectors
from recollect.system import platforms

# Without --verify, so long is spent on reading stored texts.
SAMPLE_SECONDS = 1.0
# Checkpoints keep the log at a few megabytes unless somebody reads for hours.
LARGE_LOG_BYTES = 256 << 20
NAMED = 5

_REPAIR = "Try: recollect doctor --repair"
_EMBED = "Try: recollect jobs run embed --again"
_REBUILD = "Try: recollect doctor --rebuild-text"


def _tried(name: str, check: Callable[[], HealthCheck]) -> HealthCheck:
    try:
        found = check()
    except RecollectError as error:
        found = _bad(str(error), error.hint or _REPAIR)
    except OSError as error:
        found = _bad(str(error), "Check that you can read the folder.")
    except Exception as error:
        # A page in another's place has values of any kind where we expect one of ours.
        found = _bad(f"cannot be checked: {type(error).__name__}: {error}", _REPAIR)
    found.name = name
    return found


def _good(detail: str = "") -> HealthCheck:
    return HealthCheck(name="", ok=True, detail=detail)


def _bad(detail: str, hint: str) -> HealthCheck:
    return HealthCheck(name="", ok=False, detail=detail, hint=hint)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _expected() -> set[str]:
    fresh = Database(":memory:")
    try:
        return Doctor(fresh)._objects()
    finally:
        fresh.close()


def _permissions(path: str, home: str | None) -> HealthCheck:
    files = (
        [path + end for end in ("", "-wal", "-shm", ".spool")] + scrub.copies_beside(path)
        if path != ":memory:"
        else []
    )
    open_ones = [one for one in files if os.path.exists(one) and platforms.open_to_others(one)]
    if open_ones:
        named = " ".join(map(platforms.as_argument, open_ones))
        return _bad(f"other users can read {_some(open_ones)}", f"chmod 600 {named}")
    # Any other folder is somebody's choice, and shared perhaps: as long as
    # the files are closed it does no harm.
    if home is not None and os.path.dirname(path) == home and platforms.open_to_others(home):
        return _bad(f"other users can open {home}", f"chmod 700 {platforms.as_argument(home)}")
    return _good()


def _log(path: str) -> HealthCheck:
    size = os.path.getsize(path + "-wal") if os.path.exists(path + "-wal") else 0
    if size > LARGE_LOG_BYTES:
        return _bad(
            f"{size >> 20} MB", "Close what keeps the store open, then run `recollect jobs run`."
        )
    return _good(f"{size} bytes")


class Doctor:
    """Looks for what is wrong with a store."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def examine(self, *, verify: bool = False, home: str | None = None) -> Health:
        """Every check in turn; `verify` reads every page, every body and every digest.

        `home` is the folder that is ours alone and has to be closed to others.
        """
        checks: list[tuple[str, Callable[[], HealthCheck]]] = [
            ("pages", lambda: self._pages(verify)),
            ("references", self._references),
            ("schema", self._schema),
            ("stored values", self._values),
            ("text index", self._text_index),
            ("text index rows", self._text_rows),
            ("vectors", self._vectors),
            ("permissions", lambda: _permissions(self.db.path, home)),
            ("write-ahead log", lambda: _log(self.db.path)),
            ("freed space wiped", self._deleted_text),
            ("logs that cannot be read", self._failing),
            ("logs with problems", self._problems),
            ("logs deleted by their agents", self._vanished),
            ("old events removed", self._evicted),
            ("jobs", self._jobs),
            ("added by other programs", self._added),
        ]
        checks.append(("bodies", lambda: self._bodies(verify)))
        if verify:
            checks.append(("digests", self._digests))
        findings = [_tried(name, check) for name, check in checks]
        return Health(
            path=self.db.path,
            ok=all(one.ok for one in findings),
            verified=verify,
            findings=findings,
        )

    def _pages(self, verify: bool) -> HealthCheck:
        check = "integrity_check" if verify else "quick_check"
        faults = [str(text) for (text,) in self.db.rows(f"pragma {check}(20)")]
        # The text index is judged by a check of its own: it can be made again.
        faults = [fault for fault in faults if fault != "ok" and "turns_text" not in fault]
        return (
            _bad("; ".join(faults[:NAMED]), _REPAIR) if faults else _good(f"{check} found nothing")
        )

    def _references(self) -> HealthCheck:
        tables = [str(table) for table, _, _, _ in self.db.rows("pragma foreign_key_check")]
        if not tables:
            return _good()
        counts = [f"{tables.count(table)} in {table}" for table in sorted(set(tables))]
        return _bad(f"rows whose target is missing: {', '.join(counts)}", _REPAIR)

    def _objects(self) -> set[str]:
        """Tables and what belongs to them, without what SQLite and FTS5 keep for themselves."""
        return {
            f"{kind} {name}"
            for kind, name in self.db.rows("select type, name from sqlite_schema")
            if not name.startswith(("sqlite_", "turns_text_"))
        }

    def _schema(self) -> HealthCheck:
        version = self.db.version()
        missing = sorted(_expected() - self._objects()) if version == SCHEMA else []
        if version != SCHEMA:
            return _bad(
                f"schema {version}; this recollect knows {SCHEMA}",
                "Upgrade recollect, or run `recollect import`.",
            )
        return (
            _bad(f"missing: {_some(missing)}", _REPAIR) if missing else _good(f"schema {version}")
        )

    def _added(self) -> HealthCheck:
        added = sorted(self._objects() - _expected())
        return _good(_some(added))

    def _values(self) -> HealthCheck:
        found = values.find_unreadable(self.db)
        counts = [f"{count} in {table}" for table, count in found.items()]
        return _bad(f"rows that cannot be read: {', '.join(counts)}", _REPAIR) if found else _good()

    def _text_index(self) -> HealthCheck:
        faults = [
            str(text)
            for (text,) in self.db.rows("pragma integrity_check('turns_text')")
            if text != "ok"
        ]
        return _bad("; ".join(faults[:NAMED]), _REBUILD) if faults else _good()

    def _text_rows(self) -> HealthCheck:
        """The index keeps the number of words of each of its rows in turns_text_docsize."""
        unindexed = self.db.value(
            "select count(*) from bodies where id not in (select id from turns_text_docsize)"
        )
        bodiless = self.db.value(
            "select count(*) from turns_text_docsize where id not in (select id from bodies)"
        )
        if unindexed or bodiless:
            return _bad(
                f"{unindexed} bodies without an index row, {bodiless} index rows without a body",
                _REBUILD,
            )
        return _good()

    def _vectors(self) -> HealthCheck:
        vectors = Vectors(self.db)
        turns = vectors.torn()
        if turns:
            named = _some(list(map(str, turns)))
            return _bad(f"{len(turns)} turns have broken vectors: {named}", _EMBED)
        if vectors.mean() is None and self.db.value(
            "select 1 from store_info where name = 'mean_vector'"
        ):
            return _bad("the settings of the vectors cannot be read", _EMBED)
        blocks = vectors.disagreeing()
        if blocks:
            named = _some(list(map(str, blocks)))
            return _bad(f"{len(blocks)} blocks do not match the stored vectors: {named}", _EMBED)
        return _good(f"{vectors.count()} turns embedded, {vectors.waiting()} not yet")

    def _deleted_text(self) -> HealthCheck:
        if Scrub(self.db).is_pending():
            hint = "Run `recollect jobs run` while nothing else reads the store."
            return _bad("deleted text may still be readable in the files", hint)
        return _good()

    def _failing(self) -> HealthCheck:
        rows = self.db.rows(
            "select path, failure from sources where failure is not null order by path"
        )
        if not rows:
            return _good()
        named = [f"{path_text(path)} ({failure})" for path, failure in rows]
        return _bad(
            f"{len(rows)}: {_some(named)}",
            "Each import tries them again. Their format may be newer than this version.",
        )

    def _problems(self) -> HealthCheck:
        rows = self.db.rows(
            """
            select path, sum(count) from problems join sources on sources.id = problems.source
             group by sources.id having count(*) >= ? order by 2 desc, 1
            """,
            (PROBLEMS_KEPT,),
        )
        if not rows:
            return _good()
        named = [f"{path_text(path)} ({count})" for path, count in rows]
        found = _bad(
            f"{len(rows)} with {PROBLEMS_KEPT} or more: {_some(named)}",
            "Their format may be newer than this version.",
        )
        found.warning = True
        return found

    def _vanished(self) -> HealthCheck:
        paths = [path_text(path) for (path,) in self.db.rows("select path from sources")]
        # A source in somebody's database is a file with a name inside it.
        gone = sum(
            not os.path.exists(path) and not os.path.exists(path.partition("#")[0])
            for path in paths
        )
        return _good(f"{gone} of {len(paths)}; their sessions are still here")

    def _evicted(self) -> HealthCheck:
        turns, gone, undistilled = self.db.rows(
            """
            select (select count(*) from turns), count(*), coalesce(sum(not distilled), 0)
              from evictions where bytes > 0
            """
        )[0]
        if not gone:
            return _good("none")
        return _good(f"of {gone} of {turns} turns, {undistilled} of them without a digest")

    def _jobs(self) -> HealthCheck:
        failed = self.db.rows(
            "select kind, subject, error from jobs where state = 'failed' order by id"
        )
        if not failed:
            return _good()
        named = [f"{kind} {subject}: {error}" for kind, subject, error in failed]
        return _bad(f"{len(failed)} gave up: {_some(named)}", "See them: recollect jobs")

    def _bodies(self, verify: bool) -> HealthCheck:
        """Reads every body, or as many as a second allows, taken from everywhere.

        Each by its number, so that one unreadable page costs no more than its own.
        """
        numbers = [number for (number,) in self.db.rows("select id from bodies order by id")]
        if not verify:
            random.shuffle(numbers)
        bad: list[int] = []
        count, end = 0, time.monotonic() + SAMPLE_SECONDS
        for number in numbers:
            if not verify and time.monotonic() > end:
                break
            count += 1
            try:
                row = self.db.row(
                    "select events, checksum, turn from bodies where id = ?", (number,)
                )
            except RecollectError:
                row = None
            if row is None or bodies.checksum(row[0]) != row[1] or bodies.find_rows(row[0]) is None:
                bad.append(number)
        if bad:
            named = _some(list(map(str, sorted(bad))))
            return _bad(
                f"{len(bad)} of {count} have changed since they were written: {named}", _REPAIR
            )
        left = len(numbers) - count
        return _good(f"{count} read" + (f", {left} more with --verify" if left else ""))

    def _digests(self) -> HealthCheck:
        bad, count = (
            list(Digests(self.db).unreadable().values()),
            self.db.value("select count(*) from digests"),
        )
        return (
            _bad(f"{len(bad)} of {count} cannot be read: {_some(bad)}", _REPAIR)
            if bad
            else _good(f"{count} read")
        )
