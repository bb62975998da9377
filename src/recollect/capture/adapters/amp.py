"""Amp: one JSON document per thread, written anew with each turn.

What we rely on, and how we know, is written down in docs/formats/amp.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.editors import file_path, user_folders
from recollect.capture.logs.folders import list_folder, name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
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
    whole_of,
)
from recollect.model.logs import Checkpoint, Item, Problem, Source

THREADS = "threads"
# Where the extension kept threads before there was one place for all clients.
OLD_THREADS = "threads3"
_PRODUCTS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_EXTENSION = os.path.join("globalStorage", "sourcegraph.amp")
_file = re.compile(r"^T-[0-9A-Za-z-]+\.json$")
# Models that say how much of a prompt was cached, but not that the rest was written to the cache.
_openai = re.compile(r"(?:^|/)(?:gpt|o\d|codex)|^openai", re.IGNORECASE)
_FAILED = frozenset({"error", "cancelled", "rejected-by-user"})


class _Thread(Struct, rename="camel"):
    """A thread, as far as we read it."""

    id: Any = None
    created: Any = None
    title: Any = None
    agent_mode: Any = None
    messages: Any = None
    env: Any = None
    relationships: Any = None
    main_thread: Any = msgspec.field(default=None, name="mainThreadID")
    usage_ledger: Any = None


class Amp:
    """Reads the threads that Amp keeps on this machine."""

    agent = "amp"
    name = "Amp"
    version = 1
    endings = (".json",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`XDG_DATA_HOME` is respected on every system.

        The extension's old places follow the editors.
        """
        data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
        editors = user_folders(home, environ, _PRODUCTS)
        return [
            os.path.join(data, "amp", THREADS),
            *(os.path.join(folder, _EXTENSION, OLD_THREADS) for folder in editors),
        ]

    def sources(self, root: str) -> Iterator[Source]:
        """The threads in a folder of threads, or in one below the root."""
        root = os.path.abspath(root)
        folders = [os.path.join(root, name) for name in (THREADS, OLD_THREADS)]
        if os.path.basename(root) in (THREADS, OLD_THREADS):
            folders = [root]
        for folder in folders:
            for path in list_folder(folder).files:
                if _file.match(os.path.basename(path)):
                    yield _source(path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file named like a thread that begins like one."""
        named = _file.match(os.path.basename(path))
        told = all(mark in head for mark in (b'"id"', b'"created"', b'"messages"', b'"T-'))
        return _source(path) if named and told and head.lstrip().startswith(b"{") else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole thread."""
        try:
            data = read_bytes(source.path)
            thread = parse_json(data, _Thread)
        except UnreadableSource as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        except BrokenDocument as reason:
            yield Problem(path=source.path, kind="bad_record", reason=str(reason))
            yield Checkpoint(0)
            return
        reader = _ThreadReader(source.path, thread)
        reader.take_all()
        yield from reader.dialogue.items
        yield from reader.problems.drain()
        yield Checkpoint(len(data))


def _source(path: str) -> Source:
    is_old = os.path.basename(os.path.dirname(path)) == OLD_THREADS
    return Source("amp", path, appended=False, rank=1 if is_old else 0)


class _ThreadReader:
    """One thread on its way to items."""

    def __init__(self, path: str, thread: _Thread) -> None:
        self.thread = thread
        own = text_of(thread.id) or name_in_text(path).removesuffix(".json")
        self._main = text_of(thread.main_thread)
        self.dialogue = Dialogue(f"{self._main}/{own}" if self._main else own, own_keys=True)
        self.problems = ProblemCounter(path)
        self._credits: dict[str, float] = {}
        self._ledger = objects_of(fields_of(thread.usage_ledger).get("events"))
        self._billed = {
            whole_of(event.get("toMessageId")): moment_of(event.get("timestamp"))
            for event in self._ledger
        }
        self._asked_at: int | None = None

    def take_all(self) -> None:
        """The thread itself, then its messages in order."""
        self._begin()
        for position, message in enumerate(objects_of(self.thread.messages)):
            number = whole_of(message.get("messageId"))
            key = str(position if number is None else number)
            match message.get("role"):
                case "user":
                    self._take_user(key, message)
                case "assistant":
                    self._take_answer(key, message)
                case role:
                    self.problems.unknown("role", role)
        for turn, credits in self._credits.items():
            self.dialogue.learn(turn=turn, telemetry={"credits": round(credits, 6)})

    def _begin(self) -> None:
        thread = self.thread
        setting = fields_of(fields_of(thread.env).get("initial"))
        tree = next(iter(objects_of(setting.get("trees"))), {})
        platform, repository = fields_of(setting.get("platform")), fields_of(tree.get("repository"))
        client = text_of(platform.get("client"))
        paid = [money_of(event.get("credits")) or 0 for event in self._ledger]
        told = {
            "mode": text_of(thread.agent_mode),
            "client": client,
            "os": text_of(platform.get("os")),
            "ledger_credits": round(sum(paid), 6),
        }
        branch = text_of(repository.get("ref"))
        is_headless = client is not None and "execute" in client.lower()
        self.dialogue.facts(
            parent=self._main or _origin_of(thread),
            origin="subagent" if self._main else "headless" if is_headless else None,
            cwd=file_path(tree.get("uri")),
            title=text_of(thread.title),
            started_at=moment_of(thread.created),
            agent_version=text_of(platform.get("clientVersion")),
            git_branch=branch.removeprefix("refs/heads/") if branch else None,
            git_sha=text_of(repository.get("sha")),
            git_remote=text_of(repository.get("url")),
            meta=non_empty(told) or None,
        )

    def _take_user(self, key: str, message: Fields) -> None:
        """What a person said; results of tools come in the same role."""
        at = moment_of(fields_of(message.get("meta")).get("sentAt"))
        self._asked_at = at or self._asked_at
        content = message.get("content")
        said = [content] if isinstance(content, str) else []
        for part in objects_of(content):
            match part.get("type"):
                case "tool_result":
                    self._take_result(part, at)
                case "summary":
                    told = part.get("summary")
                    summary = first_text(told, fields_of(told).get("summary"))
                    self.dialogue.say("compaction", summary, at=at)
                case "text" | "image":
                    said.append(content_text(part))
                case kind:
                    self.problems.unknown("part", kind)
        if text := "\n".join(filter(None, said)):
            self.dialogue.prompt(key, text, at=at, author="agent" if self._main else "human")

    def _take_answer(self, key: str, message: Fields) -> None:
        usage = fields_of(message.get("usage"))
        # A message tells no time, but what it cost may, or the ledger.
        billed_at = self._billed.get(whole_of(message.get("messageId")))
        at = moment_of(usage.get("timestamp")) or billed_at
        for part in objects_of(message.get("content")):
            match part.get("type"):
                case "text":
                    self.dialogue.say("reply", text_of(part.get("text")), at=at)
                case "thinking":
                    self.dialogue.say("reasoning", text_of(part.get("thinking")), at=at)
                case "tool_use":
                    name = text_of(part.get("name")) or "tool"
                    self.dialogue.call(text_of(part.get("id")), name, part.get("input"), at=at)
                case "redacted_thinking" | "image":
                    pass
                case kind:
                    self.problems.unknown("part", kind)
        state = fields_of(message.get("state"))
        if state.get("type") == "cancelled":
            self.dialogue.say("abort", None, at=at)
        elif state.get("type") == "error":
            self.dialogue.say("error", _error(state.get("error")) or "the request failed", at=at)
        self._count(key, usage, at)

    def _count(self, key: str, usage: Fields, at: int | None) -> None:
        model = text_of(usage.get("model"))
        new = count_of(usage.get("inputTokens"))
        written = count_of(usage.get("cacheCreationInputTokens"))
        if model and _openai.search(model):
            new, written = new + written, 0
        self.dialogue.usage(
            f"{self.dialogue.session}/{key}",
            model=model,
            # A price is one of some day: that of the prompt, at least, is known.
            at=at or self._asked_at,
            input=new,
            cache_read=count_of(usage.get("cacheReadInputTokens")),
            cache_write=written,
            output=count_of(usage.get("outputTokens")),
        )
        if credits := money_of(usage.get("credits")):
            self._credits[self.dialogue.turn] = self._credits.get(self.dialogue.turn, 0) + credits

    def _take_result(self, part: Fields, at: int | None) -> None:
        call = text_of(part.get("toolUseID"))
        if call is None:
            self.problems.bad("a tool result that names no call")
            return
        run = fields_of(part.get("run"))
        status, result = text_of(run.get("status")), run.get("result")
        code = whole_of(fields_of(result).get("exitCode"))
        ok = False if status in _FAILED else None if status != "done" else code in (None, 0)
        output = _error(run.get("error")) if status in _FAILED else None
        # A run that is cancelled may have told something until then.
        self.dialogue.result(call, output or _output(result), at=at, ok=ok, exit_code=code)


def _origin_of(thread: _Thread) -> str | None:
    """The thread that this one was handed over from, or forked."""
    for relation in objects_of(thread.relationships):
        if relation.get("role") == "parent":
            return text_of(relation.get("threadID"))
    return None


def _error(error: object) -> str | None:
    return text_of(error) or text_of(fields_of(error).get("message"))


def _output(result: object) -> str:
    """What a tool gave back as text: a field of its result, or the result as it is."""
    fields = fields_of(result)
    for name in ("output", "content", "diff"):
        if isinstance(fields.get(name), str):
            return str(fields[name])
    if result is None or isinstance(result, str):
        return result or ""
    return msgspec.json.encode(result).decode()
