"""Whole documents: logs that are written anew each time something happens.

A document that cannot be decoded was caught half written, or is broken; the
two look alike, so it is a problem now and read again when it changes.
"""

from __future__ import annotations

import json
import os
from typing import Any, TypeVar, overload

import msgspec

from recollect.capture.logs.lines import UnreadableSource, open_log, without_mark

Shape = TypeVar("Shape")

# Larger ones are mostly pictures; decoding them would break the promise about peak memory.
MAX_DOCUMENT_BYTES = 256 << 20


class BrokenDocument(Exception):
    """The document is none, or only a part of one; becomes one `Problem`."""


def read_bytes(path: str, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The bytes of a file; `UnreadableSource` when there are more than may be."""
    descriptor = open_log(path)
    try:
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise UnreadableSource(f"a document of {size} bytes, which is more than {limit}")
            return without_mark(file.read(limit + 1)[:limit])
    except OSError as error:
        raise UnreadableSource(str(error)) from error


def read_text(path: str, limit: int = MAX_DOCUMENT_BYTES) -> str:
    """The text of a file; what is no text in it is replaced."""
    return read_bytes(path, limit).decode("utf-8", "replace")


@overload
def read_json(path: str, *, limit: int = MAX_DOCUMENT_BYTES) -> Any: ...
@overload
def read_json(path: str, shape: type[Shape], *, limit: int = MAX_DOCUMENT_BYTES) -> Shape: ...
def read_json(path: str, shape: Any = Any, *, limit: int = MAX_DOCUMENT_BYTES) -> Any:
    """A JSON document, decoded; `BrokenDocument` says what is wrong with it."""
    return parse_json(read_bytes(path, limit), shape)


@overload
def parse_json(data: bytes) -> Any: ...
@overload
def parse_json(data: bytes, shape: type[Shape]) -> Shape: ...
def parse_json(data: bytes, shape: Any = Any) -> Any:
    """JSON as a value, with a second try for a byte order mark, NaN or broken UTF-8."""
    if not data.strip():
        raise BrokenDocument("empty")
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError as error:
        raise BrokenDocument(f"not the expected form: {error}"[:200]) from None
    except RecursionError:
        raise BrokenDocument("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        value = json.loads(
            data.decode("utf-8-sig", "replace"), strict=False, parse_constant=lambda _: None
        )
        # Once more through text: a half of a character is not to be stored.
        return msgspec.json.decode(
            json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), type=shape
        )
    except msgspec.ValidationError as error:
        raise BrokenDocument(f"not the expected form: {error}"[:200]) from None
    except RecursionError:
        raise BrokenDocument("nested too deeply") from None
    except (ValueError, msgspec.DecodeError) as error:
        raise BrokenDocument(f"not JSON: {error}"[:200]) from None
