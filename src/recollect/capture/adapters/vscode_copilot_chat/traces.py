"""Traces of Copilot in Visual Studio, which has no log of its chats that could be read otherwise.

Each line is a batch of OpenTelemetry spans. A span is one thing that was done,
written down when it had ended: a request of the user (`invoke_agent`), a model
call (`chat`), a tool call (`execute_tool`). The spans of one request may be in
several files of the same run of Visual Studio, and those of one conversation
in the files of several runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from recollect.capture.adapters.vscode_copilot_chat.tools import patched_file
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.folders import files_in
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.readers import LimitedLines
from recollect.capture.logs.tools import kind_of
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    first_text,
    json_of,
    moment_of,
    non_empty,
    objects_of,
    text_of,
)
from recollect.model.logs import Checkpoint, Item, Problem, Source, ToolKind

LOGS, TRACES = "VSGitHubCopilotLogs", "traces"
ENDING = "_VSGitHubCopilot_traces.jsonl"
# All of them are in what every batch begins with.
_MARKS = (b'"resourceSpans"', b'"service.namespace"', b'"visualstudio"', b'"vs-copilot"')

_REQUEST, _MODEL, _TOOL = "invoke_agent", "chat", "execute_tool"
_KINDS: dict[str, ToolKind] = {
    "find_symbol": "search",
    "get_files_in_project": "read",
    "get_output_window_logs": "read",
    "get_projects_in_solution": "read",
    "run_build": "shell",
    "run_command_in_terminal": "shell",
}
_FAILED = (2, "STATUS_CODE_ERROR")
_FIGURES = (
    "input_tokens",
    "cache_read.input_tokens",
    "cache_creation.input_tokens",
    "output_tokens",
    "reasoning.output_tokens",
)
# Results are wrapped once for each layer they passed.
_MOST_WRAPPERS = 8


def trace_folders(home: str, environ: Mapping[str, str]) -> list[str]:
    """Where Visual Studio leaves its traces: among the temporary files."""
    local = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    temporary = [
        *(environ[name] for name in ("TMP", "TEMP") if environ.get(name)),
        os.path.join(local, "Temp"),
    ]
    return [os.path.join(folder, LOGS, TRACES) for folder in dict.fromkeys(temporary)]


def is_trace(path: str, head: bytes) -> bool:
    """Whether a file is one, by its name and by what it begins with."""
    return path.endswith(ENDING) and all(mark in head for mark in _MARKS)


def runs_in(folder: str) -> Iterator[tuple[str, ...]]:
    """The traces in a folder, those of the same run of Visual Studio together."""
    runs: dict[str, list[str]] = {}
    for path in files_in(folder, ENDING):
        runs.setdefault(_run(path), []).append(path)
    yield from map(tuple, runs.values())


def run_of(path: str) -> tuple[str, ...]:
    """A trace and those of the same run beside it."""
    return next((run for run in runs_in(os.path.dirname(path)) if path in run), (path,))


def _run(path: str) -> str:
    """Files are named after the time they were begun at and the run of Visual Studio."""
    return os.path.basename(path).removesuffix(ENDING).rpartition("_")[2]


class _SpanBatch(msgspec.Struct, gc=False):
    """One line."""

    resourceSpans: Any = None


_BATCHES: msgspec.json.Decoder[_SpanBatch] = msgspec.json.Decoder(_SpanBatch)


class _Span(NamedTuple):
    """One thing that was done."""

    name: str
    kind: str
    parent: str | None
    root: str | None
    at: int | None
    until: int | None
    about: Fields
    error: str | None
    prompt: str
    parts: list[Fields]


def read_traces(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    """All that the traces of a run tell, every time."""
    traces, lines = _TraceReader(source.path), LimitedLines()
    for path in (source.path, *source.companions):
        try:
            yield from lines.read(path, _BATCHES, traces.take)
        except UnreadableSource as reason:
            yield Problem(path=path, kind="unreadable", reason=str(reason))
            if path == source.path:
                yield since or Checkpoint(0)
                return
    yield from traces.items()
    yield from traces.problems.drain()
    yield Checkpoint(lines.position)


class _TraceReader:
    """The spans of conversations, and the items they make."""

    def __init__(self, path: str) -> None:
        self.problems = ProblemCounter(path)
        self.version: str | None = None
        # By conversation and by their own ids: a span may have been
        # written down twice, first in part.
        self.spans: dict[str, dict[str, _Span]] = {}

    def take(self, batch: _SpanBatch) -> None:
        """The spans of one more line."""
        for resource in objects_of(batch.resourceSpans):
            about = _attributes(fields_of(resource.get("resource")).get("attributes"))
            self.version = text_of(about.get("service.version")) or self.version
            for scope in objects_of(resource.get("scopeSpans")):
                for span in objects_of(scope.get("spans")):
                    self._take(span)

    def _take(self, record: Fields) -> None:
        about = _attributes(record.get("attributes"))
        conversation = text_of(about.get("gen_ai.conversation.id"))
        name = text_of(record.get("spanId"))
        if conversation is None or name is None:
            return
        kind = text_of(about.get("gen_ai.operation.name"))
        kind = kind or (text_of(record.get("name")) or "").partition(" ")[0]
        if kind not in (_REQUEST, _MODEL, _TOOL):
            self.problems.unknown("span", kind)
            return
        span = _span(name, kind, record, about)
        known = self.spans.setdefault(conversation, {}).get(name)
        if known is None or len(known.about) <= len(span.about):
            self.spans[conversation][name] = span

    def items(self) -> list[Item]:
        """Everything, conversation by conversation."""
        items: list[Item] = []
        for conversation, spans in self.spans.items():
            items += self._conversation(conversation, spans.values())
        return items

    def _conversation(self, conversation: str, spans: Iterable[_Span]) -> list[Item]:
        dialogue = Dialogue(conversation)
        turns = _turns(sorted(spans, key=lambda span: span.at or 0))
        everything = [span for turn in turns.values() for span in turn]
        request = next((span.about for span in everything if span.kind == _REQUEST), {})
        meta = {
            "product": "Visual Studio",
            "mode": text_of(request.get("copilot_chat.mode")),
            "client": text_of(request.get("copilot_chat.client_id")),
        }
        dialogue.facts(
            origin="interactive",
            started_at=next((span.at for span in everything if span.at), None),
            agent_version=self.version,
            meta=non_empty(meta),
        )
        for key, turn in turns.items():
            _tell(dialogue, key, turn)
        return dialogue.drain()


def _turns(spans: list[_Span]) -> dict[str, list[_Span]]:
    """Spans by the request that they belong to; a tool's is that of the span above it."""
    requests: dict[str, str] = {}
    for span in spans:
        if span.root:
            requests[span.name] = span.root
            if span.kind == _MODEL and span.parent:
                requests.setdefault(span.parent, span.root)
    turns: dict[str, list[_Span]] = {}
    for span in spans:
        above = (requests.get(span.parent) or span.parent) if span.parent else None
        turns.setdefault(span.root or above or span.name, []).append(span)
    return turns


