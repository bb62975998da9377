"""Codex: the shape of a line, and the small readings every part needs.

Of an envelope only four fields are read; its payload stays a plain dict,
because each of the sixty payload types has fields of its own, another version may
write something else in any of them, and a class with all of them is slower to
build than the dict.
"""

from __future__ import annotations

import zlib
from itertools import product
from typing import Any

from msgspec import Struct, json

from recollect.capture.logs.values import Fields
from recollect.model.logs import milliseconds


class CodexLine(Struct, gc=False):
    """An envelope (0.32 and later)."""

    timestamp: Any = None
    type: Any = None
    payload: Any = None
    ordinal: Any = None


ENVELOPES: json.Decoder[CodexLine] = json.Decoder(CodexLine)
# To 0.31 a line is the item itself.
BARE: json.Decoder[Fields] = json.Decoder(Fields)

_minutes: dict[str, int] = {}
_seconds = {f"{second:02}": second * 1000 for second in range(60)}
_thousandths = {f"{a}{b}{c}Z": n for n, (a, b, c) in enumerate(product("0123456789", repeat=3))}


def moment(text: object) -> int | None:
    """A record's time in milliseconds.

    Neighbouring records share their minute, and the rest of the shape that Codex
    writes, 2026-01-31T12:00:59.999Z, is looked up faster than it is parsed.
    """
    if type(text) is not str:
        return None
    minute, _, rest = text.rpartition(":")
    second, _, thousandth = rest.partition(".")
    try:
        return _minutes[minute] + _seconds[second] + _thousandths[thousandth]
    except KeyError:
        found = milliseconds(text)
    # No shorter one: 12:59.999 is a time too, and its 59 are minutes.
    is_usual = len(minute) == 16 and second in _seconds and thousandth in _thousandths
    if found is not None and is_usual:
        if len(_minutes) > 1000:
            _minutes.clear()
        _minutes[minute] = found - found % 60_000
    return found


def uuid_moment(text: object) -> int | None:
    """When a version 7 UUID was made, in milliseconds; None for any other text."""
    if not isinstance(text, str) or len(text) != 36 or text[14] != "7":
        return None
    try:
        return int(text[:8] + text[9:13], 16)
    except ValueError:
        return None


def epoch_moment(value: object) -> int | None:
    """A count since 1970 in seconds or milliseconds, or ISO text, as milliseconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return moment(value)
    if not 0 < value < 1e15:
        return None
    return int(value) if value > 1e11 else int(value * 1000)


def digest(text: str) -> str:
    """A short mark to recognise a text by, stable over runs."""
    return f"{zlib.crc32(text.encode('utf-8', 'replace')):08x}{len(text):x}"


def whole(value: object) -> int | None:
    """The value if it is an integer, and one that a table can hold."""
    return value if type(value) is int and -(1 << 53) < value < 1 << 53 else None
