"""A turn's events as bytes and back.

A body is a zstd-compressed msgpack array of rows: `[kind, at, text]`, and for a
tool call ten more values.

A result that came after its call was stored is a row of the kind
`tool_result`; `joined` puts the two together, so readers never see one. What
the log tells about the turn itself (context window, sandbox, rate limits) is
a last row of the kind `telemetry`, its values in the place of an input. Of a
turn whose events were let go, a row of the kind `digest` holds what only the
session's digest tells: it is searched, and shown by nobody.
"""

from __future__ import annotations

import sys

# As threading has it; a cold search imports as little as it can.
from _thread import _local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import zstandard

    Row = list[Any]

# kind, at, text | call, name, tool_kind, target, input, output, ok, exit_code, duration_ms, folder
KIND, AT, TEXT, CALL, NAME, TOOL_KIND, TARGET, INPUT, OUTPUT, OK, EXIT_CODE, DURATION_MS, FOLDER = (
    range(13)
)
RESULT = "tool_result"
TELEMETRY = "telemetry"
DIGEST = "digest"
# How long a row is: with a text, with what the log tells of the turn, with a call.
_WIDTHS = (3, 8, 13)
LEVEL = 2


# Each thread has its own pair: zstandard's objects, used by two at once, end the process.
_own = _local()


def _compressor() -> zstandard.ZstdCompressor:
    found: zstandard.ZstdCompressor | None = getattr(_own, "compressor", None)
    if found is None:
        import zstandard

        # With a checksum of its own: readers notice every damage, and need not compute another.
        found = _own.compressor = zstandard.ZstdCompressor(
            level=LEVEL, write_content_size=True, write_checksum=True
        )
    return found


def _decompressor() -> zstandard.ZstdDecompressor:
    found: zstandard.ZstdDecompressor | None = getattr(_own, "decompressor", None)
    if found is None:
        import zstandard

        found = _own.decompressor = zstandard.ZstdDecompressor()
    return found


def pack(rows: list[tuple[Any, ...]] | list[Row]) -> bytes:
    """Rows as a compressed body."""
    import msgspec

    try:
        data = msgspec.msgpack.encode(rows)
    except (OverflowError, UnicodeEncodeError):
        # Integers beyond 64 bits and lone surrogates are rare; text survives them.
        data = msgspec.msgpack.encode(_tame(rows))
    return _compressor().compress(data)


def _tame(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(1 << 63) <= value < 1 << 64 else str(value)
    if isinstance(value, dict):
        return {_tame(key): _tame(inner) for key, inner in value.items()}
    return [_tame(inner) for inner in value] if isinstance(value, (list, tuple)) else value


class Damaged(ValueError):
    """These bytes are not what was written as a body."""


def unpack(body: bytes) -> list[Row]:
    """A compressed body as rows; `Damaged` when it is none.

    A cold search may not afford to import msgspec for ten short bodies; where
    it is loaded anyway it is a hundred times faster.
    """
    import zstandard

    try:
        data = _decompressor().decompress(body)
    except (zstandard.ZstdError, MemoryError, TypeError) as error:
        raise Damaged(str(error)) from error
    try:
        rows = _decoded(data)
    except Exception as error:
        # Bytes that were never written may upset a decoder in any way.
        raise Damaged(str(error)) from error
    if not isinstance(rows, list) or any(
        not isinstance(row, list) or len(row) not in _WIDTHS for row in rows
    ):
        raise Damaged("not the rows of a turn")
    return rows


def _decoded(data: bytes) -> object:
    if "msgspec" in sys.modules:
        import msgspec

        return msgspec.msgpack.decode(data)
    from recollect.store.msgpack import decode

    return decode(data)


def find_rows(body: bytes) -> list[Row] | None:
    """A body's rows, or None when it is damaged."""
    try:
        return unpack(body)
    except Damaged:
        return None


def joined(parts: list[bytes]) -> list[Row]:
    """The rows of a turn from all its parts, every result with its call, telemetry last."""
    rows: list[Row] = []
    calls: dict[str, Row] = {}
    telemetry: dict[str, Any] = {}
    for part in parts:
        for row in unpack(part):
            if row[KIND] == RESULT:
                call = calls.get(row[CALL])
                if call is None:
                    continue
                for field in (OUTPUT, OK, EXIT_CODE, DURATION_MS):
                    if row[field] is not None:
                        call[field] = row[field]
            elif row[KIND] == TELEMETRY:
                telemetry.update(row[INPUT])
            else:
                rows.append(row)
                if len(row) > CALL and row[CALL]:
                    calls[row[CALL]] = row
    if telemetry:
        rows.append(telemetry_row(telemetry))
    return rows


def telemetry_row(values: dict[str, Any]) -> Row:
    """The row that holds what a log tells about the turn itself."""
    return [TELEMETRY, None, "", None, None, None, None, values]


def digest_row(text: str) -> Row:
    """The row that holds what a digest tells of a turn, in words that the turn has lost."""
    return [DIGEST, None, text]


def checksum(body: bytes) -> int:
    """What `doctor --verify` recomputes to see whether a body is still what was written."""
    import xxhash

    return xxhash.xxh3_64_intdigest(body) - (1 << 63)
