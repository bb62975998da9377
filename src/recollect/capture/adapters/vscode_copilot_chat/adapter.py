"""GitHub Copilot Chat in VS Code, and in editors made of it: a file per chat.

Until early 2026 a chat is one document, since then a log of operations that
has to be replayed. Visual Studio has the same assistant and leaves traces. What
we rely on is written down in docs/formats/vscode-copilot-chat.md.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from operator import itemgetter

from recollect.capture.adapters.vscode_copilot_chat.chat import Chat, session_of
from recollect.capture.adapters.vscode_copilot_chat.replay import (
    OPERATIONS,
    Operation,
    Replay,
    snapshot,
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
from recollect.capture.logs.editors import user_folders, workspace_folder
from recollect.capture.logs.folders import files_in, listed, name_in_text
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.replayed import replay_document, replay_lines
from recollect.capture.logs.values import Fields, moment_of, objects_of
from recollect.model.logs import Checkpoint, Item, Source

PRODUCTS = ("Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders", "Positron")
SERVERS = (
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscode-remote",
    ".vscodium-server",
    ".positron-server",
)
STORAGE = "workspaceStorage"
CHATS = "chatSessions"
# Chats of windows without a folder, and those that move to another window.
ELSEWHERE = ("emptyWindowChatSessions", "transferredChatSessions")
WORKSPACE = "workspace.json"
# A chat that was taken over into the newer form may still be there in the older one.
_DOCUMENT = 1

_snapshot = re.compile(rb'^\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')


class VscodeCopilotChat:
    """Reads the chats that VS Code keeps for each of its windows, and exported ones."""

    agent = "vscode-copilot-chat"
    name = "VS Code Copilot Chat"
    version = 1
    endings = (".json", ".jsonl")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The storage of every editor of the family, here and on machines that
        one was connected to, and the traces.
        """
        users = user_folders(home, environ, PRODUCTS)
        users += [os.path.join(home, server, "data", "User") for server in SERVERS]
        places = (STORAGE, *(os.path.join("globalStorage", name) for name in ELSEWHERE))
        return [os.path.join(user, place) for user in users for place in places] + trace_folders(
            home, environ
        )

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
        return Source(
            self.agent,
            path,
            companions,
            appended=False,
            rank=0 if path.endswith(".jsonl") else _DOCUMENT,
        )

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A chat by the fields it has.

        A log by its first operation as well, a trace by its name.
        """
        if is_trace(path, head):
            return self._traces(run_of(path))
        fields = sum(
            f'"{name}"'.encode() in head
            for name in (
                "responderUsername",
                "requesterUsername",
                "initialLocation",
                "creationDate",
                "sessionId",
            )
        )
        ours = (
            fields > 1
            and b'"requests"' in head
            and (path.endswith(".json") or _snapshot.match(head) is not None)
        )
        return self._source(path) if ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole chat, or run of Visual Studio, every time."""
        if source.path.endswith(ENDING):
            return read_traces(source, since)
        if source.path.endswith(".jsonl"):
            return replay_lines(source, since, OPERATIONS, ChatFile(source))
        return replay_document(source, since, dict, ChatFile(source))


class ChatFile:
    """One file on its way to items."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.odd = Oddities()
        self.replay = Replay(self.odd)

    def take(self, record: Operation | Fields) -> None:
        """An operation of the log; or the document, which holds what the snapshot of a log does."""
        self.replay.apply(record if isinstance(record, Operation) else snapshot(record))

    def items(self) -> Iterator[Item]:
        """Everything the file tells.

        Nothing when it is that of a window that was opened and closed again.
        """
        chat = self.replay.chat
        requests = list(_in_order(objects_of(chat.get("requests")), self.replay.taken_back()))
        if requests:
            cwd = next(
                (folder for path in self.source.companions if (folder := workspace_folder(path))),
                None,
            )
            made = Chat(session_of(chat, _named(self.source.path)), self.odd)
            made.introduce(chat, cwd)
            for number, (request, live) in enumerate(requests):
                made.take(request, number, live=live)
            yield from made.items
        yield from self.odd.problems(self.source.path)


def _in_order(requests: list[Fields], taken_back: list[Fields]) -> Iterator[tuple[Fields, bool]]:
    """All requests, and whether they are live: what was taken back
    stands before what was asked later.
    """
    dated = [(moment_of(request.get("timestamp")), request) for request in taken_back]
    waiting = deque(
        sorted(((at, request) for at, request in dated if at is not None), key=itemgetter(0))
    )
    for request in requests:
        asked_at = moment_of(request.get("timestamp"))
        while asked_at is not None and waiting and waiting[0][0] < asked_at:
            yield waiting.popleft()[1], False
        yield request, True
    yield from ((request, False) for _, request in waiting)
    yield from ((request, False) for at, request in dated if at is None)


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
        for window in listed(root).folders:
            yield os.path.join(window, CHATS)
    else:
        for folder in listed(root).folders:
            below = os.path.basename(folder)
            if below in (STORAGE, CHATS) or below in ELSEWHERE:
                yield from _chat_folders(folder)
            elif below == "globalStorage":
                for place in ELSEWHERE:
                    yield os.path.join(folder, place)


def _named(path: str) -> str | None:
    """The chat that a path names; an exported one is called anything."""
    within = os.path.basename(os.path.dirname(path))
    return name_in_text(path).rpartition(".")[0] if within == CHATS or within in ELSEWHERE else None
