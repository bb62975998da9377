"""The history of one Continue session, made into turns."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec

from recollect.capture.adapters.continue_dev.records import (
    ContinueMessage,
    ContinueOptions,
    ContinuePromptLog,
    ContinueSession,
)
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    json_of,
    moment_of,
    money_of,
    objects_of,
    text_of,
)
from recollect.model.logs import Item

_BROKEN = (msgspec.MsgspecError, UnicodeError, RecursionError)
_OK = {"done": True, "errored": False, "canceled": False}


class ContinueReader:
    """Makes items of a session's history. Nothing in it tells a time, except thoughts."""

    def __init__(self, session: str, path: str) -> None:
        self.dialogue = Dialogue(session, own_keys=True)
        self.problems = ProblemCounter(path)
        self.model: str | None = None
        self.answered: set[str] = set()
        self.counted = False
        self.keys: set[str] = set()

    def read(self, session: ContinueSession) -> Iterator[Item]:
        """All items of a session's document."""
        try:
            raw_items = msgspec.json.decode(session.history, type=list[msgspec.Raw])
        except _BROKEN:
            self.problems.bad("the history is not a list")
            raw_items = []
        for number, raw in enumerate(raw_items):
            try:
                item = msgspec.json.decode(raw, type=ContinueMessage)
            except _BROKEN as error:
                self.problems.bad(f"an entry of the history: {error}")
            else:
                self._take(item, number)
        self._total(session)
        yield from self.dialogue.drain()
        yield from self.problems.drain()

    def _take(self, item: ContinueMessage, number: int) -> None:
        message = fields_of(item.message)
        role, text = message.get("role"), content_text(message.get("content"))
        if role == "user":
            self._prompt(item, message, text, number)
        elif role == "assistant":
            self._answer(item, message, text, number)
        elif role == "thinking":
            self.dialogue.say("reasoning", text)
            self._calls(item, message)
        elif role == "tool":
            self._result(text_of(message.get("toolCallId")), text)
        elif role != "system":
            self.problems.unknown("message of", role)
        summary = text_of(item.conversationSummary)
        if summary:
            self.dialogue.say("compaction", summary)

    def _prompt(self, item: ContinueMessage, message: Fields, text: str, number: int) -> None:
        self.dialogue.prompt(self._key(message, text, number), text)
        names = [text_of(context.get("name")) for context in objects_of(item.contextItems)]
        if any(names):
            self.dialogue.learn(telemetry={"context": [name for name in names if name]})

    def _key(self, message: Fields, text: str, number: int) -> str:
        """The id of a message; where the command line gives none, its place and its words."""
        mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        key = text_of(message.get("id")) or f"{number}-{mark}"
        key = f"{key}.{number}" if key in self.keys else key
        self.keys.add(key)
        return key

    def _answer(self, item: ContinueMessage, message: Fields, text: str, number: int) -> None:
        self.model = _model_of(item) or self.model
        thought = fields_of(item.reasoning)
        began = moment_of(thought.get("startAt"))
        self.dialogue.say("reasoning", text_of(thought.get("text")), at=began)
        self.dialogue.say("reply", text, at=moment_of(thought.get("endAt")))
        self._calls(item, message)
        usage = fields_of(message.get("usage"))
        if usage:
            self._count(f"{self.dialogue.session}/{text_of(message.get('id')) or number}", usage)

    # Tools

    def _calls(self, item: ContinueMessage, message: Fields) -> None:
        """Calls as they went, and those that nobody followed up."""
        states = [*objects_of(item.toolCallStates), *objects_of([item.toolCallState])]
        for state in states:
            self._call(fields_of(state.get("toolCall")), state)
        known = {text_of(state.get("toolCallId")) for state in states}
        for call in objects_of(message.get("toolCalls")):
            if text_of(call.get("id")) not in known:
                self._call(call, {})

    def _call(self, call: Fields, state: Fields) -> None:
        function = fields_of(call.get("function"))
        name = text_of(function.get("name"))
        key = text_of(state.get("toolCallId")) or text_of(call.get("id"))
        if name is None:
            self.problems.bad("a tool call without a name")
            return
        given = (
            fields_of(state.get("processedArgs"))
            or fields_of(state.get("parsedArgs"))
            or json_of(function.get("arguments"))
        )
        status = state.get("status")
        output = _output(state.get("output"))
        ok = _OK.get(status) if isinstance(status, str) else None
        self.dialogue.call(key, name, given or None, output=output, ok=ok)
        if key and output:
            self.answered.add(key)

    def _result(self, call: str | None, text: str) -> None:
        """A result as a message of its own; mostly it repeats what stands in the call's state."""
        if call is None:
            self.problems.bad("a tool's result without its call")
        elif call not in self.answered:
            self.answered.add(call)
            self.dialogue.result(call, text)

    # Tokens

    def _count(self, key: str, usage: Fields, cost_usd: float | None = None) -> None:
        """Prompt tokens are with what came from the cache, and what was written to it."""
        details = fields_of(usage.get("promptTokensDetails"))
        read = count_of(details.get("cachedTokens"))
        written = count_of(details.get("cacheWriteTokens"))
        prompt = count_of(usage.get("promptTokens"))
        output = count_of(usage.get("completionTokens"))
        reasoning = count_of(fields_of(usage.get("completionTokensDetails")).get("reasoningTokens"))
        if not (prompt or output or read or written or cost_usd):
            return
        self.counted = True
        self.dialogue.usage(
            key,
            model=self.model,
            input=prompt - read - written if read + written <= prompt else prompt,
            cache_read=read,
            cache_write=written,
            output=max(output, reasoning),
            reasoning=reasoning,
            cost_usd=cost_usd,
        )

    def _total(self, session: ContinueSession) -> None:
        """The session's own total, where its messages tell nothing."""
        usage = fields_of(session.usage)
        self.model = self.model or text_of(session.chatModelTitle)
        if usage and not self.counted:
            self._count(self.dialogue.session, usage, money_of(usage.get("totalCost")))
        if self.model and not self.counted:
            # Most sessions have no figures that could name it.
            self.dialogue.facts(meta={"model": self.model})


def _output(items: Any) -> str | None:
    """What a tool gave back: some pieces of context."""
    texts = [content_text(item) for item in objects_of(items)]
    return "\n".join(filter(None, texts)) or None


def _model_of(item: ContinueMessage) -> str | None:
    """The model that gave an answer, as the last call for it was made."""
    try:
        logs = msgspec.json.decode(item.promptLogs, type=list[ContinuePromptLog] | None)
        if not logs:
            return None
        options = msgspec.json.decode(logs[-1].completionOptions, type=ContinueOptions)
    except _BROKEN:
        return None
    return text_of(options.model) or text_of(logs[-1].modelTitle)
