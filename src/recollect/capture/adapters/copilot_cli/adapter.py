"""Finds and recognises Copilot CLI's sessions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

import msgspec

from recollect.capture.adapters.copilot_cli.documents import CopilotDocumentReader
from recollect.capture.adapters.copilot_cli.reader import CopilotReader, where
from recollect.capture.adapters.copilot_cli.records import LINES, PASSED_OVER
from recollect.capture.adapters.copilot_cli.session import CopilotState
from recollect.capture.logs.documents import read_text
from recollect.capture.logs.folders import files_in, list_folder, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.readers import read_appended, replay_document, resume
from recollect.capture.logs.values import Fields, fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Source

SESSIONS = "session-state"
HISTORY = "history-session-state"
EVENTS = "events.jsonl"
NOTED = "workspace.yaml"
_NOTED_BYTES = 64 << 10
# Where a session is told twice: its folder, the flat file before that, the document before both.
_FLAT, _DOCUMENT = 1, 2

_pair = re.compile(r"^([a-z_]+):(?: +(.*))?$")


class CopilotCli:
    """Reads the sessions under `~/.copilot`, three generations of them."""

    agent = "copilot-cli"
    name = "GitHub Copilot CLI"
    version = 1
    endings = (".jsonl", ".json")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`COPILOT_HOME` when it is set, else `~/.copilot`.

        Until early 2026 `XDG_STATE_HOME` moved the latter.
        """
        homes = [environ.get("COPILOT_HOME") or os.path.join(home, ".copilot")]
        if state := environ.get("XDG_STATE_HOME"):
            homes.append(os.path.join(state, ".copilot"))
        return [os.path.join(folder, name) for folder in homes for name in (SESSIONS, HISTORY)]

    def sources(self, root: str) -> Iterator[Source]:
        """Sessions in folders, flat ones, and documents.

        The root is one of the two folders or the one above them.
        """
        folders = [root, *list_folder(root).folders]
        for folder in folders:
            if os.path.basename(folder) == SESSIONS:
                yield from self._sessions(folder)
            elif os.path.basename(folder) == HISTORY:
                for path in files_in(folder, ".json"):
                    yield Source(self.agent, path, appended=False, rank=_DOCUMENT)

    def _sessions(self, folder: str) -> Iterator[Source]:
        inside = list_folder(folder)
        for session in inside.folders:
            # A folder may hold no more than files: a session that has not begun.
            path = os.path.join(session, EVENTS)
            if path in list_folder(session).files:
                yield self._log(path)
        for path in inside.files:
            if path.endswith(".jsonl"):
                yield self._log(path)

    def _log(self, path: str) -> Source:
        folder, name = os.path.split(path)
        if name == EVENTS:
            return Source(self.agent, path, companions=(os.path.join(folder, NOTED),))
        return Source(self.agent, path, rank=_FLAT)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """An event log by its first event, a document by its fields."""
        if path.endswith(".json"):
            fields = all(f'"{name}"'.encode() in head for name in ("sessionId", "startTime"))
            ours = fields and (b'"chatMessages"' in head or b'"timeline"' in head)
            return Source(self.agent, path, appended=False, rank=_DOCUMENT) if ours else None
        return self._log(path) if _is_event(head.lstrip().partition(b"\n")[0], path) else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new in an event log, or a whole document."""
        if not source.appended:
            return replay_document(
                source, since, dict, CopilotDocumentReader(source.path, _named(source.path))
            )
        position, state = resume(since, CopilotState)
        noted = next((_noted(path) for path in source.companions), {})
        reader = CopilotReader(source.path, _named(source.path), noted, state)
        return read_appended(source, position, LINES, reader)


def _is_event(line: bytes, path: str) -> bool:
    try:
        event = fields_of(msgspec.json.decode(line))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    data = fields_of(event.get("data"))
    if "parentId" not in event or not text_of(event.get("timestamp")) or not data:
        return False
    if event.get("type") == "session.start":
        # The chat of VS Code leaves transcripts that look the same, beside its own logs.
        told = any(text_of(data.get(name)) for name in ("copilotVersion", "producer", "startTime"))
        return told and text_of(data.get("sessionId")) is not None and "vscodeVersion" not in data
    # The beginning may be lost.
    kind = text_of(event.get("type"))
    return os.path.basename(path) == EVENTS and (kind in PASSED_OVER or kind == "user.message")


def _named(path: str) -> str:
    """The session that a path names, until the log says it."""
    name = name_in_text(path)
    if name == EVENTS:
        return name_in_text(os.path.dirname(path))
    return name.rpartition(".")[0] or name


def _noted(path: str) -> Fields:
    """What the file beside a log says of its session."""
    try:
        pairs = _pairs(read_text(path, _NOTED_BYTES))
    except UnreadableSource:
        return {}
    told = {"hostType": pairs.get("host_type"), "cwd": pairs.get("cwd") or pairs.get("git_root")}
    facts = where({**pairs, **told})
    title = pairs.get("name") or pairs.get("summary")
    return {**facts, "title": title} if title else dict(facts)


def _pairs(text: str) -> dict[str, str]:
    """The `key: value` lines of a flat YAML file; a text may go on in indented lines."""
    pairs: dict[str, str] = {}
    key = ""
    for line in text.splitlines():
        found = _pair.match(line)
        if found:
            key = found[1]
            value = (found[2] or "").strip()
            pairs[key] = "" if value in ("|", "|-", "|+", ">", ">-", ">+") else _unquoted(value)
        elif key and line.startswith(" "):
            pairs[key] = f"{pairs[key]} {line.strip()}".strip()
    return {name: value for name, value in pairs.items() if value not in ("", "null", "~")}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(json.loads(value))
        except ValueError:
            return value[1:-1]
    return value
