"""Strong values that were recognised once in a store, and are removed wherever they stand in it.

A key is printed once behind its name and twenty times without it. Its name
tells it once; from then on it is known by keyed hashes: of its longest run of
letters and digits, which is what texts are searched for, and of the whole. How
long they are is told with them, so that few words of a text have to be hashed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import NamedTuple

from recollect.redact.values import is_random, is_sample, is_stand_in

FEWEST, MOST = 12, 255
# A shorter run would be looked for in too many words.
_SHORTEST_RUN = 8
_RUN = "A-Za-z0-9_-"
_IN_RUN = re.compile(f"[{_RUN}]")
# What ends with a letter or a digit, and is a sign of its own: in JSON, in an address.
_ESCAPE = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})$")
_RUNS = re.compile(f"[{_RUN}]{{{_SHORTEST_RUN},}}")
_MOST_STRANGERS = 1 << 14
# Every byte by whether it may be in a run.
_CLASSES = bytes(ord("x" if _IN_RUN.match(chr(byte)) else " ") for byte in range(256))
# What may stand before a run as if it were a part of it, by its length: as JSON writes a line
# end, its letter does; as addresses write a mark, its digits do.
_BEFORE = {
    0: re.compile(b""),
    1: re.compile(b"[nrt]"),
    2: re.compile(b"[0-9A-Fa-f]{2}"),
    3: re.compile(b"[nrt][0-9A-Fa-f]{2}"),
}
# The sizes before, of and behind the run; the hash of the run; the hash that the tag is made of.
_RUN_BYTES, _TAGGED_BYTES = 6, 8
DIGEST_BYTES = 3 + _RUN_BYTES + _TAGGED_BYTES


class KnownPlace(NamedTuple):
    """Where a known value stands in a text, and what kind it was recognised as."""

    start: int
    end: int
    kind: str


def is_strong(value: str) -> bool:
    """Whether a value can be nothing else wherever it stands: long, and random."""
    return (
        FEWEST <= len(value) <= MOST
        and value.isascii()
        and value.isprintable()
        and " " not in value
        and any(map(str.isdigit, value))
        and is_random(value)
        and not is_stand_in(value)
        and not is_sample(value)
    )


def digits_of(digest: bytes) -> str:
    """What the tag of a value shows that is known by this."""
    return digest[-_TAGGED_BYTES:][:4].hex()


class KnownValues:
    """The strong values of one store, by their keyed hashes."""

    def __init__(
        self, key: bytes, tagged: Callable[[str], bytes], is_name: Callable[[str], bool]
    ) -> None:
        self._key = blake2b(key).digest()
        self._tagged = tagged  # the hash that tags show the beginning of
        self._is_name = is_name
        self._kinds: dict[bytes, str] = {}
        self._new: dict[bytes, str] = {}
        # By the hash of a run: how much of the value is before and behind it, and the whole hash.
        self._runs: dict[bytes, set[tuple[int, int, bytes]]] = {}
        self._lengths: set[int] = set()
        # Where in a word of some length a run may begin.
        self._starts: dict[int, tuple[int, ...]] = {}
        # Runs that are as long, and of none of these values: logs say the same again and again.
        self._strangers: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._kinds)

    def add(self, kinds: Mapping[bytes, str]) -> None:
        """Know the values with these hashes, each with its kind."""
        for digest in kinds:
            before, length, behind = digest[:3]
            run = digest[3 : 3 + _RUN_BYTES]
            self._runs.setdefault(run, set()).add((before, behind, digest))
            self._lengths.add(length)
        self._strangers.clear()
        self._starts = {
            size: tuple(before for before in _BEFORE if size - before in self._lengths)
            for size in {length + before for length in self._lengths for before in _BEFORE}
        }
        self._kinds.update(kinds)

    def learn(self, value: str, kind: str) -> None:
        """Know a value from now on, if it is strong and names nothing here."""
        if not is_strong(value) or self._is_name(value):
            return
        run = max(_RUNS.finditer(value), key=lambda run: run.end() - run.start(), default=None)
        if run is not None:
            digest = self._digest(value, *run.span())
            if digest not in self._kinds:
                self.add({digest: kind})
                self._new[digest] = kind

    def take_new(self) -> dict[bytes, str]:
        """What was learned since this was asked last."""
        new, self._new = self._new, {}
        return new

    def places(self, text: str) -> Iterator[KnownPlace]:
        """Where known values stand, each as a whole."""
        if not self._lengths:
            return
        if len(self._strangers) > _MOST_STRANGERS:
            self._strangers.clear()
        for run in self._runs_of(text) - self._strangers:
            known = self._runs.get(self._run_hash(run))
            if known is None:
                self._strangers.add(run)
                continue
            word = run.decode()
            for before, behind, digest in tuple(known):
                at = text.find(word)
                while at >= 0:
                    start, end = at - before, at + len(word) + behind
                    value = text[max(0, start) : end]
                    whole = digest == self._digest(value, before, before + len(word))
                    if whole and _stands_alone(text, start, end) and not self._is_name(value):
                        yield KnownPlace(start, end, self._kinds[digest])
                    at = text.find(word, at + len(word))

    def _runs_of(self, text: str) -> set[bytes]:
        """The runs of a text that are as long as one that is known."""
        data = text.encode("latin-1", "replace")
        classes = data.translate(_CLASSES)
        find, shortest, starts_at = classes.find, b"x" * min(self._lengths), self._starts.get
        found: set[bytes] = set()
        start = find(shortest)
        while start >= 0:
            end = find(b" ", start)
            if end < 0:
                end = len(data)
            if starts := starts_at(end - start):
                for before in starts:
                    if _BEFORE[before].match(data, start):
                        found.add(data[start + before : end])
            start = find(shortest, end)
        return found

    def _digest(self, value: str, start: int, end: int) -> bytes:
        """What a value is known by, of which a run stands from `start` to `end`."""
        sizes = bytes([start, end - start, len(value) - end])
        return (
            sizes + self._run_hash(value[start:end].encode()) + self._tagged(value)[:_TAGGED_BYTES]
        )

    def _run_hash(self, run: bytes) -> bytes:
        # It is asked of many words, so it is a quick one.
        return blake2b(run, key=self._key, digest_size=_RUN_BYTES).digest()


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands here is not a part of a longer word, whatever else is in the text."""
    if _IN_RUN.match(text, end):
        return False
    if not (start and _IN_RUN.match(text, start - 1)):
        return True
    return _ESCAPE.search(text, max(0, start - 3), start) is not None
