"""Which folder a chat was about, from what the editor notes of its workspaces."""

from __future__ import annotations

import os
from typing import Any

from recollect.capture.adapters.cursor.items import COMPOSERS, composers_named, has_items, value
from recollect.capture.logs.documents import BrokenDocument
from recollect.capture.logs.editors import file_path, workspace_folder
from recollect.capture.logs.folders import list_folder
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.sqlite import open_sqlite
from recollect.capture.logs.values import fields_of, text_of

DATABASE = "state.vscdb"
NOTE = "workspace.json"
STORAGE = "workspaceStorage"


def folder_told(workspace: Any) -> str | None:
    """The folder in a chat's own `workspaceIdentifier`, which chats have since 2026."""
    noted = fields_of(workspace)
    uri = fields_of(noted.get("uri"))
    if (
        folder := text_of(uri.get("fsPath"))
        or file_path(uri.get("external"))
        or text_of(uri.get("path"))
    ):
        return folder
    several = text_of(fields_of(noted.get("configPath")).get("fsPath"))
    return os.path.dirname(several) if several else None


class Workspaces:
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
        parents = [
            folder for folder in self._known if path.startswith((f"{folder}/", f"{folder}\\"))
        ]
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
        with open_sqlite(path) as rows:
            return list(composers_named(value(rows, COMPOSERS))) if has_items(rows) else []
    except (BrokenDocument, UnreadableSource):
        # It is a source of its own, and told about there.
        return []
