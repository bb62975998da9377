"""Finds and recognises Claude Code's transcripts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from recollect.capture.adapters.claude_code.reader import ClaudeReader
from recollect.capture.adapters.claude_code.records import DECODER
from recollect.capture.adapters.claude_code.session import ClaudeLog, ClaudeState
from recollect.capture.adapters.claude_code.tree import ClaudeTurnTree
from recollect.capture.logs.folders import list_folder, name_in_text
from recollect.capture.logs.lines import (
    LineBlock,
    UnreadableSource,
    blocks,
    open_log,
    records,
    without_mark,
)
from recollect.model.logs import Checkpoint, Item, Problem, Source

_SUFFIX = ".jsonl"
_OVERFLOW = "tool-results"
_TRIED_LINES = 25
_META_BYTES = 64 << 10
# Beside transcripts, but none: every prompt ever typed, and a workflow's diary.
_NOT_OURS = ("history.jsonl", "journal.jsonl")
_PIECE_BYTES = 256 << 10
# How long it keeps its transcripts unless its settings say otherwise.
_KEPT_DAYS = 30
_MARKS = (b'"parentUuid":', b'"isSidechain":', b'"userType":')
# Fields that together tell a record of ours from one that merely has the same type.
_FIELDS = {
    "system": ("parentUuid", "sessionId", "userType", "isSidechain"),
    "attachment": ("parentUuid", "sessionId", "userType", "attachment"),
    "progress": ("parentUuid", "sessionId", "userType", "data"),
    "summary": ("summary", "leafUuid"),
    "file-history-snapshot": ("messageId", "snapshot"),
    "queue-operation": ("operation", "sessionId", "timestamp"),
}
_META_NAMES = {
    "agentType": "agent_type",
    "description": "description",
    "toolUseId": "tool_use_id",
    "spawnDepth": "spawn_depth",
    "model": "model",
    "isFork": "is_fork",
    "name": "name",
}


class ClaudeCode:
    """Claude Code's transcripts under `~/.claude/projects`."""

    agent = "claude-code"
    name = "Claude Code"
    version = 2
    endings = (_SUFFIX,)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Its configuration folder, wherever a variable has moved it, and the two usual places."""
        moved = [folder.strip() for folder in environ.get("CLAUDE_CONFIG_DIR", "").split(",")]
        config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        usual = [os.path.join(home, ".claude"), os.path.join(config, "claude")]
        return list(dict.fromkeys([folder for folder in moved if folder] + usual))

    def kept_days(self, root: str) -> int | None:
        """30 days, unless `cleanupPeriodDays` in its settings says otherwise."""
        try:
            with open(os.path.join(root, "settings.json"), "rb") as file:
                told = msgspec.json.decode(file.read(_META_BYTES), type=dict[str, Any])
        except (OSError, msgspec.DecodeError):
            return _KEPT_DAYS
        days = told.get("cleanupPeriodDays", _KEPT_DAYS)
        return days if isinstance(days, int) and days >= 0 else _KEPT_DAYS

    def sources(self, root: str) -> Iterator[Source]:
        """The transcripts under a root, main ones and sub-agents' alike."""
        for folder in list_folder(os.path.join(root, "projects")).folders:
            yield from self._project(folder)

    def _project(self, folder: str) -> Iterator[Source]:
        files, folders = list_folder(folder)
        for path in files:
            if path.endswith(_SUFFIX) and os.path.basename(path) not in _NOT_OURS:
                yield _source(path)
        for session in folders:
            yield from self._subagents(os.path.join(session, "subagents"))

    def _subagents(self, folder: str) -> Iterator[Source]:
        files, folders = list_folder(folder)
        for path in files:
            if path.endswith(_SUFFIX) and os.path.basename(path).startswith("agent-"):
                yield _source(path)
        for deeper in folders:
            yield from self._subagents(deeper)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A transcript, if the first whole line that tells anything is one's."""
        return _source(path) if self._is_ours(path, head) else None

    def _is_ours(self, path: str, head: bytes) -> bool:
        if not path.endswith(_SUFFIX) or os.path.basename(path) in _NOT_OURS:
            return False
        # Records that tell nothing are few at the start; a foreign log has nothing else.
        for line in head.split(b"\n", _TRIED_LINES)[:_TRIED_LINES]:
            try:
                value = msgspec.json.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(value, dict):
                verdict = _verdict(value, in_place=_in_place(path, value))
                if verdict is not None:
                    return verdict
        # A first line longer than what we were given, such as a pasted picture.
        return b"\n" not in head and all(mark in head for mark in _MARKS)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new in a transcript since a checkpoint."""
        state: ClaudeState | None = None
        if since and since.state:
            state = msgspec.msgpack.decode(since.state, type=ClaudeState)
        start = position = since.position if since else 0
        reader = ClaudeReader(_log(source), state)
        if state is not None:
            reader.tree.rescan = lambda: _prefix(source, start)
        try:
            for block in blocks(source.path, start):
                if isinstance(block, Problem):
                    yield block
                    continue
                if position > start:
                    yield Checkpoint(position, reader.save())
                yield from _items(reader, block)
                position = block.end
        except UnreadableSource as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        yield from reader.problems()
        yield Checkpoint(position, reader.save())


def _items(reader: ClaudeReader, block: LineBlock) -> Iterator[Item]:
    """The items of a block of lines; a bad line is one of them.

    It is read in pieces, each small enough that what was decoded is still in
    the processor's cache when it is looked at.
    """
    data, start = block.data, 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + _PIECE_BYTES) + 1
        end = end or data.find(b"\n", start) + 1 or len(data)
        piece = LineBlock(data[start:end], block.start + start, block.start + end, block.lines)
        found = records(reader.log.path, piece, DECODER)
        reader.take_piece(list(found))
        yield from reader.drain()
        start = end
    reader.close_block()
    yield from reader.drain()


def _prefix(source: Source, end: int) -> ClaudeTurnTree:
    """The turns of a file's first `end` bytes, read again because a record refers to an old one."""
    reader = ClaudeReader(_log(source)._replace(overflow=None))
    try:
        for block in blocks(source.path):
            if isinstance(block, Problem):
                continue
            if block.end > end:
                data = block.data[: len(block.data) - (block.end - end)]
                block = block._replace(data=data, end=end)
            for _ in _items(reader, block):
                pass
            if block.end >= end:
                break
    except UnreadableSource:
        return ClaudeTurnTree()
    return reader.tree


