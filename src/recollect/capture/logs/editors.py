"""Where VS Code, and editors made of it, keep what extensions and chats leave behind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.values import fields_of, text_of

_WORKSPACE_BYTES = 1 << 20


def settings_folders(home: str, environ: Mapping[str, str]) -> list[str]:
    """Where programs with a window keep their data, on every system.

    A home may be a copy from another one.
    """
    roaming = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return [config, os.path.join(home, "Library", "Application Support"), roaming]


def user_folders(home: str, environ: Mapping[str, str], products: Iterable[str]) -> list[str]:
    """The `User` folder of each of these products, wherever it may be."""
    products = list(products)
    portable = environ.get("VSCODE_PORTABLE")
    data = [os.path.join(portable, "user-data")] if portable else []
    for base in settings_folders(home, environ):
        data += [os.path.join(base, product) for product in products]
    return [os.path.join(folder, "User") for folder in data]


def workspace_folder(path: str) -> str | None:
    """The folder that a `workspace.json` stands for; None when it is remote, gone or none."""
    try:
        noted = fields_of(read_json(path, limit=_WORKSPACE_BYTES))
    except (BrokenDocument, UnreadableSource):
        return None
    folder = file_path(noted.get("folder"))
    if folder is not None:
        return folder
    workspace = file_path(noted.get("workspace") or noted.get("configuration"))
    return os.path.dirname(workspace) if workspace else None


def file_path(uri: object) -> str | None:
    """The path that a file URI means, or a plain path as it is; None for anything else."""
    text = text_of(uri)
    if text is None:
        return None
    if "://" not in text:
        return text if text.startswith(("/", "~")) or text[1:3] in (":\\", ":/") else None
    try:
        parts = urlsplit(text)
    except ValueError:
        # A bracket where a host would be: no address that anything leads to.
        return None
    if parts.scheme == "vscode-remote":
        # The folder is on the other machine, but it is what the agent saw.
        return unquote(parts.path) or None
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    if path[:1] == "/" and path[2:3] == ":":
        path = path[1:].replace("/", "\\")
    return f"//{parts.netloc}{path}" if parts.netloc else path or None
