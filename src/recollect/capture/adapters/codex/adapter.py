"""Finds and recognises Codex's rollouts, and reads their files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.adapters.codex.reader import CodexReader
from recollect.capture.adapters.codex.records import BARE, ENVELOPES
from recollect.capture.adapters.codex.turns import CodexState
from recollect.capture.logs.documents import read_bytes
from recollect.capture.logs.folders import is_folder
from recollect.capture.logs.lines import (
    MAX_LINE_BYTES,
    LineBlock,
    UnreadableSource,
    blocks,
    open_log,
    records,
    without_mark,
)
from recollect.capture.logs.values import Fields, fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

INDEX = "session_index.jsonl"
INDEX_BYTES = 4 << 20
# Decoded at a time: what a processor's cache holds, and less than
# wakes the garbage collector often.
PIECE_BYTES = 64 << 10
# How far we look for a `sessions` folder below a root that has none itself.
MAX_DEPTH = 6
MAX_FOLDERS = 5000
PASSED_BY = frozenset(
    {"node_modules", "__pycache__", "worktrees", "target", "log", "tmp", "cache", ".tmp"}
)
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

_uuid = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_dated = re.compile(r"[/\\]sessions[/\\]\d{4}[/\\]\d\d[/\\]\d\d$")
_meta_head = re.compile(rb'"type"\s*:\s*"session_meta"')
_state: msgspec.msgpack.Decoder[CodexState] = msgspec.msgpack.Decoder(CodexState)


class _Name(Struct):
    id: Any = None
    thread_name: Any = None


class _Document(Struct):
    """A session of the TypeScript CLI of early 2025: one JSON document."""

    session: Any = None
    items: list[Fields] = []


_names: msgspec.json.Decoder[_Name] = msgspec.json.Decoder(_Name)
_documents: msgspec.json.Decoder[_Document] = msgspec.json.Decoder(_Document)


class Codex:
    """Reads the rollouts under a Codex home, three generations of them."""

    agent = "codex"
    name = "Codex"
    version = 5
    endings = (".jsonl", ".json", ".zst")

    def __init__(self) -> None:
        self._titles: dict[str, tuple[tuple[int, int], dict[str, str]]] = {}

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`CODEX_HOME` when it is set, else `~/.codex`."""
        return [environ.get("CODEX_HOME") or os.path.join(home, ".codex")]

    def sources(self, root: str) -> Iterator[Source]:
        """Each thread once: a live file before an archived one, a plain one before a compressed."""
        for home in _homes(root):
            yield from _sources_in(home)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A rollout, by a first line that describes a session, or by its name."""
        if self._is_ours(path, head):
            return Source(self.agent, path, appended=path.endswith(".jsonl"))
        return None

    def _is_ours(self, path: str, head: bytes) -> bool:
        name = os.path.basename(path)
        named = name.startswith("rollout-") and _uuid.search(name) is not None
        named = named or _dated.search(os.path.dirname(path)) is not None
        if name.endswith(".zst"):
            return named and head.startswith(ZSTD_MAGIC)
        if name.endswith(".json"):
            return name.startswith("rollout-") and b'"session"' in head and b'"items"' in head
        line, newline, _ = head.lstrip().partition(b"\n")
        try:
            record = BARE.decode(line)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return not newline and _looks_like_meta(line, named)
        return _is_first_record(record, named)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new; a source that is not appended to is always read whole."""
        if source.path.endswith(".json"):
            return self._read_document(source)
        # Items are made by the list, and handed on one by one without coming by here.
        return chain.from_iterable(self._read_blocks(source, since))

    def _read_blocks(self, source: Source, since: Checkpoint | None) -> Iterator[Iterable[Item]]:
        whole = not source.appended or source.path.endswith(".zst")
        state = None if whole or since is None else _resumed(since)
        position = since.position if state is not None and since is not None else 0
        reader = CodexReader(source.path, _thread_in(source.path), state)
        begun = False
        try:
            for block in blocks(source.path, position):
                if isinstance(block, Problem):
                    yield (block,)
                    continue
                if not begun and state is not None:
                    yield (reader.facts(),)
                elif begun:
                    # Held back until there is more: the last one of a file is that of its end.
                    yield (Checkpoint(position, reader.take_state()),)
                yield _read_block(source.path, block, reader)
                begun, position = True, block.end
        except UnreadableSource as error:
            yield (Problem(path=source.path, kind="unreadable", reason=str(error)),)
            yield (Checkpoint(position, reader.take_state()),)
            return
        reader.name(self._title(source, reader))
        yield reader.out
        yield reader.problems()
        # What is always read whole leaves no state: that would say that
        # there is something to go on from.
        yield (Checkpoint(position, b"" if whole else reader.take_state()),)

    def _read_document(self, source: Source) -> Iterator[Item]:
        reader = CodexReader(source.path, _thread_in(source.path))
        try:
            data = read_bytes(source.path, MAX_LINE_BYTES)
            document = _documents.decode(data)
        except UnreadableSource as error:
            yield Problem(path=source.path, kind="unreadable", reason=str(error))
            yield Checkpoint(0)
            return
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            reason = f"not a session: {error}"[:200]
            yield Problem(path=source.path, kind="bad_record", reason=reason)
            yield Checkpoint(len(data))
            return
        if isinstance(document.session, dict):
            reader.take_bare([{**document.session, "type": None}])
        reader.take_bare(document.items)
        reader.flush()
        reader.name(self._title(source, reader))
        yield from reader.out
        yield from reader.problems()
        yield Checkpoint(len(data))

    def _title(self, source: Source, reader: CodexReader) -> str | None:
        """The thread's newest name in the index beside it."""
        who = reader.state.who
        for path in source.companions if who else ():
            if who and os.path.basename(path) == INDEX:
                try:
                    found = os.stat(path)
                    mark = (found.st_size, found.st_mtime_ns)
                    if self._titles.get(path, (None,))[0] != mark:
                        self._titles[path] = (mark, _read_index(path))
                except (OSError, UnreadableSource):
                    return None
                return self._titles[path][1].get(who.thread)
        return None


