"""A turn's events as bytes and back.

A body is a zstd-compressed JSON array of rows: `[kind, at, text]`, and for a
tool call nine more values. JSON, because the store is an archive that should
be readable with ordinary tools in ten years, and because a cold search can
decode it with nothing but the standard library.

A result that came after its call was stored is a row of the kind
`tool_result`; `joined` puts the two together, so readers never see one.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import zstandard

# kind, at, text | call, name, tool_kind, target, input, output, ok, exit_code, duration_ms
KIND, AT, TEXT, CALL, NAME, TOOL_KIND, TARGET, INPUT, OUTPUT, OK, EXIT_CODE, DURATION_MS = range(12)
RESULT = "tool_result"
LEVEL = 1

Row = list[Any]


@cache
def _compressor() -> zstandard.ZstdCompressor:
    import zstandard

    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True)


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    import zstandard

    return zstandard.ZstdDecompressor()


def pack(rows: list[tuple[Any, ...]] | list[Row]) -> bytes:
    """Rows as a compressed body."""
    import msgspec

    try:
        data = msgspec.json.encode(rows)
    except (OverflowError, UnicodeEncodeError):
        # Integers beyond 64 bits and lone surrogates: rare, and the slow way knows them.
        data = json.dumps(rows).encode()
    return _compressor().compress(data)


def unpack(body: bytes) -> list[Row]:
    """A compressed body as rows."""
    rows: list[Row] = json.loads(_decompressor().decompress(body))
    return rows


def joined(parts: list[bytes]) -> list[Row]:
    """The events of a turn from all its parts, every result with its call."""
    rows: list[Row] = []
    calls: dict[str, Row] = {}
    for part in parts:
        for row in unpack(part):
            if row[KIND] == RESULT:
                call = calls.get(row[CALL])
                if call is None:
                    continue
                for field in (OUTPUT, OK, EXIT_CODE, DURATION_MS):
                    if row[field] is not None:
                        call[field] = row[field]
            else:
                rows.append(row)
                if len(row) > CALL and row[CALL]:
                    calls[row[CALL]] = row
    return rows


def checksum(body: bytes) -> int:
    """What `doctor --verify` recomputes to see whether a body is still what was written."""
    import xxhash

    return xxhash.xxh3_64_intdigest(body) - (1 << 63)
