"""Cline, Roo Code and what Kilo Code was made of: a folder for each task, and Cline's new sessions.

What we rely on, and the versions we saw it in, is in docs/formats/cline-roo.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from recollect.capture.adapters.cline_roo.calls import Record, blocks_of
from recollect.capture.adapters.cline_roo.messages import Messages
from recollect.capture.adapters.cline_roo.screen import Screen
from recollect.capture.adapters.cline_roo.words import folder_in, model_in
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import Broken, contents, parsed
from recollect.capture.logs.editors import user_folders
from recollect.capture.logs.folders import listed, name_in_text
from recollect.capture.logs.lines import Unreadable
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    moment_of,
    objects_of,
    text_of,
)
from recollect.model.logs import Author, Checkpoint, Item, Problem, Source

# The extensions, by the folder that an editor gives them.
_PRODUCTS = {
    "saoudrizwan.claude-dev": "cline",
    "rooveterinaryinc.roo-cline": "roo",
    "kilocode.kilo-code": "kilo",
}
_EDITORS = (
    "Code", "Code - Insiders", "VSCodium", "VSCodium - Insiders", "Cursor", "Windsurf",
    "Windsurf - Next", "Trae", "Positron",
    "Kiro", "Void", "Antigravity", "code-oss",
)  # fmt: skip
# Where editors keep their data on a machine that somebody works on from another one.
_SERVERS = (
    ".vscode-server/data", ".vscode-server-insiders/data", ".vscode-remote/data",
    ".vscodium-server/data", ".cursor-server/data",
    ".windsurf-server/data", ".local/share/code-server", ".openvscode-server/data",
)  # fmt: skip
# What was shown, the better told first; before 2025 the file had another name.
_SCREENS = ("ui_messages.json", "claude_messages.json")
_SENT = "api_conversation_history.json"
_BESIDE = ("task_metadata.json", "history_item.json")
_SESSION = ".messages.json"
# The environment is described in the first message that was sent.
_LOOKED_AT = 4


class ClineRoo:
    """Tasks of the extensions in every editor, and of Cline's command line."""

    agent = "cline-roo"
    name = "Cline, Roo Code"
    version = 1
    endings = (".json",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folders of tasks and of sessions alone: beside them are settings and keys."""
        users = user_folders(home, environ, _EDITORS) + [
            os.path.join(home, *server.split("/"), "User") for server in _SERVERS
        ]
        tasks = [
            os.path.join(user, "globalStorage", product, "tasks")
            for user in users
            for product in _PRODUCTS
        ]
        own = environ.get("CLINE_DIR") or os.path.join(home, ".cline")
        data = environ.get("CLINE_DATA_DIR") or os.path.join(own, "data")
        sessions = environ.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")
        return [*tasks, os.path.join(data, "tasks"), sessions]

    def sources(self, root: str) -> Iterator[Source]:
        """The tasks and sessions in a folder of them, or in the folder above."""
        below = [os.path.join(root, name) for name in ("tasks", "sessions")]
        in_data = [os.path.join(root, "data", name) for name in ("tasks", "sessions")]
        in_storage = [os.path.join(root, product, "tasks") for product in _PRODUCTS]
        for place in [root, *below, *in_data, *in_storage]:
            name = os.path.basename(place)
            for folder in listed(place).folders if name in ("tasks", "sessions") else []:
                found = {os.path.basename(path) for path in listed(folder).files}
                if name == "tasks":
                    yield from self._task(folder, found)
                else:
                    for file in sorted(found):
                        if file.endswith(_SESSION):
                            yield self._session(os.path.join(folder, file))

    def _task(self, folder: str, found: set[str]) -> Iterator[Source]:
        main = next((name for name in (*_SCREENS, _SENT) if name in found), None)
        if main is not None:
            beside = tuple(os.path.join(folder, name) for name in (_SENT, *_BESIDE) if name != main)
            yield Source(self.agent, os.path.join(folder, main), companions=beside, appended=False)

    def _session(self, path: str) -> Source:
        folder = os.path.dirname(path)
        manifest = os.path.join(folder, f"{os.path.basename(folder)}.json")
        return Source(self.agent, path, companions=(manifest,), appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file of a task or of a session, in whatever folder it is."""
        folder, name = os.path.split(path)
        if name.endswith(_SESSION):
            ours = (
                all(field in head for field in (b'"messages"', b'"version"', b'"role"'))
                or b'"sessionId"' in head
            )
            return self._session(path) if ours and head.lstrip().startswith(b"{") else None
        if not head.lstrip().startswith(b"["):
            return None
        shown = (
            name in _SCREENS
            and b'"ts"' in head
            and b'"type"' in head
            and (b'"say"' in head or b'"ask"' in head)
        )
        sent = name == _SENT and b'"role"' in head and b'"content"' in head
        found = (
            {os.path.basename(other) for other in listed(folder).files} if shown or sent else set()
        )
        return next(self._task(folder, found), None)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """A whole task, or a whole session."""
        try:
            data = contents(source.path)
        except Unreadable as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        try:
            found = parsed(data)
        except Broken as reason:
            yield Problem(path=source.path, kind="bad_record", reason=str(reason))
        else:
            told = _read_session if source.path.endswith(_SESSION) else _read_task
            yield from told(source, found)
        yield Checkpoint(len(data))


# Tasks ----------------------------------------------------------------------


def _read_task(source: Source, found: Any) -> Iterator[Item]:
    main, folder = os.path.basename(source.path), os.path.dirname(source.path)
    beside = {os.path.basename(path): path for path in source.companions}
    problems: list[Item] = []
    sent = objects_of(found) if main == _SENT else objects_of(_beside(beside.get(_SENT), problems))
    metadata = fields_of(_beside(beside.get(_BESIDE[0]), problems))
    history = fields_of(_beside(beside.get(_BESIDE[1]), problems))
    messages = objects_of(found)
    if not messages and not isinstance(found, list):
        problems.append(
            Problem(path=source.path, kind="bad_record", reason="not a list of messages")
        )

    dialogue, oddities = Dialogue(name_in_text(folder), own_keys=True), Oddities()
    _tell_task(dialogue, folder, messages, sent, metadata, history)
    if main == _SENT:
        told = Messages(dialogue, oddities)
        for number, message in enumerate(messages):
            told.take(message, number)
        told.finish()
    else:
        # A task that another one started is asked for by that one.
        author: Author = "agent" if text_of(history.get("parentTaskId")) else "human"
        screen = Screen(dialogue, oddities, Record(sent), author)
        screen.models = _models(metadata, sent)
        screen.take(messages)
    yield from dialogue.drain()
    yield from problems
    yield from oddities.problems(source.path)


def _tell_task(
    dialogue: Dialogue,
    folder: str,
    messages: list[Fields],
    sent: list[Fields],
    metadata: Fields,
    history: Fields,
) -> None:
    first = "\n".join(
        content_text(block) for message in sent[:_LOOKED_AT] for block in blocks_of(message)
    )
    info = next(
        (
            fields_of(message.get("modelInfo"))
            for message in messages
            if fields_of(message.get("modelInfo"))
        ),
        {},
    )
    usage = (objects_of(metadata.get("model_usage")) or [{}])[-1]
    environment = (objects_of(metadata.get("environment_history")) or [{}])[-1]
    parent = text_of(history.get("parentTaskId"))
    meta = {
        "product": _product(folder, environment),
        "mode": text_of(history.get("mode"))
        or text_of(info.get("mode"))
        or text_of(usage.get("mode")),
        "provider": text_of(info.get("providerId")) or text_of(usage.get("model_provider_id")),
        "api_config": text_of(history.get("apiConfigName")),
        "status": text_of(history.get("status")),
        "host": text_of(environment.get("host_name")),
    }
    cwd = (
        text_of(history.get("cwdOnTaskInitialization"))
        or text_of(history.get("workspace"))
        or folder_in(first)
    )
    dialogue.facts(
        whole=True,
        parent=parent,
        origin="subagent" if parent else "interactive",
        cwd=cwd,
        started_at=next(filter(None, (moment_of(message.get("ts")) for message in messages)), None),
        agent_version=text_of(environment.get("cline_version")),
        meta={name: value for name, value in meta.items() if value} or None,
    )


def _product(folder: str, environment: Fields) -> str | None:
    """Which of the extensions a task is from, told by the folder it is in."""
    parts = folder.replace("\\", "/").split("/")
    known = next((product for name, product in _PRODUCTS.items() if name in parts), None)
    return known or (
        "cline" if ".cline" in parts or text_of(environment.get("cline_version")) else None
    )


def _models(metadata: Fields, sent: list[Fields]) -> list[tuple[int, str]]:
    """The models of a task, each from the time on when it was
    chosen, in the order of these times.
    """
    usages = objects_of(metadata.get("model_usage"))
    used = [(moment_of(usage.get("ts")) or 0, text_of(usage.get("model_id"))) for usage in usages]
    named = [
        (moment_of(message.get("ts")) or 0, model_in(content_text(block)))
        for message in sent
        if message.get("role") == "user"
        for block in blocks_of(message)
    ]
    return sorted(((at, model) for at, model in used or named if model), key=itemgetter(0))


def _beside(path: str | None, problems: list[Item]) -> Any:
    """A document beside the main one; one that is not there is no trouble."""
    try:
        return parsed(contents(path)) if path and os.path.exists(path) else None
    except (Broken, Unreadable) as reason:
        problems.append(Problem(path=path or "", kind="bad_record", reason=str(reason)))
        return None


# Sessions -------------------------------------------------------------------


def _read_session(source: Source, found: Any) -> Iterator[Item]:
    document = fields_of(found)
    messages = objects_of(document.get("messages"))
    problems: list[Item] = []
    if not isinstance(document.get("messages"), list):
        problems.append(Problem(path=source.path, kind="bad_record", reason="without messages"))
    manifest = fields_of(_beside(next(iter(source.companions), None), problems))
    root = name_in_text(os.path.dirname(source.path))
    own = name_in_text(source.path).removesuffix(_SESSION)
    is_root = own == root or text_of(document.get("sessionId")) == own
    dialogue, oddities = Dialogue(own if is_root else f"{root}/{own}", own_keys=True), Oddities()
    _tell_session(dialogue, document, manifest, None if is_root else root)
    told = Messages(dialogue, oddities, "human" if is_root else "agent")
    for number, message in enumerate(messages):
        told.take(message, number)
    told.finish()
    yield from dialogue.drain()
    yield from problems
    yield from oddities.problems(source.path)


def _tell_session(dialogue: Dialogue, document: Fields, manifest: Fields, root: str | None) -> None:
    metadata = fields_of(manifest.get("metadata"))
    fork = fields_of(metadata.get("fork"))
    if root:
        # The manifest is that of the session which started this one.
        dialogue.facts(
            whole=True, parent=root, origin="subagent", cwd=text_of(manifest.get("cwd")),
            meta={"product": "cline",
            **({"agent": agent} if (agent := text_of(document.get("agent"))) else {})},
        )  # fmt: skip
        return
    meta = {
        "product": "cline",
        "mode": text_of(metadata.get("mode")),
        "provider": text_of(manifest.get("provider")),
        "started_from": text_of(manifest.get("source")),
        "status": text_of(manifest.get("status")),
    }
    dialogue.facts(
        whole=True,
        parent=text_of(fork.get("forkedFromSessionId")),
        origin="headless" if manifest.get("interactive") is False else "interactive",
        cwd=text_of(manifest.get("cwd")) or text_of(manifest.get("workspace_root")),
        title=text_of(metadata.get("title")),
        started_at=moment_of(manifest.get("started_at")),
        meta={name: value for name, value in meta.items() if value},
    )
