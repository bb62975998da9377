"""Stored attempts in columns, so that all of them can be weighed at once.

Vectors are made when an attempt is first seen, by the encoder that comes with
the package: five thousand take a tenth of a second, and nothing is stored that
another version of it would have to make again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.embed.static import StaticEncoder
from recollect.model.episodes import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.episodes import StoredEpisode

Column = NDArray[np.float32]
Number = TypeVar("Number", np.int64, np.float32, np.float64)

# How much of a match each named part of a context is.
OF_PROJECT, OF_LANGUAGE, OF_TAGS, OF_DOMAIN = 0.4, 0.25, 0.2, 0.15
# Half of what the encoder has: tasks are short, told apart no worse by
# it, and weighed in half the time.
DIMENSIONS = 128
ENCODED_AT_ONCE = 2_000
_NONE, _UNHEARD = -1, -2


class EpisodeIndex:
    """One row for each attempt, in the order of their ids."""

    def __init__(self) -> None:
        self._encoder = StaticEncoder()
        self._names: dict[str, int] = {}
        self._tags: dict[str, array[int]] = {}
        self._rows: dict[int, int] = {}
        self.count = self.largest = 0
        self.ids = np.zeros(0, np.int64)
        self.vectors = np.zeros((0, DIMENSIONS), np.float32)
        self.worth = np.zeros(0, np.float32)
        self.started_at = np.zeros(0, np.float64)
        # Equal for a task and its copies in forks of its session.
        self.copy_of = np.zeros(0, np.int64)
        # Languages and domains are numbered here, projects have the numbers of their rows.
        self._project, self._language, self._domain = (np.zeros(0, np.int64) for _ in range(3))

    def _make_room(self, rows: int) -> None:
        if rows > len(self.ids):
            rows = max(rows, 2 * len(self.ids))
            self.ids, self.vectors = _longer(self.ids, rows), _longer(self.vectors, rows)
            self.worth, self.started_at = _longer(self.worth, rows), _longer(self.started_at, rows)
            self.copy_of, self._project = _longer(self.copy_of, rows), _longer(self._project, rows)
            self._language, self._domain = (
                _longer(self._language, rows),
                _longer(self._domain, rows),
            )

    def add(self, kept: Iterable[StoredEpisode]) -> None:
        """More attempts, with larger ids than those before."""
        batch: list[StoredEpisode] = []
        for one in kept:
            batch.append(one)
            if len(batch) == ENCODED_AT_ONCE:
                self._add(batch)
                batch = []
        if batch:
            self._add(batch)

    def _add(self, batch: list[StoredEpisode]) -> None:
        start, end = self.count, self.count + len(batch)
        self._make_room(end)
        self.vectors[start:end] = self._encoded([one.task for one in batch])
        for row, one in enumerate(batch, start):
            self.ids[row], self.worth[row] = one.id, one.worth or 0.0
            self.started_at[row] = -np.inf if one.started_at is None else one.started_at
            self._project[row] = _NONE if one.project is None else one.project
            self._language[row], self._domain[row] = (
                self._name(one.language),
                self._name(one.domain),
            )
            self.copy_of[row] = hash((one.task, one.started_at)) if one.derived else one.id
            self._rows[one.id] = row
            for tag in set(one.tags):
                self._tags.setdefault(tag, array("q")).append(row)
        self.count, self.largest = end, batch[-1].id

    def keep_only(self, ids: Iterable[int]) -> None:
        """Pass over the attempts that are not among these any more."""
        for number in self._rows.keys() - set(ids):
            # A vector of zeros is like nothing; see `FLOOR` in retrieve.
            self.vectors[self._rows.pop(number)] = 0.0

    @property
    def mostly_gone(self) -> bool:
        """Whether it is time to begin again without the gaps."""
        return self.count > 2 * len(self._rows) + ENCODED_AT_ONCE

    def meaning(self, task: str) -> Column:
        """How alike each attempt's task is, between 0 and 1."""
        # Not `@`: that starts a thread for every core, which wait for each
        # other on a machine that is busy.
        alike: Column = np.einsum("ij,j->i", self.vectors[: self.count], self._encoded([task])[0])
        return np.maximum(alike, 0.0)

    def _encoded(self, tasks: list[str]) -> Column:
        # Cut here: an encoder of fewer dimensions copies its whole table for every text.
        vectors = self._encoder.encode_documents(tasks)[:, :DIMENSIONS]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Column = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return unit

    def match(self, context: Context, projects: Iterable[int]) -> Column:
        """How much of a context each attempt shares, between 0 and 1, of what the context names."""
        count = self.count
        shared, named = np.zeros(count, np.float32), 0.0
        if context.project is not None:
            for project in projects:
                shared[self._project[:count] == project] += OF_PROJECT
            named += OF_PROJECT
        for column, name, weight in (
            (self._language, context.language, OF_LANGUAGE),
            (self._domain, context.domain, OF_DOMAIN),
        ):
            if name is not None:
                shared[column[:count] == self._names.get(name.lower(), _UNHEARD)] += weight
                named += weight
        if context.tags:
            asked = set(context.tags)
            for tag in asked & self._tags.keys():
                shared[np.frombuffer(self._tags[tag], np.int64)] += OF_TAGS / len(asked)
            named += OF_TAGS
        return shared / np.float32(named) if named else shared

    def _name(self, name: str | None) -> int:
        return _NONE if name is None else self._names.setdefault(name.lower(), len(self._names))


def _longer(column: NDArray[Number], rows: int) -> NDArray[Number]:
    made = np.zeros((rows, *column.shape[1:]), column.dtype)
    made[: len(column)] = column
    return made
