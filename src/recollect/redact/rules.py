"""What a rule is, and the rules made from the table of shapes.

A rule promises three things, and both engines rest on them. Its findings hang
on *needles*: short literals that occur, in any case, at the place handed to
`find`. Whenever `find` would succeed at a needle, one of its *triggers* ends
no more than `reach` characters later. And `find` looks at a bounded stretch
around the needle, apart from what it consumes as part of a finding, so that no
text can make it slow.

So an engine may look for needles, or let Hyperscan look for triggers and then
search the stretch before each for needles: it ends up at the same places, and
what is a secret is decided here, once.

Patterns are kept in the subset that `re`, RE2 and Hyperscan read alike: ASCII
classes, no look-around, no back-references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

from recollect.redact.shapes import OPEN, Infix, Shape
from recollect.redact.values import is_random, is_sample


class Match(Protocol):
    """What we use of a match, whichever library made it."""

    def start(self, group: int = 0, /) -> int: ...
    def end(self, group: int = 0, /) -> int: ...


class SecretPattern(Protocol):
    """What we use of a compiled pattern over bytes, whichever library compiled it."""

    def match(self, data: bytes, pos: int, endpos: int, /) -> Match | None: ...


Compile = Callable[[str], SecretPattern]


IsName = Callable[[str], bool]


def never(value: str) -> bool:
    """Where nothing has a name yet."""
    return False


class PossibleSecret(NamedTuple):
    """A secret in a batch: where it is, what it is, and how sure that name is (less is surer)."""

    start: int
    end: int
    kind: str
    rank: int


class RuleText(NamedTuple):
    """One string inside a batch: its neighbours begin outside `low` and `high`.

    The bytes stand for the characters one to one (what is not ASCII is a
    question mark), so that an offset here is an offset in the string.
    """

    data: bytes
    low: int
    high: int

    def before(self, at: int, size: int) -> bytes:
        return self.data[max(self.low, at - size) : at]

    def after(self, at: int) -> int:
        """The character at `at`, or -1 behind the end."""
        return self.data[at] if at < self.high else -1

    def value(self, start: int, end: int) -> str:
        return self.data[start:end].decode("ascii")


class Rule(Protocol):
    """One way to find secrets."""

    @property
    def needles(self) -> tuple[bytes, ...]: ...
    @property
    def triggers(self) -> tuple[str, ...]: ...
    @property
    def reach(self) -> int: ...

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        """The secrets that hang on the needle at `at`."""


# In a log, the letter before a token may be the tail of an escape:
# \n, %3D, \u003d, or a colour's m.
ESCAPE_BEFORE = re.compile(
    rb"(?:\\[nrtbfv]|%[0-9A-Fa-f]{2}|\\[ux]00[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m|\[[0-9;]{1,12}m)$"
)
# What paints the text behind it, as a terminal has it or as JSON writes it.
ANSI = r"(?:\x1b|\\{1,2}(?:x1b|u001b|e|033))\[[0-9;]{0,12}m"
_BLOB_BEFORE = re.compile(rb"[A-Za-z0-9_-]{24}$")
_NEAR_CHARS = 96


def starts_clean(text: RuleText, at: int) -> bool:
    """Whether nothing in front of `at` makes it the middle of a longer word."""
    before = text.before(at, 1)
    if not before:
        return True
    if before.isalnum() or before == b"+":
        return ESCAPE_BEFORE.search(text.before(at, 16)) is not None
    # Base64 for URLs has dashes and underscores: behind a long run of it, this is the middle.
    return before not in b"-_" or _BLOB_BEFORE.search(text.before(at, 24)) is None


def _shortest(tail: str) -> str:
    """A pattern that ends as early as it can: Hyperscan reports
    every length that a pattern allows.
    """
    return re.sub(r"\{([0-9]+),[0-9]+\}$", r"{\1}", tail)


class ShapeRule:
    """A row of the table: a prefix, and what must follow it."""

    def __init__(self, shape: Shape, compiled: Compile) -> None:
        self.shape = shape
        self.prefix = shape.prefix.encode()
        self.needles = (self.prefix.lower(),)
        # Long runs cost Hyperscan states; the first characters are telling enough.
        first = min(shape.low, 24)
        if first >= 12 or not shape.tail:
            body, self.reach = f"[{shape.alphabet}]{{{first}}}", len(self.prefix) + first
        else:
            body, self.reach = (
                f"[{shape.alphabet}]{{{first},{shape.high}}}{_shortest(shape.tail)}",
                len(self.prefix) + 300,
            )
        self.triggers = (re.escape(shape.prefix) + body,)
        # An open row is judged by what comes first, and then takes all that follows.
        top = shape.high or shape.low + 48
        self._fixed = compiled(
            f"{re.escape(shape.prefix)}[{shape.alphabet}]{{{shape.low},{top}}}{shape.tail}"
        )
        self._more = compiled(f"[{shape.alphabet}]*")
        self._near = tuple(word.encode() for word in shape.near)

    @cached_property
    def _members(self) -> frozenset[bytes]:
        return frozenset(re.findall(f"[{self.shape.alphabet}]".encode(), bytes(range(128))))

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        if not text.data.startswith(self.prefix, at) or not starts_clean(text, at):
            return
        if len(self.prefix) <= 4 and text.before(at, 1) in (b"-", b"_"):
            return  # Two letters behind a dash are anything.
        match = self._fixed.match(text.data, at, text.high)
        if match is None:
            return
        end = match.end()
        if self.shape.high == OPEN and not self.shape.tail:
            more = (
                self._more.match(text.data, end, text.high)
                if self._is_token(text, at, end)
                else None
            )
            if more is None:
                return
            end = _without_full_stop(text, more.end())
        elif not self._ends_clean(text, end) or not self._is_token(text, at, end):
            return
        yield PossibleSecret(
            at + len(self.prefix) if self.shape.keep else at, end, self.shape.kind, 1
        )

    def _ends_clean(self, text: RuleText, end: int) -> bool:
        follows = text.data[end : min(end + 1, text.high)]
        return not follows or not (
            follows.isalnum()
            or follows == b"_"
            or (follows in self._members and follows not in b".=-")
        )

    def _is_token(self, text: RuleText, at: int, end: int) -> bool:
        body = text.value(at + len(self.prefix), end)
        # Behind a short prefix anything may stand; behind a long one, only words give pause.
        doubtful = any(map(str.islower, body)) and (
            len(self.prefix) <= 4 or not any(map(str.isdigit, body))
        )
        if is_sample(body) or (doubtful and not is_random(body)):
            return False
        if not self._near:
            return True
        before = text.before(at, _NEAR_CHARS).lower()
        return any(word in before for word in self._near)


def _without_full_stop(text: RuleText, end: int) -> int:
    """A token at the end of a sentence does not own the full
    stop, dash or equals sign behind it.
    """
    while text.data[end - 1] in b".-":
        end -= 1
    return end


class InfixRule:
    """A row of the table whose sign is in the middle of the token."""

    def __init__(self, infix: Infix, compiled: Compile) -> None:
        self.infix = infix
        self.mark = infix.mark.encode()
        self.needles = (self.mark.lower(),)
        self.triggers = (
            f"[{infix.alphabet}]{{{infix.low}}}{re.escape(infix.mark)}{_shortest(infix.tail)}",
        )
        self.reach = len(self.mark) + 100
        self._tail = compiled(re.escape(infix.mark) + infix.tail)

    @cached_property
    def _head(self) -> re.Pattern[bytes]:
        infix = self.infix
        return re.compile(f"[{infix.alphabet}]{{{infix.low},{infix.high}}}$".encode())

    def find(self, text: RuleText, at: int) -> Iterator[PossibleSecret]:
        head = self._head.search(text.before(at, self.infix.high))
        if head is None:
            return
        match = self._tail.match(text.data, at, text.high)
        start = at - (head.end() - head.start())
        if match is None or not starts_clean(text, start):
            return
        end = match.end()
        follows = text.data[end : min(end + 1, text.high)]
        if follows.isalnum() or follows == b"_" or is_sample(text.value(start, end)):
            return
        yield PossibleSecret(start, end, self.infix.kind, 1)
