"""Factory Droid: one JSONL file per session, with its settings and
token totals in a file beside it.

What we rely on, and how we know, is written down in docs/formats/droid.md. The
totals are written anew after the last line of an answer, so a session is read
when either file has changed, and read whole.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.folders import list_folder, name_in_text
from recollect.capture.logs.lines import UnreadableSource, first_objects
from recollect.capture.logs.readers import DialogueReader, read_appended
from recollect.capture.logs.tags import without
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    first_text,
    moment_of,
    money_of,
    non_empty,
    objects_of,
    text_of,
)
from recollect.model.logs import Checkpoint, Item, Source

SETTINGS = ".settings.json"
_SETTINGS_BYTES = 1 << 20
_file = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$", re.IGNORECASE)
# The first sessions told their folder in a reminder only, as the output of a command.
_folder = re.compile(r"^% pwd\n(\S[^\n]*)", re.MULTILINE)
_failed = re.compile(r"Error: Command failed \(exit code: (\d{1,9})\)")
_exited = re.compile(r"\[Process exited with code (\d{1,9})\]\s*\Z")
_PASSED_OVER = frozenset({"todo_state", "session_end", "session_settings", "agent_turn_outcome"})


class _Row(Struct, rename="camel"):
    """One line of a session."""

    type: Any = None
    id: Any = None
    timestamp: Any = None
    message: Any = None
    visibility: Any = None
    # The first line; the oldest ones have it all in `session`.
    session: Any = None
    title: Any = None
    session_title: Any = None
    version: Any = None
    cwd: Any = None
    workspace_root: Any = msgspec.field(default=None, name="workspace_root")
    parent: Any = None
    calling_session_id: Any = None
    summary: Any = None
    summary_text: Any = None


_rows: msgspec.json.Decoder[_Row] = msgspec.json.Decoder(_Row)


class Droid:
    """Reads the sessions under `~/.factory`."""

    agent = "droid"
    name = "Factory Droid"
    version = 1
    endings = (".jsonl",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`FACTORY_HOME_OVERRIDE` stands in for the home folder."""
        return [os.path.join(environ.get("FACTORY_HOME_OVERRIDE") or home, ".factory", "sessions")]

    def sources(self, root: str) -> Iterator[Source]:
        """A folder for each working directory, with the files of its sessions.

        Old builds had no such folders.
        """
        root = os.path.abspath(root)
        sessions = root if os.path.basename(root) == "sessions" else os.path.join(root, "sessions")
        files, folders = list_folder(sessions)
        # Others name their files by ids too, but have no settings beside them.
        is_own, found = os.path.basename(os.path.dirname(sessions)) == ".factory", set(files)
        for path in filter(_is_log, files):
            if is_own or _settings_of(path) in found:
                yield _source(path)
        for folder in folders:
            if os.path.basename(folder).startswith("-"):
                yield from map(_source, filter(_is_log, list_folder(folder).files))

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file whose first line begins a session and says whose, called what, where."""
        first = next(iter(first_objects(head)), {})
        start = {**fields_of(first.get("session")), **first}
        names = ("title", "sessionTitle", "owner", "cwd", "version")
        told = sum(start.get(name) is not None for name in names)
        if start.get("type") == "session_start" and text_of(start.get("id")) and told >= 2:
            return _source(path)
        return None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole session, whatever of it is new."""
        return read_appended(source, 0, _rows, _SessionReader(source.path))


def _source(path: str) -> Source:
    return Source("droid", path, companions=(_settings_of(path),), appended=False)


def _settings_of(path: str) -> str:
    return path.removesuffix(".jsonl") + SETTINGS


def _is_log(path: str) -> bool:
    return _file.match(os.path.basename(path)) is not None


