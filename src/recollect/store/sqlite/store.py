"""The SQLite store: a list of what it can do, each done in a module of its own.

A method imports its module when it is called: a cold search may not pay for
what writing needs.
"""

from __future__ import annotations

from recollect.store.sqlite.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from recollect.lookup import Query
    from recollect.model import JobRow, ProjectRow, Session, SessionDetail, StatsRow, StoreSummary, Turn
    from recollect.redact import Redactor
    from recollect.reports import Forgotten, Health, Optimized, Rescanned
    from recollect.settings import Settings
    from recollect.store.sqlite.capture import Writing
    from recollect.store.sqlite.search import TextMatch
    from recollect.store.stretch import KnownSource


class SqliteStore:
    """One SQLite file and everything we ask of it."""

    def __init__(self, path: str, *, create: bool = True, read_only: bool = False) -> None:
        self.path = path
        self.db = Database(path, create=create, read_only=read_only)
        self._known: tuple[tuple[int, int], dict[str, tuple[int, int, int, int]]] | None = None

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        self.db.close()

    # Capture

    def writing(self) -> Writing:
        """One transaction of capture: `with store.writing() as keeper: ...` keeps all of it, or nothing."""
        from recollect.store.sqlite.capture import Writing

        return Writing(self.db)

    def known_sources(self, paths: list[str] | None = None) -> dict[str, tuple[int, int, int, int]]:
        """What a sweep compares with, for some paths or for all; the latter is kept at hand while nobody writes."""
        from recollect.store.sqlite import sources

        if paths is not None:
            return sources.known_sources(self.db, paths)
        stamp = (int(self.db.value("pragma data_version")), self.db.connection.total_changes())
        if self._known is None or self._known[0] != stamp:
            self._known = (stamp, sources.known_sources(self.db))
        return self._known[1]

    def find_source(self, path: str) -> KnownSource | None:
        """What is remembered about one source."""
        from recollect.store.sqlite import sources

        return sources.find_source(self.db, path)

    def find_rates(self, model: str, day: str, version: str) -> tuple[bool, str | None]:
        """Whether the prices of a model on a day are known, and what they are."""
        row = self.db.row("select prices from rates where model = ? and day = ? and version = ?", (model, day, version))
        return (True, row[0]) if row else (False, None)

    def save_rates(self, model: str, day: str, version: str, prices: str | None) -> None:
        """Remember the prices of a model on a day."""
        self.db.execute(
            "insert or replace into rates (model, day, version, prices) values (?, ?, ?, ?)", (model, day, version, prices)
        )

    # Recall

    def search_text(
        self, query: Query, *, domains: dict[str, list[str]], any_word: bool, limit: int, offset: int = 0
    ) -> list[TextMatch]:
        """Turns that hold all the words of a query, or any of them."""
        from recollect.store.sqlite import search

        return search.search(self.db, query, domains=domains, any_word=any_word, limit=limit, offset=offset)

    def words(self, texts: list[str]) -> list[str]:
        """The words of some texts as the index has them."""
        from recollect.store.sqlite import search

        return [word for text in texts for word in search.words(text)]

    def turn_rows(self, turn: int) -> list[list[object]]:
        """The events of a turn as stored rows."""
        from recollect.store import bodies
        from recollect.store.sqlite.parts import stored_parts

        return bodies.joined(stored_parts(self.db, turn))

    def list_sessions(
        self, filters: dict[str, list[str]], domains: dict[str, list[str]], *, limit: int | None, offset: int = 0
    ) -> Iterator[Session]:
        """Sessions that have a turn passing the filters, newest first."""
        from recollect.store.sqlite import sessions

        return sessions.list_sessions(self.db, filters, domains, limit=limit, offset=offset)

    def resolve(self, text: str) -> tuple[str, int | None]:
        """The session reference and the turn number that a person's reference means."""
        from recollect.store.sqlite import sessions

        return sessions.resolve(self.db, text)

    def get_session(self, ref: str) -> SessionDetail:
        """One session with its turns."""
        from recollect.store.sqlite import sessions

        return sessions.get_session(self.db, ref)

    def get_turn(self, ref: str, ordinal: int) -> Turn:
        """One turn of a session."""
        from recollect.store.sqlite import sessions

        return sessions.get_turn(self.db, ref, ordinal)

    def stats(self, by: str, filters: dict[str, list[str]], settings: Settings) -> list[StatsRow]:
        """Sums by one dimension."""
        from recollect.store.sqlite import stats

        if by == "domain":
            return stats.by_domain(stats.stats(self.db, "project", filters, settings.domains()), settings.domain_of)
        return stats.stats(self.db, by, filters, settings.domains())

    def summary(self) -> StoreSummary:
        """What is stored, in a few numbers."""
        from recollect.store.sqlite import stats

        return stats.summary(self.db)

    def agent_counts(self) -> dict[str, tuple[int, str | None, str | None]]:
        """Sessions, newest version and newest time of each agent."""
        from recollect.store.sqlite import stats

        return stats.agent_counts(self.db)

    # Projects

    def list_projects(self) -> list[ProjectRow]:
        """Every project that is not merged into another."""
        from recollect.store.sqlite import projects

        return projects.list_projects(self.db)

    def merge_projects(self, name: str, into: str) -> None:
        """Show one project's turns under another's name."""
        from recollect.store.sqlite import projects

        projects.merge(self.db, name, into)

    def split_project(self, name: str) -> None:
        """Undo a merge."""
        from recollect.store.sqlite import projects

        projects.split(self.db, name)

    # The store itself

    def redaction_key(self) -> bytes:
        """The key that redaction tags of this store are derived with, made at first use."""
        import os

        find = "select value from store_info where name = 'redaction_key'"
        if self.db.value(find) is None:
            with self.db.transaction():
                self.db.execute("insert into store_info values ('redaction_key', ?) on conflict do nothing", (os.urandom(32),))
        return bytes(self.db.value(find))

    def after_import(self, turns: int) -> None:
        """Leave the work that an import makes worth doing to the queue."""
        from recollect.store.sqlite import jobs

        if turns >= 500:
            with self.db.transaction():
                jobs.enqueue(self.db, "optimize", "text")

    def examine(self, *, verify: bool, home: str | None = None) -> Health:
        """What is wrong with the store, if anything; `home` is a folder that must be ours alone."""
        from recollect.store.sqlite import doctor

        return doctor.examine(self.db, verify=verify, home=home)

    def backup(self, path: str, *, force: bool) -> int:
        """An online copy; returns its size in bytes."""
        from recollect.store.sqlite import migrate

        return migrate.back_up(self.db, path, force=force)

    def export(self, filters: dict[str, list[str]], domains: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values."""
        from recollect.store.sqlite import export

        return export.export(self.db, filters, domains)

    def forget(self, session: str, ordinal: int | None, *, dry_run: bool) -> Forgotten:
        """Remove a session or a turn for good."""
        from recollect.store.sqlite import forget

        return forget.forget(self.db, session, ordinal, dry_run=dry_run)

    def rescan(self, redactor: Redactor, progress: Callable[[int, int, str], None] | None) -> Rescanned:
        """Scan everything stored for secrets again."""
        from recollect.store.sqlite import rescan

        return rescan.rescan(self.db, redactor, progress=progress)

    def optimize(self) -> Optimized:
        """Merge the text index into fewer segments."""
        from recollect.store.sqlite import optimize

        return optimize.optimize(self.db)

    def list_jobs(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed."""
        from recollect.store.sqlite import jobs

        return jobs.list_jobs(self.db, limit)

    def work(self, handlers: Mapping[str, Callable[[str], object]], limit: int | None = None) -> int:
        """Do the jobs that are due and that there is a handler for."""
        from recollect.store.sqlite import jobs

        return jobs.work(self.db, handlers, limit)

    def example_query(self) -> str:
        """Two words of a recent human prompt."""
        from recollect.store.sqlite import search

        return search.example_query(self.db)
