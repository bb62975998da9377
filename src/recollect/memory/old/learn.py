"""What recurs over sessions and attempts."""

from __future__ import annotations

from recollect.memory.old.base import OldBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.model.answers import Answers
    from recollect.model.digests import Digest
    from recollect.model.episodes import Episode
    from recollect.model.patterns import Heuristic, Pattern, PatternStatus
    from recollect.model.reports import Learned
    from recollect.store.history import Passage


class Learn(OldBase):
    """Learn from sessions and attempts."""

    def learn(self) -> Iterator[Learned]:
        """Learn from the sessions and attempts that are new, a report after each few.

        The last one counts.
        """
        from recollect.patterns.learning import learn

        return learn(self.shared.store(), least=self._least_sessions(), derive=self.attempts)

    def attempts(self, digest: Digest, passages: Sequence[Passage]) -> list[Episode]:
        """The attempts that a session's tasks come to."""
        from recollect.episodes.derive import derive

        return derive(digest, passages, self.shared.settings.domain_of)

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
        from recollect.patterns.detecting import detect
        from recollect.store.tallies import Selection
        from recollect.system.clock import MOMENTS, find_moment

        store = self.shared.store()
        moment = None if since is None else find_moment(since)
        if since is not None and moment is None:
            raise UsageError(f'"{since[:50]}" is not a date.', hint=f"Use {MOMENTS}.")
        selection = Selection(
            agent, None if project is None else self.projects.get(project), moment
        )
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
                f"New sessions: {waiting}. To look for patterns in them now: recollect learn"
            )
        return answers

    def patterns(
        self, *statuses: PatternStatus, limit: int | None = None, evidence: int = 5
    ) -> list[Pattern]:
        """Every pattern that is kept, the strongest first.

        Of these statuses only, if any are given.
        """
        from recollect.patterns.detecting import patterns

        least, half_life = self._least_sessions(), self._half_life()
        return patterns(
            self.shared.store(),
            least=least,
            half_life_days=half_life,
            statuses=statuses,
            limit=limit,
            shown=evidence,
        )

    def heuristics(self, *, everything: bool = False) -> list[Heuristic]:
        """What to do when, the surest first; `everything` brings those that were retired."""
        from recollect.patterns.heuristics import heuristics

        self.settle_patterns()
        return heuristics(self.shared.store(), everything=everything)

    def settle_patterns(self) -> None:
        """Count again what is not as it was, so that patterns and
        heuristics are those of what is stored now.
        """
        from recollect.patterns.learning import bring_up_to_date

        bring_up_to_date(self.shared.store(), least=self._least_sessions())

    def _least_sessions(self) -> int:
        return max(self.shared.settings.number("learn.min_sessions"), 1)

    def _half_life(self) -> int:
        return max(self.shared.settings.number("learn.half_life_days"), 0)
