"""Protocol buffers without their schema: the fields of a message by number.

Only what is asked for is looked into: a message that holds whole prompts is
walked over field by field.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10


class MalformedMessage(Exception):
    """The bytes are no protocol buffer."""


def fields_in(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message with their numbers, in order."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        field, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
            yield field, value
            continue
        if kind == _LENGTH:
            size, position = _varint(data, position)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise MalformedMessage(f"a field of the unknown kind {kind}")
        if position + size > len(data):
            raise MalformedMessage("a field that is not whole")
        yield field, data[position : position + size]
        position += size


def _varint(data: bytes, position: int) -> tuple[int, int]:
    number = 0
    for place, byte in enumerate(data[position : position + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return number, position + place + 1
    raise MalformedMessage("a number that does not end")


class ProtobufMessage:
    """A protocol buffer, to be asked for its fields; anything but bytes has none."""

    def __init__(self, data: object) -> None:
        self._values: dict[int, list[int | bytes]] = {}
        for field, value in fields_in(data) if isinstance(data, bytes) else ():
            if not field:
                raise MalformedMessage("a field without a number")
            self._values.setdefault(field, []).append(value)

    def number(self, field: int) -> int:
        """A number; 0 when it is left out, which is how a 0 is written."""
        return next((value for value in self._values.get(field, ()) if isinstance(value, int)), 0)

    def text(self, field: int) -> str | None:
        """A text, if that is what the bytes are."""
        for value in self._values.get(field, ()):
            if isinstance(value, bytes):
                try:
                    return value.decode() or None
                except UnicodeDecodeError:
                    return None
        return None

    def inner(self, field: int) -> ProtobufMessage:
        """A message inside; one without fields when there is none."""
        return next(iter(self.inners(field)), ProtobufMessage(None))

    def inners(self, field: int) -> list[ProtobufMessage]:
        """All messages inside with this number."""
        values = self._values.get(field, ())
        return [ProtobufMessage(value) for value in values if isinstance(value, bytes)]

    def numbers(self, field: int) -> list[int]:
        """A list of numbers, packed together or one by one."""
        found: list[int] = []
        for value in self._values.get(field, ()):
            if isinstance(value, int):
                found.append(value)
                continue
            position = 0
            while position < len(value):
                number, position = _varint(value, position)
                found.append(number)
        return found
