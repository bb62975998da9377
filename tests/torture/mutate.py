"""Logs that are almost right: records dropped, doubled and swapped, values of another kind."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import msgspec

MAGIC = b"SQLite format 3\x00"
_DEEP_LIST: Any = []
for _ in range(60):
    _DEEP_LIST = [_DEEP_LIST]
_WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**40, 1e308, -1e308,
    0.1, "", "x", "0", "-1", "null", "2026-13-45T99:99:99Z", "1e999", "\0", "\ud800", "a\nb",
    "…" * 5, "x" * 5_000, [], {}, [[]], [None], [{}], {"": ""}, {"a": {"a": {"a": []}}}, ["x"] * 50,
    _DEEP_LIST, {"type": "text", "text": None}, [{"type": "text"}], [1, "a", None],
)  # fmt: skip
_RAW = (
    b"\xff", b"\xed\xa0\x80", b"\x00", b"\\ud800", b"\x1b[2J", b'"', b"}", b"]", b"\n", b"\r\n",
    b"NaN", b"1e400", b"-" * 40, b'{"a":' * 3_000, b"[" * 3_000, b"9" * 5_000, b"\xef\xbb\xbf",
)  # fmt: skip
_DECODES = (msgspec.MsgspecError, UnicodeError, RecursionError)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A text as some accident or another version would have left it."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        change = chance.choice(_BY_LINE if data.count(b"\n") > 1 else _BY_VALUE)
        data = change(data, chance)
    return data


def _values(data: bytes, chance: random.Random) -> bytes:
    """A line, or the whole text, with something else in it."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        whole = msgspec.json.decode(lines[at])
        return b"\n".join([*lines[:at], _encoded(_changed(whole, chance)), *lines[at + 1 :]])
    except _DECODES:
        pass
    try:
        return _encoded(_changed(msgspec.json.decode(data), chance))
    except _DECODES:
        return _insert(data, chance)


def _encoded(value: Any) -> bytes:
    import json

    return json.dumps(value, ensure_ascii=True).encode()


def _changed(value: Any, chance: random.Random) -> Any:
    """The same with one place in it dropped, doubled, exchanged or of another kind."""
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    for one in waiting:
        keys = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            places.append((one, key))
            waiting.append(one[key])
    if not places or chance.random() < 0.02:
        return chance.choice(_WRONG)
    for _ in range(chance.choice((1, 1, 2, 5))):
        holder, key = chance.choice(places)
        other_holder, other = chance.choice(places)
        way = chance.random()
        try:
            if way < 0.5:
                holder[key] = chance.choice(_WRONG)
            elif way < 0.65:
                del holder[key]
            elif way < 0.8:
                holder[key] = _copied(other_holder[other])
            elif isinstance(holder, dict) and way < 0.9:
                holder[chance.choice(("type", "role", "id", "content", "x"))] = holder.pop(key)
            elif isinstance(holder, list):
                holder.extend(_copied(holder[:8]) * chance.choice((1, 3)))
        except (KeyError, IndexError):
            continue  # Gone with what was changed before.
    return value


def _copied(value: Any) -> Any:
    return msgspec.json.decode(_encoded(value)) if isinstance(value, (dict, list)) else value


def _drop(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _double(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = chance.randint(0, len(lines))
    return b"\n".join([*lines[:at], chance.choice(lines), *lines[at:]])


def _swap(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _cut_line(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
    return b"\n".join(lines)


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(_RAW) + data[at:]


def _flip(data: bytes, chance: random.Random) -> bytes:
    spoilt = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        if spoilt:
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
    return bytes(spoilt)


Change = Callable[[bytes, random.Random], bytes]
_BY_VALUE: tuple[Change, ...] = (_values, _values, _values, _values, _cut, _insert, _flip)
_BY_LINE: tuple[Change, ...] = (
    *_BY_VALUE, _values, _values, _drop, _double, _swap, _swap, _cut_line,
)  # fmt: skip


def mutate_database(path: Path, chance: random.Random) -> None:
    """Change some cells of a database, or take away or double rows; seldom spoil its bytes."""
    if chance.random() < 0.15:
        data = path.read_bytes()
        path.write_bytes(data[:100] + chance.choice((_flip, _cut))(data[100:], chance))
        return
    connection = apsw.Connection(str(path))
    try:
        connection.execute("pragma foreign_keys = off; pragma ignore_check_constraints = on")
        connection.execute("pragma synchronous = off")
        for _ in range(chance.choice((1, 2, 4))):
            _change_table(connection, chance)
    except apsw.Error:
        pass  # What it refuses, its owner could not have written either.
    finally:
        connection.close()


def _change_table(connection: apsw.Connection, chance: random.Random) -> None:
    tables = connection.execute(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' "
        "and sql not like '%without rowid%' collate nocase"
    ).fetchall()
    table = chance.choice(tables)[0]
    columns = [row[1] for row in connection.execute(f'pragma table_info("{table}")')]
    rows = connection.execute(f'select rowid from "{table}"').fetchall()
    if not rows:
        return
    rowid, column = chance.choice(rows)[0], chance.choice(columns)
    way = chance.random()
    if way < 0.1:
        connection.execute(f'delete from "{table}" where rowid = ?', (rowid,))
        return
    if way < 0.13:
        connection.execute(f'alter table "{table}" drop column "{column}"')
        return
    old = connection.execute(
        f'select "{column}" from "{table}" where rowid = ?', (rowid,)
    ).fetchone()[0]
    new = _cell(old, chance)
    connection.execute(f'update "{table}" set "{column}" = ? where rowid = ?', (new, rowid))


def _cell(old: Any, chance: random.Random) -> Any:
    if isinstance(old, str) and chance.random() < 0.8:
        return mutated(old.encode("utf-8", "replace"), chance).decode("utf-8", "replace")
    if isinstance(old, bytes) and chance.random() < 0.8:
        return mutated(old, chance)
    return chance.choice((None, 0, -1, 2**62, 0.5, "", "x", b"", b"\xff\xfe", os.urandom(0), "{}"))
