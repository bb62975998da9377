"""What Cursor's editor keeps for each workspace: which chats are its own, and the oldest chats.

They are in `ItemTable`, beside settings and login tokens that are none of our
business, so only the keys named here are ever asked for. The chats of 2023 and
2024 are in them, whole; later, which chats belong to a workspace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec

from recollect.capture.adapters.cursor.bubbles import CursorComposer
from recollect.capture.logs.documents import BrokenDocument, parse_json
from recollect.capture.logs.editors import file_path, workspace_folder
from recollect.capture.logs.folders import list_folder
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.sqlite import SqliteFile, open_sqlite
from recollect.capture.logs.values import Fields, fields_of, list_of, moment_of, objects_of, text_of

COMPOSERS = "composer.composerData"
CHATS = "workbench.panel.aichat.view.aichat.chatdata"
GENERATIONS = "aiService.generations"
KEYS = (COMPOSERS, CHATS, GENERATIONS)

# Larger values are no chats; a whole one is held in memory.
MAX_VALUE_BYTES = 128 << 20
_TYPES = {"user": 1, "ai": 2}

# A key's row and size: a value that is replaced gets another row.
ItemStamps = dict[str, tuple[int, int]]
DATABASE = "state.vscdb"
NOTE = "workspace.json"
STORAGE = "workspaceStorage"


def has_items(file: SqliteFile) -> bool:
    """Whether there is a table of items at all."""
    return {"key", "value"} <= set(file.columns("ItemTable"))


def stamps(file: SqliteFile) -> ItemStamps:
    """Which of the values there are, without looking at them."""
    asked = ", ".join("?" * len(KEYS))
    found = file.all(
        f"""
        select key, rowid, octet_length(value)
          from ItemTable
         where key in ({asked})
         order by key
        """,
        KEYS,
    )
    return {key: (rowid, size) for key, rowid, size in found if size and size <= MAX_VALUE_BYTES}


def value(file: SqliteFile, key: str) -> Any:
    """The value of one of our keys, decoded; `BrokenDocument` when it is no JSON."""
    if key not in KEYS:
        raise ValueError(f"{key} is not ours to read")
    row = file.one("select cast(value as blob) from ItemTable where key = ?", (key,))
    return parse_json(row[0]) if row and row[0] else None


def composers_named(noted: Any) -> Iterator[str]:
    """The chats that a workspace names as its own; since 2026 only those with an open tab."""
    for one in objects_of(fields_of(noted).get("allComposers")):
        if name := text_of(one.get("composerId")):
            yield name
    yield from filter(None, map(text_of, list_of(fields_of(noted).get("selectedComposerIds"))))


def chats(
    file: SqliteFile, found: ItemStamps, problems: ProblemCounter
) -> Iterator[CursorComposer]:
    """The chats that a workspace's items hold whole."""
    values: Fields = {}
    for key in found:
        try:
            values[key] = value(file, key)
        except BrokenDocument as reason:
            problems.bad(f"{key}: {reason}")
    times = _Times(values.get(GENERATIONS))
    for tab in objects_of(fields_of(values.get(CHATS)).get("tabs")):
        yield _composer_of(tab, times)
    for fields in objects_of(fields_of(values.get(COMPOSERS)).get("allComposers")):
        composer = msgspec.convert(fields, CursorComposer)
        for bubble in objects_of(composer.conversation):
            if bubble.get("type") == _TYPES["user"]:
                bubble.setdefault("createdAt", times.of(bubble.get("text")))
        yield composer


def _composer_of(tab: Fields, times: _Times) -> CursorComposer:
    """A tab of the chat panel, as later versions would have kept it."""
    bubbles = []
    for number, one in enumerate(objects_of(tab.get("bubbles"))):
        kind = one.get("type")
        bubble = {
            "bubbleId": text_of(one.get("id")) or f"#{number}",
            "type": _TYPES.get(kind, kind) if isinstance(kind, str) else kind,
            "text": one.get("text") or one.get("rawText"),
            "richText": one.get("richText"),
            "images": one.get("selectedImages"),
            "modelInfo": {"modelName": one.get("modelType")},
            "createdAt": times.of(one.get("text")) if kind == "user" else None,
        }
        bubbles.append(bubble)
    asked = [bubble for bubble in bubbles if bubble["type"] == _TYPES["user"] and bubble["text"]]
    if asked and asked[-1]["createdAt"] is None:
        asked[-1]["createdAt"] = moment_of(tab.get("lastSendTime"))
    return CursorComposer(
        composerId=tab.get("tabId"),
        name=tab.get("chatTitle"),
        unifiedMode="chat",
        conversation=bubbles,
    )


class _Times:
    """When prompts were sent, from the list of generations: old chats do not tell."""

    def __init__(self, generations: Any) -> None:
        self._times: dict[str, list[int]] = {}
        for one in objects_of(generations):
            text, at = text_of(one.get("textDescription")), moment_of(one.get("unixMs"))
            if text and at:
                self._times.setdefault(text, []).append(at)

    def of(self, text: Any) -> int | None:
        """The time of these words; said again, that of the next time."""
        times = self._times.get(text) if isinstance(text, str) else None
        return times.pop(0) if times else None


# The folders of chats ----------------------------------------------------------


def folder_told(workspace: Any) -> str | None:
    """The folder in a chat's own `workspaceIdentifier`, which chats have since 2026."""
    noted = fields_of(workspace)
    uri = fields_of(noted.get("uri"))
    folder = text_of(uri.get("fsPath")) or file_path(uri.get("external"))
    folder = folder or text_of(uri.get("path"))
    if folder:
        return folder
    several = text_of(fields_of(noted.get("configPath")).get("fsPath"))
    return os.path.dirname(several) if several else None


class CursorWorkspaces:
    """The workspaces of one user, looked at when the first chat needs them."""

    def __init__(self, companions: tuple[str, ...]) -> None:
        self._storage = next(
            (path for path in companions if os.path.basename(path) == STORAGE), None
        )
        note = next((path for path in companions if os.path.basename(path) == NOTE), None)
        # A workspace's own database is about one folder.
        self._own = workspace_folder(note) if note else None
        self._folders: dict[str, str] | None = None
        self._known: set[str] = set()

    def folder_of(self, composer: str) -> str | None:
        """The folder of the workspace that names a chat as its own."""
        return self._own or self._all().get(composer)

    def around(self, path: str) -> str | None:
        """The folder of the nearest workspace that a file lies in."""
        self._all()
        parents = (
            folder for folder in self._known if path.startswith((f"{folder}/", f"{folder}\\"))
        )
        return max(parents, key=len, default=None)

    def _all(self) -> dict[str, str]:
        if self._folders is None:
            self._folders = {}
            for workspace in list_folder(self._storage).folders if self._storage else ():
                folder = workspace_folder(os.path.join(workspace, NOTE))
                if folder is not None:
                    self._known.add(folder.rstrip("/\\"))
                    for composer in _composers(os.path.join(workspace, DATABASE)):
                        self._folders.setdefault(composer, folder)
        return self._folders


def _composers(path: str) -> list[str]:
    try:
        with open_sqlite(path) as file:
            return list(composers_named(value(file, COMPOSERS))) if has_items(file) else []
    except (BrokenDocument, UnreadableSource):
        # It is a source of its own, and told about there.
        return []