class _SessionReader(DialogueReader):
    """Makes items of the rows of one session, and of its settings."""

    def __init__(self, path: str) -> None:
        super().__init__(path, Dialogue(name_in_text(path).removesuffix(".jsonl")))
        self._is_subagent = False
        self._settings = self._read_settings()
        # The totals have no time and no turn of their own: the first turn has
        # them, whichever is the last one now.
        self._first: tuple[str, int | None] | None = None
        self._is_counted = False

    def take(self, record: _Row) -> None:
        """One more row."""
        match record.type:
            case "session_start":
                self._begin(record)
            case "message":
                message = fields_of(record.message)
                role, at = message.get("role"), moment_of(record.timestamp)
                if role == "user":
                    self._take_user(record, message, at)
                elif role == "assistant":
                    self._take_answer(message, at)
                else:
                    self.problems.unknown("role", role)
            case "compaction_state":
                summary = text_of(record.summary_text) or content_text(record.summary)
                self.dialogue.say("compaction", summary, at=moment_of(record.timestamp))
            case kind if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self.problems.unknown("row", kind)

    def drain(self) -> list[Item]:
        """The items that were made since the last time, the totals with the first of them."""
        if self._first is not None and not self._is_counted:
            self._count(*self._first)
            self._is_counted = True
        return super().drain()

    # The session

    def _begin(self, row: _Row) -> None:
        inner = fields_of(row.session)
        session = text_of(row.id) or text_of(inner.get("id")) or self.dialogue.session
        caller, parent, tags = text_of(row.calling_session_id), text_of(row.parent), self._tags()
        self._is_subagent = caller is not None or "subagent" in tags
        self.dialogue.session = f"{caller}/{session}" if caller else session
        version = row.version if row.version is not None else inner.get("version")
        self.dialogue.facts(
            parent=caller or parent,
            origin="subagent" if self._is_subagent else "headless" if "exec" in tags else None,
            cwd=first_text(row.cwd, row.workspace_root, inner.get("cwd")),
            title=_title(row.session_title, row.title, inner.get("title")),
            # A whole number is the version of the format.
            agent_version=text_of(version),
            meta=self._meta() or None,
        )

    def _read_settings(self) -> Fields:
        path = _settings_of(self.path)
        try:
            if os.path.lexists(path):
                return fields_of(read_json(path, limit=_SETTINGS_BYTES))
            return {}
        except (BrokenDocument, UnreadableSource) as reason:
            self.problems.bad(f"the settings of the session: {reason}")
            return {}

    def _tags(self) -> list[str]:
        names = [text_of(tag.get("name")) for tag in objects_of(self._settings.get("tags"))]
        return [name for name in names if name]

    def _meta(self) -> Fields:
        settings = self._settings
        usage = fields_of(settings.get("tokenUsage"))
        locks = (settings.get("apiProviderLock"), settings.get("providerLock"))
        provider = first_text(*locks)
        told = {
            "reasoning_effort": text_of(settings.get("reasoningEffort")),
            "autonomy_mode": text_of(settings.get("autonomyMode")),
            "autonomy_level": text_of(settings.get("autonomyLevel")),
            "interaction_mode": text_of(settings.get("interactionMode")),
            "provider": provider,
            "tags": self._tags(),
            "assistant_active_ms": count_of(settings.get("assistantActiveTimeMs")),
            "factory_credits": money_of(usage.get("factoryCredits")),
        }
        return non_empty(told)

    def _count(self, turn: str, at: int | None) -> None:
        usage = fields_of(self._settings.get("tokenUsage"))
        thinking = count_of(usage.get("thinkingTokens"))
        self.dialogue.usage(
            self.dialogue.session,
            turn=turn,
            model=text_of(self._settings.get("model")),
            at=at,
            input=count_of(usage.get("inputTokens")),
            cache_read=count_of(usage.get("cacheReadTokens")),
            cache_write=count_of(usage.get("cacheCreationTokens")),
            # Thoughts are part of the output, so there cannot be more of them.
            output=max(count_of(usage.get("outputTokens")), thinking),
            reasoning=thinking,
        )

    # Messages

    def _take_user(self, row: _Row, message: Fields, at: int | None) -> None:
        """What a person said; results of tools, reminders and notices come in the same role."""
        content = message.get("content")
        said = []
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and part.get("type") == "tool_result":
                self._take_result(part, at)
            elif text := content_text(part if isinstance(part, (str, dict)) else None):
                said.append(text)
        text = "\n".join(said)
        if "% pwd" in text and (folder := _folder.search(text)):
            self.dialogue.facts(cwd=folder[1])
        text = without(text, "system-reminder")
        match text_of(message.get("visibility")) or text_of(row.visibility):
            case "llm_only":
                return
            case "user_only":
                # Shown to the person, and not said by anybody.
                self.dialogue.say("error", text if text.startswith("Error") else None, at=at)
                return
        if text:
            said_at = f"{at or self.dialogue.session}\n{text}".encode("utf-8", "replace")
            turn = text_of(row.id) or hashlib.sha256(said_at).hexdigest()[:16]
            self._first = self._first or (turn, at)
            self.dialogue.prompt(
                turn, text, at=at, author="agent" if self._is_subagent else "human"
            )

    def _take_answer(self, message: Fields, at: int | None) -> None:
        dialogue = self.dialogue
        content = message.get("content")
        dialogue.say("reasoning", text_of(message.get("chatCompletionReasoningContent")), at=at)
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for part in objects_of(content):
            match part.get("type"):
                case "text":
                    dialogue.say("reply", text_of(part.get("text")), at=at)
                case "thinking":
                    dialogue.say("reasoning", text_of(part.get("thinking")), at=at)
                case "tool_use":
                    name = text_of(part.get("name")) or "tool"
                    dialogue.call(text_of(part.get("id")), name, part.get("input"), at=at)
                case "tool_result":
                    self._take_result(part, at)
                case "redacted_thinking" | "image" | "document" | "file":
                    pass
                case kind:
                    self.problems.unknown("part", kind)
        if self._first is None and dialogue.state.turn:
            self._first = (dialogue.state.turn, at)

    def _take_result(self, part: Fields, at: int | None) -> None:
        call = text_of(part.get("tool_use_id"))
        if call is None:
            self.problems.bad("a tool result that names no call")
            return
        output = content_text(part.get("content"))
        found = _failed.match(output) or _exited.search(output[-100:])
        code = int(found[1]) if found else None
        failed = part.get("is_error")
        ok = None if code is None else code == 0
        if isinstance(failed, bool):
            ok = not failed
        self.dialogue.result(call, output, at=at, ok=ok, exit_code=code)


def _title(*titles: object) -> str | None:
    """The first title that says something; until there is one, a session is called a new one."""
    given = filter(None, map(text_of, titles))
    return next((title for title in given if title != "New Session"), None)
