"""Finds and recognises chats and traces of Copilot."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.vscode_copilot_chat.reader import (
    CHATS,
    ELSEWHERE,
    CopilotChatReader,
)
from recollect.capture.adapters.vscode_copilot_chat.records import (
    OPERATIONS,
)
from recollect.capture.adapters.vscode_copilot_chat.traces import (
    ENDING,
    LOGS,
    TRACES,
    is_trace,
    read_traces,
    run_of,
    runs_in,
    trace_folders,
)
from recollect.capture.logs.editors import user_folders
from recollect.capture.logs.folders import files_in, list_folder
from recollect.capture.logs.readers import replay_document, replay_lines
from recollect.model.logs import Checkpoint, Item, Source

PRODUCTS = ("Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders", "Positron")
SERVERS = (
    ".vscode-server", ".vscode-server-insiders", ".vscode-remote", ".vscodium-server",
    ".positron-server",
)  # fmt: skip
STORAGE = "workspaceStorage"
WORKSPACE = "workspace.json"
# A chat that was taken over into the newer form may still be there in the older one.
_DOCUMENT = 1

# Two of these fields tell a chat.
_MARKS = (
    b'"responderUsername"', b'"requesterUsername"', b'"initialLocation"', b'"creationDate"',
    b'"sessionId"',
)  # fmt: skip
_snapshot = re.compile(rb'^\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')


class VscodeCopilotChat:
    """Reads the chats that VS Code keeps for each of its windows, and exported ones."""

    agent = "vscode-copilot-chat"
    name = "VS Code Copilot Chat"
    version = 1
    endings = (".json", ".jsonl")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The storage of every editor of the family, here and on servers, and the traces."""
        users = user_folders(home, environ, PRODUCTS)
        users += [os.path.join(home, server, "data", "User") for server in SERVERS]
        places = (STORAGE, *(os.path.join("globalStorage", name) for name in ELSEWHERE))
        chats = [os.path.join(user, place) for user in users for place in places]
        return chats + trace_folders(home, environ)

    def sources(self, root: str) -> Iterator[Source]:
        """The chats below a `User` folder, or below one of the folders in it.

        The traces of Visual Studio.
        """
        for folder in _trace_folders(root):
            for run in runs_in(folder):
                yield self._traces(run)
        for folder in _chat_folders(root):
            for path in files_in(folder, *self.endings):
                yield self._source(path)

    def _traces(self, run: tuple[str, ...]) -> Source:
        return Source(self.agent, run[0], run[1:], appended=False)

    def _source(self, path: str) -> Source:
        folder, within = os.path.split(os.path.dirname(path))
        companions = (os.path.join(folder, WORKSPACE),) if within == CHATS else ()
        rank = 0 if path.endswith(".jsonl") else _DOCUMENT
        return Source(self.agent, path, companions, appended=False, rank=rank)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A chat by the fields it has.

        A log by its first operation as well, a trace by its name.
        """
        if is_trace(path, head):
            return self._traces(run_of(path))
        is_chat = sum(mark in head for mark in _MARKS) > 1 and b'"requests"' in head
        begins = path.endswith(".json") or _snapshot.match(head)
        return self._source(path) if is_chat and begins else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole chat, or run of Visual Studio, every time."""
        if source.path.endswith(ENDING):
            return read_traces(source, since)
        if source.path.endswith(".jsonl"):
            return replay_lines(source, since, OPERATIONS, CopilotChatReader(source))
        return replay_document(source, since, dict, CopilotChatReader(source))


def _trace_folders(root: str) -> Iterator[str]:
    name = os.path.basename(root)
    if name == TRACES and os.path.basename(os.path.dirname(root)) == LOGS:
        yield root
    else:
        yield os.path.join(root, TRACES) if name == LOGS else os.path.join(root, LOGS, TRACES)


def _chat_folders(root: str) -> Iterator[str]:
    name = os.path.basename(root)
    if name == CHATS or name in ELSEWHERE:
        yield root
    elif name == STORAGE:
        for window in list_folder(root).folders:
            yield os.path.join(window, CHATS)
    else:
        for folder in list_folder(root).folders:
            below = os.path.basename(folder)
            if below in (STORAGE, CHATS) or below in ELSEWHERE:
                yield from _chat_folders(folder)
            elif below == "globalStorage":
                for place in ELSEWHERE:
                    yield os.path.join(folder, place)
