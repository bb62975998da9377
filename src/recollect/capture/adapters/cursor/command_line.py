"""Reads `store.db`, the SQLite file that each chat of the command line has.

Its blobs are named by their hash. One of them is the root of the chat as it is
now: a protobuf message that lists the blobs of its messages in order. Blobs
that the root does not lead to belong to what was rewound, or to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from recollect.capture.adapters.cursor.prompts import CursorPromptKeys
from recollect.capture.adapters.cursor.reader import CursorReader
from recollect.capture.adapters.cursor.session import UNTITLED, is_md5_of, owner_of
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_json
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.protobuf import MalformedMessage, fields_in
from recollect.capture.logs.sqlite import SqliteFile, open_sqlite
from recollect.capture.logs.values import Fields, fields_of, first_text, moment_of, text_of
from recollect.model.logs import Checkpoint, Event, Item, Problem, Source

NOTE = "meta.json"
_NOTE_BYTES = 1 << 20
_MESSAGE, _SUBTREE, _EMBEDDED, _CONTEXT = 1, 2, 4, 5
_HASH_BYTES = 32
_BLOBS_AT_A_TIME = 200
# More than any chat has; a store that names itself in circles ends here.
_MOST_BLOBS = 1_000_000
_MAX_BLOB_BYTES = 128 << 20


def read_store(source: Source) -> Iterator[Item]:
    """A chat, whole."""
    try:
        with open_sqlite(source.path) as file:
            yield from _items(source, file)
    except UnreadableSource as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield Checkpoint(0)


def meta_in(file: SqliteFile) -> Fields:
    """What a store tells about its chat: JSON in hexadecimal digits.

    Nothing when it is no store.
    """
    has_meta = {"key", "value"} <= set(file.columns("meta"))
    has_blobs = {"id", "data"} <= set(file.columns("blobs"))
    if not has_meta or not has_blobs:
        return {}
    row = file.one(
        "select cast(value as blob) from meta where key = '0' and octet_length(value) < ?",
        (_NOTE_BYTES,),
    )
    data = row[0] if row else b""
    try:
        return fields_of(parse_json(bytes.fromhex(data.decode("ascii"))))
    except (BrokenDocument, ValueError):
        pass
    try:
        # Written plainly by some versions.
        return fields_of(parse_json(data))
    except BrokenDocument:
        return {}


def _items(source: Source, file: SqliteFile) -> Iterator[Item]:
    problems, meta = ProblemCounter(source.path), meta_in(file)
    tree = _BlobTree(file, problems)
    root = text_of(meta.get("latestRootBlobId"))
    if not meta:
        problems.bad("no word about the chat")
    owner = owner_of(
        text_of(meta.get("agentId")) or name_in_text(os.path.dirname(source.path)),
        meta.get("subagentInfo"),
    )
    folder = os.path.basename(os.path.dirname(os.path.dirname(source.path)))
    facts = _facts(source, meta, owner.parent)
    reader = CursorReader(
        Dialogue(owner.session, own_keys=True),
        CursorPromptKeys(),
        problems,
        author=owner.author,
        is_folder=is_md5_of(folder),
        folder=facts["cwd"],
    )
    reader.dialogue.facts(**facts)
    for message in tree.messages(root) if root else ():
        reader.message(message)
    if tree.context:
        reader.dialogue.facts(meta=tree.context)
    items = reader.dialogue.drain()
    if any(isinstance(item, Event) for item in items):
        yield from items
    yield from problems.drain()
    yield Checkpoint(tree.size_bytes)


def _facts(source: Source, meta: Fields, parent: str | None) -> Fields:
    beside: Fields = {}
    for path in source.companions:
        if os.path.basename(path) == NOTE:
            try:
                beside = fields_of(read_json(path, limit=_NOTE_BYTES))
            except (BrokenDocument, UnreadableSource):
                beside = {}
    title = text_of(beside.get("title")) or text_of(meta.get("name"))
    model = meta.get("lastUsedModel")
    more = {
        "mode": text_of(meta.get("mode")),
        "model": first_text(model, fields_of(model).get("model"), fields_of(model).get("id")),
        "run_everything": meta.get("isRunEverything") is True or None,
        "agent_type": text_of(fields_of(meta.get("subagentInfo")).get("typeName")),
    }
    return {
        "parent": parent,
        "origin": "subagent" if parent else None,
        "cwd": text_of(beside.get("cwd")),
        "title": None if title in UNTITLED else title,
        "started_at": moment_of(meta.get("createdAt")) or moment_of(beside.get("createdAtMs")),
        "meta": {name: value for name, value in more.items() if value is not None} or None,
    }


# Blobs ------------------------------------------------------------------------------


class _Blob(NamedTuple):
    """What a blob leads to, and the message in it."""

    children: list[tuple[int, str]]
    message: Fields | None
    context: Fields


class _BlobTree:
    """The blobs of a store, from the root on."""

    def __init__(self, file: SqliteFile, problems: ProblemCounter) -> None:
        self.file, self.problems = file, problems
        self.context: Fields = {}
        self.size_bytes = 0
        # Fetched before they are wanted; None for those that are not there.
        self._ahead: dict[str, bytes | None] = {}

    def messages(self, root: str) -> Iterator[Fields]:
        """The messages below a blob, in order."""
        seen = {root}
        waiting: list[tuple[int, str] | Fields] = [(_SUBTREE, root)]
        while waiting and len(seen) < _MOST_BLOBS:
            one = waiting.pop()
            if isinstance(one, dict):
                yield one
                continue
            kind, name = one
            data = self._blob(name, waiting)
            node = _node(data) if data is not None else None
            if node is None or (kind == _MESSAGE and node.message is None and not node.children):
                # What hangs below a subtree need not be messages.
                if kind == _MESSAGE or name == root:
                    self.problems.bad("a message that is missing or cannot be read")
                continue
            if name == root:
                self.context = node.context
            if node.message is not None:
                waiting.append(node.message)
            fresh = [child for child in node.children if child[1] not in seen]
            seen.update(name for _, name in fresh)
            waiting += reversed(fresh)

    def _blob(self, name: str, waiting: list[Any]) -> bytes | None:
        """A blob, fetched together with those that are wanted next."""
        if name not in self._ahead:
            next_ones = (one[1] for one in waiting[-_BLOBS_AT_A_TIME:] if isinstance(one, tuple))
            wanted = [name, *(one for one in next_ones if one not in self._ahead)]
            asked = ", ".join("?" * len(wanted))
            found = self.file.all(
                f"""
                select id, cast(data as blob)
                  from blobs
                 where id in ({asked})
                   and octet_length(data) <= {_MAX_BLOB_BYTES}
                """,
                wanted,
            )
            self._ahead |= {**dict.fromkeys(wanted), **dict(found)}
            self.size_bytes += sum(len(data) for _, data in found if data is not None)
        return self._ahead.pop(name, None)


def _node(data: bytes) -> _Blob | None:
    """A blob: a message as JSON, or a protobuf message with hashes of others in it.

    None when it is neither.
    """
    message = _message(data)
    if message is not None:
        return _Blob([], message, {})
    children, context = [], Fields()
    try:
        for field, value in fields_in(data):
            if not isinstance(value, bytes):
                continue
            if field in (_MESSAGE, _SUBTREE) and len(value) == _HASH_BYTES:
                children.append((field, value.hex()))
            elif field == _EMBEDDED:
                message = _message(value) or message
            elif field == _CONTEXT:
                context = _context(value)
    except MalformedMessage:
        return None
    return _Blob(children, message, context)


def _message(data: bytes) -> Fields | None:
    if data.lstrip()[:1] != b"{":
        return None
    try:
        message = fields_of(parse_json(data))
    except BrokenDocument:
        return None
    return message if isinstance(message.get("role"), str) else None


def _context(data: bytes) -> Fields:
    """How much of the model's window is used: no tokens that were paid for."""
    try:
        told = {field: value for field, value in fields_in(data) if isinstance(value, int)}
    except MalformedMessage:
        return {}
    named = {"context_tokens_used": told.get(1), "context_token_limit": told.get(2)}
    return {name: value for name, value in named.items() if value and value < 1 << 40}