def _tell(dialogue: Dialogue, key: str, spans: list[_Span]) -> None:
    request = next((span for span in spans if span.kind == _REQUEST), None)
    about = request.about if request else {}
    by = text_of(about.get("copilot_chat.initiator_type"))
    lasted = request.until - request.at if request and request.at and request.until else None
    join_call = {
        "model": _model(about),
        "mode": text_of(about.get("copilot_chat.mode")),
        "duration_ms": lasted,
    }
    at = spans[0].at
    dialogue.begin(
        key,
        at=at,
        author="human" if by is None or by.lower() == "user" else "agent",
        telemetry=non_empty(join_call) or None,
    )
    dialogue.say("prompt", next((span.prompt for span in spans if span.prompt), None), at=at)
    run = {text_of(span.about.get("gen_ai.tool.call.id")) for span in spans if span.kind == _TOOL}
    for span in spans:
        if span.kind == _TOOL:
            _tell_tool(dialogue, span)
        elif span.kind == _MODEL:
            _tell_answer(dialogue, span, run)
            _tell_error(dialogue, span)
    if request:
        # It began first and ended last.
        _tell_error(dialogue, request)


def _tell_error(dialogue: Dialogue, span: _Span) -> None:
    if span.error:
        dialogue.say(
            "abort" if "cancel" in span.error.lower() else "error", span.error, at=span.until
        )


