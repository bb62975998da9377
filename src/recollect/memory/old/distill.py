"""Trace memories and what a project remembers."""

from __future__ import annotations

from recollect.memory.old.base import OldBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from recollect.distill.models.engine import LlmEngine
    from recollect.model.digests import Engine, Trace
    from recollect.model.reports import Assignment, Consolidated, Distilled, JobFile


class Distill(OldBase):
    """From sessions to traces and a project's memory."""

    def distill(
        self,
        *,
        engine: str | None = None,
        now: bool = False,
        limit: int | None = None,
        everything: bool = False,
        project: str | None = None,
    ) -> Distilled:
        """Give the sessions that are due their trace memories, and
        their projects one memory of them.

        `engine` is rules or llm, the one of the settings unless given. `now`
        also takes sessions that may still run, and those that failed before.
        A model is asked eight times, unless a limit of sessions or
        `everything` says otherwise.
        """
        from recollect.errors import UsageError

        if self.engine(engine) == "agent":
            hint = (
                "Write the work: recollect distill --jobs DIR. Read it back: recollect distill "
                "--commit DIR"
            )
            raise UsageError("Your agent does this in two steps.", hint=hint)
        key = None if project is None else self.projects.get(project)
        *_, report = self._distill(engine, now=now, limit=limit, everything=everything, project=key)
        return report

    def _distill(self, named: str | None = None, **options: Any) -> Iterator[Distilled]:
        """The same, session by session."""
        from recollect.distill.memories import distilling

        engine = self.engine(named)
        by = self.open_llm() if engine == "llm" else None
        return distilling.distill(
            self.shared.store(), self.shared.settings, engine=engine, by=by, **options
        )

    def engine(self, named: str | None = None) -> Engine:
        """The engine that somebody names, or the one of the settings."""
        from recollect.errors import UsageError

        engine = named or self.shared.settings.text("distill.engine")
        if engine in ("rules", "none"):
            return "rules"
        if engine == "llm":
            return "llm"
        if engine == "agent":
            return "agent"
        raise UsageError(f'There is no engine "{engine[:50]}".', hint="Choose rules, llm or agent.")

    def open_llm(self) -> LlmEngine:
        """The model of the settings; what it is given has no secrets, whatever the settings say."""
        from recollect.distill.models.engine import LlmEngine
        from recollect.llm import open_model

        store = self.shared.store()
        # Two, because a redactor belongs to one thread, and the model is asked from others.
        return LlmEngine(
            store,
            open_model(self.shared.settings, self.shared.redactor(store).redact),
            self.shared.redactor(store),
            self.shared.settings,
        )

    def write_jobs(
        self,
        folder: str,
        *,
        now: bool = False,
        limit: int | None = None,
        everything: bool = False,
        project: str | None = None,
    ) -> list[JobFile]:
        """Write what is due as files for an agent: the sessions, and the projects that
        have no session left to be summed up.
        """
        from recollect.distill.memories import distilling
        from recollect.distill.models.job_files import write_jobs

        store, key = self.shared.store(), None if project is None else self.projects.get(project)
        work = distilling.for_agent(
            store, self.shared.settings, now=now, limit=limit, everything=everything, project=key
        )
        return write_jobs(folder, work, self.shared.redactor(store), self.shared.settings)

    def commit_jobs(self, folder: str) -> list[JobFile]:
        """Take in what an agent made of such files, and bring the projects' files up to date."""
        from recollect.distill.models.job_files import commit_jobs

        store = self.shared.store()
        found = list(commit_jobs(folder, store, self.shared.redactor(store)))
        self.refresh()
        return found

    def next_job(self, kind: str | None = None, subject: str | None = None) -> Assignment | None:
        """A memory for an agent to write: this one, or the first that is
        due and may be given away, if any.
        """
        from recollect.distill.memories import distilling
        from recollect.distill.models.job_files import make_assignment

        store = self.shared.store()
        work = distilling.for_agent(store, self.shared.settings, kind=kind, subject=subject)
        return make_assignment(work, self.shared.redactor(store), self.shared.settings)

    def answer_job(self, kind: str, subject: str, state: str, answer: str) -> str:
        """Keep the memory that an agent wrote.

        Says whether that is news, and raises BadReply when it is not good enough.
        """
        from recollect.distill.models.job_files import keep_answer

        store = self.shared.store()
        kept = keep_answer(kind, subject, state, answer, store, self.shared.redactor(store))
        self.refresh()
        return kept

    def consolidate(
        self, project: str | None = None, *, engine: str | None = None, now: bool = False
    ) -> Consolidated:
        """Bring the memory of every project, or of one, up to date: MEMORY.md,
        skills, and the files of its traces.

        A model writes it if the settings, or `engine`, say so; with `now`
        also where it failed before.
        """
        named, key = self.engine(engine), None if project is None else self.projects.get(project)
        by = self.open_llm() if named == "llm" else None
        *_, report = self._consolidate(key, engine=named, by=by, now=now)
        if by is not None:
            report.tokens, report.cost_usd = by.spent()
        return report

    def refresh(self) -> None:
        """Have the projects' files follow the rows, without asking anybody."""
        for _ in self._consolidate():
            pass

    def _consolidate(
        self,
        project: str | None = None,
        *,
        engine: Engine | None = None,
        by: LlmEngine | None = None,
        now: bool = False,
    ) -> Iterator[Consolidated]:
        from recollect.distill.memories.consolidate import consolidate

        return consolidate(
            self.shared.store(),
            self.shared.settings.home,
            traces_kept=self.shared.settings.number("distill.traces_kept"),
            project=project,
            engine=engine or self.engine(),
            write=by.memory if by else None,
            now=now,
        )

    def trace(self, ref: str) -> Trace:
        """A session's trace memory."""
        from recollect.errors import NotFound

        store = self.shared.store()
        session = store.sessions.resolve(ref)[0]
        found = store.old.find_trace(session)
        if found is None:
            if store.digests.find(session) and not store.old.find_candidate(session):
                hint = (
                    f"Only conversations with a person get one. Try: recollect show {session} "
                    "--digest"
                )
                raise NotFound(f"{session} has no trace memory.", hint=hint)
            raise NotFound(
                f"{session} has no trace memory yet.", hint="Make it now: recollect distill --now"
            )
        return found

    def memory_folder(self, project: str) -> str:
        """Where the files of a project's memory are."""
        from recollect.distill.memories.files import folder_of

        return folder_of(self.shared.settings.home, self.projects.get(project))
