"""The front door, learn: attempts at tasks, and what recurs in them."""

from __future__ import annotations

from recollect.memory.projects import Projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.learn.own_store import OwnStore
    from recollect.learn.recording import Recorder
    from recollect.learn.retrieve import Retriever
    from recollect.model.answers import Answers
    from recollect.model.episodes import Context, Ending, Episode, EpisodeHit, Flushed, Reward, Step
    from recollect.model.patterns import Heuristic, Pattern, PatternStatus
    from recollect.model.reports import Learned


class Learn(Projects):
    """Record attempts, find earlier ones, and learn from all of them."""

    # Episodes: unlike the rest of a memory, these may be called from any thread.

    _recorder: Recorder | None = None
    _retriever: Retriever | None = None

    def start_episode(self, task: str, context: Context | None = None) -> str:
        """Begin an attempt at a task; the id that its steps and its end are logged by."""
        return (self._recorder or self._ensure_recorder()).start(task, context)

    def log_step(self, episode: str, step: Step) -> None:
        """Add a step to an attempt that is under way."""
        (self._recorder or self._ensure_recorder()).log(episode, step)

    def complete_episode(self, episode: str, outcome: Ending | str) -> Reward:
        """End an attempt; what it was worth.

        It is in the store after `flush`, or within 50 ms. What is still under
        way when the memory is closed is kept as abandoned.
        """
        return (self._recorder or self._ensure_recorder()).complete(episode, outcome)

    def flush(self) -> Flushed:
        """Write every attempt that was completed before this was called."""
        return (self._recorder or self._ensure_recorder()).flush()

    def retrieve_relevant(
        self, task: str, context: Context | None = None, limit: int = 5
    ) -> list[EpisodeHit]:
        """Earlier attempts that bear on a task, recorded or derived from
        sessions, the best first, each with why.
        """
        return (self._retriever or self._ensure_retriever()).find(task, context, limit=limit)

    def episode(self, ref: str) -> Episode:
        """One attempt, by its reference."""
        return self._existing().episodes.get(ref)

    def forget_episode(self, ref: str) -> Episode:
        """Remove an attempt that was recorded live for good; the answer is what it was."""
        return self._existing().forgetting.episode(ref)

    def close(self) -> None:
        """Write what is recorded, and let go of the store; may be called twice."""
        recorder, retriever = self._recorder, self._retriever
        self._recorder = self._retriever = None
        try:
            if recorder is not None:
                recorder.close()
        finally:
            if retriever is not None:
                retriever.close()
            super().close()

    def _ensure_recorder(self) -> Recorder:
        from recollect.learn.keeping import Keeping
        from recollect.learn.own_store import MAKING
        from recollect.learn.recording import Recorder, when_full

        with MAKING:
            if self._recorder is None:
                settings = self.settings
                redactor = self.redactor if settings.flag("redact.enabled") else None
                keeping = Keeping(self._own_store(), redactor, settings.domain_of)
                full = when_full(settings.text("episodes.when_full"))
                recorder = Recorder(keeping, most=settings.number("episodes.queue"), when_full=full)
                recorder.warm_up()
                self._recorder = recorder
            return self._recorder

    def _ensure_retriever(self) -> Retriever:
        from recollect.learn.own_store import MAKING
        from recollect.learn.retrieve import Retriever

        with MAKING:
            if self._retriever is None:
                self._retriever = Retriever(self._own_store())
            return self._retriever

    def _own_store(self) -> OwnStore:
        from recollect.learn.own_store import OwnStore
        from recollect.store import open_store

        path = self.settings.store
        return OwnStore(path, lambda: open_store(path))

    # Patterns

    def learn(self) -> Iterator[Learned]:
        """Learn from the sessions and attempts that are new, a report after each few.

        The last one counts.
        """
        from recollect.learn.learning import learn

        return learn(
            self._existing(), least=self._least_sessions(), domain_of=self.settings.domain_of
        )

    def detect(
        self,
        *,
        min_frequency: int | None = None,
        agent: str | None = None,
        project: str | None = None,
        since: str | None = None,
        limit: int | None = 20,
    ) -> Answers[Pattern]:
        """What recurs over sessions and agents, what several agents share first.

        `min_frequency` is how many sessions must show it; below the setting
        `learn.min_sessions` it also brings what may be chance.
        """
        from recollect.errors import UsageError
        from recollect.learn.detecting import detect
        from recollect.store.tallies import Selection
        from recollect.system.clock import MOMENTS, find_moment

        store = self._existing()
        moment = None if since is None else find_moment(since)
        if since is not None and moment is None:
            raise UsageError(f"{since[:50]} is no time", hint=f"such as {MOMENTS}")
        selection = Selection(agent, None if project is None else self.get_project(project), moment)
        answers = detect(
            store,
            least=self._least_sessions(),
            frequency=min_frequency,
            selection=selection,
            half_life_days=self._half_life(),
            limit=limit,
        )
        if waiting := store.old.count_unlearned():
            answers.remarks.append(
                f"{waiting} sessions were not learned from yet; `recollect learn` does that"
            )
        return answers

    def patterns(
        self, *statuses: PatternStatus, limit: int | None = None, evidence: int = 5
    ) -> list[Pattern]:
        """Every pattern that is kept, the strongest first.

        Of these statuses only, if any are given.
        """
        from recollect.learn.detecting import patterns

        least, half_life = self._least_sessions(), self._half_life()
        return patterns(
            self._existing(),
            least=least,
            half_life_days=half_life,
            statuses=statuses,
            limit=limit,
            shown=evidence,
        )

    def heuristics(self, *, everything: bool = False) -> list[Heuristic]:
        """What to do when, the surest first; `everything` brings those that were retired."""
        from recollect.learn.heuristics import heuristics

        self._settle_patterns()
        return heuristics(self._existing(), everything=everything)

    def _settle_patterns(self) -> None:
        """Count again what is not as it was, so that patterns and
        heuristics are those of what is stored now.
        """
        from recollect.learn.learning import bring_up_to_date

        bring_up_to_date(self._existing(), least=self._least_sessions())

    def _least_sessions(self) -> int:
        return max(self.settings.number("learn.min_sessions"), 1)

    def _half_life(self) -> int:
        return max(self.settings.number("learn.half_life_days"), 0)