def _tell_answer(dialogue: Dialogue, span: _Span, run: set[str | None]) -> None:
    for part in span.parts:
        kind, text = part.get("type"), text_of(part.get("content")) or text_of(part.get("text"))
        call = text_of(part.get("id"))
        if kind == "tool_call" and call not in run:
            _call(dialogue, call, text_of(part.get("name")), part.get("arguments"), at=span.until)
        elif kind in ("reasoning", "thinking"):
            dialogue.say("reasoning", text, at=span.until)
        elif kind == "text":
            dialogue.say("reply", text, at=span.until)
    used = {name: _figure(span.about.get(f"gen_ai.usage.{name}")) for name in _FIGURES}
    read, written = used["cache_read.input_tokens"], used["cache_creation.input_tokens"]
    dialogue.usage(
        f"{dialogue.session}/{span.name}",
        model=_model(span.about),
        at=span.until or span.at,
        input=max(0, used["input_tokens"] - read - written),
        cache_read=read,
        cache_write=written,
        output=used["output_tokens"],
        reasoning=used["reasoning.output_tokens"],
    )


def _tell_tool(dialogue: Dialogue, span: _Span) -> None:
    about, result = span.about, _unwrapped(span.about.get("gen_ai.tool.call.result"))
    _call(
        dialogue,
        text_of(about.get("gen_ai.tool.call.id")),
        text_of(about.get("gen_ai.tool.name")),
        about.get("gen_ai.tool.call.arguments"),
        at=span.at,
        output=result or span.error,
        ok=False if span.error else None if result is None else True,
        duration_ms=span.until - span.at if span.at and span.until else None,
    )


def _call(
    dialogue: Dialogue, call: str | None, name: str | None, arguments: object, **more: Any
) -> None:
    given, name = json_of(arguments), name or "tool"
    dialogue.call(
        call,
        name,
        given,
        kind=_KINDS.get(name) or kind_of(name),
        target=patched_file(given),
        **more,
    )


def _span(name: str, kind: str, record: Fields, about: Fields) -> _Span:
    """What is kept of a span.

    What was sent to the model is nearly all of it and the same again in the next one.
    """
    sent = about.pop("gen_ai.input.messages", None)
    answered = about.pop("gen_ai.output.messages", None)
    about.pop("gen_ai.tool.definitions", None)
    status = fields_of(record.get("status"))
    failed = status.get("code") in _FAILED or about.get("error.type") is not None
    reason = first_text(status.get("message"), about.get("error.type"))
    messages = objects_of(json_of(answered))
    return _Span(
        name=name,
        kind=kind,
        parent=text_of(about.get("virtual_parent.genai")) or text_of(record.get("parentSpanId")),
        root=text_of(about.get("copilot_chat.root_request_id")),
        at=moment_of(record.get("startTimeUnixNano")),
        until=moment_of(record.get("endTimeUnixNano")),
        about=about,
        error=(reason or "failed") if failed else None,
        prompt=_asked(json_of(sent)),
        parts=[part for message in messages for part in objects_of(message.get("parts"))],
    )


def _asked(messages: object) -> str:
    """The last words of the user; what comes after them is the work on them."""
    for message in reversed(objects_of(messages)):
        if message.get("role") == "user":
            parts = objects_of(message.get("parts"))
            said = [text_of(part.get("content")) for part in parts if part.get("type") == "text"]
            if text := "\n".join(filter(None, said)).strip():
                return text
    return ""


def _attributes(listed: object) -> Fields:
    """Attributes as an object: each is a name and a value that says of what type it is."""
    return {
        attribute["key"]: next(iter(fields_of(attribute.get("value")).values()), None)
        for attribute in objects_of(listed)
        if isinstance(attribute.get("key"), str)
    }


def _figure(value: object) -> int:
    """A count, which may be written as a text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    return count_of(value)


def _model(about: Fields) -> str | None:
    return text_of(about.get("gen_ai.response.model")) or text_of(about.get("gen_ai.request.model"))


def _unwrapped(result: object) -> str | None:
    value = json_of(result)
    for _ in range(_MOST_WRAPPERS):
        inner = fields_of(value)
        held = next((inner[name] for name in ("Value", "Content") if name in inner), None)
        if held is None:
            break
        value = held
    if isinstance(value, (dict, list)):
        return msgspec.json.encode(value).decode()
    return text_of(value)
