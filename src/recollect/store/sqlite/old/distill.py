"""The store's side of distilling: trace memories."""

from __future__ import annotations

from recollect.store.sqlite.old.base import Base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.model.digests import Digest, Engine, Trace
    from recollect.model.leases import Lease
    from recollect.store.traces import Candidate, KeptTrace, Published


class Distill(Base):
    """What is made of sessions."""

    # Trace memories and what a project's memory is made of

    def trace_candidates(
        self, *, engine: Engine, idle_before: int | None, project: str | None, home: str
    ) -> tuple[int, list[Candidate]]:
        """How many sessions there are, and those that should get a trace memory, newest first."""
        from recollect.store.sqlite.old.sql import traces

        return traces.candidates(
            self.db, engine=engine, idle_before=idle_before, project=project, home=home
        )

    def find_candidate(self, ref: str) -> Candidate | None:
        """A session as it is to be distilled now."""
        from recollect.store.sqlite.old.sql import traces

        return traces.find_candidate(self.db, ref)

    def distill_later(self, *, idle_ms: int) -> None:
        """Have the sessions that are still too fresh distilled when
        they have been quiet for so long.
        """
        from recollect.store.sqlite.old.sql import traces

        traces.distill_later(self.db, idle_ms)

    def save_trace(self, candidate: Candidate, trace: Trace) -> bool:
        """Keep a trace memory; False when its session has changed since, or is gone."""
        from recollect.store.sqlite.old.sql import traces

        return traces.save(self.db, candidate, trace)

    def traced_state(self, candidate: Candidate) -> str | None:
        """The state of a session that its trace memory is of."""
        from recollect.store.sqlite.old.sql import traces

        return traces.traced_state(self.db, candidate)

    def find_trace(self, ref: str, state: str | None = None) -> Trace | None:
        """A session's trace memory, as far as there is one; only of one state if that is given."""
        from recollect.store.sqlite.old.sql import traces

        return traces.find(self.db, ref, state)

    def kept_traces(self, project: int, limit: int) -> list[KeptTrace]:
        """A project's newest trace memories."""
        from recollect.store.sqlite.old.sql import traces

        return traces.kept(self.db, project, limit)

    def traced_digests(self, project: int, limit: int) -> list[Digest]:
        """What the newest sessions of a project came to that have a trace memory."""
        from recollect.store.sqlite.old.sql import traces

        return traces.digests_of(self.db, project, limit)

    def memory_projects(self) -> list[tuple[int, str]]:
        """The projects that have a memory, number and key."""
        from recollect.store.sqlite.old.sql import traces

        return traces.projects(self.db)

    def memory_state(self, project: int) -> str:
        """What a project's memory would be made of now."""
        from recollect.store.sqlite.old.sql import traces

        return traces.state_of(self.db, project)

    def traced_turns(self, project: int) -> dict[str, set[int]]:
        """The sessions of a project that have a trace memory, with the numbers of their turns."""
        from recollect.store.sqlite.old.sql import traces

        return traces.turns_of(self.db, project)

    def is_memory_due(self, project: int, engine: Engine) -> bool:
        """Whether a project's memory is to be made again."""
        from recollect.store.sqlite.old.sql import traces

        return traces.is_due(self.db, project, engine)

    def is_memory_queued(self, project: int, key: str) -> bool:
        """Whether a model failed on a project's memory as it is now,
        and is to be asked again later.
        """
        from recollect.store.sqlite.old.sql import traces

        return traces.is_queued(self.db, project, key)

    def refused_notes(self, project: int) -> set[str]:
        """The words of notes that do not hold any more."""
        from recollect.store.sqlite.old.sql import traces

        return traces.refused(self.db, project)

    def publish(
        self,
        lease: Lease,
        project: int,
        state: str | None,
        files: Mapping[str, Published],
        *,
        engine: Engine = "rules",
    ) -> None:
        """Make these the current files of a project, if the lease is still ours."""
        from recollect.store.sqlite.old.sql import traces

        traces.publish(self.db, lease, project, state, files, engine=engine)

    def published(self, project: int, *, by_model: bool = False) -> dict[str, str]:
        """The current files of a project's memory, besides those
        that are made of trace memories.
        """
        from recollect.store.sqlite.old.sql import traces

        return traces.published(self.db, project, by_model=by_model)

    def memory_folders(self) -> set[str]:
        """The names of the folders that files were written into."""
        from recollect.store.sqlite.old.sql import traces

        return traces.folders(self.db)

    def keep_memory_folder(self, name: str) -> None:
        """Remember that files are written into a folder."""
        from recollect.store.sqlite.old.sql import traces

        traces.keep_folder(self.db, name)

    def drop_memory_folder(self, name: str) -> None:
        """A folder has nothing of ours any more."""
        from recollect.store.sqlite.old.sql import traces

        traces.drop_folder(self.db, name)

    def memory_lease(self, project: int) -> str:
        """What whoever consolidates a project holds."""
        from recollect.store.sqlite.old.sql import traces

        return traces.lease_name(project)
