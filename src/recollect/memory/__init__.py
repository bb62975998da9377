"""The front door: `Memory.open()` and, from there, everything recollect can do.

    from recollect import Memory

    with Memory.open() as memory:
        memory.import_logs()
        for hit in memory.search("deadlock in the migration"):
            print(hit.ref, hit.snippet)

At the top is what people do all day. The rest has parts, each in a file of its
own: `memory.notes`, `memory.injections`, `memory.projects`, `memory.jobs`, `memory.episodes`,
`memory.engines`, `memory.publish`, `memory.searches`, `memory.team`, `memory.store` and
`memory.agents`.

Every method is short: it finds the stage that has the idea and asks it. The
faces (command line, hooks, servers) talk to this class and to nothing below
it, so whatever one of them can do, a script can.

The store is opened at first use, and stages and parts are imported at first
use: a cold search pays for a search and for nothing else.
"""

from __future__ import annotations

import os
import time
from functools import cached_property

from recollect.memory.collaborators import Collaborators
from recollect.settings import Settings
from recollect.system.operations import Operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from threading import Event
    from types import TracebackType
    from typing import Self

    from recollect.capture.adapters import Adapter
    from recollect.capture.discover import Found
    from recollect.capture.sweep import Progress, Sweep
    from recollect.embed import Encoder
    from recollect.memory.agents import MemoryAgents
    from recollect.memory.engines import MemoryEngines
    from recollect.memory.episodes import MemoryEpisodes
    from recollect.memory.injections import MemoryInjections
    from recollect.memory.jobs import MemoryJobs
    from recollect.memory.notes import MemoryNotes
    from recollect.memory.projects import MemoryProjects
    from recollect.memory.publish import MemoryPublish
    from recollect.memory.searches import MemorySearches
    from recollect.memory.store import MemoryStore
    from recollect.memory.team import MemoryTeam
    from recollect.model.answers import (
        Answers,
        ChangedFile,
        FileChange,
        FileLines,
        Fix,
        Friction,
        Handoff,
        Invocation,
        Listing,
        Pack,
    )
    from recollect.model.digests import Digest
    from recollect.model.engines import HeadlessAgent
    from recollect.model.memories import ProjectMemory
    from recollect.model.reports import (
        ImportReport,
        SourceReport,
        StatsRow,
        StoreSummary,
        WeekOutcome,
    )
    from recollect.model.search import Filter, SearchResult, SessionName
    from recollect.model.sessions import Session, SessionDetail, Turn
    from recollect.redact import Finding

# So many new turns leave the text index in pieces that are worth merging.
MANY_TURNS = 500


