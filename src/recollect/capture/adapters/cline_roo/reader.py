"""Tasks and sessions, as they were sent to and fro between Cline and a model.

That is all there is of Cline's new sessions, and of old tasks that lost their
screen. Of other tasks `screen` tells what was shown; then this adds what was sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from recollect.capture.adapters.cline_roo.prompts import folder_in, model_in, said_inside, typed
from recollect.capture.adapters.cline_roo.screen import ClineScreenReader
from recollect.capture.adapters.cline_roo.tools import (
    SPEECH,
    ClineCall,
    ClineSentCalls,
    answer_calls,
    blocks_of,
    calls_in,
    plain_text,
    tell_call,
)
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.folders import name_in_text
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
)
from recollect.model.logs import Author, Item, Problem, Source

# The extensions, by the folder that an editor gives them.
PRODUCTS = {
    "saoudrizwan.claude-dev": "cline",
    "rooveterinaryinc.roo-cline": "roo",
    "kilocode.kilo-code": "kilo",
}
SENT_FILE = "api_conversation_history.json"
FILES_BESIDE = ("task_metadata.json", "history_item.json")
SESSION_ENDING = ".messages.json"
# The environment is described in the first message that was sent.
_LOOKED_AT = 4
_BLOCKS = frozenset({
    "text", "tool_use", "tool_result", "thinking", "redacted_thinking", "reasoning", "image",
    "file", "media",
})  # fmt: skip
# Messages that the program wrote in the name of a person.
_SYNTHETIC = frozenset({
    "auto_compaction", "compaction_budget_emergency", "completion_reminder",
    "loop_detection_notice", "manual_compaction", "mistake_stop_notice", "recovery_notice",
})  # fmt: skip
_COMPACTION = frozenset({"compaction", "compaction_summary"})


class ClineReader:
    """Makes items of the messages of one session; `author` is who writes its prompts."""

    def __init__(
        self, dialogue: Dialogue, problems: ProblemCounter, author: Author = "human"
    ) -> None:
        self.dialogue, self.problems, self.author = dialogue, problems, author
        self.asked: list[ClineCall] = []

    def read(self, messages: list[Fields]) -> None:
        """All messages, in order; the last calls may be without a result."""
        for number, message in enumerate(messages):
            self._take(message, number)
        self._tell_calls(None)

    def _take(self, message: Fields, number: int) -> None:
        role, at, blocks = message.get("role"), moment_of(message.get("ts")), blocks_of(message)
        for block in blocks:
            if text_of(block.get("type")) not in _BLOCKS:
                self.problems.unknown("block", block.get("type"))
        if role == "assistant":
            self._answer(message, blocks, number, at)
        elif role == "user":
            self._from_user(message, blocks, number, at)
        else:
            self.problems.unknown("message of", role)

    # The agent

    def _answer(self, message: Fields, blocks: list[Fields], number: int, at: int | None) -> None:
        self._tell_calls(at)
        for block in blocks:
            kind = block.get("type")
            if kind in ("thinking", "reasoning"):
                texts = (block.get("thinking"), block.get("text"), block.get("reasoning"))
                thought = first_text(*texts)
                self.dialogue.say("reasoning", thought, at=at)
            elif kind == "text":
                thought, said = plain_text(content_text(block))
                self.dialogue.say("reasoning", thought, at=at)
                self.dialogue.say("reply", said, at=at)
        self.asked = list(calls_in(blocks))
        for call in self.asked:
            if call.name in SPEECH:
                given = fields_of(call.given)
                names = ("result", "question", "response", "context")
                words = first_text(*(given.get(name) for name in names))
                self.dialogue.say("reply", words, at=at)
        for activity in objects_of(fields_of(message.get("metadata")).get("modelToolActivities")):
            self._at_provider(activity, at)
        self._count(message, number, at)

    def _at_provider(self, activity: Fields, at: int | None) -> None:
        """A tool that the model's provider ran."""
        name = text_of(activity.get("toolName"))
        if name:
            output, failed = content_text(activity.get("output")), activity.get("isError")
            ok = None if "output" not in activity and failed is None else failed is not True
            call = text_of(activity.get("toolCallId"))
            self.dialogue.call(
                call, name, activity.get("input"), at=at, output=output or None, ok=ok
            )

    def _tell_calls(self, at: int | None) -> None:
        for call in self.asked:
            if call.name not in SPEECH:
                tell_call(self.dialogue, call, at)
        self.asked = []

    # Messages in the role of the user

    def _from_user(
        self, message: Fields, blocks: list[Fields], number: int, at: int | None
    ) -> None:
        spoken = [call for call in self.asked if call.name in SPEECH]
        has_results = bool(self.asked)
        answer_calls(self.asked, blocks)
        self._tell_calls(at)
        metadata = fields_of(message.get("metadata"))
        texts = [content_text(block) for block in blocks if block.get("type") == "text"]
        kind = text_of(metadata.get("kind"))
        if kind in _COMPACTION or message.get("isSummary") is True:
            self.dialogue.say("compaction", "\n".join(texts), at=at)
            return
        if kind in _SYNTHETIC or metadata.get("displayRole") in ("system", "status", "error"):
            return
        words = said_inside("\n".join(texts)) if has_results else typed("\n".join(texts))
        # The answer to a question, and what somebody says to a result, come
        # as the results of these tools.
        if not words:
            spoken_words = (said_inside(call.output or "") for call in spoken)
            words = "\n".join(filter(None, spoken_words))
        # A tool of the program's own answers with a block; then nobody wrote the text beside it.
        if not has_results and any(block.get("type") == "tool_result" for block in blocks):
            words = ""
        if words:
            key = text_of(message.get("id")) or str(at or f"message-{number}")
            self.dialogue.prompt(key, words, at=at, author=self.author)

    # Tokens

    def _count(self, message: Fields, number: int, at: int | None) -> None:
        """What a call of the model took; input is with what came from the cache and went there."""
        metrics = fields_of(message.get("metrics"))
        model = fields_of(message.get("modelInfo"))
        read = count_of(metrics.get("cacheReadTokens"))
        written = count_of(metrics.get("cacheWriteTokens"))
        total = count_of(metrics.get("inputTokens"))
        own = text_of(message.get("id"))
        # A fork holds copies of the messages before it, with their ids and times.
        key = f"{own}@{at or ''}" if own else f"{self.dialogue.session}/{number}"
        self.dialogue.usage(
            key,
            model=text_of(model.get("id")) or text_of(model.get("modelId")),
            at=at,
            input=total - read - written if read + written <= total else total,
            cache_read=read,
            cache_write=written,
            output=count_of(metrics.get("outputTokens")),
            cost_usd=money_of(metrics.get("cost")),
        )


