"""Finds earlier attempts that bear on a task: by meaning, context, how they went and how long ago.

    score = 0.55 meaning + 0.20 context + 0.15 outcome + 0.10 recency

Meaning is how alike the words of the two tasks are to the encoder of the
package. Context is the share of what the asker names (project, language, tags,
domain) that the attempt has too. Outcome is the attempt's reward, so what
worked comes before what did not; but an attempt that failed at the very same
task is worth knowing, and meaning outweighs the rest. Recency halves in thirty
days. What is not alike at all is no answer, however recent it is.

Attempts are kept in memory once they were asked for; each question first looks
whether the store has others by now. Any thread may ask.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from recollect.episodes import forks, limits
from recollect.episodes.index import EpisodeIndex
from recollect.episodes.own_store import OwnStore
from recollect.errors import NumberOutOfRange
from recollect.model.episodes import Context, Episode, EpisodeHit
from recollect.system.clock import now_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store import Store
    from recollect.store.episodes import EpisodeState

OF_MEANING, OF_CONTEXT, OF_OUTCOME, OF_RECENCY = 0.55, 0.20, 0.15, 0.10
# Tasks that have nothing to do with each other stay below this, nearly always; those
# that say the same in other words do not.
FLOOR = 0.2
HALF_LIFE_MS = 30 * 86_400_000
MOST_HITS = 100

_WENT = {
    "success": "went well", "partial": "went partly well", "fail": "failed",
    "abandoned": "was abandoned",
    "uncertain": "unknown how it went", None: "unknown how it went",
}  # fmt: skip
_AGES = ((365, "year"), (30, "month"), (7, "week"), (1, "day"))


class Retriever:
    """The attempts of a store in memory, as of the last question."""

    def __init__(self, store: OwnStore) -> None:
        self._own = store
        self._begin()
        forks.notice(self)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._index: EpisodeIndex | None = None
        self._seen: EpisodeState | None = None

    def begin_anew(self) -> None:
        """In a forked child: the connection is the parent's."""
        self._own.leave()
        self._begin()

    def find(
        self, task: str, context: Context | None = None, *, limit: int = 5
    ) -> list[EpisodeHit]:
        """The attempts that bear on a task, the best first."""
        limits.check_text("task", task, limits.MOST_TASK, empty=False)
        if context is not None:
            limits.check_context(context)
        if type(limit) is not int or not 1 <= limit <= MOST_HITS:
            raise NumberOutOfRange(
                f"limit must be a whole number from 1 to {MOST_HITS}.", hint="Leave it out for 5."
            )
        with self._lock:
            store = self._own.find()
            if store is None:
                return []
            return self._find(store, self._refreshed(store), task, context or Context(), limit)

    def close(self) -> None:
        """Let go of the store and of what is in memory; may be called twice."""
        with self._lock:
            self._own.close()
            self._store = self._index = None

    def _refreshed(self, store: Store) -> EpisodeIndex:
        """What is in memory, as the store has it now."""
        state, index, seen = store.episodes.state(), self._index, self._seen
        if index is not None and (seen is None or state.gone != seen.gone):
            index.keep_only(store.episodes.numbers())
        if (
            index is None
            or store is not self._store
            or seen is None
            or state.reworded != seen.reworded
            or index.mostly_gone
        ):
            index = EpisodeIndex()
        if state.largest > index.largest:
            index.add(store.episodes.kept_after(index.largest))
        self._store, self._index, self._seen = store, index, state
        return index

    def _find(
        self, store: Store, index: EpisodeIndex, task: str, context: Context, limit: int
    ) -> list[EpisodeHit]:
        meaning = index.meaning(task)
        projects = store.projects.numbers(context.project) if context.project is not None else []
        match = index.match(context, projects)
        age_ms = np.maximum(now_ms() - index.started_at[: index.count], 0.0)
        parts = {
            "meaning": OF_MEANING * meaning,
            "context": OF_CONTEXT * match,
            "outcome": OF_OUTCOME * index.worth[: index.count],
            "recency": OF_RECENCY * np.exp2((age_ms / -HALF_LIFE_MS).astype(np.float32)),
        }
        score: NDArray[np.float32] = sum(parts.values(), start=np.zeros(index.count, np.float32))
        rows = _best(score, np.flatnonzero(meaning >= FLOOR), index.copy_of, limit)
        found = store.episodes.find([int(index.ids[row]) for row in rows])
        hits = []
        for row in rows:
            episode = found.get(int(index.ids[row]))
            if episode is not None:
                given = {name: round(float(part[row]), 4) for name, part in parts.items()}
                why = _why(
                    episode, context, float(meaning[row]), float(match[row]), float(age_ms[row])
                )
                hits.append(
                    EpisodeHit(
                        episode=episode, score=round(float(score[row]), 4), parts=given, why=why
                    )
                )
        return hits


def _best(
    score: NDArray[np.float32], rows: NDArray[np.intp], copy_of: NDArray[np.int64], limit: int
) -> list[int]:
    """The best of these rows, each task once; of equals the newer one first."""
    # More than are asked for, because some may be copies.
    most = 4 * limit + 20
    if len(rows) > most:
        rows = rows[np.argpartition(score[rows], len(rows) - most)[len(rows) - most :]]
    chosen: dict[int, int] = {}
    for row in sorted(rows.tolist(), key=lambda row: (-score[row], -row)):
        chosen.setdefault(int(copy_of[row]), row)
        if len(chosen) == limit:
            break
    return list(chosen.values())


def _why(episode: Episode, context: Context, meaning: float, match: float, age_ms: float) -> str:
    said = [
        "nearly the same task"
        if meaning >= 0.8
        else "a task much like it"
        if meaning >= 0.45
        else "a task somewhat like it"
    ]
    if match:
        said.append(
            f"same {_listed(_shared(episode.context, context))}"
            if _shared(episode.context, context)
            else "same project"
        )
    said.append(_WENT[episode.outcome])
    if np.isfinite(age_ms):
        said.append(_ago(int(age_ms // 86_400_000)))
    return "; ".join(said)


def _shared(own: Context, asked: Context) -> list[str]:
    names = [
        name
        for name in ("project", "language", "domain")
        if getattr(asked, name) is not None
        and (getattr(own, name) or "").lower() == getattr(asked, name).lower()
    ]
    tags = sorted(set(own.tags) & set(asked.tags))
    return names + ([f"tag{'s' if len(tags) > 1 else ''} {', '.join(tags)}"] if tags else [])


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ago(days: int) -> str:
    for length, name in _AGES:
        if days >= length:
            count = days // length
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "today"
