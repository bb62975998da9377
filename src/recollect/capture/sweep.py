"""One pass over the logs: what is new goes into the store, the rest costs a stat.

A source is *unchanged* when size, time and inode are what they were; *grown*
when it is longer and both its first bytes and those before the checkpoint are
the same, and then only its tail is read; anything else is *replaced* and read
from the start. Reading from the start is always safe, because turns are found
again by their native key, so every doubt is settled that way. A source that is
not appended to (a document, a database, a folder) is looked at together with
its companions, and its adapter finds out what is new in it.

Rows, text index and checkpoint are committed together: per source in normal
life, in batches of about 64 MB of raw log when there is much to do.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from traceback import format_tb
from types import TracebackType
from typing import Protocol

from msgspec.structs import replace

from recollect.capture.adapters import Adapter
from recollect.capture.assemble import assemble
from recollect.capture.cleanse import clean_source, cleanse
from recollect.capture.discover import Found
from recollect.capture.endings import Endings
from recollect.capture.folders import place
from recollect.capture.glance import SourceState, look
from recollect.capture.prices import Prices
from recollect.capture.projects import ProjectFinder, settle
from recollect.capture.recognise import Recogniser
from recollect.errors import RecollectError
from recollect.model.batch import Batch, Fingerprint, KnownSource, Written
from recollect.model.logs import Checkpoint, Problem, SessionFacts, Source
from recollect.model.reports import ImportReport, SourceReport
from recollect.redact import Redactor
from recollect.store import Store, Writer
from recollect.store.bodies import checksum
from recollect.system import git
from recollect.system.interpreter import no_cycle_search

BATCH_BYTES = 64 << 20
MANY_SOURCES = 8
# Enough to tell one log from another by its first line, and a rewritten one
# by what comes before the checkpoint.
PROBE_BYTES = 4 << 10

log = logging.getLogger(__name__)


class Progress(Protocol):
    """Is told how far a sweep has come."""

    def __call__(self, done: int, total: int, path: str) -> None: ...


class Sweep:
    """Imports what changed. One instance may sweep many times."""

    def __init__(
        self,
        store: Store,
        *,
        redactor: Redactor | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.redactor = redactor
        self.clock = clock
        self.prices = Prices(store.usage)
        self.recogniser = Recogniser(store.calls.find_waiting)
        self.endings = Endings(store.calls.find_waiting)

    def run(
        self, found: Iterable[Found], *, progress: Progress | None = None
    ) -> tuple[ImportReport, list[SourceReport]]:
        """Bring the store up to date with these sources."""
        started, redactions = self.clock(), self._redactions()
        report = ImportReport()
        reports: list[SourceReport] = []
        changed = list(self._changed(found, report, reports))
        with (
            _Commits(self.store, many=len(changed) > MANY_SOURCES) as commits,
            no_cycle_search(),
        ):
            for number, (item, now) in enumerate(changed):
                if progress:
                    progress(number, len(changed), item.source.path)
                reports.append(self._source(commits, item, now, self.prices))
        _add_up(report, reports, commits)
        if commits.sessions:
            shown = self.store.sessions.count_families(commits.sessions)
            report.sessions, report.subagents = shown
        report.redactions = self._redactions() - redactions
        report.seconds = round(self.clock() - started, 3)
        log.info(
            "swept",
            extra={"sources": report.discovered, "turns": report.turns, "seconds": report.seconds},
        )
        return report, reports

    def _redactions(self) -> int:
        return sum(self.redactor.counts.values()) if self.redactor else 0

    def _changed(
        self, found: Iterable[Found], report: ImportReport, reports: list[SourceReport]
    ) -> Iterator[tuple[Found, SourceState]]:
        """The sources worth opening. What happens here is paid for every file on every import."""
        found = list(found)
        # A few named paths are asked for one by one: the whole list takes
        # longer than reading what grew.
        known = self.store.sources.known(
            [item.source.path for item in found] if len(found) <= MANY_SOURCES else None
        )
        stat = os.stat
        now: tuple[int, int, int]
        for item in found:
            adapter, source, _ = item
            report.discovered += 1
            try:
                if source.appended:
                    # What `look` says of such a source, without the call: most are.
                    glance = stat(source.path)
                    now = glance.st_size, glance.st_mtime_ns, glance.st_ino
                else:
                    now = look(source)
            except (OSError, ValueError) as error:
                reports.append(_failed(source, f"cannot be looked at: {error}"))
                continue
            stamp = known.get(source.path)
            if stamp is None and (stored := self._stored(source)).path != source.path:
                stamp = self.store.sources.known([stored.path]).get(stored.path)
            if stamp == (*now, adapter.version):
                report.unchanged += 1
            else:
                yield item, SourceState(*now)

    def _source(
        self, commits: _Commits, item: Found, now: SourceState, prices: Prices
    ) -> SourceReport:
        adapter, source, local = item
        stored = self._judged(source, self._stored(source))
        # The lock first: from here on what is remembered about the source stands still.
        commits.begin()
        known = self.store.sources.find(stored.path)
        result = SourceReport(
            path=source.path, agent=adapter.agent, outcome="updated" if known else "imported",
            external=stored.external,
        )  # fmt: skip
        if known and not known.failure and _same(known, now, adapter):
            result.outcome = "unchanged"  # Another importer was faster while we waited.
            return result
        since = resume_point(known, source, now, adapter)
        # Turns come whole, and replace what is stored, unless the pass
        # goes on in the middle of a file.
        rewritten: set[int] | None = set() if since is None or not source.appended else None
        position = since.position if since else 0
        enrich = partial(self._enrich, agent=adapter.agent, source=stored, prices=prices)
        news = source.appended or since is None
        for batch, last in _with_last(_batches(adapter, source, since, enrich)):
            _note(result, batch)
            news = news or not batch.is_empty()
            read_bytes, position = (
                max(0, batch.checkpoint.position - position),
                batch.checkpoint.position,
            )
            result.bytes += read_bytes
            seen = _fingerprint(source, now, batch.checkpoint, whole=last)
            written = commits.begin().keep(
                stored, batch, version=adapter.version, seen=seen, rewritten=rewritten,
                anew=since is None,
                better=known is not None and known.version != adapter.version,
                failure=result.reason,
            )  # fmt: skip
            if self.redactor is not None:
                self.store.known_secrets.keep(self.redactor.take_learned())
            commits.kept(written, read_bytes, local=local, source_done=last)
        if not news:
            # Something beside it changed that is about others.
            result.outcome = "unchanged"
        log.debug(
            "read a source",
            extra={"path": source.path, "outcome": result.outcome, "turns": result.turns},
        )
        return result

    def _stored(self, source: Source) -> Source:
        """A source by the names that the store knows it by."""
        return source if self.redactor is None else clean_source(source, self.redactor)

    def _judged(self, source: Source, stored: Source) -> Source:
        """A source as it is stored, with whether what it tells may be anybody's."""
        folder = stored.in_project
        if folder is None:
            return stored
        own = self.store.confirmed_folders.has(folder) and not git.tracks_any(
            (source.path, *source.companions)
        )
        return replace(stored, external=not own)

    def _enrich(self, batch: Batch, *, agent: str, source: Source, prices: Prices) -> None:
        """What capture adds to what the log says: no words of ours, where sessions
        began, where calls ran and how they ended, no secrets, a price.
        """
        self.recogniser.recognise(agent, batch)
        _say_where(batch, source.in_project if source.external else None)
        place(batch, lambda session: self._began_in(agent, session))
        self.endings.decide(agent, batch)
        if self.redactor is not None:
            cleanse(batch, self.redactor)
        for key, usage in batch.usages.items():
            batch.costs[key] = prices.cost(usage) if usage.cost_usd is None else usage.cost_usd

    def _began_in(self, agent: str, session: str) -> str | None:
        """Where a session began, as an earlier part of its log said."""
        return self.store.sessions.find_folder(f"{agent}:{session}")


