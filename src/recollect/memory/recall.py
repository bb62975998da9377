"""The front door, recall: search, sessions, vectors and the verbs."""

from __future__ import annotations

import os

from recollect.memory.projects import Projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.embed import Encoder
    from recollect.model.answers import Answers, FileChange, Fix, Friction, Invocation, Pack
    from recollect.model.reports import (
        Embedded,
        StatsRow,
        StoreSummary,
    )
    from recollect.model.search import Filter, Query, Scope, SearchResult
    from recollect.model.sessions import Session, SessionDetail, Turn


class Recall(Projects):
    """Everything that looks something up."""

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

    def search_by_vector(
        self, vector: Sequence[float], *, limit: int = 10, **filters: Filter
    ) -> SearchResult:
        """The turns nearest to a vector of the encoder that the stored ones
        are by, the cosine as their score.
        """
        from recollect.model.search import Query
        from recollect.recall.search import nearest

        result = nearest(self._existing(), self._scope(Query().having(**filters)), vector, limit)
        result.unembedded = self._existing().vectors.waiting()
        return result

    def sessions(
        self, text: str = "", *, limit: int | None = 20, offset: int = 0, **filters: Filter
    ) -> Iterator[Session]:
        """Sessions with a turn that has all the words and passes the filters, newest first."""
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        found = self._existing().sessions.search(self._scope(query), limit=limit, offset=offset)
        for session in found:
            session.domain = self.settings.domain_of(session.project)
            yield session

    def remarks(self, text: str = "", **filters: Filter) -> list[str]:
        """What a person should know about a query besides what it finds: a
        slip, a filter that nothing can pass yet.
        """
        from recollect.recall.asking import remarks
        from recollect.recall.query import parse

        return remarks(self._existing(), self._scope(parse(text).having(**filters)))

    def show(self, ref: str) -> SessionDetail | Turn:
        """A session with its turns, or one turn, by any reference that means just one."""
        store = self._existing()
        session, ordinal = store.sessions.resolve(ref)
        if ordinal is not None:
            return store.turns.get(session, ordinal)
        found = store.sessions.get(session)
        found.domain = self.settings.domain_of(found.project)
        return found

    def stats(self, by: str = "agent", text: str = "", **filters: Filter) -> list[StatsRow]:
        """Tokens, cost, tools and errors of the turns a query chooses, summed by agent,
        project, domain, model, tool or day.
        """
        from recollect.recall.query import parse

        query = parse(text).having(**filters)
        usage = self._existing().usage
        if by == "domain":
            return by_domain(usage.sums("project", self._scope(query)), self.settings.domain_of)
        return usage.sums(by, self._scope(query))

    def _scope(self, query: Query) -> Scope:
        from recollect.model.search import Scope

        return Scope(query, self.settings.domains())

    def summary(self) -> StoreSummary:
        """What is stored, in a few numbers."""
        from recollect.retain.budgets import Budget, find_room

        store = self._existing()
        summary = store.usage.summary()
        summary.room = find_room(store, Budget.of(self.settings))
        return summary

    # Vectors

    def encoder(self) -> Encoder:
        """What turns texts into vectors, as the settings choose.

        Raises EncoderUnavailable when it cannot be used.
        """
        if self._encoder is None:
            from recollect.embed import open_encoder

            self._encoder = open_encoder(self.settings)
            if self.settings.text("embed.provider") == "remote":
                from recollect.recall.meaning import Careful

                self._encoder = Careful(self._encoder, self.redact)
        return self._encoder

    def embed(self, *, again: bool = False, limit: int | None = None) -> Iterator[Embedded]:
        """Make the vectors of turns that have none yet, a report after each batch.

        The last one counts.

        Nothing happens before the first report is asked for, and a run that
        is left in between is continued by the next.
        """
        from recollect.recall import embedding

        return embedding.embed(self._existing(), self.encoder(), again=again, limit=limit)

    # Verbs

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
        project = self.project_of(here)
        return blame(
            self._existing(),
            file,
            cwd=here,
            project=project,
            scope=self._scope(query),
            limit=limit,
        )

    def fix(
        self, error: str, /, *, folder: str | None = None, limit: int | None = 5, **filters: Filter
    ) -> Answers[Fix]:
        """What was done after this error and worked.

        What happened in the project of `folder` comes first.
        """
        from recollect.model.search import Query
        from recollect.recall.verbs.fix import fix

        project, query = self.project_of(folder or os.getcwd()), Query().having(**filters)
        return fix(
            self._existing(),
            error,
            project=project,
            scope=self._scope(query),
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
        **filters: Filter,
    ) -> Answers[Invocation]:
        """The invocations of a tool that worked.

        In the project of `folder`, unless a filter or `everywhere` says otherwise.

        Filters may be part of the text, as in a search.
        """
        from recollect.recall.query import parse
        from recollect.recall.verbs.how import how

        query = parse(tool).having(**filters)
        own = (
            None
            if everywhere or "project" in query.filters
            else self.project_of(folder or os.getcwd())
        )
        return how(
            self._existing(),
            self._scope(query.having(project=own)),
            own=own,
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
            self._existing(),
            scope=self._scope(query),
            sessions=sessions,
            limit=limit,
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

        Empty when nothing is good enough.

        The budget is 600 unless given, and 1,500 without a prompt.

        Only the folder's own project, or the one that is named, is asked, and
        with `everywhere` all the others when that has nothing. Without a prompt:
        what an agent is told at its start.
        """
        from recollect.recall.pack import pack

        own = (
            self.get_project(project)
            if project is not None
            else self.project_of(folder or os.getcwd())
        )
        projects: list[str | None] = [own] if own is not None else []
        if everywhere:
            projects.append(None)
        domains = self.settings.domains()
        return pack(
            self._existing(),
            self.encoder,
            prompt,
            projects=projects,
            domains=domains,
            budget=budget,
        )

    def framed(self, lines: list[str]) -> str:
        """Lines from logs as an agent should get them: marked as data, and
        recognised should they come back in a log.
        """
        from recollect.recall.telling import framed

        return framed(lines)

    def turns(self, ref: str, *, after: int = 0, limit: int = 20) -> list[Turn]:
        """The turns of a session that come after one of them, by their numbers."""
        store = self._existing()
        return store.turns.after(store.sessions.resolve(ref)[0], after=after, limit=limit)

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
        self._existing().old.save_recall(
            face, event, refs, agent=agent, session=session, project=project
        )

    def firings(self) -> dict[tuple[str, str], tuple[int, str | None]]:
        """When each hook last ran, by agent and event, in milliseconds, and
        the fault it ended with, if any.
        """
        store = self._existing()
        store.old.drain_spool()
        return store.old.firings()

    def session(self, ref: str) -> Session:
        """A session without its turns, by any reference that means just one."""
        store = self._existing()
        found = store.sessions.get(store.sessions.resolve(ref)[0], turns=[])
        found.domain = self.settings.domain_of(found.project)
        return found


def by_domain(
    projects: list[StatsRow], domain_of: Callable[[str | None], str | None]
) -> list[StatsRow]:
    """Project rows summed up by domain. Sessions that span projects are counted in each."""
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