# Reading ----------------------------------------------------------------------


def _read_block(path: str, block: LineBlock, reader: CodexReader) -> list[Item]:
    """The items of one block; the list is the caller's."""
    if reader.is_bare(block.data):
        bare = records(path, block, BARE)
        reader.take_bare(bare)
    else:
        for piece in _pieces(block):
            _take_envelopes(path, piece, reader)
    reader.flush()
    items, reader.out = reader.out, []
    return items


def _pieces(block: LineBlock) -> Iterator[LineBlock]:
    """A block in parts of whole lines, so that decoded ones are few and soon free again."""
    data, start = block.data, 0
    while len(data) - start > PIECE_BYTES:
        cut = data.rfind(b"\n", start, start + PIECE_BYTES) + 1
        cut = cut or data.find(b"\n", start + PIECE_BYTES) + 1
        if not cut:
            break
        yield LineBlock(data[start:cut], block.start + start, block.start + cut, block.lines)
        start = cut
    yield LineBlock(data[start:], block.start + start, block.end, block.lines) if start else block


def _take_envelopes(path: str, block: LineBlock, reader: CodexReader) -> None:
    # A sound block is taken at once: handing on its lines one by one costs a tenth more.
    try:
        lines = ENVELOPES.decode_lines(block.data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        loose = records(path, block, ENVELOPES)
        reader.take_loose(loose)
    else:
        reader.take(lines)


def _resumed(since: Checkpoint) -> CodexState | None:
    """The state of a checkpoint; without a sound one the file is read from its start."""
    try:
        return _state.decode(since.state)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _read_index(path: str) -> dict[str, str]:
    """Names by thread; the file only grows and the newest line wins."""
    names = {}
    descriptor = open_log(path)
    with os.fdopen(descriptor, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - INDEX_BYTES))
        for line in without_mark(file.read(INDEX_BYTES)).splitlines():
            try:
                entry = _names.decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            thread, title = text_of(entry.id), text_of(entry.thread_name)
            if thread and title:
                names[thread] = title
    return names


def _is_first_record(record: Fields, named: bool) -> bool:
    kind, meta = record.get("type"), fields_of(record.get("payload"))
    if kind == "session_meta":
        known = text_of(meta.get("id")) or text_of(meta.get("session_id"))
        told = ("cwd", "originator", "cli_version", "forked_from_id", "timestamp")
        return known is not None and (named or any(text_of(meta.get(name)) for name in told))
    if kind is None and "role" not in record:
        bare = text_of(record.get("id")) and text_of(record.get("timestamp"))
        return bare is not None and (named or "instructions" in record)
    enveloped = bool(meta) and kind in ("event_msg", "response_item", "turn_context", "compacted")
    return named and (enveloped or kind in ("message", "reasoning"))


