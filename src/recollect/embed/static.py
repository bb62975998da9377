"""The encoder that comes with the package: a table of words, added up.

A text's vector is the sum of the rows of its tokens, made one long. A token
seen n times counts √n; how much a word matters at all is the length of its
row, which training chose. A word that is not listed is the mean of the rows of
its letter runs. There is no word order and no context, which is why a question
costs a fifth of a millisecond and a batch some twenty microseconds for each text.

A new process answers one question: it maps the file, halves its way to the few
words it needs and adds their rows in plain Python, without numpy and without
reading the list. A process that stays makes dictionaries on its first batch.

"""

from __future__ import annotations

import os
import sys
from array import array

from recollect.embed.table import WordTable
from recollect.embed.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from recollect.embed.sums import Sums

__all__ = ["StaticEncoder"]

MODEL = "recollect-static-256.bin"
# Training gave the beginning of each vector a meaning of its own at these lengths.
NESTED = (64, 128)


class StaticEncoder:
    """Unit vectors from the table in the package, or from another file of the same layout.

    The name holds the file's, so a model that was trained again goes into a
    file of another name: its vectors cannot be compared with the old ones.
    """

    def __init__(self, path: str | None = None, dimensions: int | None = None) -> None:
        path = path or os.path.join(os.path.dirname(__file__), MODEL)
        self._table = WordTable(path)
        self.dimensions = dimensions or self._table.dimensions
        self.listed = self._table.words
        self.name = f"static:{os.path.basename(path).removesuffix('.bin')}"
        self._sums: Sums | None = None

        if self.dimensions != self._table.dimensions:
            self._check_nested()
            self.name += f":{self.dimensions}"

    def encode_query(self, text: str) -> array[float]:
        """The vector of a question; all zeros for one without tokens."""
        if "numpy" in sys.modules:
            # Already paid for: a hundred times as fast, after the first one.
            return array("f", self.encode_documents([text])[0].tobytes())
        return self.encode_plainly(text)

    def encode_plainly(self, text: str) -> array[float]:
        """The same without numpy, for a process that asks once."""
        vector = [0.0] * self.dimensions
        for row, weight in self._weights(text).items():
            weight *= self._table.scales[row]
            vector = [
                number + weight * step
                for number, step in zip(vector, self._table.row(row, self.dimensions), strict=True)
            ]

        length = sum([number * number for number in vector]) ** 0.5
        return array("f", [number / length for number in vector] if length else vector)

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text, in order; a row of zeros for a text without tokens."""
        return self._made_sums().encode(texts)

    def listed_rows(self, text: str) -> dict[str, int]:
        """The tokens of a question that are in the list, each with its row."""
        found = {
            token: self._table.find(token)
            for token in dict.fromkeys(token for token, _ in tokens(text))
        }
        return {token: row for token, row in found.items() if row is not None}

    def listed_rows_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The rows of the listed tokens of each text, each row once."""
        return self._made_sums().listed(texts)

    def row_code(self, row: int) -> bytes:
        """A row of the table, one signed byte a dimension."""
        start = self._table.rows_at + row * self._table.dimensions
        return self._table.map[start : start + self._table.dimensions]

    def _made_sums(self) -> Sums:
        if self._sums is None:
            from recollect.embed.sums import Sums

            self._sums = Sums(self._table, self.dimensions)
        return self._sums

    def _weights(self, text: str) -> dict[int, float]:
        """How often each row of the table is to be added."""
        counts: dict[tuple[str, bool], int] = {}
        for seen in tokens(text):
            counts[seen] = counts.get(seen, 0) + 1

        weights: dict[int, float] = {}
        for (token, whole), count in counts.items():
            rows = self._table.rows_of(token, whole=whole)
            if rows:
                weight = count**0.5 / len(rows)
                for row in rows:
                    weights[row] = weights.get(row, 0.0) + weight
        return weights

    def _check_nested(self) -> None:
        known = [length for length in NESTED if length < self._table.dimensions] + [
            self._table.dimensions
        ]
        if self.dimensions not in known:
            from recollect.errors import UsageError

            raise UsageError(
                f"{self.name} has no vectors of {self.dimensions} numbers.",
                hint=f"Choose {', '.join(map(str, known))}.",
            )
