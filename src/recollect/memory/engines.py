"""Engines: who else than the rules may write a project's memory, and what they are given."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from recollect.distill.condense import Record
    from recollect.distill.engines.material import Material
    from recollect.distill.engines.writing import Engine
    from recollect.memory.collaborators import Collaborators
    from recollect.model.engines import EngineAnswer, EngineRequest, EngineRun, HeadlessAgent
    from recollect.model.reports import HealthCheck

CHANGED = "The project changed since, or is gone. Write the jobs again."
# What an answer takes at most; the prompt asks for less.
ANSWER_TOKENS = 4_000
CHARACTERS_PER_TOKEN = 3.6


class MemoryEngines:
    """Have a model, or an agent of yours, write a project's memory."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    # What is given

    def record(self, *, project: str | None = None, folder: str | None = None) -> Record | None:
        """All sessions of a project condensed into one text, without secrets.

        The project is the one named, or that of `folder`. None when nothing is known of it.
        """
        from recollect.distill.engines.material import whole_record

        store, key = self.shared.store(), self._key(project, folder)
        return None if key is None else whole_record(store, key, self.shared.redactor(store))

    def request(
        self,
        *,
        project: str | None = None,
        folder: str | None = None,
        engine: str | None = None,
        again: bool = False,
    ) -> EngineRequest | None:
        """Exactly what would be asked about a project now, and about what it would take.

        None when there is nothing new. Nobody is asked.
        """
        from recollect.distill.engines.material import instructions
        from recollect.model.engines import EngineRequest

        for material in self._materials(project, folder, engine=engine, again=again):
            text = f"{instructions('memory')}\n\n{material.question}"
            name = self.name(engine)
            agent = self._headless(name) if name not in ("none", "llm") else None
            model = self._model_of(name, agent)
            tokens = int(len(text) / CHARACTERS_PER_TOKEN) + 1
            return EngineRequest(
                project=material.project, engine=name, model=model,
                sessions=len(material.told), prompts=material.prompts, waiting=material.left,
                tokens_in=tokens, tokens_out=ANSWER_TOKENS,
                cost_usd=_price(model, tokens, ANSWER_TOKENS), cuts=list(material.record.cuts),
                left_out=dict(material.others), text=text,
            )  # fmt: skip
        return None

    # Somebody who is asked

    def name(self, named: str | None = None) -> str:
        """The engine that somebody names, or the one of the settings: none, llm or an agent."""
        from recollect.errors import UsageError

        name = (named or self.shared.settings.text("distill.engine")).strip()
        if name in ("", "none", "rules"):
            return "none"
        if name == "llm" or self.shared.headless(name) is not None:
            return name
        raise UsageError(
            f'There is no engine "{name[:50]}" here.',
            hint="Choose none, llm, or an agent that can run by itself: recollect memory --help",
        )

    def open_writer(self, named: str | None = None) -> Engine | None:
        """Whoever writes memories by the settings, or is named; None where only rules do."""
        name = self.name(named)
        if name == "none":
            return None
        if name == "llm":
            from recollect.distill.engines.service import ServiceEngine
            from recollect.llm import open_model

            store = self.shared.store()
            # A redactor of its own: one belongs to one thread.
            redact = self.shared.redactor(store).redact
            return ServiceEngine(open_model(self.shared.settings, redact))
        from recollect.distill.engines.headless import HeadlessEngine

        settings = self.shared.settings
        return HeadlessEngine(
            self._headless(name),
            folder=os.path.join(settings.home, "engine"),
            environ=self.shared.environ,
            model=settings.text("distill.model"),
            timeout_seconds=max(settings.number("distill.timeout_seconds"), 1),
            forget=self.shared.store().engine_runs.leave_out,
        )

    def readable(self, named: str | None = None) -> Collection[str] | None:
        """The agents whose sessions an engine may read; None where it may read all.

        Through the login of one maker go only sessions of that maker's agents, and those that
        `distill.send` names.
        """
        name = self.name(named)
        if name in ("none", "llm"):
            return None
        return {*self._headless(name).makers, *self.shared.settings.texts("distill.send")}

    def update(
        self,
        *,
        project: str | None = None,
        folder: str | None = None,
        engine: str | None = None,
        force: bool = False,
    ) -> EngineRun | None:
        """Have a project's memory written now; None when there is nothing new.

        Caps and waiting after a failure hold here too, unless `force` says otherwise; with it
        everything is read from the start.
        """
        from recollect.distill.engines.due import LEASE, refuse_if_obstacle
        from recollect.distill.engines.writing import write
        from recollect.errors import EngineUnavailable, UsageError

        store, settings = self.shared.store(), self.shared.settings
        writer = self.open_writer(engine)
        if writer is None:
            raise UsageError(
                "No engine is switched on.",
                hint="Name one with --engine, or set distill.engine. See docs/engines.md.",
            )
        if not force:
            refuse_if_obstacle(store, settings)
        lease = store.leases.take(LEASE, seconds=2 * settings.number("distill.timeout_seconds"))
        if lease is None:
            raise EngineUnavailable(
                "An engine is being asked already.", hint="Try again when it is done.", passing=True
            )
        try:
            for material in self._materials(project, folder, engine=engine, again=force):
                judged = settings.flag("distill.second_look")
                return write(store, material, writer, self.shared.redactor(store), judged=judged)
        finally:
            store.leases.release(lease)
        return None

    def runs(self, project: str | None = None, *, limit: int = 20) -> list[EngineRun]:
        """The newest runs, of one project or of all."""
        return self.shared.store().engine_runs.last(project, limit=limit)

    def health(self) -> HealthCheck | None:
        """One line about the engine of the settings; None where none is switched on."""
        from recollect.distill.engines.due import obstacle
        from recollect.errors import RecollectError
        from recollect.model.reports import HealthCheck

        try:
            name = self.name()
        except RecollectError as error:
            return HealthCheck(name="engine", ok=False, detail=str(error), hint=error.hint or "")
        if name == "none":
            return None
        store = self.shared.store()
        failed, last = store.engine_runs.failures(), store.engine_runs.last(limit=1)
        if failed and failed.times > 1:
            why = obstacle(store, self.shared.settings) or failed.why
            hint = "Try it by hand: recollect memory update"
            return HealthCheck(name="engine", ok=False, detail=f"{name}: {why}", hint=hint)
        told = f"last run {last[0].at}: {last[0].outcome}" if last else "not asked yet"
        return HealthCheck(name="engine", ok=True, detail=f"{name}, {told}", hint="")

    # Answers by hand

    def write_jobs(
        self,
        folder: str,
        *,
        project: str | None = None,
        at: str | None = None,
        again: bool = False,
    ) -> list[EngineAnswer]:
        """Write what is new of a project, or of all of them, as files for an agent to answer.

        `at` is a folder of the project. With `again` everything is read from the start.
        """
        from recollect.distill.engines.job_files import write_jobs

        return list(write_jobs(folder, self._materials(project, at, again=again)))

    def commit_jobs(self, folder: str) -> Iterator[EngineAnswer]:
        """Keep what was answered: each job with what came of it."""
        from recollect.distill.engines.job_files import read_jobs
        from recollect.errors import RecollectError
        from recollect.model.engines import EngineAnswer

        for job in read_jobs(folder):
            done = EngineAnswer(project=job.project, path=job.path, outcome="waiting")
            answer = job.answer
            if answer is not None:
                try:
                    run = self.take(job.project, job.state, answer, by="jobs")
                except RecollectError as error:
                    done.outcome, done.reason = "refused", str(error)
                else:
                    done.outcome, done.reason, done.lines = "kept", run.why, run.lines
            yield done

    def next_material(
        self, *, project: str | None = None, folder: str | None = None
    ) -> Material | None:
        """What somebody by hand would be asked about a project; None when nothing is new."""
        return next(self._materials(project, folder), None)

    def take(self, project: str, state: str, answer: str, *, by: str) -> EngineRun:
        """Keep a memory that somebody wrote about a project in that state.

        BadReply when it is none, or the project has changed. What was wrong with its lines is
        in `why`.
        """
        from recollect.distill.engines.writing import take
        from recollect.errors import BadReply

        store = self.shared.store()
        if project in store.projects.every_key():
            for again in (False, True):
                for material in self._materials(project, None, again=again):
                    if material.state == state:
                        return take(store, material, answer, self.shared.redactor(store), by)
        raise BadReply(CHANGED)

    def _materials(
        self,
        project: str | None,
        folder: str | None,
        *,
        engine: str | None = None,
        again: bool = False,
    ) -> Iterator[Material]:
        """What would be asked: about one project, or about all where none is named."""
        from recollect.distill.engines.material import gather

        store = self.shared.store()
        if project is None and folder is None:
            keys = store.projects.every_key()
        else:
            key = self._key(project, folder)
            keys = [key] if key else []
        redactor = self.shared.redactor(store)
        most = self.shared.settings.number("distill.max_items")
        agents = self.readable(engine) if engine else None
        for key in keys:
            material = gather(store, key, redactor, most_prompts=most, agents=agents, again=again)
            if material is not None:
                yield material

    def _headless(self, name: str) -> HeadlessAgent:
        found = self.shared.headless(name)
        assert found is not None
        return found

    def _model_of(self, name: str, agent: HeadlessAgent | None) -> str:
        settings = self.shared.settings
        if name == "llm":
            return settings.text("llm.model")
        return settings.text("distill.model") or (agent.model if agent else "")

    def _key(self, project: str | None, folder: str | None) -> str | None:
        from recollect.memory.projects import MemoryProjects

        projects = MemoryProjects(self.shared)
        return projects.get(project) if project is not None else projects.of(folder or os.getcwd())


def _price(model: str, tokens_in: int, tokens_out: int) -> float | None:
    """Dollars for so many tokens at the usual price of a model; None when nobody knows."""
    from genai_prices import Usage, calc_price

    try:
        usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
        return float(calc_price(usage, model_ref=model).total_price)
    except (LookupError, ValueError):
        return None
