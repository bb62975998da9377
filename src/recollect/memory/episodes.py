"""The episodes of a memory: attempts at tasks, recorded as they happen or derived from sessions.

Unlike the rest of a memory, these may be called from any thread.
"""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.episodes.own_store import OwnStore
    from recollect.episodes.recording import Recorder
    from recollect.episodes.retrieve import Retriever
    from recollect.memory.collaborators import Collaborators
    from recollect.model.answers import Listing
    from recollect.model.episodes import (
        Context,
        Ending,
        Episode,
        EpisodeHit,
        EpisodeSource,
        Flushed,
        Heuristic,
        Pattern,
        Reward,
        Step,
    )


# Two threads that ask at the same moment get the same part.
only_one = threading.Lock()


class MemoryEpisodes:
    """Record attempts, and find earlier ones."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared
        self._recorder: Recorder | None = None
        self._retriever: Retriever | None = None

    def start(self, task: str, context: Context | None = None) -> str:
        """Begin an attempt at a task; the id that its steps and its end are logged by."""
        return (self._recorder or self._ensure_recorder()).start(task, context)

    def log(self, episode: str, step: Step) -> None:
        """Add a step to an attempt that is under way."""
        (self._recorder or self._ensure_recorder()).log(episode, step)

    def complete(self, episode: str, outcome: Ending | str) -> Reward:
        """End an attempt; what it was worth.

        Whoever asks this memory finds it at once; it is in the store, for others,
        after `flush`, or within 50 ms. What is still under way when the memory is
        closed is kept as abandoned.
        """
        return (self._recorder or self._ensure_recorder()).complete(episode, outcome)

    def flush(self) -> Flushed:
        """Write every attempt that was completed before this was called."""
        return (self._recorder or self._ensure_recorder()).flush()

    def retrieve(
        self, task: str, context: Context | None = None, limit: int = 5
    ) -> list[EpisodeHit]:
        """Earlier attempts that bear on a task, recorded or derived from
        sessions, the best first, each with why.
        """
        self._settle()
        return (self._retriever or self._ensure_retriever()).find(task, context, limit=limit)

    def all(
        self,
        *,
        source: EpisodeSource | None = None,
        project: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Listing[Episode]:
        """A page of attempts, the newest first: `live` ones, `derived` ones, or both."""
        from recollect.memory.projects import MemoryProjects

        self._settle()
        key = None if project is None else MemoryProjects(self.shared).get(project)
        return self.shared.store().episodes.page(
            limit=limit, cursor=cursor, source=source, project=key
        )

    def get(self, ref: str) -> Episode:
        """One attempt, by its reference; like `all` and `forget`, on the thread of the memory."""
        self._settle()
        return self.shared.store().episodes.get(ref)

    def patterns(
        self,
        *,
        min_frequency: int = 3,
        project: str | None = None,
        agent: str | None = None,
        since: str | None = None,
    ) -> list[Pattern]:
        """What recurs over attempts, worked out now; what several agents share first.

        `min_frequency` is how many sessions or recorded attempts must show it. With fewer
        than three, what may be chance comes along.
        """
        from recollect.episodes.patterns import patterns_in

        episodes = self._each(project=project, agent=agent, since=since)
        return patterns_in(episodes, frequency=max(min_frequency, 1))

    def _each(
        self, *, project: str | None, agent: str | None = None, since: str | None = None
    ) -> Iterator[tuple[str, Episode]]:
        from recollect.errors import UsageError
        from recollect.memory.projects import MemoryProjects
        from recollect.system.clock import MOMENTS, find_moment

        moment = None if since is None else find_moment(since)
        if since is not None and moment is None:
            raise UsageError(f'"{since[:50]}" is not a date.', hint=f"Use {MOMENTS}.")
        key = None if project is None else MemoryProjects(self.shared).get(project)
        self._settle()
        return self.shared.store().episodes.each(project=key, agent=agent, since=moment)

    def heuristics(
        self, *, everything: bool = False, min_frequency: int = 3, project: str | None = None
    ) -> list[Heuristic]:
        """What to do when, as patterns say, worked out now; the surest first.

        `everything` brings what failed too often.
        """
        from recollect.episodes.heuristics import heuristics_of
        from recollect.episodes.patterns import patterns_in

        patterns = patterns_in(
            self._each(project=project), frequency=max(min_frequency, 1), contradicted=everything
        )
        return heuristics_of(patterns, everything=everything)

    def forget(self, ref: str) -> Episode:
        """Remove an attempt that was recorded live for good; the answer is what it was."""
        self._settle()
        return self.shared.store().forgetting.episode(ref)

    def _settle(self) -> None:
        """What was completed here is found here."""
        if self._recorder is not None:
            self._recorder.settle()

    def close(self) -> None:
        """Write what is recorded; may be called twice."""
        recorder, retriever = self._recorder, self._retriever
        self._recorder = self._retriever = None
        try:
            if recorder is not None:
                recorder.close()
        finally:
            if retriever is not None:
                retriever.close()

    def _ensure_recorder(self) -> Recorder:
        from recollect.episodes.own_store import MAKING
        from recollect.episodes.recording import Recorder, when_full
        from recollect.episodes.writer import EpisodeWriter

        with MAKING:
            if self._recorder is None:
                settings = self.shared.settings
                redactor = self.shared.redactor if settings.flag("redact.enabled") else None
                writer = EpisodeWriter(self._own_store(), redactor, settings.domain_of)
                full = when_full(settings.text("episodes.when_full"))
                recorder = Recorder(writer, most=settings.number("episodes.queue"), when_full=full)
                recorder.warm_up()
                self._recorder = recorder
                self.shared.when_closed(self.close)
            return self._recorder

    def _ensure_retriever(self) -> Retriever:
        from recollect.episodes.own_store import MAKING
        from recollect.episodes.retrieve import Retriever

        with MAKING:
            if self._retriever is None:
                self._retriever = Retriever(self._own_store())
                self.shared.when_closed(self.close)
            return self._retriever

    def _own_store(self) -> OwnStore:
        from recollect.episodes.own_store import OwnStore
        from recollect.store import open_store

        path = self.shared.settings.store
        return OwnStore(path, lambda: open_store(path))
