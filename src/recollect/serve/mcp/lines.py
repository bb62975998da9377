"""The lines of a client over its pipe, and what is wrong with those that are no messages."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

CHUNK_BYTES = 1 << 16


class Lines:
    """The lines that come in on a descriptor, without empty ones, until there are no more.

    Unbuffered: a buffer would be locked by the thread that reads when Python ends.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._whole: deque[bytes] = deque()
        self._begun = bytearray()
        self._ended = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        while True:
            while self._whole:
                if (line := self._whole.popleft()).strip():
                    return line
            if self._ended:
                raise StopIteration
            self._read()

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, CHUNK_BYTES)
        except OSError:
            chunk = b""
        self._begun += chunk
        self._ended = not chunk
        if b"\n" in chunk or self._ended:
            *whole, rest = bytes(self._begun).split(b"\n")
            self._whole.extend(whole)
            self._begun = bytearray(rest)
            if self._ended:
                self._whole.append(rest)


def message_of(line: bytes) -> tuple[dict[str, Any], bytes]:
    """The message on a line, and the answer to a line that holds none."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}, _fault(-32700, "Parse error")
    if not isinstance(message, dict):
        return {}, _fault(-32600, "Invalid Request")
    return message, b""


def _fault(code: int, message: str) -> bytes:
    error = {"code": code, "message": message}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": None, "error": error})
