"""Patterns of very many phrases, tried only where they may be.

Python's `re` tries every alternative at every place of a text; re2 goes through
the text once, however many patterns are sought. It knows no lookaround, and
takes only ASCII letters for parts of a word. So it is asked one question: which
of these patterns, without what only rules things out, can be in this line at
all? Those are left to `re`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any

_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
_LIMITS = re.compile(r"\{\d*,?\d*\}\??")
# What a pattern is made of, as far as that matters here.
_PIECE = re.compile(
    rf"\\.|\[(?:\\.|[^\]\\])+\]|\(\?<?[=!]|{_LIMITS.pattern}|[()]|[^\\\[(){{]+|.", re.DOTALL
)
_CLASS = re.compile(r"\\[wds]")
_TOKEN = re.compile(r"\\x\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])+\]|\(\?:|.", re.DOTALL)
# What is no letter or sign, and is the same to both.
_ALIKE = str.maketrans("", "", "\t\n\r\xa0\u3000")
# A bound, not what is taken. Short of memory re2 would say that nothing fits.
_MOST_BYTES = 256 << 20


class Screens:
    """Patterns that are sought in the same texts, one line each."""

    def __init__(self, flags: int = 0) -> None:
        if flags & re.VERBOSE:
            raise ValueError(
                "re2 takes the spaces of a verbose pattern for spaces: write it without"
            )
        self.flags = flags
        self.patterns: list[str] = []
        # A sentence is asked about by many patterns before it is the next one's turn.
        self.possible = lru_cache(64)(self._possible)
        self._asked: dict[bool, Any] = {}
        self.unscreened: Sequence[int] = ()
        """Those of which re2 cannot tell whether they may be in a text; known after a search."""
        self._compiled: dict[int, re.Pattern[str]] = {}

    def add(self, pattern: str) -> Screened:
        """One more pattern; all are added before the first is sought."""
        self.patterns.append(pattern)
        return Screened(self, len(self.patterns) - 1)

    def found(self, text: str) -> Iterator[int]:
        """Which patterns are in a text, in the order in which they were added."""
        possible = self.possible(text)
        is_certain = text.isascii() and text.isprintable()
        for index in possible:
            if is_certain and index in self.exact and index not in self.unscreened:
                yield index
                continue
            if self.compiled(index).search(text) is not None:
                yield index

    @cached_property
    def exact(self) -> frozenset[int]:
        """Those that re2 was given as they are: in ASCII it finds them where `re` does."""
        return frozenset(
            index for index, pattern in enumerate(self.patterns) if weakened(pattern) == pattern
        )

    def compiled(self, index: int) -> re.Pattern[str]:
        """One of the patterns as `re` takes them."""
        found = self._compiled.get(index)
        if found is None:
            found = self._compiled[index] = re.compile(self.patterns[index], self.flags)
        return found

    def _possible(self, text: str) -> Sequence[int]:
        """Which patterns may be in a text, in the order in which they were added."""
        if not text.isprintable() and (
            # Here `$` fits before a last line end, for re2 only behind it.
            text[-1] == "\n" or not text.translate(_ALIKE).isprintable()
        ):
            return range(len(self.patterns))
        is_wide = not text.isascii()
        if is_wide not in self._asked:
            ignore_case = bool(self.flags & re.IGNORECASE)
            self._asked[is_wide], self.unscreened = _screen(
                self.patterns, ignore_case=ignore_case, wide=is_wide
            )
        found = self._asked[is_wide](text.encode("utf-8", "replace")) or ()
        return sorted([*found, *self.unscreened]) if found or self.unscreened else ()


class Screened:
    """A pattern that finds what `re` finds, and is mostly faster at finding nothing."""

    __slots__ = ("_index", "_pattern", "_screens")

    def __init__(self, screens: Screens, index: int) -> None:
        self._screens, self._index = screens, index
        self._pattern: re.Pattern[str] | None = None

    def search(self, text: str) -> re.Match[str] | None:
        """The first place in a text that fits."""
        if self._index not in self._screens.possible(text):
            return None
        if self._pattern is None:
            self._pattern = re.compile(self._screens.patterns[self._index], self._screens.flags)
        return self._pattern.search(text)


def _screen(patterns: Sequence[str], *, ignore_case: bool, wide: bool) -> tuple[Any, Sequence[int]]:
    """What tells which patterns may be in a text, and those of which it cannot
    tell: all of them where re2 is missing.
    """
    try:
        re2 = import_module("re2")
    except ImportError:
        return (lambda text: ()), range(len(patterns))
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.max_mem = _MOST_BYTES
    together = re2.Set.SearchSet(options)
    places, unscreened = [], []
    for index, pattern in enumerate(patterns):
        try:
            together.Add(without_gaps(weakened(pattern, wide=wide)).encode())
            places.append(index)
        except re2.error:
            unscreened.append(index)
    together.Compile()
    return (lambda text: [places[found] for found in together.Match(text) or ()]), unscreened


def weakened(pattern: str, *, wide: bool = False) -> str:
    """A pattern that fits wherever the given one does, and perhaps in more
    places: without lookarounds and limits.

    A `wide` one takes whatever is not ASCII for a letter, a digit and a space,
    and does not ask where words begin and end.
    """
    kept: list[str] = []
    skipped_depth = 0
    for piece in _PIECE.findall(pattern):
        if skipped_depth:
            skipped_depth += piece.startswith("(") - (piece == ")")
        elif piece in _LOOKAROUND:
            skipped_depth = 1
        elif _LIMITS.fullmatch(piece):
            kept.append("*")
        else:
            kept.append(_widened(piece) if wide else piece)
    return "".join(kept)


def without_gaps(pattern: str) -> str:
    """A weakened pattern of which each way ends where anything may follow: `ask.*first` as `ask`.

    It fits in more places; but what waits for an end that may never come doubles what re2 has
    to remember with each more that waits, and it goes through a text a hundred times slower.
    """
    kept: list[str] = []
    # Of each bracket: whether it is left out, whether this way through it has ended, and any way.
    open_brackets = [[False, False, False]]
    tokens = _TOKEN.findall(pattern)
    for token, after in zip(tokens, [*tokens[1:], ""], strict=True):
        hidden, ended, _ = inner = open_brackets[-1]
        if token in ("(", "(?:"):
            open_brackets.append([hidden or ended, hidden or ended, False])
        elif token == ")" and len(open_brackets) > 1:
            open_brackets.pop()
            if not hidden:
                kept.append(token)
                if inner[2]:
                    # What follows a way that ended may be anywhere; an optional one may be nowhere.
                    kept.append(after if after in ("?", "*") else "")
                    open_brackets[-1][1:] = [True, True]
            continue
        elif token == "|" and not hidden:
            inner[1] = ended = False
        elif token == "." and after in ("*", "+", "?") and not ended:
            inner[1:] = [True, True]
            continue
        if not ended:
            kept.append(token)
    return "".join(kept)


def _widened(piece: str) -> str:
    if piece in (r"\b", r"\B"):
        return ""
    wider = _CLASS.sub(lambda found: found[0] + r"\x{80}-\x{10FFFF}", piece)
    return wider if wider == piece or piece.startswith("[") else f"[{wider}]"
