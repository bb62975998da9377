"""Many texts at once: the sums of the static encoder, made with numpy.

Texts repeat their identifiers, so what an identifier comes to is worked out
once and kept as numbers ("slots"); a text is then one regular expression and
one look-up for each identifier. Counting is one sort for some dozens of texts,
and adding up is one product of weights and rows for each text, which measured
eight times as fast as numpy's own sum over stretches (`add.reduceat`).

Apart from static.py because a new process must not load numpy.
"""

from __future__ import annotations

import re
from array import array
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np

from recollect.embed.tokens import MAX_CHARS, MAX_WHOLE, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recollect.embed.table import WordTable

# The same as tokens.identifiers, which a test compares: runs of word
# characters, without the outer underscores.
IDENTIFIERS = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
# Texts are summed in groups of about this many characters: enough to share the cost of
# a numpy call, and few enough that even a group of unlisted words (three rows for each
# character, a kilobyte each) stays below 60 MB.
GROUP_CHARS = 4 * MAX_CHARS
# Logs are full of identifiers that never come back; beyond this many, with
# the unlisted words, we forget them all.
MAX_KEPT = 100_000


class Sums:
    """Encodes batches against one table; may be used by several threads."""

    def __init__(self, table: WordTable, dimensions: int) -> None:
        rows = table.words + table.buckets
        self._table = table
        self._vocabulary = {word: row for row, word in enumerate(table.list_words())}
        self._scales = np.frombuffer(table.map, "<f4", rows, table.scales_at)
        whole_rows = np.frombuffer(
            table.map, np.int8, rows * table.dimensions, table.rows_at
        ).reshape(rows, table.dimensions)
        self._rows = whole_rows[:, :dimensions]
        self._slots = SumSlots(table, self._vocabulary)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A unit row for each text, or zeros."""
        vectors = np.zeros((len(texts), self._rows.shape[1]), np.float32)
        begin = characters = 0
        found: list[int] = []
        ends: list[int] = []
        for number, text in enumerate(texts, 1):
            if not ends:
                slots = self._usable_slots()
            read = text[:MAX_CHARS]
            found.extend(chain.from_iterable(map(slots.__getitem__, IDENTIFIERS.findall(read))))
            ends.append(len(found))
            characters += len(read)
            if characters >= GROUP_CHARS or number == len(texts):
                self._add_up(slots, found, ends, vectors[begin:number])
                begin, characters, found, ends = number, 0, [], []

        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        vectors /= np.where(lengths > 0, lengths, 1)[:, None]
        return vectors

    def listed(self, texts: Sequence[str]) -> list[list[int]]:
        """The rows of the listed tokens of each text, each once, in order of appearance."""
        made = []
        for text in texts:
            slots = self._usable_slots()
            found = dict.fromkeys(
                chain.from_iterable(map(slots.__getitem__, IDENTIFIERS.findall(text[:MAX_CHARS])))
            )
            listed = (number % slots.row_count for number in found if number < slots.first_unlisted)
            made.append(list(dict.fromkeys(listed)))
        return made

    def _usable_slots(self) -> SumSlots:
        # Replaced and never emptied: another thread may be in the middle of a group.
        if len(self._slots) + len(self._slots.spelled) > MAX_KEPT:
            self._slots = SumSlots(self._table, self._vocabulary)
        return self._slots

    def _add_up(
        self, slots: SumSlots, found: list[int], ends: list[int], vectors: NDArray[np.float32]
    ) -> None:
        """The weighted sums of the rows of some texts, into `vectors`."""
        texts = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        pairs, counts = np.unique(texts << 32 | np.array(found, np.int64), return_counts=True)
        texts, numbers = pairs >> 32, pairs & 0xFFFFFFFF

        # An unlisted word stands for several rows, each with its share of the weight.
        widths = np.ones(len(numbers), np.int64)
        unlisted = numbers >= slots.first_unlisted
        spelled = [slots.spelled[number] for number in numbers[unlisted].tolist()]
        widths[unlisted] = [len(rows) for rows in spelled]
        rows = np.repeat(numbers % slots.row_count, widths)
        if spelled:
            rows[np.repeat(unlisted, widths)] = np.concatenate(spelled)
        weights = (
            np.repeat(np.sqrt(counts) / widths, widths).astype(np.float32) * self._scales[rows]
        )

        stops = np.cumsum(np.bincount(texts, widths, len(ends))).astype(np.int64).tolist()
        table = self._rows.take(rows, axis=0).astype(np.float32)
        start = 0
        for vector, stop in zip(vectors, stops, strict=True):
            np.dot(weights[start:stop], table[start:stop], out=vector)
            start = stop


class SumSlots(dict[str, tuple[int, ...]]):
    """What each identifier comes to, as numbers that stand for tokens.

    A listed part is its row. A listed whole is its row above all rows, because
    a word and an identifier that looks the same are counted apart. An unlisted
    part has a number above those, under which its rows are in `spelled`.
    """

    def __init__(self, table: WordTable, vocabulary: dict[str, int]) -> None:
        super().__init__()
        self._table, self._vocabulary = table, vocabulary
        self.row_count = table.words + table.buckets
        self.first_unlisted = 2 * self.row_count
        self.spelled: dict[int, array[int]] = {}
        self._numbers: dict[str, int] = {}
        self._next = count(self.first_unlisted)

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        slots = tuple(self._slots_of(identifier))
        if (
            len(identifier) <= MAX_WHOLE
        ):  # a longer one hardly comes back, and could fill the memory
            self[identifier] = slots
        return slots

    def _slots_of(self, identifier: str) -> list[int]:
        slots = []
        for token, whole in tokens_of(identifier):
            row = self._vocabulary.get(token)
            if row is not None:
                slots.append(row + self.row_count if whole else row)
            elif not whole:
                slots.append(self._number_of(token))
        return slots

    def _number_of(self, token: str) -> int:
        number = self._numbers.get(token)
        if number is None:
            number = next(self._next)
            # The rows come before the number, and setdefault lets one thread win.
            self.spelled[number] = array("q", self._table.spell(token))
            number = self._numbers.setdefault(token, number)
        return number
