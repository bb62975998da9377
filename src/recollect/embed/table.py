"""The file of the built-in encoder, mapped: where a word's row is, and what is in it.

The file, little-endian, each section on a multiple of 64 bytes:

    header   8 bytes "RCSTAT02"; uint32 dimensions D, words V, buckets B, bytes of the list W
    starts   uint32, V + 1 of them: where each word begins in the list, and where the list ends
    list     the V words in UTF-8, sorted by their bytes, each followed by a newline
    scales   float32, V + B of them
    rows     int8, (V + B) x D: the words in the order of the list, then the buckets

A row's numbers are its int8 times its scale. The first 128 or 64 numbers of a
vector, made one long again, are a vector too. `train/` makes the file.
"""

from __future__ import annotations

from mmap import ACCESS_READ, mmap

from recollect.embed.tokens import grams

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

MAGIC = b"RCSTAT02"
HEADER_BYTES = 24
ALIGNMENT = 64


class WordTable:
    """The mapped file: where a word's row is, and what is in it."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                self.map = mmap(file.fileno(), 0, access=ACCESS_READ)
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror}") from error
        except ValueError as error:  # an empty file cannot be mapped
            raise self._unusable("is empty") from error

        if len(self.map) < HEADER_BYTES or self.map[:8] != MAGIC:
            raise self._unusable(f"does not begin with {MAGIC.decode()}")
        # Numbers are read in the machine's own order: where that is not the
        # file's, the sizes make no sense and the file is refused just below.
        view = memoryview(self.map)
        self.dimensions, self.words, self.buckets, list_bytes = view[8:HEADER_BYTES].cast("I")
        count = self.words + self.buckets
        starts_at = _aligned(HEADER_BYTES)
        self.list_at = _aligned(starts_at + 4 * (self.words + 1))
        self.scales_at = _aligned(self.list_at + list_bytes)
        self.rows_at = _aligned(self.scales_at + 4 * count)
        expected = _aligned(self.rows_at + count * self.dimensions)
        if len(self.map) != expected or not (self.dimensions and self.words and self.buckets):
            raise self._unusable(f"has {len(self.map)} bytes; its header says {expected}")

        self.starts = view[starts_at : starts_at + 4 * (self.words + 1)].cast("I")
        self.scales = view[self.scales_at : self.scales_at + 4 * count].cast("f")
        self.rows = view[self.rows_at : self.rows_at + count * self.dimensions].cast("b")
        if self.starts[self.words] != list_bytes:
            raise self._unusable("has a word list that does not end where its header says")

    def find(self, word: str) -> int | None:
        """The row of a listed word."""
        sought = word.encode()
        low, high = 0, self.words
        while low < high:
            middle = (low + high) // 2
            found = self.map[
                self.list_at + self.starts[middle] : self.list_at + self.starts[middle + 1] - 1
            ]
            if found == sought:
                return middle
            if found < sought:
                low = middle + 1
            else:
                high = middle
        return None

    def rows_of(self, token: str, *, whole: bool) -> list[int]:
        """The rows whose mean is a token: its own, those of its letter runs, or none."""
        row = self.find(token)
        if row is not None:
            return [row]
        return [] if whole else self.spell(token)

    def spell(self, word: str) -> list[int]:
        """The rows of the letter runs of a word that is not listed."""
        return [self.words + bucket for bucket in grams(word, self.buckets)]

    def row(self, number: int, dimensions: int) -> list[int]:
        """The first numbers of a row, in units of its scale."""
        start = number * self.dimensions
        return self.rows[start : start + dimensions].tolist()

    def list_words(self) -> list[str]:
        """Every word, in the order of the rows."""
        listed: list[str] = (
            self.map[self.list_at : self.list_at + self.starts[self.words]].decode().split("\n")
        )
        return listed[: self.words]

    def _unusable(self, fault: str) -> Exception:
        from recollect.errors import EncoderUnavailable

        return EncoderUnavailable(
            f"The static model {self.path} {fault}.",
            hint="Install recollect again, or make the file with train/pack.py. Search by "
            "word works without it: --mode text",
        )


def _aligned(position: int) -> int:
    return position + -position % ALIGNMENT