# Tasks ----------------------------------------------------------------------


def read_task(source: Source, found: Any) -> Iterator[Item]:
    """The items of a task, from the file that tells it best and what is beside that."""
    main, folder = os.path.basename(source.path), os.path.dirname(source.path)
    beside = {os.path.basename(path): path for path in source.companions}
    problems = ProblemCounter(source.path)
    messages = objects_of(found)
    sent = messages
    if main != SENT_FILE:
        sent = objects_of(_read_beside(beside.get(SENT_FILE), problems))
    metadata = fields_of(_read_beside(beside.get(FILES_BESIDE[0]), problems))
    history = fields_of(_read_beside(beside.get(FILES_BESIDE[1]), problems))
    if not isinstance(found, list):
        reason = "not a list of messages"
        problems.keep(Problem(path=source.path, kind="bad_record", reason=reason))

    dialogue = Dialogue(name_in_text(folder), own_keys=True)
    _tell_task(dialogue, folder, messages, sent, metadata, history)
    if main == SENT_FILE:
        ClineReader(dialogue, problems).read(messages)
    else:
        # A task that another one started is asked for by that one.
        author: Author = "agent" if text_of(history.get("parentTaskId")) else "human"
        screen = ClineScreenReader(dialogue, problems, ClineSentCalls(sent), author)
        screen.models = _models(metadata, sent)
        screen.take(messages)
    yield from dialogue.drain()
    yield from problems.drain()


