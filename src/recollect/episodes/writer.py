"""Completed attempts on their way into the store: without secrets, with their domain.

Taking secrets out costs more than recording does, so it is done here, by the
one who writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from recollect.episodes.own_store import OwnStore
from recollect.model.episodes import Context, Episode, Reward, Step
from recollect.model.sessions import Outcome
from recollect.system.clock import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.redact.values_in import RedactsMany
    from recollect.store import Store


class CompletedEpisode(Struct, gc=False):
    """A completed attempt; put together as an episode only when it is written."""

    ref: str
    task: str
    context: Context
    started_ns: int
    steps: list[Step]
    outcome: Outcome
    result: str | None
    error: str | None
    duration_ms: int
    reward: Reward

    def texts(self) -> Iterator[str | None]:
        """Every text in it, in the order in which `episode` takes them."""
        context = self.context
        yield from (
            self.task,
            self.result,
            self.error,
            context.language,
            context.domain,
            context.project,
            *context.tags,
        )
        for step in self.steps:
            yield from (step.tool, step.action, step.observation)

    def episode(
        self, texts: Iterator[str | None], domain_of: Callable[[str | None], str | None]
    ) -> Episode:
        """As the store knows it, with these texts in the place of its own."""
        task, result, error, language, domain, project = (next(texts) for _ in range(6))
        tags = tuple(next(texts) or "" for _ in self.context.tags)
        return Episode(
            ref=self.ref, source="live", task=task or "", outcome=self.outcome, result=result,
            error=error,
            context=Context(language=language, domain=domain or domain_of(project), tags=tags,
            project=project),
            started_at=iso(self.started_ns // 1_000_000), duration_ms=self.duration_ms,
            tokens=self._tokens(), reward=self.reward,
            steps=[
                Step(next(texts) or "", next(texts) or "", step.latency_ms, step.tokens,
                step.success, next(texts) or "")
                for step in self.steps
            ],
        )  # fmt: skip

    def _tokens(self) -> int | None:
        told = [step.tokens for step in self.steps if step.tokens is not None]
        return sum(told) if told else None


class EpisodeWriter:
    """Writes attempts into a store that is opened when there is something to write.

    One thread at a time.
    """

    def __init__(
        self,
        store: OwnStore,
        redactor: Callable[[Store], RedactsMany] | None,
        domain_of: Callable[[str | None], str | None],
    ) -> None:
        self._own, self._make_redactor, self._domain_of = store, redactor, domain_of
        self._redactor: tuple[Store, RedactsMany] | None = None

    def keep(self, batch: Sequence[CompletedEpisode]) -> None:
        """Write these attempts, all or none."""
        store = self._own.ensure()
        texts = iter(self._clean(store, [text for done in batch for text in done.texts()]))
        store.episodes.keep([done.episode(texts, self._domain_of) for done in batch])

    def get_ready(self) -> None:
        """Open the store, if there is one, and learn what a secret looks like: the
        first attempt would have to wait for both.
        """
        store = self._own.find()
        if store is not None:
            self._clean(store, [""])

    def _clean(self, store: Store, texts: list[str | None]) -> list[str | None]:
        if self._make_redactor is None:
            return texts
        if self._redactor is None or self._redactor[0] is not store:
            # Another store has another key.
            self._redactor = store, self._make_redactor(store)
        clean = iter(self._redactor[1].redact_all([text for text in texts if text is not None]))
        return [None if text is None else next(clean) for text in texts]

    def close(self) -> None:
        """Let go of the store; may be called twice."""
        self._own.close()
        self._redactor = None

    def leave(self) -> None:
        """In a forked child: the connection is the parent's."""
        self._own.leave()
        self._redactor = None
