"""Whole JSON lines from a file that may be growing, torn or hostile.

Almost every agent appends one JSON object per line. The file is read in
blocks that end at a newline, and a block is decoded in one call; only when
that call fails do we look at its lines one by one, so a bad line costs that
line and a good file costs next to nothing.

What is still being written waits: a last line that is not whole is left for
the next run instead of being called broken.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, TypeVar

import msgspec

from recollect.model.logs import Problem

Record = TypeVar("Record")

# Read and committed at a time: memory grows with it, and every border may cut
# a turn into two parts that have to be merged again.
BLOCK_BYTES = 16 << 20
# A line longer than this is passed over: it is a picture or an attack, and
# holding several of them would break the promise about peak memory.
MAX_LINE_BYTES = 64 << 20
ZST_MAX_BYTES = 2 << 30
ZST_MAX_RATIO = 200
# What some editors and programs of Windows put before the first line; it is no part of it.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineNumbers:
    """Which line of a file a byte is on, counted when somebody asks.

    Only a bad line needs its number, and counting newlines costs as much as
    decoding half of the file, so a sound file is never counted.
    """

    def __init__(self, path: str) -> None:
        self._path, self._offset, self._line = path, 0, 1

    def at(self, offset: int) -> int | None:
        """The number of the line that starts at this byte; None when it can no longer be read."""
        if offset < self._offset:
            self._offset, self._line = 0, 1
        try:
            with _opened(self._path, self._offset) as read:
                while self._offset < offset and (chunk := read(offset - self._offset)):
                    self._offset += len(chunk)
                    self._line += chunk.count(b"\n")
        except UnreadableSource:
            return None
        return self._line


class LineBlock(NamedTuple):
    """Some whole lines, and where they start and end in the file."""

    data: bytes
    start: int
    end: int
    lines: LineNumbers


class UnreadableSource(Exception):
    """The source cannot be read at all; becomes one `Problem`."""


def open_log(path: str) -> int:
    """A descriptor for a regular file; never waits on a FIFO or touches a device."""
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except OSError as error:
        raise UnreadableSource(_why(error)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableSource("not a regular file")
    return descriptor


def read_head(path: str, most_bytes: int = 1 << 16) -> bytes:
    """The first bytes of a file; none when it cannot be read."""
    try:
        descriptor = open_log(path)
    except UnreadableSource:
        return b""
    try:
        return without_mark(os.read(descriptor, most_bytes))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def without_mark(data: bytes) -> bytes:
    """The first bytes of a file without a byte order mark."""
    return data.removeprefix(_BYTE_ORDER_MARK)


def _why(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a loop of symbolic links"
    return os.strerror(error.errno) if error.errno else str(error)


def blocks(path: str, start: int = 0) -> Iterator[LineBlock | Problem]:
    """The whole lines of `path` from byte `start` on; a line too long is a Problem.

    A `.zst` file is decompressed as it is read: its offsets are those of the
    decompressed text.
    """
    with _opened(path, start) as read:
        yield from _cut(path, lambda: read(BLOCK_BYTES), start)
    if path.endswith(".zst") and _is_cut_off(path):
        yield Problem(path=path, kind="torn", reason="the archive ends in the middle of its data")


def _cut(path: str, read: Callable[[], bytes], position: int) -> Iterator[LineBlock | Problem]:
    lines = LineNumbers(path)
    rest: list[bytes] = []
    rest_bytes = 0
    while chunk := read():
        if not position and not rest_bytes and chunk.startswith(_BYTE_ORDER_MARK):
            chunk, position = without_mark(chunk), len(_BYTE_ORDER_MARK)
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            rest_bytes += len(chunk)
            # Past the limit only the count goes on, not the bytes.
            rest = [] if rest_bytes > MAX_LINE_BYTES else [*rest, chunk]
            continue
        passed_over = rest_bytes > MAX_LINE_BYTES
        if passed_over:
            first = chunk.find(b"\n") + 1
            size = rest_bytes + first
            yield Problem(
                path=path,
                kind="too_large",
                line=lines.at(position),
                reason=f"a line of {size} bytes",
            )
            position += size
            rest, rest_bytes, chunk, cut = [], 0, chunk[first:], cut - first
        # Bytes cut at their end are not copied.
        data = b"".join([*rest, chunk[:cut]]) if rest else chunk[:cut]
        rest = [chunk[cut:]] if cut < len(chunk) else []
        rest_bytes = len(chunk) - cut
        # An empty block after a line that was passed over: it is not to be met, and counted, again.
        if data or passed_over:
            yield LineBlock(data, position, position + len(data), lines)
            position += len(data)
    data = b"".join(rest)
    if data and _is_whole(data):
        yield LineBlock(data, position, position + len(data), lines)


def _is_whole(line: bytes) -> bool:
    """Whether a last line is only without its newline: no part of an object is an object."""
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


@contextmanager
def _opened(path: str, start: int) -> Iterator[Callable[[int], bytes]]:
    """A function that reads on from byte `start`, decompressing where the name says so."""
    descriptor = open_log(path)
    try:
        if path.endswith(".zst"):
            with os.fdopen(os.dup(descriptor), "rb") as file:
                read = _decompressed(file)
                while start > 0 and (skipped := read(min(start, BLOCK_BYTES))):
                    start -= len(skipped)
                yield read
        else:
            os.lseek(descriptor, start, os.SEEK_SET)
            size = os.fstat(descriptor).st_size
            # Not much more than there is: the buffer is made before it is filled.
            yield lambda most: os.read(descriptor, max(1, min(most, size - start + 1)))
    except OSError as error:
        raise UnreadableSource(_why(error)) from error
    finally:
        os.close(descriptor)


def _decompressed(file: BinaryIO) -> Callable[[int], bytes]:
    """Reads a zstd file, but not one that expands beyond all measure."""
    import zstandard

    size = os.fstat(file.fileno()).st_size
    limit = min(ZST_MAX_BYTES, max(size, 1 << 16) * ZST_MAX_RATIO)
    stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
        file, read_across_frames=True
    )
    seen = 0

    def read(most: int) -> bytes:
        nonlocal seen
        try:
            chunk: bytes = stream.read(most)
        except zstandard.ZstdError as error:
            raise UnreadableSource(f"not a sound zstd file: {error}") from error
        seen += len(chunk)
        if seen > limit:
            raise UnreadableSource(f"expands to more than {limit} bytes from {size}")
        return chunk

    return read


def _is_cut_off(path: str) -> bool:
    """Whether a zstd file ends inside a frame, which the library takes for its end.

    Frames are walked from block header to block header (RFC 8878, 3.1.1).
    """
    import zstandard

    with os.fdopen(open_log(path), "rb") as file:
        position, size = 0, os.fstat(file.fileno()).st_size
        while position < size:
            file.seek(position)
            head = file.read(18)
            if int.from_bytes(head[:4], "little") & 0xFFFFFFF0 == 0x184D2A50:
                # Skippable: its length follows.
                position += 8 + int.from_bytes(head[4:8], "little")
                continue
            try:
                frame = zstandard.get_frame_parameters(head)
                position += zstandard.frame_header_size(head)
            except zstandard.ZstdError:
                return True
            last = False
            while not last:
                file.seek(position)
                block = file.read(3)
                if len(block) < 3:
                    return True
                kind, length = block[0] >> 1 & 3, int.from_bytes(block, "little") >> 3
                last = bool(block[0] & 1)
                position += 3 + (1 if kind == 1 else length)
            position += 4 if frame.has_checksum else 0
    return position > size


def records(
    path: str, block: LineBlock, decoder: msgspec.json.Decoder[Record]
) -> Iterator[Record | Problem]:
    """The lines of a block as records, in order; a line that is none becomes a Problem.

    Declare in the record only the fields you read, and type them `Any` where
    another version might write something else: what is not declared is
    skipped without being built.
    """
    try:
        decoded: list[Record] = decoder.decode_lines(block.data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        decoded = []
    else:
        yield from decoded
        return
    first = block.lines.at(block.start)
    for number, line in enumerate(block.data.split(b"\n")):
        if line and not line.isspace():
            record = _record(path, None if first is None else first + number, line, decoder)
            yield record


def first_objects(head: bytes, most: int = 1) -> list[dict[str, Any]]:
    """The objects on a log's first lines, as far as they are whole: formats are known by them."""
    found = []
    for line in head.lstrip().split(b"\n")[:most]:
        try:
            value = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            break
        if isinstance(value, dict):
            found.append(value)
    return found


def _record(
    path: str, number: int | None, line: bytes, decoder: msgspec.json.Decoder[Record]
) -> Record | Problem:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        return Problem(path=path, kind="bad_record", line=number, reason=str(error))
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    except RecursionError:
        return Problem(path=path, kind="bad_line", line=number, reason="nested too deeply")
    return _forgiven(path, number, line, decoder)


def _forgiven(
    path: str, number: int | None, line: bytes, decoder: msgspec.json.Decoder[Record]
) -> Record | Problem:
    """A second try for what real agents write: lone surrogates, NaN, broken UTF-8."""
    try:
        value: Any = json.loads(
            line.decode("utf-8", "replace"), strict=False, parse_constant=lambda _: None
        )
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return decoder.decode(whole)
    except msgspec.ValidationError as error:
        return Problem(path=path, kind="bad_record", line=number, reason=str(error))
    except RecursionError:
        return Problem(path=path, kind="bad_line", line=number, reason="nested too deeply")
    except ValueError as error:
        return Problem(path=path, kind="bad_line", line=number, reason=f"not JSON: {error}"[:200])
