"""The engine for machines without the wheels: the standard library alone.

Looking for three hundred prefixes one by one would take a second per megabyte.
But a token begins where a word begins and is long, and few words are: one
pattern skips to the starts of long words and only there compares prefixes. The
words of assignments and places are few enough to be searched for directly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.redact.documents import JwtRule
from recollect.redact.rules import Rule, SecretPattern, ShapeRule

# Every token of the table is at least this long and made of these characters.
_LONG = rb"(?=[A-Za-z0-9_.~+/=%:$|@-]{14})"
# Where a token may begin: see `starts_clean`, which refuses some of these again.
_STARTS = (
    rb"[^A-Za-z0-9]",
    rb"\\(?:[nrtbfv]|[ux]00[0-9A-Fa-f]{2})",
    rb"%[0-9A-Fa-f]{2}",
    rb"\[[0-9;]{1,12}m",
)


def compile_pattern(pattern: str) -> SecretPattern:
    """A pattern over bytes."""
    return re.compile(pattern.encode())


class PythonSearch:
    """Finds where the needles of rules are."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._by_prefix: dict[bytes, list[int]] = {}
        self._by_needle: dict[bytes, list[int]] = {}
        for index, rule in enumerate(rules):
            if isinstance(rule, ShapeRule):
                self._by_prefix.setdefault(rule.prefix, []).append(index)
            elif isinstance(rule, JwtRule):
                self._by_prefix.setdefault(b"ey", []).append(index)
            else:
                for needle in rule.needles:
                    self._by_needle.setdefault(needle, []).append(index)
        # What a rule wants to see behind its needle before it takes a closer look.
        self._probes = {
            index: re.compile(probe.encode()).match
            for index, rule in enumerate(rules)
            if (probe := getattr(rule, "probe", None)) is not None
        }
        prefixes = sorted(self._by_prefix)
        begins = _LONG + b"(?=(" + _trie(prefixes) + b"))"
        # The pattern tells the shortest prefix that stands at a place; others may begin with it.
        self._longer = {
            short: [word for word in prefixes if word.startswith(short)] for short in prefixes
        }
        self._first = re.compile(begins)
        self._begins = [re.compile(start + begins) for start in _STARTS]

    def places(self, data: bytes) -> dict[int, list[int]]:
        """For each rule by its index, the places of its needles, in order."""
        places: dict[int, list[int]] = {}
        for at, shortest in self._beginnings(data):
            for prefix in self._longer[shortest]:
                if data.startswith(prefix, at):
                    for owner in self._by_prefix[prefix]:
                        places.setdefault(owner, []).append(at)
        lowered, probes = data.lower(), self._probes
        for needle, owners in self._by_needle.items():
            found = []
            at = lowered.find(needle)
            while at >= 0:
                found.append(at)
                at = lowered.find(needle, at + 1)
            for owner in owners:
                places.setdefault(owner, []).extend(found)
        return {
            owner: [
                at for at in sorted(set(found)) if owner not in probes or probes[owner](data, at)
            ]
            for owner, found in places.items()
        }

    def _beginnings(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Where a token may begin, with the shortest prefix that stands there."""
        if (first := self._first.match(data)) is not None:
            yield 0, first.group(1)
        for begin in self._begins:
            for match in begin.finditer(data):
                yield match.end(), match.group(1)


def _trie(words: Sequence[bytes]) -> bytes:
    """One pattern for many prefixes, branching once per character instead of trying each in turn.

    A prefix that begins with another is left out: whoever finds the shorter
    one looks for all that stand at the same place.
    """
    shortest = [
        word
        for word in words
        if not any(word != other and word.startswith(other) for other in words)
    ]
    branches: dict[bytes, list[bytes]] = {}
    for word in sorted(shortest):
        branches.setdefault(word[:1], []).append(word[1:])
    return b"|".join(
        re.escape(head) + (b"" if tails == [b""] else b"(?:" + _trie(tails) + b")")
        for head, tails in branches.items()
    )
