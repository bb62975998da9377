"""How close the words of turns are to each word of a query.

A vector blurs all words of a turn into one place. Here each word of the query
looks for the word nearest to it: "crash" finds "segfault" in a turn about many
other things. Words are compared by their rows in the static model's table;
which of these a turn holds was noted down when it was embedded, so that
nothing has to be read or split again.

On the path of a cold search: simsimd compares, and numpy is not imported.
"""

from __future__ import annotations

from functools import cache

from recollect.embed.static import StaticEncoder
from recollect.embed.tokens import tokens
from recollect.recall.stop_words import STOP_WORDS
from recollect.store.codes import cosines, numbers_in, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Two words that are less alike than this have nothing to do with each other.
THRESHOLD = 0.3
# Nobody's question has more telling words; a pasted log has.
MOST_WORDS = 24
# Of a long turn so many words are noted down.
MOST_NOTED = 256


@cache
def words_encoder() -> StaticEncoder:
    """The table that words are compared by, whatever model the vectors are by."""
    return StaticEncoder()


class Closeness:
    """The words of one query, ready to be compared with those of turns."""

    def __init__(self, text: str) -> None:
        self._encoder = words_encoder()
        listed = self._encoder.listed_rows(text)
        said = {token for token, whole in tokens(text) if not whole and token not in STOP_WORDS}
        # How much of the query the table knows at all, by letters.
        size = sum(map(len, said))
        self.known = sum(len(word) for word in said if word in listed) / size if size else 0.0
        self._rows = [row for word, row in listed.items() if word not in STOP_WORDS][:MOST_WORDS]

    def tables(self, turns: Mapping[int, bytes]) -> list[dict[int, float]]:
        """For each word of the query, how close the nearest word of each turn is.

        Turns with none near it are left out.
        """
        words = {turn: frozenset(numbers_in("H", rows)) for turn, rows in turns.items()}
        # What was noted with a longer table means nothing in this one.
        rows = [
            row for row in sorted(frozenset().union(*words.values())) if row < self._encoder.listed
        ]
        codes = b"".join(map(self._encoder.row_code, rows))
        return [self._table(words, rows, codes, self._encoder.row_code(row)) for row in self._rows]

    def _table(
        self, words: dict[int, frozenset[int]], rows: list[int], codes: bytes, code: bytes
    ) -> dict[int, float]:
        alike = {
            row: similarity
            for row, similarity in zip(rows, cosines(code, codes), strict=True)
            if similarity >= THRESHOLD
        }
        near = frozenset(alike)
        found = {}
        for turn, held in words.items():
            shared = held & near
            if shared:
                found[turn] = max(alike[row] for row in shared)
        return found


def note_words(texts: Sequence[str]) -> list[bytes]:
    """The telling words of each text, as the store keeps them: row
    numbers of sixteen bits, each once.
    """
    encoder = words_encoder()
    ignored = set(encoder.listed_rows(" ".join(STOP_WORDS)).values())
    return [
        stored("H", [row for row in rows if row not in ignored][:MOST_NOTED])
        for rows in encoder.listed_rows_of(texts)
    ]