def _looks_like_meta(start: bytes, named: bool) -> bool:
    """A first line longer than what we were shown: instructions can take 20 KB."""
    if _meta_head.search(start[:300]) and b'"payload"' in start[:300]:
        return b'"cwd"' in start or b'"originator"' in start or named
    return named and start.startswith(b'{"id"') and b'"timestamp"' in start[:200]


# Finding ----------------------------------------------------------------------


def _thread_in(path: str) -> str:
    """The thread id in a rollout's name, else the name without its ending."""
    name = os.path.basename(path)
    found = _uuid.search(name)
    return found[0] if found else name.removesuffix(".zst").rpartition(".")[0] or name


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _homes(root: str) -> Iterator[str]:
    """The folders below a root that hold a `sessions` folder or are one.

    A Codex home is one of them, and people keep copies of it one level
    below; anything else is searched, within limits.
    """
    entries = _listed(root)
    folders = [entry.name for entry in entries if is_folder(entry)]
    if os.path.basename(root) in ("sessions", "archived_sessions") or _is_dated(folders, entries):
        yield root
    elif "sessions" in folders or "archived_sessions" in folders:
        yield root
        for name in folders:
            if name not in ("sessions", "archived_sessions") and name not in PASSED_BY:
                below = os.path.join(root, name)
                if any(entry.name == "sessions" and is_folder(entry) for entry in _listed(below)):
                    yield below
    else:
        yield from _search(root, folders)


def _search(root: str, folders: list[str]) -> Iterator[str]:
    waiting = [(os.path.join(root, name), 1) for name in reversed(folders) if name not in PASSED_BY]
    seen = 0
    while waiting and seen < MAX_FOLDERS:
        folder, depth = waiting.pop()
        seen += 1
        below = [entry.name for entry in _listed(folder) if is_folder(entry)]
        if "sessions" in below or "archived_sessions" in below:
            yield folder
            below = [name for name in below if name not in ("sessions", "archived_sessions")]
        if depth < MAX_DEPTH:
            names = [name for name in reversed(below) if name not in PASSED_BY]
            waiting += [(os.path.join(folder, name), depth + 1) for name in names]


def _is_dated(folders: list[str], entries: list[os.DirEntry[str]]) -> bool:
    if any(len(name) == 4 and name.isdecimal() for name in folders):
        return True
    rollouts = (entry.name for entry in entries if entry.name.startswith("rollout-"))
    return any(map(_ending, rollouts))


def _ending(name: str) -> str:
    return next((ending for ending in (".jsonl", ".jsonl.zst") if name.endswith(ending)), "")


def _sources_in(home: str) -> list[Source]:
    names = {entry.name for entry in _listed(home)}
    if "sessions" in names or "archived_sessions" in names:
        live, archived = os.path.join(home, "sessions"), os.path.join(home, "archived_sessions")
        index = os.path.join(home, INDEX) if INDEX in names else None
    else:
        live, archived, index = home, None, None
        if os.path.basename(home) == "archived_sessions":
            live, archived = None, home
        beside = os.path.join(os.path.dirname(home), INDEX)
        index = beside if os.path.isfile(beside) else None
    companions = (index,) if index else ()
    seen: set[str] = set()
    found: list[Source] = []
    if live:
        _rollouts(found, live, "", companions, seen)
    if archived:
        _rollouts(found, archived, "archived", companions, seen)
    return found


def _rollouts(
    found: list[Source], folder: str, level: str, companions: tuple[str, ...], seen: set[str]
) -> None:
    """Adds the files of one folder and of the dated folders in it.

    Under dates and in the archive any JSONL file is a rollout; in the flat
    folder of early 2025 only the name tells.
    """
    entries = _listed(folder)
    for entry in entries:
        name = entry.name
        if name.isdecimal() and level != "archived":
            if len(level) < 3 and is_folder(entry):
                _rollouts(found, entry.path, level + "d", companions, seen)
            continue
        ending = _ending(name)
        if not ending and name.startswith("rollout-") and name.endswith(".json"):
            ending = ".json"
        if not ending or (not level and not name.startswith("rollout-")):
            continue
        stem = name.removesuffix(ending)
        if ending == ".jsonl.zst" and any(other.name == f"{stem}.jsonl" for other in entries):
            continue
        # After rollout-YYYY-MM-DDThh-mm-ss- comes the thread, and what sets a reverted one apart.
        thread = stem[28:] if name.startswith("rollout-") and len(stem) >= 64 else stem
        if level == "archived" and thread in seen:
            continue
        seen.add(thread)
        found.append(Source("codex", entry.path, companions, ending == ".jsonl"))