def _tell_task(
    dialogue: Dialogue,
    folder: str,
    messages: list[Fields],
    sent: list[Fields],
    metadata: Fields,
    history: Fields,
) -> None:
    first_blocks = [block for message in sent[:_LOOKED_AT] for block in blocks_of(message)]
    infos = (fields_of(message.get("modelInfo")) for message in messages)
    info: Fields = next(filter(None, infos), {})
    usage = (objects_of(metadata.get("model_usage")) or [{}])[-1]
    environment = (objects_of(metadata.get("environment_history")) or [{}])[-1]
    parent = text_of(history.get("parentTaskId"))
    modes = (history.get("mode"), info.get("mode"), usage.get("mode"))
    providers = (info.get("providerId"), usage.get("model_provider_id"))
    meta = {
        "product": _product(folder, environment),
        "mode": first_text(*modes),
        "provider": first_text(*providers),
        "api_config": text_of(history.get("apiConfigName")),
        "status": text_of(history.get("status")),
        "host": text_of(environment.get("host_name")),
    }
    cwd = text_of(history.get("cwdOnTaskInitialization")) or text_of(history.get("workspace"))
    times = (moment_of(message.get("ts")) for message in messages)
    dialogue.facts(
        whole=True,
        parent=parent,
        origin="subagent" if parent else "interactive",
        cwd=cwd or folder_in("\n".join(map(content_text, first_blocks))),
        started_at=next(filter(None, times), None),
        agent_version=text_of(environment.get("cline_version")),
        meta=non_empty(meta) or None,
    )


def _product(folder: str, environment: Fields) -> str | None:
    """Which of the extensions a task is from, told by the folder it is in."""
    parts = folder.replace("\\", "/").split("/")
    for name, product in PRODUCTS.items():
        if name in parts:
            return product
    is_cline = ".cline" in parts or text_of(environment.get("cline_version"))
    return "cline" if is_cline else None


def _models(metadata: Fields, sent: list[Fields]) -> list[tuple[int, str]]:
    """The models of a task, each with the time it was chosen at, in order."""
    models = []
    for usage in objects_of(metadata.get("model_usage")):
        models.append((moment_of(usage.get("ts")) or 0, text_of(usage.get("model_id"))))
    if not models:
        for message in sent:
            at = moment_of(message.get("ts")) or 0
            for block in blocks_of(message) if message.get("role") == "user" else ():
                models.append((at, model_in(content_text(block))))
    return sorted(((at, model) for at, model in models if model), key=itemgetter(0))


def _read_beside(path: str | None, problems: ProblemCounter) -> Any:
    """A document beside the main one; one that is not there is no trouble."""
    try:
        return parse_json(read_bytes(path)) if path and os.path.exists(path) else None
    except (BrokenDocument, UnreadableSource) as reason:
        problems.keep(Problem(path=path or "", kind="bad_record", reason=str(reason)))
        return None


# Sessions -------------------------------------------------------------------


def read_session(source: Source, found: Any) -> Iterator[Item]:
    """The items of one of Cline's new sessions, with what its manifest tells."""
    document = fields_of(found)
    problems = ProblemCounter(source.path)
    if not isinstance(document.get("messages"), list):
        problems.keep(Problem(path=source.path, kind="bad_record", reason="without messages"))
    manifest = fields_of(_read_beside(next(iter(source.companions), None), problems))
    root = name_in_text(os.path.dirname(source.path))
    own = name_in_text(source.path).removesuffix(SESSION_ENDING)
    is_root = own == root or text_of(document.get("sessionId")) == own
    dialogue = Dialogue(own if is_root else f"{root}/{own}", own_keys=True)
    _tell_session(dialogue, document, manifest, None if is_root else root)
    reader = ClineReader(dialogue, problems, "human" if is_root else "agent")
    reader.read(objects_of(document.get("messages")))
    yield from dialogue.drain()
    yield from problems.drain()


def _tell_session(dialogue: Dialogue, document: Fields, manifest: Fields, root: str | None) -> None:
    metadata = fields_of(manifest.get("metadata"))
    fork = fields_of(metadata.get("fork"))
    cwd = text_of(manifest.get("cwd"))
    if root:
        # The manifest is that of the session which started this one.
        meta = non_empty({"product": "cline", "agent": text_of(document.get("agent"))})
        dialogue.facts(whole=True, parent=root, origin="subagent", cwd=cwd, meta=meta)
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
        cwd=cwd or text_of(manifest.get("workspace_root")),
        title=text_of(metadata.get("title")),
        started_at=moment_of(manifest.get("started_at")),
        meta=non_empty(meta),
    )