def _log(source: Source) -> ClaudeLog:
    """Whose transcript a file is, from its name and folder.

    A sub-agent's records carry its parent's session id, and a main file may
    hold more than one, so the name decides.
    """
    folder = os.path.dirname(source.path)
    stem = name_in_text(source.path).removesuffix(_SUFFIX)
    if not stem.startswith("agent-"):
        return ClaudeLog(source.path, stem, overflow=os.path.join(folder, stem, _OVERFLOW))
    agent = stem.removeprefix("agent-")
    meta = _meta(source)
    if agent.startswith("acompact"):
        meta["purpose"] = "compaction"
    folder = _subagents_folder(folder)
    if not folder:
        return ClaudeLog(source.path, None, agent=agent, meta=meta)
    session_folder = os.path.dirname(folder)
    parent = os.path.basename(session_folder)
    overflow = os.path.join(session_folder, _OVERFLOW)
    return ClaudeLog(source.path, f"{parent}/{agent}", parent, agent, overflow, meta)


def _source(path: str) -> Source:
    """A transcript with what is beside it: long outputs, and how a sub-agent was started."""
    folder, name = os.path.split(path)
    if not name.startswith("agent-"):
        overflow = os.path.join(path.removesuffix(_SUFFIX), _OVERFLOW)
        return Source(ClaudeCode.agent, path, (overflow,))
    above = _subagents_folder(folder)
    beside = [os.path.join(os.path.dirname(above), _OVERFLOW)] if above else []
    return Source(ClaudeCode.agent, path, (_meta_path(path), *beside))


def _subagents_folder(folder: str) -> str:
    """The folder of a session's sub-agents that this one is, or is in; "" when there is none."""
    while folder and os.path.basename(folder) != "subagents":
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return folder


def _meta_path(path: str) -> str:
    return path.removesuffix(_SUFFIX) + ".meta.json"


def _meta(source: Source) -> dict[str, object]:
    """What is noted beside a sub-agent's transcript about how it was started."""
    path = _meta_path(source.path)
    try:
        descriptor = open_log(path)
    except UnreadableSource:
        return {}
    with os.fdopen(descriptor, "rb") as file:
        try:
            noted = msgspec.json.decode(without_mark(file.read(_META_BYTES)))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}
    if not isinstance(noted, dict):
        return {}
    meta: dict[str, object] = {}
    for theirs, ours in _META_NAMES.items():
        value = noted.get(theirs)
        if isinstance(value, str | int | bool):
            meta[ours] = value[:500] if isinstance(value, str) else value
    return meta


def _in_place(path: str, record: dict[str, object]) -> bool:
    """Whether a file lies where the session of its record would have it."""
    folder, name = os.path.split(path)
    session = record.get("sessionId")
    if name.startswith("agent-"):
        above = _subagents_folder(folder)
        return bool(above) and os.path.basename(os.path.dirname(above)) == session
    project, projects = os.path.basename(folder), os.path.basename(os.path.dirname(folder))
    return projects == "projects" and project.startswith("-") and name == f"{session}{_SUFFIX}"


def _verdict(record: dict[str, object], *, in_place: bool) -> bool | None:
    """Whether a record is Claude Code's.

    None when it might be anybody's. In its place it need not tell as much.
    """
    kind, version = record.get("type"), record.get("version")
    # Qwen Code and iFlow use the same envelope, at versions 0.x so far. iFlow
    # also calls its sessions by a word.
    session = record.get("sessionId")
    if isinstance(version, str) and version.startswith("0."):
        return False
    if isinstance(session, str) and session.startswith("session-"):
        return False
    if kind in ("user", "assistant"):
        message = record.get("message")
        ours = isinstance(message, dict) and "content" in message and isinstance(session, str)
        told = isinstance(version, str) and ("parentUuid" in record or "userType" in record)
        return ours and (told or in_place)
    marks = _FIELDS.get(kind) if isinstance(kind, str) else None
    return True if marks and all(name in record for name in marks) else None