def _say_where(batch: Batch, folder: str | None) -> None:
    """Let each session of a batch know where it began.

    With a folder it was there: what a log claims that may be anybody's gives no
    folder of this machine another project.
    """
    for (session, _), part in batch.turns.items():
        cwd, remote = part.facts.cwd, part.facts.git_remote
        if cwd or remote:
            facts = batch.sessions.setdefault(session, SessionFacts(session=session))
            facts.cwd, facts.git_remote = facts.cwd or cwd, facts.git_remote or remote
    for facts in batch.sessions.values() if folder is not None else ():
        facts.cwd, facts.git_remote = folder, None


class _Commits:
    """One transaction after another, each as large as is sensible."""

    def __init__(self, store: Store, *, many: bool) -> None:
        self.store = store
        self.limit_bytes = BATCH_BYTES if many else 0
        self.sessions: set[int] = set()
        self.turns = self.tool_calls = self.pending_bytes = 0
        # Of each session that was written to, whether its log is local.
        self.touched: dict[int, bool] = {}
        self.finders = {local: ProjectFinder(local=local) for local in (True, False)}
        self._open: ExitStack | None = None
        self._writer: Writer | None = None

    def __enter__(self) -> _Commits:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._commit()
        elif self._open is not None:
            # The transaction hears of it and rolls back.
            self._open.__exit__(kind, error, trace)

    def begin(self) -> Writer:
        """The writer of the open transaction, after starting one if need be."""
        if self._writer is None:
            self._open = ExitStack()
            self._writer = self._open.enter_context(self.store.writing())
        return self._writer

    def kept(self, written: Written, read_bytes: int, *, local: bool, source_done: bool) -> None:
        """Count what was kept, and commit when it is enough."""
        self.sessions |= written.touched
        self.touched |= dict.fromkeys(written.touched, local)
        self.turns += written.turns
        self.tool_calls += written.tool_calls
        self.pending_bytes += read_bytes
        if self.pending_bytes >= (self.limit_bytes if source_done else BATCH_BYTES):
            self._commit()
        if not source_done:
            self.begin()

    def _commit(self) -> None:
        if self._open is not None:
            with self._open:
                if self._writer is not None:
                    self._writer.flush()
                    settle(self.store, self.touched, self.finders)
        self._open, self._writer, self.pending_bytes, self.touched = None, None, 0, {}


