"""Finds and recognises OpenHands' conversations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypeVar
from uuid import UUID

from recollect.capture.adapters.openhands.folder import OpenHandsConversation, read_folder
from recollect.capture.adapters.openhands.reader import OpenHandsReader
from recollect.capture.adapters.openhands.records import (
    OpenHandsEvent,
    OpenHandsOldEvent,
    OpenHandsOldMetadata,
    OpenHandsState,
)
from recollect.capture.adapters.openhands.version_0 import (
    OpenHandsOldReader,
    is_run,
    is_trajectory,
    read_runs,
    read_trajectory,
)
from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.folders import list_folder, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.values import moment_of, text_of
from recollect.model.logs import Checkpoint, Item, Problem, SessionFacts, Source

Shape = TypeVar("Shape")

_STATE, _METADATA, _EVENTS, _CHILDREN = "base_state.json", "metadata.json", "events", "subagents"
_PLACES = ("conversations", "sessions")
_EVENT_NAME = re.compile(r"(?:event-\d{5,}-[0-9a-fA-F-]{8,}|\d+)\.json")
_HOSTS = {"github": "github.com", "gitlab": "gitlab.com", "bitbucket": "bitbucket.org"}
# Conversations that nobody typed into.
_HEADLESS = ("openhands_api", "resolver", "jira", "jira_dc", "linear", "slack")
# How deep sub-agents may start sub-agents.
_DEPTH = 8


class OpenHands:
    """The conversations of OpenHands, of its CLI, its server and its SDK."""

    agent = "openhands"
    name = "OpenHands"
    version = 1
    endings = (".json", ".jsonl")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The CLI's folders, and those of the server of version 0."""
        own = os.path.join(home, ".openhands")
        kept = environ.get("OPENHANDS_PERSISTENCE_DIR") or own
        moved = environ.get("OPENHANDS_CONVERSATIONS_DIR")
        roots = [moved or os.path.join(kept, "conversations")]
        for store in (environ.get("FILE_STORE_PATH") or own, f"{own}-state"):
            store = os.path.expanduser(store)
            roots += [os.path.join(store, "sessions"), os.path.join(store, "users")]
        return roots

    def sources(self, root: str) -> Iterator[Source]:
        """The folders of conversations, with those of their sub-agents."""
        inner = list_folder(root).folders
        groups = [root] if os.path.basename(root) in _PLACES else []
        groups += [folder for folder in inner if os.path.basename(folder) in _PLACES]
        users = inner if os.path.basename(root) == "users" else []
        for folder in inner:
            if os.path.basename(folder) == "users":
                users += list_folder(folder).folders
        groups += [os.path.join(user, "conversations") for user in users]
        for group in groups:
            for folder in list_folder(group).folders:
                yield from self._conversation(folder, _DEPTH)

    def _conversation(self, folder: str, depth: int) -> Iterator[Source]:
        """A conversation and the ones it started.

        What has no state beside its events is of version 0.
        """
        found = list_folder(folder)
        names = {os.path.basename(path) for path in found.files}
        events = os.path.join(folder, _EVENTS)
        if events in found.folders and (_STATE in names or _holds_events(events)):
            yield self._folder(folder, new=_STATE in names)
        children = os.path.join(folder, _CHILDREN)
        if depth and children in found.folders:
            for child in list_folder(children).folders:
                yield from self._conversation(child, depth - 1)

    def _folder(self, folder: str, *, new: bool) -> Source:
        beside = os.path.join(folder, _STATE if new else _METADATA)
        events = os.path.join(folder, _EVENTS)
        return Source(self.agent, events, companions=(beside,), appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A part of a conversation's folder, an exported trajectory, or a benchmark's output."""
        folder, name = os.path.split(path)
        if name == _STATE and b'"workspace"' in head and b'"agent"' in head:
            if os.path.isdir(os.path.join(folder, _EVENTS)):
                return self._folder(folder, new=True)
            # A conversation in which nothing happened yet.
            return Source(self.agent, path, appended=False)
        if os.path.basename(folder) == _EVENTS and _EVENT_NAME.fullmatch(name):
            new = name.startswith("event-")
            told = b'"kind"' in head if new else b'"action"' in head or b'"observation"' in head
            if told and b'"source"' in head:
                return self._folder(os.path.dirname(folder), new=new)
            return None
        if name.endswith(".jsonl"):
            return Source(self.agent, path) if is_run(head) else None
        # Told by a folder too, where it is whole.
        return Source(self.agent, path, appended=False, rank=1) if is_trajectory(head) else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new in a conversation, or all of an export."""
        if source.path.endswith(".jsonl"):
            yield from read_runs(source, since)
        elif os.path.basename(source.path) == _STATE:
            reader = self._reader(source, b"")
            yield from [*reader.drain(), *reader.close()]
            yield Checkpoint(1)
        elif source.path.endswith(".json"):
            yield from read_trajectory(source, _session_in(source.path))
        elif _is_new(source):
            yield from read_folder(source, since, OpenHandsEvent, self._reader)
        else:
            yield from read_folder(source, since, OpenHandsOldEvent, self._version_0_reader)

    def _reader(self, source: Source, memory: bytes) -> OpenHandsConversation:
        beside = source.companions[0] if source.companions else source.path
        folder = os.path.dirname(beside)
        state, problem = _read(beside, OpenHandsState)
        own = _session_in(folder)
        if not _is_uuid(own) and state is not None:
            own = _session(text_of(state.id) or own)
        above, parent = os.path.dirname(folder), None
        if os.path.basename(above) == _CHILDREN:
            parent = _whole_session(os.path.dirname(above))
        reader = OpenHandsReader(f"{parent}/{own}" if parent else own, state, parent, source.path)
        reader.dialogue.items += problem
        return reader

    def _version_0_reader(self, source: Source, memory: bytes) -> OpenHandsConversation:
        beside = source.companions[0]
        session = _session_in(os.path.dirname(beside))
        metadata, problem = _read(beside, OpenHandsOldMetadata)
        told = metadata or OpenHandsOldMetadata()
        # It need not be there: a run without a server has none.
        missing = metadata is None and os.path.exists(beside)
        reader = OpenHandsOldReader(
            session, source.path, memory, model=text_of(told.llm_model), read_again=missing
        )
        reader.dialogue.items += [_old_facts(session, told), *(problem if missing else [])]
        return reader


def _old_facts(session: str, told: OpenHandsOldMetadata) -> SessionFacts:
    repository, trigger = text_of(told.selected_repository), text_of(told.trigger)
    host = _HOSTS.get(text_of(told.git_provider) or "github")
    return SessionFacts(
        session=session,
        origin="headless" if trigger in _HEADLESS else "interactive",
        title=text_of(told.title),
        started_at=moment_of(told.created_at),
        git_branch=text_of(told.selected_branch),
        git_remote=f"https://{host}/{repository}" if repository and host else None,
        meta={"trigger": trigger} if trigger else None,
    )


def _read(path: str, shape: type[Shape]) -> tuple[Shape | None, list[Item]]:
    """A document beside the events, or what is wrong with it."""
    try:
        return read_json(path, shape), []
    except (BrokenDocument, UnreadableSource) as reason:
        return None, [Problem(path=path, kind="bad_record", reason=str(reason))]


def _is_new(source: Source) -> bool:
    return bool(source.companions) and os.path.basename(source.companions[0]) == _STATE


def _holds_events(folder: str) -> bool:
    """Whether the first thing in a folder has the name of an event.

    That is enough, and listing thousands is not free.
    """
    try:
        with os.scandir(folder) as entries:
            return any(_EVENT_NAME.fullmatch(entry.name) for entry in islice(entries, 3))
    except OSError:
        return False


def _session_in(path: str) -> str:
    """The session that a folder or a file is named after."""
    name = name_in_text(path).removesuffix(".json")
    return _session(name.removeprefix("trajectory-").removeprefix("trajectory_"))


def _whole_session(folder: str) -> str:
    """The session of a folder that may itself be a sub-agent's."""
    above = os.path.dirname(folder)
    if os.path.basename(above) == _CHILDREN:
        return f"{_whole_session(os.path.dirname(above))}/{_session_in(folder)}"
    return _session_in(folder)


def _session(name: str) -> str:
    """An id as the agent shows it: folders leave the dashes out."""
    return str(UUID(name)) if _is_uuid(name) else name


def _is_uuid(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return len(name) in (32, 36)
