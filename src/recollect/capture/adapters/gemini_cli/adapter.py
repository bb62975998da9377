"""Finds and recognises Gemini CLI's chats."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from recollect.capture.adapters.gemini_cli.reader import (
    CHATS,
    GeminiReader,
    GeminiRecord,
    parent_of,
)
from recollect.capture.logs.folders import files_in, list_folder
from recollect.capture.logs.lines import first_objects
from recollect.capture.logs.readers import replay_document, replay_lines
from recollect.capture.logs.values import text_of
from recollect.model.logs import Checkpoint, Item, Source

_HOME = ".gemini"
_TMP = "tmp"
_PROJECT_ROOT = ".project_root"
# A fork keeps its chats in the same layout, in a home of its own.
_FORKS_HOME = ".qwen"
_FORKS_TYPE = (b'"type":"qwen"', b'"type": "qwen"')
_HEADER = ("sessionId", "projectHash", "startTime")
_LINES = msgspec.json.Decoder(GeminiRecord)


class GeminiCli:
    """Gemini CLI's chats under `~/.gemini/tmp`."""

    agent = "gemini-cli"
    name = "Gemini CLI"
    version = 1
    endings = (".json", ".jsonl")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folder of what is kept per project; `GEMINI_CLI_HOME` stands for the home."""
        return [os.path.join(environ.get("GEMINI_CLI_HOME") or home, _HOME, _TMP)]

    def sources(self, root: str) -> Iterator[Source]:
        """The chats of every project, each with those of its sub-agents.

        The root may be the folder above, too.
        """
        folder = root if os.path.basename(root) == _TMP else os.path.join(root, _TMP)
        for project in (
            list_folder(folder).folders if _FORKS_HOME not in folder.split(os.sep) else ()
        ):
            yield from _chats(os.path.join(project, CHATS))

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A chat, told by its session, the hash of its project and its start."""
        if path.endswith(".jsonl"):
            first = next(iter(first_objects(head)), {})
            ours = "type" not in first and all(text_of(first.get(name)) for name in _HEADER)
        else:
            marks = [f'"{name}"'.encode() for name in (*_HEADER, "messages")]
            ours = head.lstrip().startswith(b"{") and all(mark in head for mark in marks)
        is_forks = _FORKS_HOME in path.split(os.sep) or any(mark in head for mark in _FORKS_TYPE)
        if not ours or is_forks:
            return None
        # A chat that went on after the format changed was copied into a log beside it.
        log = f"{path}l"
        return _source(log if path.endswith(".json") and os.path.exists(log) else path)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole chat, as it is now."""
        if source.path.endswith(".jsonl"):
            return replay_lines(source, since, _LINES, GeminiReader(source))
        return replay_document(source, since, GeminiRecord, GeminiReader(source))


def _chats(folder: str) -> Iterator[Source]:
    files, folders = list_folder(folder)
    logs = {path for path in files if path.endswith(".jsonl")}
    for path in files:
        # The log is the later one of the two, see above.
        is_last = path in logs or (path.endswith(".json") and f"{path}l" not in logs)
        if is_last and os.path.basename(path).startswith("session-"):
            yield _source(path)
    for session in folders:
        for path in files_in(session, ".jsonl"):
            yield _source(path)


def _source(path: str) -> Source:
    chats = os.path.dirname(path)
    if parent_of(path) is not None:
        chats = os.path.dirname(chats)
    beside: tuple[str, ...] = ()
    if os.path.basename(chats) == CHATS:
        beside = (os.path.join(os.path.dirname(chats), _PROJECT_ROOT),)
    return Source(GeminiCli.agent, path, companions=beside, appended=False)
