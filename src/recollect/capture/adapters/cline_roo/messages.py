"""A conversation as it was sent to and fro: Cline's new sessions, and old
tasks of which nothing else is left.
"""

from __future__ import annotations

from recollect.capture.adapters.cline_roo.calls import (
    SPEECH,
    Call,
    answer_calls,
    blocks_of,
    calls_in,
    kind_of_call,
    plain_text,
    target_of_call,
)
from recollect.capture.adapters.cline_roo.words import said_inside, typed
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.values import (
    Fields,
    content_text,
    count_of,
    fields_of,
    moment_of,
    money_of,
    objects_of,
    text_of,
)
from recollect.model.logs import Author

_BLOCKS = frozenset(
    {
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "reasoning",
        "image",
        "file",
        "media",
    }
)
# Messages that the program wrote in the name of a person.
_SYNTHETIC = frozenset({
    "auto_compaction", "compaction_budget_emergency", "completion_reminder",
    "loop_detection_notice", "manual_compaction",
    "mistake_stop_notice", "recovery_notice",
})  # fmt: skip
_COMPACTION = frozenset({"compaction", "compaction_summary"})


class Messages:
    """The turns of one session. `author` is who writes its prompts."""

    def __init__(self, dialogue: Dialogue, oddities: Oddities, author: Author = "human") -> None:
        self.dialogue, self.oddities, self.author = dialogue, oddities, author
        self.asked: list[Call] = []

    def take(self, message: Fields, number: int) -> None:
        """One more message."""
        role, at, blocks = message.get("role"), moment_of(message.get("ts")), blocks_of(message)
        for block in blocks:
            if text_of(block.get("type")) not in _BLOCKS:
                self.oddities.unknown("block", block.get("type"))
        if role == "assistant":
            self._answer(message, blocks, number, at)
        elif role == "user":
            self._from_user(message, blocks, number, at)
        else:
            self.oddities.unknown("message of", role)

    def finish(self) -> None:
        """Tell the last calls, which nothing came of."""
        self._tell_calls(None)

    # The agent

    def _answer(self, message: Fields, blocks: list[Fields], number: int, at: int | None) -> None:
        self._tell_calls(at)
        for block in blocks:
            kind = block.get("type")
            if kind in ("thinking", "reasoning"):
                thought = (
                    text_of(block.get("thinking"))
                    or text_of(block.get("text"))
                    or text_of(block.get("reasoning"))
                )
                self.dialogue.say("reasoning", thought, at=at)
            elif kind == "text":
                thought, said = plain_text(content_text(block))
                self.dialogue.say("reasoning", thought, at=at)
                self.dialogue.say("reply", said, at=at)
        self.asked = list(calls_in(blocks))
        for call in self.asked:
            if call.name in SPEECH:
                given = fields_of(call.given)
                words = (given.get(name) for name in ("result", "question", "response", "context"))
                self.dialogue.say("reply", next(filter(None, map(text_of, words)), None), at=at)
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
        words = words or "\n".join(
            filter(None, (said_inside(call.output or "") for call in spoken))
        )
        # A tool of the program's own answers with a block; then nobody wrote the text beside it.
        if not has_results and any(block.get("type") == "tool_result" for block in blocks):
            words = ""
        if words:
            self.dialogue.prompt(
                text_of(message.get("id")) or str(at or f"message-{number}"),
                words,
                at=at,
                author=self.author,
            )

    # Tokens

    def _count(self, message: Fields, number: int, at: int | None) -> None:
        """What a call of the model took; input is with what came from the cache and went there."""
        metrics = fields_of(message.get("metrics"))
        model = fields_of(message.get("modelInfo"))
        read, written = (
            count_of(metrics.get("cacheReadTokens")),
            count_of(metrics.get("cacheWriteTokens")),
        )
        total = count_of(metrics.get("inputTokens"))
        own = text_of(message.get("id"))
        # A fork holds copies of the messages before it, with their ids and times.
        key = f"{own}@{at or ''}" if own else f"{self.dialogue.session}/{number}"
        self.dialogue.usage(
            key, model=text_of(model.get("id")) or text_of(model.get("modelId")), at=at,
            input=total - read - written if read + written <= total else total, cache_read=read,
            cache_write=written,
            output=count_of(metrics.get("outputTokens")), cost_usd=money_of(metrics.get("cost")),
        )  # fmt: skip


def tell_call(dialogue: Dialogue, call: Call, at: int | None) -> None:
    """A call with what came of it."""
    dialogue.call(
        call.id or None, call.name, call.given, at=at, kind=kind_of_call(call.name),
        target=target_of_call(call.given),
        output=call.output, ok=call.ok, exit_code=call.exit_code,
    )  # fmt: skip
