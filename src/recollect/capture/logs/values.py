"""Values out of somebody else's JSON, each as what we hoped for or as nothing.

Nobody promises us these formats, so any field may be missing or of another
type one day. That costs the field, never the record.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from recollect.model.logs import milliseconds

Fields = dict[str, Any]

# Epoch times in the units that agents use, told apart by their size: all of
# them lie between 2001 and 5138 when read in the right one.
_UNITS = ((1e9, 1e11, 1000.0), (1e12, 1e14, 1.0), (1e15, 1e17, 1e-3), (1e18, 1e20, 1e-6))
_LARGEST = 1 << 62


def text_of(value: object) -> str | None:
    """A text that says something, else None."""
    return value if isinstance(value, str) and value else None


def first_text(*values: object) -> str | None:
    """The first of some values that is a text which says something."""
    return next((value for value in values if isinstance(value, str) and value), None)


def fields_of(value: object) -> Fields:
    """An object's fields; none when it is no object."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """A list's items; none when it is no list."""
    return value if isinstance(value, list) else []


def objects_of(value: object) -> list[Fields]:
    """The objects in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def non_empty(fields: Fields) -> Fields:
    """The fields that say something, without those that are None, empty or 0."""
    return {name: value for name, value in fields.items() if value}


def count_of(value: object) -> int:
    """A count such as one of tokens; 0 when it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LARGEST:
        return 0
    return int(value)


def whole_of(value: object) -> int | None:
    """A whole number such as an exit code, else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not math.isfinite(value) or abs(value) > _LARGEST:
        return None
    return int(value) if value == int(value) else None


def money_of(value: object) -> float | None:
    """An amount that was paid.

    None when nothing is said, and when it is 0, as for those who pay by the month.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and value > 0 else None


def moment_of(value: object) -> int | None:
    """A time as milliseconds UTC: ISO 8601, or an epoch in any unit, also as a text."""
    # Nearly always one of these two, and asked for every record.
    if type(value) is int:
        if 1e12 <= value < 1e14:
            return value
        if 1e9 <= value < 1e11:
            return value * 1000
    if isinstance(value, str):
        if not value.replace(".", "", 1).isdecimal():
            return milliseconds(value)
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return next(
        (round(value * factor) for least, most, factor in _UNITS if least <= value < most), None
    )


def json_of(value: object) -> Any:
    """What a text of JSON says; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            pass
    return value


def content_text(content: object) -> str:
    """The text of a message's content: a string, or parts, of which some are pictures."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _part_text(content)
    return "\n".join(text for text in map(_part_text, list_of(content)) if text)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    text = part.get("text")
    if isinstance(text, str):
        return text
    kind = text_of(part.get("type")) or ""
    if "inlineData" in part or kind.lower().startswith(("image", "input_image", "binary")):
        return picture(part)
    inner = part.get("content")
    return content_text(inner) if isinstance(inner, (str, list)) else ""


def picture(part: Fields) -> str:
    """A mark in the place of a picture, which we do not keep."""
    inline = (
        part.get("data")
        or part.get("image")
        or part.get("url")
        or fields_of(part.get("source")).get("data")
        or fields_of(part.get("inlineData")).get("data")
        or fields_of(part.get("image_url")).get("url")
    )
    if isinstance(inline, str) and len(inline) > 256:
        return f"[image {len(inline) * 3 // 4} bytes]"
    return "[image]"
