"""The front door, distill: digests, trace memories and what a project remembers."""

from __future__ import annotations

from recollect.memory.projects import Projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from recollect.digests import Digest, Engine, Trace
    from recollect.distill.distilling import Ask
    from recollect.reports import (
        Consolidated,
        Distilled,
        Job,
        JobFile,
    )


class Distill(Projects):
    """From sessions to digests, traces and a project's memory."""

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
        """A session for an agent to sum up: this one, or the newest that is due and may be given away, if any."""
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
