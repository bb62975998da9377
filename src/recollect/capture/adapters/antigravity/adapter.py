"""Finds and recognises Antigravity's conversations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from recollect.capture.adapters.antigravity.reader import AntigravityReader, AntigravityStep
from recollect.capture.logs.folders import files_in, list_folder, name_in_text
from recollect.capture.logs.lines import first_objects
from recollect.capture.logs.readers import replay_lines
from recollect.capture.logs.sqlite import MAGIC, sqlite_companions
from recollect.model.logs import Checkpoint, Item, Source

_PRODUCTS = ("antigravity-cli", "antigravity")
_BRAIN, _CONVERSATIONS = "brain", "conversations"
_LOGS = os.path.join(".system_generated", "logs")
# The second one is the first with long texts cut short.
_TRANSCRIPTS = ("transcript_full.jsonl", "transcript.jsonl")
_STEP = ("step_index", "source", "type", "status", "created_at")
_TABLES = (b"gen_metadata", b"step_payload")
# A conversation that was known without its words is told anew when they are there.
_DOCUMENTS_ALONE, _DATABASE_ALONE = 1, 2
_LINES = msgspec.json.Decoder(AntigravityStep)


class Antigravity:
    """Antigravity's conversations under `~/.gemini`."""

    agent = "antigravity"
    name = "Antigravity"
    version = 1
    endings = (".jsonl", ".db", ".md")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """What is kept of conversations; the folders around that are caches and recordings."""
        folders = [os.path.join(home, ".gemini", product) for product in _PRODUCTS]
        parts = (_BRAIN, _CONVERSATIONS)
        return [os.path.join(folder, part) for folder in folders for part in parts]

    def sources(self, root: str) -> Iterator[Source]:
        """Every conversation once, by the best file there is of it.

        The root may be the folder above, too.
        """
        name = os.path.basename(root)
        above = os.path.dirname(root) if name in (_BRAIN, _CONVERSATIONS) else root
        brain = os.path.join(above, _BRAIN)
        if name != _CONVERSATIONS:
            for folder in list_folder(brain).folders:
                yield from _conversation(folder)
        if name != _BRAIN:
            for path in files_in(os.path.join(above, _CONVERSATIONS), ".db"):
                folder = os.path.join(brain, os.path.basename(path).removesuffix(".db"))
                if not any(_conversation(folder)):
                    yield _source(path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """The conversation of a file, by a step's fields, a database's tables or its place."""
        if path.endswith(".jsonl"):
            first = first_objects(head)
            ours = bool(first) and all(name in first[0] for name in _STEP)
        elif path.endswith(".db"):
            ours = head.startswith(MAGIC) and all(table in head for table in _TABLES)
        else:
            ours = False
        folder = _folder(path)
        if folder and (ours or path.endswith(".md")):
            whole = next(_conversation(folder), None)
            if whole:
                return whole
        return _source(path) if ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole conversation, as it is now."""
        reader = AntigravityReader(source, _session(source.path))
        if source.path.endswith(".jsonl"):
            return replay_lines(source, since, _LINES, reader)
        return reader.read_without_words(since)


def _conversation(folder: str) -> Iterator[Source]:
    """The one source of a conversation's folder: its transcript, else its documents.

    None when it is empty.
    """
    logs = {os.path.basename(path): path for path in list_folder(os.path.join(folder, _LOGS)).files}
    transcript = next((logs[name] for name in _TRANSCRIPTS if name in logs), None)
    documents = list(files_in(folder, ".md"))
    if transcript:
        yield _source(transcript)
    elif documents:
        notes = [f"{document}.metadata.json" for document in documents]
        companions = (*documents, *notes, *_beside(folder))
        yield Source(Antigravity.agent, folder, companions, appended=False, rank=_DOCUMENTS_ALONE)


def _source(path: str) -> Source:
    if path.endswith(".db"):
        return Source(
            Antigravity.agent, path, sqlite_companions(path), appended=False, rank=_DATABASE_ALONE
        )
    folder = _folder(path)
    return Source(Antigravity.agent, path, _beside(folder) if folder else (), appended=False)


def _folder(path: str) -> str | None:
    """The folder of the conversation that a file belongs to; None when it lies elsewhere."""
    folder = os.path.dirname(path)
    if path.endswith(".db"):
        above = os.path.dirname(folder) if os.path.basename(folder) == _CONVERSATIONS else None
        if above:
            return os.path.join(above, _BRAIN, os.path.basename(path).removesuffix(".db"))
        return None
    if path.endswith(".jsonl"):
        folder = os.path.dirname(os.path.dirname(folder)) if folder.endswith(_LOGS) else ""
    return folder if os.path.basename(os.path.dirname(folder)) == _BRAIN else None


def _beside(folder: str) -> tuple[str, ...]:
    """The database that belongs to a conversation's folder."""
    path = os.path.join(
        os.path.dirname(os.path.dirname(folder)), _CONVERSATIONS, f"{os.path.basename(folder)}.db"
    )
    return (path, *sqlite_companions(path))


def _session(path: str) -> str:
    """The id of a conversation, after which its folder, database or transcript is named."""
    folder = _folder(path) if path.endswith(".jsonl") else None
    return name_in_text(folder or path).removesuffix(".jsonl").removesuffix(".db")