class Memory:
    """A store with the stages around it. Use one per thread; close it, or use `with`."""

    def __init__(
        self,
        settings: Settings,
        *,
        adapters: Mapping[str, Adapter] | None = None,
        environ: Mapping[str, str] | None = None,
        encoder: Encoder | None = None,
        resident: bool = False,
        headless: Callable[[str], HeadlessAgent | None] = lambda agent: None,
    ) -> None:
        self._shared = Collaborators(
            settings, environ=environ, encoder=encoder, resident=resident, headless=headless
        )
        self.headless = headless
        self._adapters = adapters
        self._episodes: MemoryEpisodes | None = None
        self._has_hub = False
        self._sweep: Sweep | None = None
        self.settings, self.environ = settings, self._shared.environ
        self.source_reports: list[SourceReport] = []

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        adapters: Mapping[str, Adapter] | None = None,
        environ: Mapping[str, str] | None = None,
        encoder: Encoder | None = None,
        resident: bool = False,
        config: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        headless: Callable[[str], HeadlessAgent | None] = lambda agent: None,
        hub: str | None = None,
    ) -> Self:
        """The memory at a path, or the one that the settings and the environment choose.

        A process that stays and searches often says `resident`: vectors are
        then kept in memory, which takes a moment once and saves it each time.
        `config` is read instead of the usual config.toml; `settings` holds keys
        of it with values for this memory alone. `headless` knows how agents are
        asked by themselves, for those who have one write memories. `hub` is a join link of a
        team: attempts that are recorded here are shared with it, and those of others are found.
        """
        resolved = Settings.load(
            environ,
            store=os.fspath(path) if path is not None else None,
            config=os.fspath(config) if config is not None else None,
            changed=settings,
        )
        memory = cls(
            resolved, adapters=adapters, environ=environ, encoder=encoder, resident=resident,
            headless=headless,
        )  # fmt: skip
        if hub is not None:
            memory.team.use(hub)
            memory._has_hub = True
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is recorded, and let go of the store; may be called twice."""
        if self._has_hub:
            self._has_hub = False
            self.episodes.flush()
            self.team.sync_at_the_end()
        self._shared.close()

    # Parts

    @cached_property
    def projects(self) -> MemoryProjects:
        from recollect.memory.projects import MemoryProjects

        return MemoryProjects(self._shared)

    @cached_property
    def notes(self) -> MemoryNotes:
        from recollect.memory.notes import MemoryNotes

        return MemoryNotes(self._shared)

    @cached_property
    def injections(self) -> MemoryInjections:
        from recollect.memory.injections import MemoryInjections

        return MemoryInjections(self._shared)

    @cached_property
    def jobs(self) -> MemoryJobs:
        from recollect.memory.jobs import MemoryJobs

        return MemoryJobs(self._shared)

    @cached_property
    def engines(self) -> MemoryEngines:
        from recollect.memory.engines import MemoryEngines

        return MemoryEngines(self._shared)

    @property
    def episodes(self) -> MemoryEpisodes:
        """May be asked for from any thread."""
        if self._episodes is None:
            from recollect.memory.episodes import MemoryEpisodes, only_one

            with only_one:
                self._episodes = self._episodes or MemoryEpisodes(self._shared)
        return self._episodes

    @cached_property
    def publish(self) -> MemoryPublish:
        from recollect.memory.publish import MemoryPublish

        return MemoryPublish(self._shared)

    @cached_property
    def team(self) -> MemoryTeam:
        from recollect.memory.team import MemoryTeam

        return MemoryTeam(self._shared)

    @cached_property
    def searches(self) -> MemorySearches:
        from recollect.memory.searches import MemorySearches

        return MemorySearches(self._shared)

    @cached_property
    def store(self) -> MemoryStore:
        from recollect.memory.store import MemoryStore

        return MemoryStore(self._shared)

    @cached_property
    def agents(self) -> MemoryAgents:
        from recollect.memory.agents import MemoryAgents

        return MemoryAgents(self._shared, self._adapters)

    # Import

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
        does it all to a copy of the store, and says what that came to.
        """
        if dry_run:
            return self._rehearse_import(paths, agents, progress)
        with Operation("import") as operation:
            # A session that was switched off meanwhile is not read.
            self._shared.ensure_store().injections.drain()
            found = list(self.agents.sources(paths, agents))
            report = self._glance(found) or self._read_logs(found, agents, progress)
            self._shared.ensure_store().injections.drain()
            self._mark_what_follows(report.turns)
            operation.note(
                logs=report.discovered, read=report.imported + report.updated,
                failed=report.failed, bytes=report.bytes, turns=report.turns,
                redactions=report.redactions, problems=report.problems,
            )  # fmt: skip
        return report

    def _glance(self, found: list[Found]) -> ImportReport | None:
        """What an import comes to that finds nothing new; None when it has to take a closer look.

        A memory that has read logs already takes that at once: it has loaded what it needs.
        """
        from recollect.capture.glance import is_up_to_date
        from recollect.model.reports import ImportReport

        begun = time.monotonic()
        if self._sweep is not None or not is_up_to_date(self._shared.ensure_store(), found):
            return None
        self.source_reports = []
        seconds = round(time.monotonic() - begun, 3)
        return ImportReport(discovered=len(found), unchanged=len(found), seconds=seconds)

    def _read_logs(
        self, found: list[Found], agents: Sequence[str], progress: Progress | None
    ) -> ImportReport:
        sweep = self._ensure_sweep()
        report, self.source_reports = sweep.run(found, progress=progress)
        if report.imported:
            # What was just read tells where else agents may have left something.
            more, reports = sweep.run(self.agents.new_sources(agents), progress=progress)
            report, self.source_reports = report + more, self.source_reports + reports
        return report

    def watch(
        self, *, agents: Sequence[str] = (), stop: Event | None = None
    ) -> Iterator[ImportReport]:
        """Import what agents write as they write it, a report for each time something was new."""
        from recollect.capture.watch import follow

        wait_ms = self.settings.number("watch.debounce_ms")
        for _ in follow(lambda: self.agents.roots(agents), debounce_ms=wait_ms, stop=stop):
            report = self.import_logs(agents=agents)
            if report.imported or report.updated or report.problems:
                yield report

    def _ensure_sweep(self) -> Sweep:
        from recollect.capture.sweep import Sweep

        store = self._shared.ensure_store()
        if self._sweep is None or self._sweep.store is not store:
            redactor = (
                self._shared.redactor(store) if self.settings.flag("redact.enabled") else None
            )
            self._sweep = Sweep(store, redactor=redactor)
        return self._sweep

    def _rehearse_import(
        self,
        paths: Sequence[str | os.PathLike[str]],
        agents: Sequence[str],
        progress: Progress | None,
    ) -> ImportReport:
        from recollect.memory.rehearsal import rehearsed

        with (
            rehearsed(self.settings, self._shared.find_store()) as settings,
            Memory(settings, adapters=self._adapters, environ=self.environ) as copy,
        ):
            report = copy.import_logs(paths, agents=agents, progress=progress)
            self.source_reports = copy.source_reports
            return report

    def _mark_what_follows(self, turns: int) -> None:
        """Leave what an import makes worth doing, or too much, to the queue."""
        from recollect.jobs import follow_marks
        from recollect.retain.budgets import Budget, is_due

        # That turns came in is marked beside their rows.
        store = self._shared.ensure_store()
        if turns >= MANY_TURNS:
            store.jobs.mark("imported much")
        if store.vectors.is_waiting():
            store.jobs.mark("turns to embed")
        if is_due(store, Budget.of(self.settings), turns):
            store.jobs.mark("over budget")
        follow_marks(store)

    # Search and show

    def search(
        self,
        text: str,
        *,
        mode: str = "hybrid",
        limit: int = 10,
        offset: int = 0,
        cursor: str | None = None,
        explain: bool = False,
        here: str | None = None,
        **filters: Filter,
    ) -> SearchResult:
        """The turns that a query finds, best first; filters may be named or be part of the text.

        `mode` is hybrid, text or vector. `cursor`, from an earlier answer to
        the same query, asks for the page after it. `here` is a folder whose
        project is lifted a little.
        """
        from recollect.recall.asking import ask
        from recollect.recall.query import parse

        store, query = self._shared.store(), parse(text).having(**filters)
        with Operation("search", mode=mode) as operation:
            result = ask(
                store, self._shared.encoder, self._shared.scope(query), mode=mode,
                limit=limit, offset=offset, cursor=cursor, explain=explain, here=here,
            )  # fmt: skip
            operation.note(hits=len(result.hits))
        if left_out := self.take_left_out():
            from recollect.model.answers import damage_note

            result.remarks.append(damage_note(left_out))
        return result

    def search_by_vector(
        self, vector: Sequence[float], *, limit: int = 10, **filters: Filter
    ) -> SearchResult:
        """The turns nearest to a vector of the encoder that the stored ones
        are by, the cosine as their score.
        """
        from recollect.model.search import Query
        from recollect.recall.search import nearest

        result = nearest(
            self._shared.store(), self._shared.scope(Query().having(**filters)), vector, limit
        )
        result.unembedded = self._shared.store().vectors.waiting()
        return result

    def vectors(self, ref: str) -> list[array[float]]:
        """The vectors of a turn, one for each piece of its text; none while it waits for them.

        They are as they are stored: unit vectors of eight bits a dimension.
        """
        from recollect.errors import UsageError

        store = self._shared.store()
        session, ordinal = store.sessions.resolve(ref)
        if ordinal is None:
            raise UsageError(
                f"{ref} is a session, not a turn.",
                hint=f"Name one of its turns, such as {session}#1.",
            )
        return store.vectors.of_turn(session, ordinal)

    def sessions(
        self,
        text: str = "",
        *,
        limit: int | None = 20,
        offset: int = 0,
        subagents: bool = False,
        **filters: Filter,
    ) -> Iterator[Session]:
        """Sessions with a turn that has all the words and passes the filters, newest first.

        What a sub-agent said counts with the session that started it; with
        `subagents` each session is followed by its own. A session in which
        nothing was said is none.
        """
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        found = self._shared.store().sessions.search(
            self._shared.scope(query), limit=limit, offset=offset, subagents=subagents
        )
        for session in found:
            session.domain = self.settings.domain_of(session.project)
            yield session

    def session_page(
        self, text: str = "", *, limit: int = 20, cursor: str | None = None, **filters: Filter
    ) -> Listing[Session]:
        """The same, a page at a time: `total` counts them all, `cursor` asks for the next page.

        What is imported meanwhile does not move the pages.
        """
        from recollect.recall.query import parse

        scope = self._shared.scope(parse(text).having(**filters))
        found = self._shared.store().sessions.page(scope, limit=limit, cursor=cursor)
        for session in found:
            session.domain = self.settings.domain_of(session.project)
        return found

    def remarks(self, text: str = "", **filters: Filter) -> list[str]:
        """What a person should know about a query besides what it finds: a
        slip, a filter that nothing can pass yet.
        """
        from recollect.recall.asking import remarks
        from recollect.recall.query import parse

        return remarks(self._shared.store(), self._shared.scope(parse(text).having(**filters)))

    def external_among(self, refs: Sequence[str]) -> set[str]:
        """Those of these references, to sessions or turns, whose words may be anybody's."""
        return self._shared.store().turns.external_among(refs) if refs else set()

    def show(self, ref: str) -> SessionDetail | Turn:
        """A session with its turns, or one turn, by any reference that means just one."""
        store = self._shared.store()
        session, ordinal = store.sessions.resolve(ref)
        if ordinal is not None:
            return store.turns.get(session, ordinal)
        found = store.sessions.get(session)
        found.domain = self.settings.domain_of(found.project)
        return found

    def whole_ref(self, ref: str) -> str:
        """What a reference means, written out: `<agent>:<native id>`, with `#<n>` for a turn."""
        session, ordinal = self._shared.store().sessions.resolve(ref)
        return session if ordinal is None else f"{session}#{ordinal}"

    def session(self, ref: str) -> Session:
        """A session without its turns, by any reference that means just one."""
        store = self._shared.store()
        found = store.sessions.get(store.sessions.resolve(ref)[0], turns=[])
        found.domain = self.settings.domain_of(found.project)
        return found

    def names(self, refs: Sequence[str]) -> dict[str, SessionName]:
        """What some sessions are called, short and by title; the references are whole ones."""
        return self._shared.store().names.get(refs) if refs else {}

    def digest(self, ref: str) -> Digest:
        """What a session came to, as of now: its tasks, how each went, what is left to do."""
        from recollect.distill.tasks.digest import digest_one

        store = self._shared.store()
        return digest_one(store, store.sessions.resolve(ref)[0])

    def digest_new(self) -> Iterator[str]:
        """Make the digests of sessions that have none or have changed since.

        Each session's reference once it is done.
        """
        from recollect.distill.tasks.digest import digest_new

        yield from digest_new(self._shared.store())

    def turns(self, ref: str, *, after: int = 0, limit: int = 20) -> list[Turn]:
        """The turns of a session that come after one of them, by their numbers."""
        store = self._shared.store()
        return store.turns.after(store.sessions.resolve(ref)[0], after=after, limit=limit)

    def contexts(self, ref: str, *, after: int = 0, limit: int = 20) -> dict[int, int]:
        """How full the context was at the end of these turns, in tokens, by the turn's number.

        Of a turn that the log gives no usage for there is none.
        """
        store = self._shared.store()
        session = store.sessions.resolve(ref)[0]
        return store.usage.contexts(session, after=after, limit=limit)

    def take_left_out(self) -> list[str]:
        """The turns that answers had to leave out since this was last asked, because what
        is stored of them is damaged; `store.repair` mends it.
        """
        found = self._shared.left_out()
        names = list(found)
        found.clear()
        return names

    def stats(self, by: str = "agent", text: str = "", **filters: Filter) -> list[StatsRow]:
        """Tokens, cost, tools and errors of the turns a query chooses, summed by agent,
        project, domain, model, tool or day.
        """
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        usage = self._shared.store().usage
        if by == "domain":
            return by_domain(
                usage.sums("project", self._shared.scope(query)), self.settings.domain_of
            )
        return usage.sums(by, self._shared.scope(query))

    def outcomes_by_week(self) -> list[WeekOutcome]:
        """How many sessions came to what in each week, as far as they were looked at."""
        return self._shared.store().digests.outcomes_by_week()

    def changed_since(self, mark: str | None) -> str | None:
        """The mark of what is stored now, or None when nobody has written since `mark`.

        For whoever shows something and wants to know whether to look again;
        it costs microseconds. Any process may have written, and what it wrote
        need not be anything that is shown. The mark of a memory that was closed,
        or of another one, counts as changed.
        """
        now = self._shared.store().upkeep.change_mark()
        return None if now == mark else now

    def summary(self) -> StoreSummary:
        """What is stored, in a few numbers."""
        from recollect.jobs import follow_marks

        store = self._shared.store()
        follow_marks(store)
        summary = store.usage.summary()
        summary.room = self.store.room()
        summary.leaving = self.agents.leaving()
        return summary

    def encoder(self) -> Encoder:
        """What turns texts into vectors, as the settings choose.

        Raises EncoderUnavailable when it cannot be used.
        """
        return self._shared.encoder()

    # Questions with an answer of their own

    def blame(
        self,
        file: str,
        text: str = "",
        /,
        *,
        folder: str | None = None,
        limit: int | None = 20,
        **filters: Filter,
    ) -> Answers[FileChange]:
        """The turns that changed a file, newest first.

        A relative path is seen from `folder`, the current one unless given.
        """
        from recollect.recall.query import parse
        from recollect.recall.verbs.blame import blame

        here, query = folder or os.getcwd(), parse(text).having(**filters)
        project = self.projects.of(here)
        return blame(
            self._shared.store(),
            file,
            cwd=here,
            project=project,
            scope=self._shared.scope(query),
            limit=limit,
        )

    def files(self, text: str = "", **filters: Filter) -> list[ChangedFile]:
        """The files that sessions changed last, of the turns that a query chooses."""
        from recollect.recall.query import parse
        from recollect.recall.verbs.blame import files

        query = parse(text).having(**filters)
        return files(self._shared.store(), self._shared.scope(query))

    def file_lines(self, changes: Sequence[FileChange]) -> FileLines:
        """A file as its last change left it, each line with the turn that wrote it.

        `changes` are those that `blame` found of one file; no file is read.
        """
        from recollect.recall.verbs.file_lines import edits_of, replay

        return replay(edits_of(changes, self.show))

    def uncommitted(
        self, folder: str | None = None, *, limit: int = 20, seconds: float = 0.5
    ) -> Answers[FileChange]:
        """The turn that last changed each file that git says is not committed, in the
        repository of a folder; files that no session changed are left out.

        Nothing when git takes longer than so many seconds.
        """
        from recollect.model.answers import Answers
        from recollect.system.uncommitted import uncommitted

        here = folder or os.getcwd()
        found: list[FileChange] = []
        for file in uncommitted(here, seconds=seconds)[:limit] if self.projects.of(here) else []:
            found += self.blame(file, folder=here, limit=1)
        return Answers([row for row in found if row.match != "suffix"])

    def fix(
        self, error: str, /, *, folder: str | None = None, limit: int | None = 5, **filters: Filter
    ) -> Answers[Fix]:
        """What was done after this error and worked.

        What happened in the project of `folder` comes first.
        """
        from recollect.model.search import Query
        from recollect.recall.verbs.fix import fix

        project, query = self.projects.of(folder or os.getcwd()), Query().having(**filters)
        return fix(
            self._shared.store(),
            error,
            project=project,
            scope=self._shared.scope(query),
            limit=limit,
        )

    def how(
        self,
        tool: str,
        /,
        *,
        folder: str | None = None,
        everywhere: bool = False,
        limit: int | None = 10,
        failed: bool = False,
        **filters: Filter,
    ) -> Answers[Invocation]:
        """The invocations of a tool that worked, or with `failed` those that never did.

        In the project of `folder`, unless a filter or `everywhere` says otherwise.

        Filters may be part of the text, as in a search.
        """
        from recollect.recall.query import parse
        from recollect.recall.verbs.how import how

        query = parse(tool).having(**filters)
        own = (
            None
            if everywhere or "project" in query.filters
            else self.projects.of(folder or os.getcwd())
        )
        return how(
            self._shared.store(),
            self._shared.scope(query.having(project=own)),
            own=own,
            failed=failed,
            limit=limit,
        )

    def friction(
        self, text: str = "", /, *, sessions: int = 3, limit: int | None = 20, **filters: Filter
    ) -> Answers[Friction]:
        """Errors that came back in at least so many sessions, the most widespread first."""
        from recollect.recall.query import parse
        from recollect.recall.verbs.friction import friction

        query = parse(text).having(**filters)
        return friction(
            self._shared.store(),
            scope=self._shared.scope(query),
            sessions=sessions,
            limit=limit,
        )

    def remember(
        self, *, project: str | None = None, folder: str | None = None
    ) -> ProjectMemory | None:
        """What a next session in a project should know: its notes in order, and their two texts.

        The project is the one named, or that of `folder`. What is out of date is made anew
        first. None when nothing is known of it.
        """
        from recollect.model.memories import ProjectMemory
        from recollect.recall.hooks.frame import unframed

        if project is not None:
            own: str | None = self.projects.get(project)
        else:
            own = self.projects.of(folder or os.getcwd())
        if own is None:
            return None
        self._bring_up_to_date(own)
        store = self._shared.store()
        ready = store.hook_lines.pack(own)
        if ready is None or not ready.long:
            return None
        return ProjectMemory(
            project=own,
            pack=unframed(ready.text),
            long=ready.long,
            notes=store.notes.in_memory(own),
        )

    def recall(
        self,
        prompt: str = "",
        *,
        project: str | None = None,
        folder: str | None = None,
        budget: int | None = None,
        everywhere: bool = False,
    ) -> Pack:
        """What an agent in `folder` should be told about a prompt, within a budget of tokens.

        Empty when nothing is good enough. The budget is 600 unless given
        (`recall.pack_tokens` without a prompt).

        Only the folder's own project, or the one that is named, is asked, and
        with `everywhere` all the others when that has nothing. Without a prompt:
        what an agent is told at its start, brought up to date.
        """
        own = (
            self.projects.get(project)
            if project is not None
            else self.projects.of(folder or os.getcwd())
        )
        if not prompt.strip():
            from recollect.model.answers import Pack

            return Pack() if own is None else self._started(own, budget)
        from recollect.recall.pack import pack

        if everywhere and not self._shared.store().read_only:
            for _ in self.make_ready():
                pass
        elif own is not None:
            self._bring_up_to_date(own)
        return pack(self._shared.store(), prompt, project=own, everywhere=everywhere, budget=budget)

    def handoff(self, ref: str, *, to: str | None = None, budget: int | None = None) -> Handoff:
        """What a session leaves behind, as a prompt with which another agent goes on.

        What was asked, where it stands, files, commands, what is open: quoted as data, without
        secrets, within a budget of tokens (2000 unless given). `to` names the agent.
        """
        from recollect.recall.handoff import HANDOFF_TOKENS, hand_over, quoted_turns

        names = {one.agent: one.name for one in self.agents.adapters()}
        if to is not None and to not in names:
            from recollect.errors import UsageError

            raise UsageError(
                f"recollect knows no agent called {to}.", hint=f"Known: {', '.join(names)}"
            )
        session, digest = self.session(ref), self.digest(ref)
        store = self._shared.store()
        turns = [store.turns.get(session.id, number) for number in quoted_turns(digest)]
        made = hand_over(
            session, digest, turns, agent=names.get(session.agent, session.agent), to=to,
            mark=store.hook_lines.mark(), budget=budget or HANDOFF_TOKENS,
        )  # fmt: skip
        made.text = self._shared.redact(made.text)
        return made

    def make_ready(self) -> Iterator[str]:
        """Bring up to date what hooks tell, and the notes it is made of, where something changed.

        Each project's key once it is done. Jobs do the same.
        """
        from recollect.distill.remember import remember_due
        from recollect.recall.hooks.lines import make_ready

        store = self._shared.store()
        for _ in remember_due(store, self._shared.redact_strictly, at_once=True):
            pass
        yield from make_ready(store, self.settings)

    def _started(self, project: str, budget: int | None) -> Pack:
        """What an agent is told when it starts in a project."""
        from recollect.recall.pack import started

        self._bring_up_to_date(project)
        return started(self._shared.store(), project, budget)

    def _bring_up_to_date(self, project: str) -> None:
        """Make a project's notes and what hooks tell of them anew, where something changed."""
        store = self._shared.store()
        if store.read_only:
            return
        outdated = store.notes.find_outdated(project)
        if outdated is not None:
            from recollect.distill.remember import remember_project

            remember_project(store, project, self._shared.redact_strictly)
            store.notes.settle(outdated)
        from recollect.recall.hooks.lines import make_ready

        for _ in make_ready(store, self.settings, only=project):
            pass

    # Secrets

    def redact(self, text: str) -> str:
        """Text without its secrets, tagged with this store's key."""
        return self._shared.redact(text)

    def secrets(self, text: str) -> list[Finding]:
        """Where the secrets in a text are, and of which kind."""
        return self._shared.redactor().findings(text)


def by_domain(
    projects: list[StatsRow], domain_of: Callable[[str | None], str | None]
) -> list[StatsRow]:
    """Project rows summed up by domain."""
    from recollect.model.reports import StatsRow
    from recollect.model.sessions import Tokens

    rows: dict[str | None, StatsRow] = {}
    for project in projects:
        name = domain_of(project.name)
        total = rows.setdefault(name, StatsRow(by="domain", name=name))
        for field in ("sessions", "turns", "errors", "tool_calls", "failed_tool_calls",
                      "model_calls", "unpriced_calls"):  # fmt: skip
            setattr(total, field, getattr(total, field) + getattr(project, field))
        for field in Tokens.__struct_fields__:
            spent = getattr(total.tokens, field) + getattr(project.tokens, field)
            setattr(total.tokens, field, spent)
        if project.cost_usd is not None:
            total.cost_usd = round((total.cost_usd or 0.0) + project.cost_usd, 6)
    return sorted(rows.values(), key=StatsRow.spent_tokens, reverse=True)
