"""Finds and recognises the tasks and sessions of Cline and its descendants."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.cline_roo.reader import (
    FILES_BESIDE,
    PRODUCTS,
    SENT_FILE,
    SESSION_ENDING,
    read_session,
    read_task,
)
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.editors import user_folders
from recollect.capture.logs.folders import list_folder
from recollect.capture.logs.lines import UnreadableSource
from recollect.model.logs import Checkpoint, Item, Problem, Source

_EDITORS = (
    "Code", "Code - Insiders", "VSCodium", "VSCodium - Insiders", "Cursor", "Windsurf",
    "Windsurf - Next", "Trae", "Positron", "Kiro", "Void", "Antigravity", "code-oss",
)  # fmt: skip
# Where editors keep their data on a machine that somebody works on from another one.
_SERVERS = (
    ".vscode-server/data", ".vscode-server-insiders/data", ".vscode-remote/data",
    ".vscodium-server/data", ".cursor-server/data", ".windsurf-server/data",
    ".local/share/code-server", ".openvscode-server/data",
)  # fmt: skip
# What was shown, the better told first; before 2025 the file had another name.
_SCREENS = ("ui_messages.json", "claude_messages.json")


class ClineRoo:
    """Tasks of the extensions in every editor, and of Cline's command line."""

    agent = "cline-roo"
    name = "Cline, Roo Code"
    version = 1
    endings = (".json",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folders of tasks and of sessions alone: beside them are settings and keys."""
        users = user_folders(home, environ, _EDITORS)
        users += [os.path.join(home, *server.split("/"), "User") for server in _SERVERS]
        storages = [os.path.join(user, "globalStorage") for user in users]
        tasks = [os.path.join(one, product, "tasks") for one in storages for product in PRODUCTS]
        own = environ.get("CLINE_DIR") or os.path.join(home, ".cline")
        data = environ.get("CLINE_DATA_DIR") or os.path.join(own, "data")
        sessions = environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")
        return [*tasks, os.path.join(data, "tasks"), sessions]

    def sources(self, root: str) -> Iterator[Source]:
        """The tasks and sessions in a folder of them, or in the folder above."""
        below = [os.path.join(root, name) for name in ("tasks", "sessions")]
        in_data = [os.path.join(root, "data", name) for name in ("tasks", "sessions")]
        in_storage = [os.path.join(root, product, "tasks") for product in PRODUCTS]
        for place in [root, *below, *in_data, *in_storage]:
            name = os.path.basename(place)
            for folder in list_folder(place).folders if name in ("tasks", "sessions") else []:
                files = list_folder(folder).files
                if name == "tasks":
                    yield from self._task(folder, {os.path.basename(path) for path in files})
                else:
                    sessions = [path for path in files if path.endswith(SESSION_ENDING)]
                    yield from map(self._session, sessions)

    def _task(self, folder: str, found: set[str]) -> Iterator[Source]:
        main = next((name for name in (*_SCREENS, SENT_FILE) if name in found), None)
        if main is not None:
            beside = tuple(
                os.path.join(folder, name) for name in (SENT_FILE, *FILES_BESIDE) if name != main
            )
            yield Source(self.agent, os.path.join(folder, main), companions=beside, appended=False)

    def _session(self, path: str) -> Source:
        folder = os.path.dirname(path)
        manifest = os.path.join(folder, f"{os.path.basename(folder)}.json")
        return Source(self.agent, path, companions=(manifest,), appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file of a task or of a session, in whatever folder it is."""
        folder, name = os.path.split(path)
        if name.endswith(SESSION_ENDING):
            marked = all(mark in head for mark in (b'"messages"', b'"version"', b'"role"'))
            ours = head.lstrip().startswith(b"{") and (marked or b'"sessionId"' in head)
            return self._session(path) if ours else None
        if not head.lstrip().startswith(b"["):
            return None
        is_message = b'"ts"' in head and b'"type"' in head
        shown = name in _SCREENS and is_message and (b'"say"' in head or b'"ask"' in head)
        sent = name == SENT_FILE and b'"role"' in head and b'"content"' in head
        if not shown and not sent:
            return None
        found = {os.path.basename(other) for other in list_folder(folder).files}
        return next(self._task(folder, found), None)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """A whole task, or a whole session."""
        try:
            data = read_bytes(source.path)
        except UnreadableSource as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        try:
            found = parse_json(data)
        except BrokenDocument as reason:
            yield Problem(path=source.path, kind="bad_record", reason=str(reason))
        else:
            told = read_session if source.path.endswith(SESSION_ENDING) else read_task
            yield from told(source, found)
        yield Checkpoint(len(data))
