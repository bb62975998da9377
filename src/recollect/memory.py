"""The front door: `Memory.open()` and, from there, everything recollect can do.

    from recollect import Memory

    with Memory.open() as memory:
        memory.import_logs()
        for hit in memory.search("deadlock in the migration"):
            print(hit.ref, hit.snippet)

Every method is short: it finds the stage that has the idea and asks it. The
faces (command line, hooks, servers) talk to this class and to nothing below
it, so whatever one of them can do, a script can.

The store is opened at first use, and stages are imported at first use: a cold
search pays for a search and for nothing else.
"""

from __future__ import annotations

import os

from recollect.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from threading import Event
    from types import TracebackType
    from typing import Any

    from recollect.capture.adapters import Adapter
    from recollect.capture.discover import Found
    from recollect.capture.sweep import Progress, Sweep
    from recollect.lookup import SearchResult
    from recollect.model import (
        AgentRow,
        ImportReport,
        JobRow,
        ProjectRow,
        Session,
        SessionDetail,
        SourceReport,
        StatsRow,
        StoreSummary,
        Turn,
    )
    from recollect.redact import Finding, Redactor
    from recollect.reports import Forgotten, Health, RepairReport, Rescanned
    from recollect.store import Store


class Memory:
    """A store with the stages around it. Use one per thread; close it, or use `with`."""

    def __init__(
        self, settings: Settings, *, adapters: Mapping[str, Adapter] | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self._adapters = adapters
        self._made: dict[str, Adapter] = {}
        self._store: Store | None = None
        self._sweep: Sweep | None = None
        self.source_reports: list[SourceReport] = []

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        adapters: Mapping[str, Adapter] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Memory:
        """The memory at a path, or the one that the settings and the environment choose."""
        settings = Settings.load(environ, store=os.fspath(path) if path is not None else None)
        return cls(settings, adapters=adapters, environ=environ)

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; may be called twice."""
        if self._store is not None:
            self._store.close()
        self._store = self._sweep = None

    # What others stand on

    def _existing(self) -> Store:
        """The store, which must be there already."""
        return self._opened(create=False)

    def _opened(self, *, create: bool) -> Store:
        if self._store is None:
            from recollect.store import open_store

            self._store = open_store(self.settings.store, create=create)
        return self._store

    def adapters(self, agents: Sequence[str] = ()) -> list[Adapter]:
        """The adapters of these agents; of all that the settings allow when none is named."""
        from recollect.capture import adapters as registry

        given = self._adapters or {}
        wanted = agents or self.settings.texts("sources.agents") or list(given) or list(registry.BUILT_IN)
        for agent in wanted:
            if agent not in given and agent not in self._made:
                self._made[agent] = registry.get_adapter(agent)
        return [given.get(agent) or self._made[agent] for agent in wanted]

    def redactor(self, store: Store | None = None, *, cached: bool = True) -> Redactor:
        """What removes secrets, with this store's key so that equal ones stay equal.

        Without a store there is nothing to be equal to, and the key is made up.
        Not `cached`, it leaves no file behind and takes longer to start.
        """
        from pathlib import Path

        from recollect.redact import Redactor, known_values

        known = known_values(self.environ) if self.settings.flag("redact.environment") else {}
        if store is None and os.path.exists(self.settings.store):
            store = self._existing()
        key = store.redaction_key() if store else os.urandom(32)
        return Redactor(key, known=known, cache=Path(self.settings.home) / "cache" if cached else None)

    # Capture

    def import_logs(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        agents: Sequence[str] = (),
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring the store up to date with every agent's logs, or with those at these paths.

        What each source came to is in `source_reports` afterwards. A dry run
        discovers and reads, and writes nothing.
        """
        sweep = self._dry_sweep() if dry_run else self._sweeper()
        report, self.source_reports = sweep.run(self.sources(paths, agents), dry_run=dry_run, progress=progress)
        if not dry_run:
            self._opened(create=True).after_import(report.turns)
        return report

    def sources(self, paths: Sequence[str | os.PathLike[str]] = (), agents: Sequence[str] = ()) -> Iterator[Found]:
        """The logs an import would look at."""
        from recollect import platforms
        from recollect.capture import discover

        adapters = self.adapters(agents)
        found: Iterator[Found]
        if paths:
            found = (item for path in paths for item in discover.below(adapters, os.fspath(path), self._known_agent))
        else:
            found = discover.everywhere(adapters, platforms.user_home(), self.environ, self.settings.texts("sources.extra"))
        patterns = [os.path.expanduser(pattern) for pattern in self.settings.texts("sources.excluded")]
        return discover.excluded(found, patterns) if patterns else found

    def _known_agent(self, path: str) -> str | None:
        """Whose log a file was when it was last imported."""
        known = self._store.find_source(path) if self._store is not None else None
        return known.agent if known else None

    def watch(self, *, agents: Sequence[str] = (), stop: Event | None = None) -> Iterator[ImportReport]:
        """Import what agents write as they write it, a report for each time something was new."""
        from recollect import platforms
        from recollect.capture.watch import follow

        def roots() -> list[str]:
            home = platforms.user_home()
            own = [root for adapter in self.adapters(agents) for root in adapter.roots(home, self.environ)]
            return own + [os.path.expanduser(path) for path in self.settings.texts("sources.extra")]

        for _ in follow(roots, debounce_ms=self.settings.number("watch.debounce_ms"), stop=stop):
            report = self.import_logs(agents=agents)
            if report.imported or report.updated or report.problems:
                yield report

    def _sweeper(self) -> Sweep:
        from recollect.capture.sweep import Sweep

        if self._sweep is None:
            store = self._opened(create=True)
            redactor = self.redactor(store) if self.settings.flag("redact.enabled") else None
            self._sweep = Sweep(store, redactor=redactor)
        return self._sweep

    def _dry_sweep(self) -> Sweep:
        from recollect.capture.sweep import Sweep
        from recollect.store import open_store

        there = os.path.exists(self.settings.store)
        store = self._existing() if there else open_store(":memory:")
        return Sweep(store, redactor=self.redactor(store, cached=False) if self.settings.flag("redact.enabled") else None)

    def agents(self) -> list[AgentRow]:
        """Every supported agent: where it looks, what is there and what is stored."""
        from recollect import platforms
        from recollect.capture.overview import agent_rows

        store = self._existing() if os.path.exists(self.settings.store) else None
        return agent_rows(self.adapters(), store, platforms.user_home(), self.environ)

    # Recall

    def search(self, text: str, *, limit: int = 10, offset: int = 0, **filters: str | None) -> SearchResult:
        """The turns that a query finds, best first; filters may be named or be part of the text."""
        from recollect.recall import lexical
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        return lexical.search(self._existing(), query, domains=self.settings.domains(), limit=limit, offset=offset)

    def sessions(self, text: str = "", *, limit: int | None = 20, offset: int = 0, **filters: str | None) -> Iterator[Session]:
        """Sessions that pass the filters, newest first."""
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        for session in self._existing().list_sessions(query.filters, self.settings.domains(), limit=limit, offset=offset):
            session.domain = self.settings.domain_of(session.project)
            yield session

    def show(self, ref: str) -> SessionDetail | Turn:
        """A session with its turns, or one turn, by any reference that means just one."""
        store = self._existing()
        session, ordinal = store.resolve(ref)
        if ordinal is not None:
            return store.get_turn(session, ordinal)
        found = store.get_session(session)
        found.domain = self.settings.domain_of(found.project)
        return found

    def stats(self, by: str = "agent", text: str = "", **filters: str | None) -> list[StatsRow]:
        """Tokens, cost, tools and errors, summed by agent, project, domain, model, tool or day."""
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        return self._existing().stats(by, query.filters, self.settings)

    def summary(self) -> StoreSummary:
        """What is stored, in a few numbers."""
        return self._existing().summary()

    # Projects

    def projects(self) -> list[ProjectRow]:
        """Every project, the most recent first."""
        rows = self._existing().list_projects()
        for row in rows:
            row.domain = self.settings.domain_of(row.key)
        return rows

    def merge_projects(self, name: str, into: str) -> None:
        """Show one project's turns under another's name; `split_project` undoes it."""
        self._existing().merge_projects(name, into)

    def split_project(self, name: str) -> None:
        """Undo a merge."""
        self._existing().split_project(name)

    # Secrets

    def redact(self, text: str) -> str:
        """Text without its secrets, tagged with this store's key."""
        return self.redactor().redact(text)

    def secrets(self, text: str) -> list[Finding]:
        """Where the secrets in a text are, and of which kind."""
        return self.redactor().findings(text)

    def rescan(self, progress: Progress | None = None) -> Rescanned:
        """Scan everything stored for secrets again, after the table of them grew."""
        store = self._existing()
        return store.rescan(self.redactor(store), progress)

    # Looking after the store

    def doctor(self, *, verify: bool = False) -> Health:
        """What is wrong, if anything; `verify` also recomputes every checksum."""
        return self._existing().examine(verify=verify, home=self.settings.home)

    def repair(self, *, rebuild_text: bool = False) -> RepairReport:
        """Salvage a damaged store; the damaged file is kept beside it."""
        from recollect.store import repair_store

        self.close()
        return repair_store(self.settings.store, rebuild_text=rebuild_text)

    def backup(self, path: str | os.PathLike[str], *, force: bool = False) -> int:
        """An online copy of the store; returns its size in bytes."""
        return self._existing().backup(os.fspath(path), force=force)

    def export(self, text: str = "", *, limit: int | None = None, **filters: str | None) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values, one after the other."""
        from itertools import islice

        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        for session in islice(self._existing().export(query.filters, self.settings.domains()), limit):
            yield {**session, "domain": self.settings.domain_of(session["project"])}

    def forget(self, ref: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session or a turn for good, with its copies; the next import leaves it out."""
        from recollect.errors import NotFound

        store = self._existing()
        try:
            session, ordinal = store.resolve(ref)
        except NotFound:
            # Perhaps it was forgotten before, and something in the way kept its words in the files.
            session, ordinal = ref, None
        return store.forget(session, ordinal, dry_run=dry_run)

    # Work that can wait

    def jobs(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        return self._existing().list_jobs(limit)

    def work(self, limit: int | None = None) -> int:
        """Do the jobs that are due; returns how many were done."""
        return self._existing().work({"optimize": lambda subject: self._existing().optimize()}, limit)

    # A first look

    def sample_logs(self) -> str:
        """The folder of sample sessions that comes with recollect."""
        return os.path.join(os.path.dirname(__file__), "samples")

    def example_query(self) -> str:
        """Two words of a recent prompt, for somebody who does not know what to ask yet."""
        return self._existing().example_query()
