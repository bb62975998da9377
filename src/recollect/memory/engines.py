"""Engines: who else than the rules may write a project's memory, and what they are given."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.distill.condense import Record
    from recollect.distill.engines.material import Material
    from recollect.memory.collaborators import Collaborators
    from recollect.model.engines import EngineRun
    from recollect.model.reports import JobFile


class MemoryEngines:
    """What a model is given of a project, and what it made of it."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def record(self, *, project: str | None = None, folder: str | None = None) -> Record | None:
        """All sessions of a project condensed into one text, without secrets.

        The project is the one named, or that of `folder`. None when nothing is known of it.
        """
        from recollect.distill.engines.material import whole_record

        store, key = self.shared.store(), self._key(project, folder)
        return None if key is None else whole_record(store, key, self.shared.redactor(store))

    def write_jobs(
        self,
        folder: str,
        *,
        project: str | None = None,
        at: str | None = None,
        again: bool = False,
    ) -> list[JobFile]:
        """Write what is new of a project, or of all of them, as files for an agent to answer.

        `at` is a folder of the project. With `again` everything is read from the start.
        """
        from recollect.distill.engines.job_files import write_jobs

        return list(write_jobs(folder, self._materials(project, at, again=again)))

    def commit_jobs(self, folder: str) -> Iterator[JobFile]:
        """Keep what was answered: each job with what came of it."""
        from recollect.distill.engines.job_files import read_jobs
        from recollect.distill.engines.writing import take
        from recollect.errors import RecollectError
        from recollect.model.reports import JobFile

        store = self.shared.store()
        redactor = self.shared.redactor(store)
        for job in read_jobs(folder):
            done = JobFile(kind="memory", subject=job.project, path=job.path, outcome="waiting")
            answer = job.answer
            if answer is not None:
                material = self._material_in(job.project, job.state)
                if material is None:
                    done.outcome, done.reason = "refused", CHANGED
                else:
                    try:
                        run = take(store, material, answer, redactor, "jobs")
                    except RecollectError as error:
                        done.outcome, done.reason = "refused", str(error)
                    else:
                        done.outcome, done.reason = "kept", run.why
            yield done

    def runs(self, project: str | None = None, *, limit: int = 20) -> list[EngineRun]:
        """The newest runs, of one project or of all."""
        return self.shared.store().engine_runs.last(project, limit=limit)

    def _material_in(self, project: str, state: str) -> Material | None:
        """What a project is asked about, if it still is as somebody saw it."""
        if project not in self.shared.store().projects.every_key():
            return None
        for again in (False, True):
            for material in self._materials(project, None, again=again):
                if material.state == state:
                    return material
        return None

    def _materials(
        self, project: str | None, folder: str | None, *, again: bool = False
    ) -> Iterator[Material]:
        from recollect.distill.engines.material import gather

        store = self.shared.store()
        if project is None and folder is None:
            keys = store.projects.every_key()
        else:
            key = self._key(project, folder)
            keys = [key] if key else []
        redactor = self.shared.redactor(store)
        most = self.shared.settings.number("distill.max_items")
        for key in keys:
            material = gather(store, key, redactor, most_prompts=most, again=again)
            if material is not None:
                yield material

    def _key(self, project: str | None, folder: str | None) -> str | None:
        from recollect.memory.projects import MemoryProjects

        projects = MemoryProjects(self.shared)
        return projects.get(project) if project is not None else projects.of(folder or os.getcwd())


CHANGED = "The project changed since, or is gone. Write the jobs again."
