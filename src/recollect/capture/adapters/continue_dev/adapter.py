"""Finds and recognises Continue's sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b

import msgspec

from recollect.capture.adapters.continue_dev.reader import ContinueReader
from recollect.capture.adapters.continue_dev.records import ContinueIndexEntry, ContinueSession
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.editors import file_path
from recollect.capture.logs.folders import files_in, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.values import moment_of, non_empty, text_of
from recollect.model.logs import Checkpoint, Item, Problem, SessionFacts, Source

# When each session was made, in a list that is written anew with every message of any session.
_INDEX = "sessions.json"
_INDEX_BYTES = 64 << 20
# What a session's document begins with, in this order since the end of 2024.
_FIRST = (b'"sessionId"', b'"title"', b'"workspaceDirectory"', b'"history"')
# Before, the history came first, and whatever names the session after the last message.
_OLD_FIRST = re.compile(
    rb'\s*\{\s*"history"\s*:\s*\[\s*\{\s*"(?:message|editorState|contextItems)"\s*:\s*[{[]'
)
_OLD_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json")
_FIRST_BYTES = 4096
# What the program calls a session before it has a better title.
_UNTITLED = "New Session"


class ContinueDev:
    """The sessions of Continue's extensions and of its command line."""

    agent = "continue"
    name = "Continue"
    version = 2
    endings = (".json",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folder of the sessions; beside it are settings and keys."""
        folder = environ.get("CONTINUE_GLOBAL_DIR") or os.path.join(home, ".continue")
        return [os.path.join(folder, "sessions")]

    def sources(self, root: str) -> Iterator[Source]:
        """The sessions in a folder of them, or in the `sessions` of Continue's own folder."""
        for folder in (root, os.path.join(root, "sessions")):
            if os.path.basename(folder) != "sessions":
                continue
            found = list(files_in(folder, ".json"))
            index = os.path.join(folder, _INDEX)
            # Many agents have a folder of this name; only this one keeps a list of them
            # in it, or has it in its own folder.
            if index in found or os.path.basename(os.path.dirname(folder)) == ".continue":
                yield from (self._source(path) for path in found if path != index)

    def _source(self, path: str) -> Source:
        index = os.path.join(os.path.dirname(path), _INDEX)
        return Source(self.agent, path, companions=(index,), appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """One session anywhere, told by the fields that it begins with."""
        name = os.path.basename(path)
        if name == _INDEX or not head.lstrip().startswith(b"{"):
            return None
        is_old = _OLD_NAME.fullmatch(name) is not None and _OLD_FIRST.match(head) is not None
        is_ours = is_old or all(field in head[:_FIRST_BYTES] for field in _FIRST)
        return self._source(path) if is_ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """A whole session, unless only the entries of others changed in the list."""
        try:
            data = read_bytes(source.path)
        except UnreadableSource as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        name = name_in_text(source.path).removesuffix(".json")
        entry = _entry(source.companions, name)
        digest = blake2b(data + msgspec.json.encode(entry), digest_size=16).hexdigest()
        state = msgspec.msgpack.encode(digest)
        if since is not None and since.state == state:
            yield since
            return
        try:
            yield from _told(parse_json(data, ContinueSession), name, entry, source.path)
        except BrokenDocument as reason:
            yield Problem(path=source.path, kind="bad_record", reason=str(reason))
        yield Checkpoint(max(1, len(data)), state)


def _told(
    session: ContinueSession, name: str, entry: ContinueIndexEntry, path: str
) -> Iterator[Item]:
    # The program itself goes by the file's name: an id in a copy may be that of the original.
    title = text_of(session.title) or text_of(entry.title)
    workspace = text_of(session.workspaceDirectory) or text_of(entry.workspaceDirectory)
    meta = {"mode": text_of(session.mode), "model_title": text_of(session.chatModelTitle)}
    yield SessionFacts(
        session=name,
        whole=True,
        origin="interactive",
        cwd=file_path(workspace),
        title=None if title == _UNTITLED else title,
        started_at=moment_of(entry.dateCreated),
        meta=non_empty(meta) or None,
    )
    yield from ContinueReader(name, path).read(session)


def _entry(companions: tuple[str, ...], name: str) -> ContinueIndexEntry:
    """What the list says about a session.

    Nothing when it does not know it, or is just being written.
    """
    if not companions:
        return ContinueIndexEntry()
    try:
        return _entries(read_bytes(companions[0], _INDEX_BYTES)).get(name, ContinueIndexEntry())
    except (BrokenDocument, UnreadableSource):
        return ContinueIndexEntry()


@lru_cache(1)
def _entries(index: bytes) -> dict[str, ContinueIndexEntry]:
    """The list by the names of sessions.

    It is looked into for each of them, so the last one is kept.
    """
    entries: dict[str, ContinueIndexEntry] = {}
    for entry in parse_json(index, list[ContinueIndexEntry]):
        entries.setdefault(text_of(entry.sessionId) or text_of(entry.session_id) or "", entry)
    return entries