def _batches(
    adapter: Adapter, source: Source, since: Checkpoint | None, enrich: Callable[[Batch], None]
) -> Iterator[Batch]:
    """What an adapter reads, enriched.

    A fault in it costs the rest of this source and nothing else.
    """
    last = since or Checkpoint(0)
    try:
        for batch in assemble(adapter.read(source, since)):
            enrich(batch)
            last = batch.checkpoint
            yield batch
    except RecollectError:
        raise
    except Exception as error:
        # Its place goes into our log, not its words: they may quote the agent's.
        log.warning("an adapter failed", extra={"path": source.path, "fault": type(error).__name__})
        log.debug("the fault was here", extra={"trace": "".join(format_tb(error.__traceback__))})
        problem = Problem(
            path=source.path, kind="unreadable", reason=f"{type(error).__name__}: {error}"[:300]
        )
        rest = Batch(problems=[problem], checkpoint=last)
        enrich(rest)
        yield rest


def _with_last(batches: Iterator[Batch]) -> Iterator[tuple[Batch, bool]]:
    """Each batch with whether it is the last: only then is the whole source read."""
    held = next(batches, None)
    if held is None:
        return
    for batch in batches:
        yield held, False
        held = batch
    yield held, True


def resume_point(
    known: KnownSource | None, source: Source, now: SourceState, adapter: Adapter
) -> Checkpoint | None:
    """Where to go on reading, or None to begin at the start."""
    if known is None or known.version != adapter.version or not known.checkpoint.position:
        return None
    seen = known.fingerprint
    if not source.appended:
        # Without a state there is nothing to go on from; another inode is another file.
        return known.checkpoint if known.checkpoint.state and seen.inode == now.inode else None
    # No longer than it was: touched, cut or rewritten in place.
    if now.size_bytes < known.checkpoint.position or seen.size_bytes >= now.size_bytes:
        return None
    again = _fingerprint(source, now, known.checkpoint, whole=True)
    return known.checkpoint if (again.head, again.tail) == (seen.head, seen.tail) else None


def _same(known: KnownSource, now: SourceState, adapter: Adapter) -> bool:
    seen = known.fingerprint
    return (seen.size_bytes, seen.mtime_ns, seen.inode, known.version) == (*now, adapter.version)


def _fingerprint(source: Source, now: SourceState, at: Checkpoint, *, whole: bool) -> Fingerprint:
    """How a source looks. Until it is read whole its size is -1, so
    that the next sweep goes on with it.
    """
    head = tail = 0
    if source.appended:
        try:
            with open(source.path, "rb", buffering=0, opener=_without_waiting) as file:
                head = checksum(file.read(min(PROBE_BYTES, at.position)))
                file.seek(max(0, at.position - PROBE_BYTES))
                tail = checksum(file.read(min(PROBE_BYTES, at.position)))
        except (OSError, ValueError):
            whole = False
    return Fingerprint(now.inode, now.size_bytes if whole else -1, now.mtime_ns, head, tail)


def _without_waiting(path: str, flags: int) -> int:
    # A FIFO with the name of a log would otherwise keep us for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _failed(source: Source, reason: str) -> SourceReport:
    problem = Problem(path=source.path, kind="unreadable", reason=reason)
    return SourceReport(
        path=source.path, agent=source.agent, outcome="failed", reason=reason, problems=[problem]
    )


def _note(result: SourceReport, batch: Batch) -> None:
    result.problems += batch.problems
    result.turns += len(batch.turns)
    result.events += sum(len(part.events) for part in batch.turns.values())
    failure = next(
        (problem.reason for problem in batch.problems if problem.kind == "unreadable"), None
    )
    if failure:
        result.outcome, result.reason = "failed", failure


def _add_up(report: ImportReport, reports: list[SourceReport], commits: _Commits) -> None:
    for one in reports:
        report.imported += one.outcome == "imported"
        report.updated += one.outcome == "updated"
        report.unchanged += one.outcome == "unchanged"
        report.failed += one.outcome == "failed"
        report.bytes += one.bytes
        report.external += one.external and one.outcome != "unchanged"
        report.problems += sum(problem.count for problem in one.problems)
    report.turns, report.tool_calls = commits.turns, commits.tool_calls
