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

    from recollect.answers import Answers, FileChange, Fix, Friction, Invocation, Pack
    from recollect.capture.adapters import Adapter
    from recollect.capture.discover import Found
    from recollect.capture.sweep import Progress, Sweep
    from recollect.digests import Digest, Engine, Trace
    from recollect.distill.distilling import Ask
    from recollect.embed import Encoder
    from recollect.lookup import Filter, SearchResult
    from recollect.model import (
        AgentRow,
        ImportReport,
        JobRow,
        Note,
        ProjectRow,
        Session,
        SessionDetail,
        SourceReport,
        StatsRow,
        StoreSummary,
        Turn,
    )
    from recollect.redact import Finding, Redactor
    from recollect.reports import (
        Consolidated,
        Distilled,
        Embedded,
        Forgotten,
        Health,
        Job,
        JobFile,
        RepairReport,
        Rescanned,
        Retained,
    )
    from recollect.store import Store


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
    ) -> None:
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self._adapters = adapters
        self._made: dict[str, Adapter] = {}
        self._store: Store | None = None
        self._sweep: Sweep | None = None
        self._encoder = encoder
        self._resident = resident
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
    ) -> Memory:
        """The memory at a path, or the one that the settings and the environment choose.

        A process that stays and searches often says `resident`: vectors are
        then kept in memory, which takes a moment once and saves it each time.
        """
        settings = Settings.load(environ, store=os.fspath(path) if path is not None else None)
        return cls(settings, adapters=adapters, environ=environ, encoder=encoder, resident=resident)

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

            self._store = open_store(self.settings.store, create=create, resident=self._resident)
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
            store = self._opened(create=True)
            store.drain_spool()
            store.after_import(report.turns)
            self._leave_retaining(store, report.turns)
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

        store, query = self._existing(), parse(text).having(**filters)
        return ask(
            store, self.encoder, query, mode=mode, domains=self.settings.domains(),
            limit=limit, offset=offset, cursor=cursor, explain=explain, here=here,
        )  # fmt: skip

    def search_by_vector(self, vector: Sequence[float], *, limit: int = 10, **filters: Filter) -> SearchResult:
        """The turns nearest to a vector of the encoder that the stored ones are by, the cosine as their score."""
        from recollect.lookup import Query, Scope
        from recollect.recall.search import nearest

        scope = Scope(Query().having(**filters), self.settings.domains())
        result = nearest(self._existing(), scope, vector, limit)
        result.unembedded = self._existing().unembedded()
        return result

    def sessions(self, text: str = "", *, limit: int | None = 20, offset: int = 0, **filters: Filter) -> Iterator[Session]:
        """Sessions with a turn that has all the words and passes the filters, newest first."""
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        for session in self._existing().list_sessions(query, self.settings.domains(), limit=limit, offset=offset):
            session.domain = self.settings.domain_of(session.project)
            yield session

    def remarks(self, text: str = "", **filters: Filter) -> list[str]:
        """What a person should know about a query besides what it finds: a slip, a filter that nothing can pass yet."""
        from recollect.recall.query import parse

        return self._existing().remarks(parse(text).having(**filters), self.settings.domains())

    def show(self, ref: str) -> SessionDetail | Turn:
        """A session with its turns, or one turn, by any reference that means just one."""
        store = self._existing()
        session, ordinal = store.resolve(ref)
        if ordinal is not None:
            return store.get_turn(session, ordinal)
        found = store.get_session(session)
        found.domain = self.settings.domain_of(found.project)
        return found

    def stats(self, by: str = "agent", text: str = "", **filters: Filter) -> list[StatsRow]:
        """Tokens, cost, tools and errors of the turns a query chooses, summed by agent, project, domain, model, tool or day."""
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        return self._existing().stats(by, query, self.settings)

    def summary(self) -> StoreSummary:
        """What is stored, in a few numbers."""
        return self._existing().summary()

    # Vectors

    def encoder(self) -> Encoder:
        """What turns texts into vectors, as the settings choose; raises EncoderUnavailable when it cannot be used."""
        if self._encoder is None:
            from recollect.embed import open_encoder

            self._encoder = open_encoder(self.settings)
            if self.settings.text("embed.provider") == "remote":
                from recollect.recall.meaning import Careful

                self._encoder = Careful(self._encoder, self.redact)
        return self._encoder

    def embed(self, *, again: bool = False, limit: int | None = None) -> Iterator[Embedded]:
        """Make the vectors of turns that have none yet, a report after each batch; the last one counts.

        Nothing happens before the first report is asked for, and a run that
        is left in between is continued by the next.
        """
        from recollect.recall import embedding

        return embedding.embed(self._existing(), self.encoder(), again=again, limit=limit)

    # Verbs

    def blame(
        self, file: str, text: str = "", /, *, folder: str | None = None, limit: int | None = 20, **filters: Filter
    ) -> Answers[FileChange]:
        """The turns that changed a file, newest first; a relative path is seen from `folder`, the current one unless given."""
        from recollect.recall.query import parse
        from recollect.recall.verbs.blame import blame

        here, query = folder or os.getcwd(), parse(text).having(**filters)
        project, domains = self.project_of(here), self.settings.domains()
        return blame(self._existing(), file, cwd=here, project=project, query=query, domains=domains, limit=limit)

    def fix(self, error: str, /, *, folder: str | None = None, limit: int | None = 5, **filters: Filter) -> Answers[Fix]:
        """What was done after this error and worked; what happened in the project of `folder` comes first."""
        from recollect.lookup import Query
        from recollect.recall.verbs.fix import fix

        project, query = self.project_of(folder or os.getcwd()), Query().having(**filters)
        return fix(self._existing(), error, project=project, query=query, domains=self.settings.domains(), limit=limit)

    def how(
        self, tool: str, /, *, folder: str | None = None, everywhere: bool = False, limit: int | None = 10, **filters: Filter
    ) -> Answers[Invocation]:
        """The invocations of a tool that worked; in the project of `folder`, unless a filter or `everywhere` says otherwise.

        Filters may be part of the text, as in a search.
        """
        from recollect.recall.query import parse
        from recollect.recall.verbs.how import how

        query = parse(tool).having(**filters)
        own = None if everywhere or "project" in query.filters else self.project_of(folder or os.getcwd())
        return how(self._existing(), query.having(project=own), own=own, domains=self.settings.domains(), limit=limit)

    def friction(self, text: str = "", /, *, sessions: int = 3, limit: int | None = 20, **filters: Filter) -> Answers[Friction]:
        """Errors that came back in at least so many sessions, the most widespread first."""
        from recollect.recall.query import parse
        from recollect.recall.verbs.friction import friction

        query = parse(text).having(**filters)
        return friction(self._existing(), query=query, domains=self.settings.domains(), sessions=sessions, limit=limit)

    def recall(
        self,
        prompt: str = "",
        *,
        project: str | None = None,
        folder: str | None = None,
        budget: int | None = None,
        everywhere: bool = False,
    ) -> Pack:
        """What an agent in `folder` should be told about a prompt, within a budget of tokens; empty when nothing is good enough.

        The budget is 600 unless given, and 1,500 without a prompt.

        Only the folder's own project, or the one that is named, is asked, and
        with `everywhere` all the others when that has nothing. Without a prompt:
        what an agent is told at its start.
        """
        from recollect.recall.pack import pack

        own = self.get_project(project) if project is not None else self.project_of(folder or os.getcwd())
        projects: list[str | None] = [own] if own is not None else []
        if everywhere:
            projects.append(None)
        domains = self.settings.domains()
        return pack(self._existing(), self.encoder, prompt, projects=projects, domains=domains, budget=budget)

    def framed(self, lines: list[str]) -> str:
        """Lines from logs as an agent should get them: marked as data, and recognised should they come back in a log."""
        from recollect.recall.telling import framed

        return framed(lines)

    def turns(self, ref: str, *, after: int = 0, limit: int = 20) -> list[Turn]:
        """The turns of a session that come after one of them, by their numbers."""
        store = self._existing()
        return store.get_turns(store.resolve(ref)[0], after=after, limit=limit)

    def record_recall(
        self,
        face: str,
        event: str,
        refs: Sequence[str],
        *,
        agent: str | None = None,
        session: str | None = None,
        folder: str | None = None,
    ) -> None:
        """Note down what a face offered, so that its use can be measured."""
        project = self.project_of(folder) if folder else None
        self._existing().save_recall(face, event, refs, agent=agent, session=session, project=project)

    def prepare(self) -> Iterator[str]:
        """Make ready what hooks tell, for the projects whose logs or notes changed; each project's key once it is done."""
        from recollect.recall.prepare import prepare

        self.corroborate_notes()
        yield from prepare(self._existing(), self.settings.domains())

    def firings(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        """When each hook last ran, by agent and event, in milliseconds, and the fault it ended with, if any."""
        store = self._existing()
        store.drain_spool()
        return store.firings()

    def session(self, ref: str) -> Session:
        """A session without its turns, by any reference that means just one."""
        store = self._existing()
        found = store.get_session(store.resolve(ref)[0], turns=[])
        found.domain = self.settings.domain_of(found.project)
        return found

    # Notes

    def remember(
        self,
        text: str,
        *,
        category: str = "project",
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        by: str = "agent",
        confidence: float | None = None,
    ) -> Note:
        """Keep a fact about a project, that of `folder` or of the current one; a person may say that it holds everywhere.

        What a person says counts at once. What an agent says is a candidate,
        until a person accepts it or is found to have said the same. A fact
        that is known already is confirmed; look at the `status` of the answer,
        because one that a person rejected stays so when an agent repeats it.
        """
        from recollect.capture.projects import Projects
        from recollect.distill import notes
        from recollect.store.stretch import ProjectIdentity

        kind, author = notes.category_of(category), notes.author_of(by, everywhere=everywhere)
        sure = notes.confidence_of(confidence, author)
        place = None if everywhere else Projects().identify(os.path.abspath(folder or os.getcwd()), None)
        if project is not None:
            # Known already, so that of which kind it is makes no difference.
            place = ProjectIdentity(self.get_project(project), "directory")
        store = self._opened(create=True)
        return store.keep_note(self._plain(text), category=kind, project=place, author=author, confidence=sure)

    def notes(
        self,
        *,
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        status: str | Sequence[str] | None = None,
        category: str | None = None,
        limit: int | None = None,
    ) -> list[Note]:
        """Notes that hold in a project or in that of a folder, that hold `everywhere`, or all of them; the last seen first."""
        from recollect.distill.notes import category_of, statuses_of

        store = self._existing()
        own = None if folder is None else self.project_of(folder)
        if project is not None:
            own = self.get_project(project)
        return store.list_notes(
            project=own, everywhere=everywhere or (folder is not None and own is None), statuses=statuses_of(status),
            category=None if category is None else category_of(category), limit=limit,
        )  # fmt: skip

    def write_notes(
        self,
        path: str | os.PathLike[str],
        *,
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        status: str | Sequence[str] | None = ("candidate", "active"),
        category: str | None = None,
    ) -> bool:
        """Bring the section of notes in a Markdown file up to date; False when nothing was new.

        What only an agent or a model said is left out, until a person accepts it.
        """
        from recollect.distill import notes_file

        def found(wanted: str | Sequence[str] | None) -> list[Note]:
            return self.notes(project=project, folder=folder, everywhere=everywhere, status=wanted, category=category)

        told = [note for note in found(status) if note.status == "active" or note.trust in ("user", "tool-verified")]
        return notes_file.write(os.fspath(path), told, retired=found(("rejected", "superseded")))

    def note(self, ref: str) -> Note:
        """One note, by its reference."""
        return self._existing().get_note(ref)

    def accept_note(self, ref: str) -> Note:
        """A person says that a note is right: from now on it counts."""
        return self._existing().accept_note(ref)

    def reject_note(self, ref: str) -> Note:
        """A person says that a note is wrong: it is not told any more, and stays rejected when an agent repeats it."""
        return self._existing().reject_note(ref)

    def edit_note(self, ref: str, text: str) -> Note:
        """A person says it better; the answer is the new note, which takes the place of the old one."""
        return self._existing().edit_note(ref, self._plain(text))

    def forget_note(self, ref: str) -> Note:
        """Remove a note for good, with the versions that it took the place of; the answer is what it was."""
        return self._existing().forget_note(ref)

    def corroborate_notes(self) -> int:
        """Look for the calls that gave candidates, and for a person saying the same; returns how many now count."""
        from recollect.distill.corroborate import corroborate

        return corroborate(self._existing())

    def give_feedback(self, ref: str, helpful: bool, *, by: str = "agent", reason: str | None = None) -> None:
        """Say whether a session, a turn or a note was of use."""
        from recollect.distill.notes import author_of

        author = author_of(by)
        self._existing().give_feedback(ref, helpful=helpful, author=author, reason=self._plain(reason) if reason else None)

    def feedback_of(self, ref: str) -> tuple[int, int]:
        """How often a session, a turn or a note was called helpful, and how often not."""
        return self._existing().feedback_of(ref)

    def _plain(self, text: str) -> str:
        """One line of text without secrets."""
        from recollect.distill.notes import one_line, plain

        line = one_line(text)
        return plain(self.redact(line) if self.settings.flag("redact.enabled") else line)

    # Distill

    def digest(self, ref: str) -> Digest:
        """What a session came to, as of now."""
        from recollect.distill.digest import digest_one

        store = self._existing()
        return digest_one(store, store.resolve(ref)[0])

    def digest_sessions(self) -> Iterator[str]:
        """Make the digests of sessions that have none or have changed since; each session's reference once it is done."""
        from recollect.distill.digest import digest_all

        yield from digest_all(self._existing())

    def distill(
        self,
        *,
        engine: str | None = None,
        now: bool = False,
        limit: int | None = None,
        everything: bool = False,
        project: str | None = None,
    ) -> Distilled:
        """Give the sessions that are due their trace memories, and their projects one memory of them.

        `engine` is rules or llm, the one of the settings unless given. `now`
        also takes sessions that may still run, and those that failed before.
        A model is asked about eight, unless a limit or `everything` says otherwise.
        """
        key = None if project is None else self.get_project(project)
        *_, report = self._distill(engine, now=now, limit=limit, everything=everything, project=key)
        return report

    def _distill(self, engine: str | None = None, **options: Any) -> Iterator[Distilled]:
        from recollect.distill import distilling

        ask = self._ask() if self._engine(engine) == "llm" else None
        return distilling.distill(self._existing(), self.settings, ask=ask, **options)

    def _engine(self, named: str | None = None) -> Engine:
        """The engine that somebody names, or the one of the settings."""
        from recollect.errors import UsageError

        engine = named or self.settings.text("distill.engine")
        if engine in ("rules", "none"):
            return "rules"
        if engine == "llm":
            return "llm"
        if engine == "agent":
            hint = "`recollect distill --jobs DIR` writes what it is to do, `recollect distill --commit DIR` takes in what it did"
            raise UsageError("an agent distills when you ask it to", hint=hint)
        raise UsageError(f"no engine is called {engine[:50]}", hint="one of rules, llm, agent")

    def _ask(self) -> Ask:
        """What asks the model of the settings; what it is given has no secrets, whatever the settings say."""
        from functools import partial

        from recollect.distill.model import traces_by_model
        from recollect.llm import open_model

        store = self._existing()
        # Two, because a redactor belongs to one thread, and the model is asked from others.
        redactor, model = self.redactor(store), open_model(self.settings, self.redactor(store).redact)
        ask = partial(traces_by_model, model, redactor, self.settings)
        if not self.settings.flag("llm.notes"):
            return ask
        from recollect.distill.model_notes import ModelExtractor, with_notes

        extractor = ModelExtractor(model, redactor, self.settings)
        return partial(with_notes, store, extractor, ask)

    def _distill_again(self, ref: str) -> None:
        """Ask the model once more about a session that failed."""
        from recollect.distill import distilling

        if self._engine() == "llm":
            distilling.ask_again(self._existing(), ref, self._ask())
            self.consolidate()

    def write_jobs(
        self, folder: str, *, now: bool = False, limit: int | None = None, everything: bool = False, project: str | None = None
    ) -> list[JobFile]:
        """Write the sessions that are due as files that an agent can sum up, one by one."""
        from recollect.distill import distilling
        from recollect.distill.job_files import write_jobs

        store = self._existing()
        for _ in self.digest_sessions():
            pass
        key = None if project is None else self.get_project(project)
        _, chosen = distilling.candidates(store, self.settings, "agent", now=now, limit=limit, everything=everything, project=key)
        return write_jobs(folder, distilling.work_on(store, chosen), self.redactor(store), self.settings)

    def commit_jobs(self, folder: str) -> list[JobFile]:
        """Take in what an agent made of such files, and bring the projects' memories up to date."""
        from recollect.distill.job_files import commit_jobs

        store = self._existing()
        found = commit_jobs(folder, store, self.redactor(store))
        self.consolidate()
        return found

    def next_job(self, session: str | None = None) -> Job | None:
        """A session for an agent to sum up: this one, or the newest that is due and may be given away; None when there is none."""
        from recollect.distill import distilling
        from recollect.distill.job_files import make_job

        store = self._existing()
        for _ in self.digest_sessions():
            pass
        found = [store.find_candidate(session)] if session else distilling.candidates(store, self.settings, "agent")[0]
        return make_job(distilling.work_on(store, filter(None, found)), self.redactor(store), self.settings)

    def answer_job(self, session: str, state: str, memory: str, summary: str) -> str:
        """Keep what an agent made of a session; says whether that is news, and raises BadReply when it is not good enough."""
        import json

        from recollect.distill.job_files import keep_answer

        store = self._existing()
        answer = json.dumps({"traceMemory": memory, "summary": summary})
        kept = keep_answer(session, state, answer, store, self.redactor(store))
        self.consolidate()
        return kept

    def consolidate(self, project: str | None = None) -> Consolidated:
        """Bring the memory of every project, or of one, up to date: MEMORY.md, skills, and the files of its traces."""
        *_, report = self._consolidate(None if project is None else self.get_project(project))
        return report

    def _consolidate(self, project: str | None = None) -> Iterator[Consolidated]:
        from recollect.distill.consolidate import consolidate

        kept = self.settings.number("distill.traces_kept")
        return consolidate(self._existing(), self.settings.home, traces_kept=kept, project=project)

    def trace(self, ref: str) -> Trace:
        """A session's trace memory."""
        from recollect.errors import NotFound

        store = self._existing()
        session = store.resolve(ref)[0]
        found = store.find_trace(session)
        if found is None:
            raise NotFound(f"{session} has no trace memory yet", hint="`recollect distill --now` makes it")
        return found

    def memory_folder(self, project: str) -> str:
        """Where the files of a project's memory are."""
        from recollect.distill.files import folder_of

        return folder_of(self.settings.home, self.get_project(project))

    # Projects

    def project_of(self, folder: str) -> str | None:
        """The project that a folder of this machine belongs to, when something of it is stored."""
        from recollect.capture.projects import Projects

        identity = Projects().identify(os.path.abspath(folder), None)
        return self._existing().find_project([identity.key, folder] if identity else [folder])

    def get_project(self, name: str) -> str:
        """The key of the project that is called so, by its key or by a folder of it."""
        from recollect.errors import NotFound

        found = self._existing().find_project([name])
        if found is None:
            raise NotFound(f"no project is called {name[:100]}", hint="`recollect projects` lists them")
        return found

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
        report = store.rescan(self.redactor(store), progress)
        # The files of memories follow their rows.
        self.consolidate()
        return report

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

    def export(self, text: str = "", *, limit: int | None = None, **filters: Filter) -> Iterator[dict[str, Any]]:
        """Sessions with everything in them, as plain values, one after the other."""
        from itertools import islice

        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        for session in islice(self._existing().export(query, self.settings.domains()), limit):
            yield {**session, "domain": self.settings.domain_of(session["project"])}

    def forget(self, ref: str, *, dry_run: bool = False) -> Forgotten:
        """Remove a session or a turn for good, with its copies; the next import leaves it out.

        Notes that only came from there go too, unless a person wrote or accepted them.
        """
        from recollect.errors import NotFound

        store = self._existing()
        # So that notes know where they came from.
        self.corroborate_notes()
        try:
            session, ordinal = store.resolve(ref)
        except NotFound:
            # Perhaps it was forgotten before, and something in the way kept its words in the files.
            session, ordinal = ref, None
        report = store.forget(session, ordinal, dry_run=dry_run)
        if not dry_run:
            # What was made of it goes from the files too, and what still holds is put together again.
            self.consolidate()
        return report

    def retain(self, *, dry_run: bool = False) -> Iterator[Retained]:
        """Keep the store within the budget of the settings, a report after each batch; the last one counts.

        Sessions without a digest get theirs first, because only then may
        their events go. A dry run changes nothing.
        """
        from recollect.reports import Retained
        from recollect.retain.budgets import Budget, retain

        budget = Budget.of(self.settings)
        if budget.limits_raw and not dry_run:
            for _ in self.digest_sessions():
                yield Retained()
        yield from retain(self._existing(), budget, dry_run=dry_run)

    def _leave_retaining(self, store: Store, turns: int) -> None:
        """Leave what an import makes too much to the queue."""
        from recollect.retain.budgets import Budget, is_due

        if is_due(store, Budget.of(self.settings), turns):
            store.enqueue("retain", "events")

    # Work that can wait

    def jobs(self, limit: int | None = None) -> list[JobRow]:
        """What waits, runs or failed, the next one first."""
        return self._existing().list_jobs(limit)

    def work(self, limit: int | None = None) -> int:
        """Do the jobs that are due; returns how many were done."""
        store = self._existing()
        store.drain_spool()
        handlers = {
            "digest": lambda subject: self.digest_sessions(),
            "prepare": lambda subject: self.prepare(),
            "distill": lambda subject: self._distill(),
            "trace": self._distill_again,
            "consolidate": lambda subject: self._consolidate(),
            "optimize": lambda subject: store.optimize(),
            "embed": lambda subject: self.embed(),
            "retain": lambda subject: self.retain(),
        }
        return store.work(handlers, limit)

    # A first look

    def sample_logs(self) -> str:
        """The folder of sample sessions that comes with recollect."""
        return os.path.join(os.path.dirname(__file__), "samples")

    def example_query(self) -> str:
        """Two words of a recent prompt, for somebody who does not know what to ask yet."""
        return self._existing().example_query()
