"""Logs as they were earlier, as trouble leaves them, and with other words in them."""

from __future__ import annotations

import codecs
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.testing.samples import files

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_PAGE_BYTES = 4096
_DEEP = b'{"type":' * 20_000
_CUTS = 3
_WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "x",
    [],
    {},
    [[]],
    {"a": 1},
    "\0",
    ["x"],
    0.5,
)
_BROKEN = (msgspec.MsgspecError, UnicodeError, RecursionError)

# A file's bytes, and those of what SQLite keeps beside it, by suffix.
FileBytes = dict[str, bytes]


class FileSnapshot(NamedTuple):
    """What a file held at some moment."""

    name: str
    data: FileBytes


def earlier_states(file: Path) -> Iterator[FileSnapshot]:
    """Some moments of a file's life before it was what it is now."""
    data = file.read_bytes()
    if data.startswith(_MAGIC):
        now = read_with_wal(file)
        for share in (3, 2):
            _delete_rows(file, share)
            state = FileSnapshot(f"without the newest 1/{share} of its rows", read_with_wal(file))
            write_with_wal(file, now)
            yield state
        return
    size = len(data)
    cuts = {data.rfind(b"\n", 0, size * share // (_CUTS + 1)) + 1 for share in range(1, _CUTS + 1)}
    for cut in sorted(cuts | {size // 2, max(0, size - 2)}):
        yield FileSnapshot(f"cut at {cut} of {size} bytes", {"": data[:cut]})


def read_with_wal(file: Path) -> FileBytes:
    """What a file holds now."""
    paths = {suffix: Path(f"{file}{suffix}") for suffix in ("", "-wal")}
    return {suffix: path.read_bytes() for suffix, path in paths.items() if path.exists()}


def write_with_wal(file: Path, data: FileBytes) -> None:
    """Make a file hold something, in place as its owner would."""
    for suffix in ("-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    for suffix, content in data.items():
        Path(f"{file}{suffix}").write_bytes(content)


def _delete_rows(file: Path, share: int) -> None:
    connection = apsw.Connection(str(file))
    connection.pragma("foreign_keys", False)
    tables = """
        select name from sqlite_schema
         where type = 'table'
           and name not like 'sqlite_%'
           and sql not like '%without rowid%'
    """
    for (table,) in connection.execute(tables).fetchall():
        newest = f'select max(rowid) - count(*) / {share} from "{table}"'
        connection.execute(f'delete from "{table}" where rowid > ({newest})')
    connection.close()


def touch(folder: Path) -> None:
    """Give every file another time."""
    for path in files(folder):
        found = path.stat()
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1_000_000))


def add_marks(folder: Path) -> None:
    """Put a byte order mark before every text."""
    for path in files(folder):
        data = path.read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            path.write_bytes(codecs.BOM_UTF8 + data)


def damaged(file: Path) -> Iterator[tuple[str, bytes]]:
    """A file as trouble leaves it."""
    whole = file.read_bytes()
    dice = random.Random(len(whole))
    yield "empty", b""
    yield "binary", dice.randbytes(_PAGE_BYTES).replace(b"\n", b"\0") + b"\n"
    yield "torn", whole[: len(whole) * 2 // 3]
    yield "nested", _DEEP + b"\n"
    for number in range(3):
        yield f"scrambled {number}", _scrambled(whole, dice)
    if whole.startswith(_MAGIC):
        yield "a page lost", whole[:_PAGE_BYTES] + b"\xee" * _PAGE_BYTES + whole[2 * _PAGE_BYTES :]


def _scrambled(data: bytes, dice: random.Random) -> bytes:
    """JSON in which values have become others, of the wrong type.

    Other data with bytes exchanged.
    """
    try:
        values = [msgspec.json.decode(line) for line in data.split(b"\n") if line.strip()]
        return b"".join(msgspec.json.encode(_other(value, dice)) + b"\n" for value in values)
    except _BROKEN:
        pass
    try:
        return msgspec.json.encode(_other(msgspec.json.decode(data), dice))
    except _BROKEN:
        pass
    spoilt = bytearray(data)
    # A database with another header is no database any more.
    first = _HEADER_BYTES if data.startswith(_MAGIC) else 0
    for _ in range(len(spoilt) // 50):
        spoilt[dice.randrange(first, len(spoilt))] = dice.randrange(256)
    return bytes(spoilt)


def _other(value: Any, dice: random.Random) -> Any:
    if dice.random() < 0.08:
        return dice.choice(_WRONG)
    if isinstance(value, dict):
        return {key: _other(inner, dice) for key, inner in value.items() if dice.random() > 0.04}
    if isinstance(value, list):
        return [_other(inner, dice) for inner in value]
    return value


def replace_word(folder: Path, words: set[str], other: str) -> bool:
    """Put another word in the place of the longest of these, wherever it stands in plain sight.

    Whether it stood anywhere.
    """
    every = b"\n".join(path.read_bytes() for path in files(folder))
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    word = next((word for word in longest_first if _only_in_prose(word, every)), None)
    if word is None:
        return False
    met = False
    # Writing to a database takes away what stands beside it.
    for path in [path for path in files(folder) if not path.name.endswith(("-wal", "-shm"))]:
        data = path.read_bytes()
        if data.startswith(_MAGIC):
            met = _replace_in_rows(path, word, other) or met
        elif word.encode() in data:
            path.write_bytes(data.replace(word.encode(), other.encode()))
            met = True
    return met


def _only_in_prose(word: str, data: bytes) -> bool:
    """Whether a word stands in sentences and nowhere else: a name would change the log."""
    if not (word.isalpha() and word.isascii()):
        return False
    in_sentences = re.findall(rb"(?<=[\s(])%s(?=[\s.,!?)])" % word.encode(), data)
    return 0 < len(in_sentences) == data.count(word.encode())


def _replace_in_rows(path: Path, word: str, other: str) -> bool:
    connection = apsw.Connection(str(path))
    met = False
    columns = """
        select m.name, c.name
          from sqlite_schema m
          join pragma_table_info(m.name) c
         where m.type = 'table'
    """
    for table, column in connection.execute(columns).fetchall():
        connection.execute(
            f"""update "{table}" set "{column}" = replace("{column}", ?1, ?2)
                 where typeof("{column}") = 'text' and instr("{column}", ?1)""",
            (word, other),
        )
        met = met or connection.changes() > 0
    connection.close()
    return met
