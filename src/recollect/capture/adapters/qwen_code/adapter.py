"""Finds and recognises Qwen Code's sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from recollect.capture.adapters.qwen_code.documents import QwenDocument, QwenDocumentReader
from recollect.capture.adapters.qwen_code.reader import QwenReader
from recollect.capture.adapters.qwen_code.records import QwenRecord, glued_apart
from recollect.capture.logs.folders import files_in, list_folder
from recollect.capture.logs.lines import first_objects
from recollect.capture.logs.readers import replay_document, replay_lines
from recollect.capture.logs.values import Fields, fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Source

_HOME = ".qwen"
_PARTS = ("projects", "tmp")
_KINDS = ("user", "assistant", "tool_result", "system")
_TRIED_LINES = 5
# What must stand in a first line that is longer than what we are shown of it.
_MARKS = (b'"parentUuid":', b'"sessionId":', b'"parts":')
_DOCUMENT_MARKS = (b'"sessionId"', b'"projectHash"', b'"startTime"', b'"messages"')
_DOCUMENT_TYPE = (b'"type":"qwen"', b'"type": "qwen"')
_LINES = msgspec.json.Decoder(QwenRecord)


class QwenCode:
    """Qwen Code's sessions under `~/.qwen`."""

    agent = "qwen-code"
    name = "Qwen Code"
    version = 1
    endings = (".jsonl", ".json")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folders of the sessions and of the old documents.

        Two variables move them, the one for runtime data wins.
        """
        moved = environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME")
        base = moved or os.path.join(home, _HOME)
        return [os.path.join(base, part) for part in _PARTS]

    def sources(self, root: str) -> Iterator[Source]:
        """The sessions of all projects, those of sub-agents, and old documents.

        The root may be a folder above, too.
        """
        bases = (root, os.path.join(root, _HOME))
        for folder in (root, *(os.path.join(base, part) for base in bases for part in _PARTS)):
            part = os.path.basename(folder)
            for project in list_folder(folder).folders if part in _PARTS else ():
                if part == "projects":
                    yield from _sessions(project)
                elif _HOME in folder.split(os.sep):
                    # Another agent lays out its documents like this, but not in this home.
                    yield from _documents(project)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A session, by its envelope and by parts where Claude Code and iFlow have a content."""
        if path.endswith(".json"):
            named = any(mark in head for mark in _DOCUMENT_TYPE) or _HOME in path.split(os.sep)
            if named and all(mark in head for mark in _DOCUMENT_MARKS):
                return _document(path)
            return None
        first = first_objects(glued_apart(head), _TRIED_LINES)
        marked = all(mark in head for mark in _MARKS) and b'"userType"' not in head
        is_cut_off = not first and b"\n" not in head and marked
        return _source(path) if is_cut_off or any(map(_is_ours, first)) else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole session, as it is now."""
        if source.path.endswith(".json"):
            return replay_document(source, since, QwenDocument, QwenDocumentReader(source))
        return replay_lines(source, since, _LINES, QwenReader(source), mend=glued_apart)


def _is_ours(record: Fields) -> bool:
    named = all(text_of(record.get(name)) for name in ("uuid", "sessionId", "version"))
    envelope = named and "parentUuid" in record
    if not envelope or "userType" in record or record.get("type") not in _KINDS:
        return False
    if record["type"] == "system":
        return text_of(record.get("subtype")) is not None
    return isinstance(fields_of(record.get("message")).get("parts"), list)


def _sessions(project: str) -> Iterator[Source]:
    chats = os.path.join(project, "chats")
    for folder in (chats, os.path.join(chats, "archive")):
        for path in files_in(folder, ".jsonl"):
            # Other things that belong to a session have a second ending.
            if "." not in os.path.basename(path).removesuffix(".jsonl"):
                yield _source(path)
    for session in list_folder(os.path.join(project, "subagents")).folders:
        for path in files_in(session, ".jsonl"):
            if os.path.basename(path).startswith("agent-"):
                yield _source(path)


def _source(path: str) -> Source:
    is_agents = os.path.basename(path).startswith("agent-")
    beside = (f"{path.removesuffix('.jsonl')}.meta.json",) if is_agents else ()
    return Source(QwenCode.agent, path, companions=beside, appended=False)


def _documents(project: str) -> Iterator[Source]:
    for path in files_in(os.path.join(project, "chats"), ".json"):
        if os.path.basename(path).startswith("session-"):
            yield _document(path)


def _document(path: str) -> Source:
    return Source(QwenCode.agent, path, appended=False)
