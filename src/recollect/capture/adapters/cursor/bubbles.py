"""Chats as the editor keeps them: a composer with a list of bubbles.

A composer is one chat, a bubble one message, one thought or one tool call with
its result. In 2024 the bubbles stood inside the composer; since then they have
rows of their own, and the composer lists them in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from recollect.capture.adapters.cursor.prompts import CursorPromptKeys
from recollect.capture.adapters.cursor.session import UNTITLED, CursorChatOwner
from recollect.capture.adapters.cursor.tools import call_in
from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    json_of,
    list_of,
    moment_of,
    money_of,
    non_empty,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Event, Item

_PERSON, _AGENT = 1, 2
_TOOLS = 15
_MODES = {1: "ask", 2: "agent", 3: "edit", 5: "plan"}
# The model of a chat, when nobody chose.
_ANY_MODEL = {"", "default", "auto"}
# Since 2001 in milliseconds: smaller figures count from when a window was opened.
_EPOCH_MS = 1e12
_META = {
    "status": "status",
    "agentBackend": "agent_backend",
    "contextTokensUsed": "context_tokens_used",
    "contextTokenLimit": "context_token_limit",
    "totalLinesAdded": "lines_added",
    "totalLinesRemoved": "lines_removed",
    "filesChangedCount": "files_changed",
}


class CursorBubble(msgspec.Struct):
    """A message, a thought, or a tool call with its result."""

    bubbleId: Any = None
    type: Any = None
    text: Any = None
    richText: Any = None
    thinking: Any = None
    allThinkingBlocks: Any = None
    toolFormerData: Any = None
    tokenCount: Any = None
    timingInfo: Any = None
    createdAt: Any = None
    modelInfo: Any = None
    unifiedMode: Any = None
    images: Any = None
    errorDetails: Any = None


class CursorComposer(msgspec.Struct):
    """A chat: what is known of it, and the order of its bubbles."""

    composerId: Any = None
    name: Any = None
    createdAt: Any = None
    fullConversationHeadersOnly: Any = None
    conversation: Any = None
    conversationMap: Any = None
    capabilities: Any = None
    unifiedMode: Any = None
    forceMode: Any = None
    modelConfig: Any = None
    usageData: Any = None
    workspaceIdentifier: Any = None
    subagentInfo: Any = None
    createdOnBranch: Any = None
    status: Any = None
    agentBackend: Any = None
    contextTokensUsed: Any = None
    contextTokenLimit: Any = None
    totalLinesAdded: Any = None
    totalLinesRemoved: Any = None
    filesChangedCount: Any = None


class CursorStoredBubble(NamedTuple):
    """A bubble that has a row of its own."""

    rowid: int
    id: str
    bubble: CursorBubble


class CursorTurn(NamedTuple):
    """A prompt, or None before the first, and what answers it."""

    prompt: CursorBubble | None
    answers: list[CursorBubble]


def shown(composer: CursorComposer, kept: list[CursorStoredBubble]) -> list[CursorBubble]:
    """The bubbles that a person sees, in order."""
    known: dict[str, CursorBubble] = {}
    inline = objects_of(composer.conversation)
    for name, fields in [
        *fields_of(composer.conversationMap).items(),
        *((part.get("bubbleId"), part) for part in inline),
    ]:
        if isinstance(name, str) and isinstance(fields, dict):
            known[name] = msgspec.convert(fields, CursorBubble)
    for one in kept:
        whole = _completed(one.bubble, known.get(one.id))
        # The row's name and the bubble's own id are the same nearly always.
        known[one.id] = whole
        if isinstance(whole.bubbleId, str):
            known[whole.bubbleId] = whole
    tools = _tools_apart(composer)
    found = []
    for header in objects_of(composer.fullConversationHeadersOnly) or inline:
        name = header.get("bubbleId")
        if isinstance(name, str) and (bubble := known.get(name)) is not None:
            bubble.createdAt = bubble.createdAt or header.get("createdAt")
            bubble.toolFormerData = bubble.toolFormerData or tools.get(name)
            found.append(bubble)
    return found


def _completed(bubble: CursorBubble, inline: CursorBubble | None) -> CursorBubble:
    """A bubble with what only its copy inside the composer tells."""
    for name in CursorBubble.__struct_fields__ if inline is not None else ():
        if not getattr(bubble, name):
            setattr(bubble, name, getattr(inline, name))
    return bubble


def _tools_apart(composer: CursorComposer) -> Fields:
    """The tool calls of early 2025, which stood beside the bubbles, by the bubble's id."""
    for capability in objects_of(composer.capabilities):
        if capability.get("type") == _TOOLS:
            return fields_of(json_of(fields_of(capability.get("data")).get("bubbleDataMap")))
    return {}


def undone(kept: list[CursorStoredBubble], live: list[CursorBubble]) -> list[CursorTurn]:
    """What was rewound or edited away, in the order it was written: no list names it any more.

    Most of them are answers that were begun anew. Only what follows a prompt
    that is gone, before anything that is still there, is a turn.
    """
    seen = {id(bubble) for bubble in live}
    turns: list[CursorTurn] = []
    follows = False
    for one in sorted(kept):
        if id(one.bubble) in seen:
            follows = False
        elif _is_prompt(one.bubble):
            turns.append(CursorTurn(one.bubble, []))
            follows = True
        elif follows:
            turns[-1].answers.append(one.bubble)
    return turns


def _is_prompt(bubble: CursorBubble) -> bool:
    # An empty one is what stands in the input box, or a click on "continue".
    return bubble.type == _PERSON and bool(_words(bubble) or list_of(bubble.images))


class CursorComposerReader:
    """Makes the items of one chat."""

    def __init__(
        self, owner: CursorChatOwner, composer: CursorComposer, problems: ProblemCounter
    ) -> None:
        self.owner, self.composer, self.problems = owner, composer, problems
        self.dialogue = Dialogue(owner.session, own_keys=True)
        self.keys = CursorPromptKeys()
        self.model = _model(composer.modelConfig)

    def told(self, bubbles: list[CursorBubble], gone: list[CursorTurn]) -> list[Item]:
        """The items of a chat without its session's facts; none when nothing was said in it."""
        for turn in self._turns(bubbles):
            self._tell(turn)
        for turn in gone:
            self._tell(turn)
            self.dialogue.undo(self.dialogue.turn)
        items = self.dialogue.drain()
        return items if any(isinstance(item, Event) for item in items) else []

    def _turns(self, bubbles: list[CursorBubble]) -> list[CursorTurn]:
        turns = [CursorTurn(None, [])]
        for bubble in bubbles:
            if _is_prompt(bubble):
                turns.append(CursorTurn(bubble, []))
            elif bubble.type == _AGENT:
                turns[-1].answers.append(bubble)
            elif bubble.type != _PERSON:
                self.problems.unknown("a bubble of type", bubble.type)
        return turns

    def _tell(self, turn: CursorTurn) -> None:
        if turn.prompt is not None:
            words = _words(turn.prompt)
            at = _moment(turn.prompt) or next(filter(None, map(_asked_at, turn.answers)), None)
            pictures = ["[image]"] * len(list_of(turn.prompt.images))
            self.dialogue.begin(
                self.keys.key(words),
                at=at,
                author=self.owner.author,
                telemetry=self._telemetry(turn),
            )
            self.dialogue.say("prompt", "\n".join([words, *pictures] if words else pictures), at=at)
        for bubble in turn.answers:
            self._answer(bubble)

    def _telemetry(self, turn: CursorTurn) -> Fields | None:
        models = [self.model, *(_model(bubble.modelInfo) for bubble in turn.answers)]
        mode = _MODES.get(whole_of(turn.prompt.unifiedMode) or 0) if turn.prompt else None
        told = {"model": next(filter(None, reversed(models)), None), "mode": mode}
        return non_empty(told) or None

    def _answer(self, bubble: CursorBubble) -> None:
        at = _moment(bubble)
        self.dialogue.say("reasoning", _thoughts(bubble), at=at)
        self.dialogue.say("reply", text_of(bubble.text), at=at)
        data = fields_of(bubble.toolFormerData)
        call = call_in(data) if data else None
        if call is not None:
            output, ok, exit_code = call.given
            self.dialogue.call(
                call.id,
                call.name,
                call.arguments,
                at=at,
                kind=call.kind,
                target=call.target,
                output=output,
                ok=ok,
                exit_code=exit_code,
            )
        error = fields_of(bubble.errorDetails)
        self.dialogue.say(
            "error", text_of(error.get("message")) or text_of(error.get("error")), at=at
        )
        tokens = fields_of(bubble.tokenCount)
        # An id of its own in the whole world, so a copy in a duplicated chat is counted once.
        self.dialogue.usage(
            text_of(bubble.bubbleId) or self.dialogue.session,
            model=_model(bubble.modelInfo) or self.model,
            at=at,
            input=count_of(tokens.get("inputTokens")),
            output=count_of(tokens.get("outputTokens")),
        )

    def facts(self, *, cwd: str | None) -> None:
        """What is known of the session, to stand before its items."""
        composer = self.composer
        meta: Fields = {}
        for field, ours in _META.items():
            value = getattr(composer, field)
            if isinstance(value, (str, int, float)) and value and not isinstance(value, bool):
                meta[ours] = value
        meta["mode"] = text_of(composer.unifiedMode) or text_of(composer.forceMode)
        meta["model"] = self.model
        meta["max_mode"] = fields_of(composer.modelConfig).get("maxMode") is True or None
        meta |= _paid(composer.usageData)
        name = text_of(composer.name)
        self.dialogue.facts(
            whole=True,
            title=None if name in UNTITLED else name,
            started_at=moment_of(composer.createdAt),
            git_branch=text_of(composer.createdOnBranch),
            meta={key: value for key, value in meta.items() if value is not None} or None,
            parent=self.owner.parent,
            origin="subagent" if self.owner.parent else "interactive",
            cwd=cwd,
        )


def _paid(usage: Any) -> Fields:
    """What a chat was charged, in cents and in requests, by model: not what its tokens cost."""
    models = {name: fields_of(one) for name, one in fields_of(usage).items()}
    cents = {name: money_of(one.get("costInCents")) for name, one in models.items()}
    requests = {name: count_of(one.get("amount")) for name, one in models.items()}
    return non_empty({"usage_cents": non_empty(cents), "usage_requests": non_empty(requests)})


def _words(bubble: CursorBubble) -> str:
    return (text_of(bubble.text) or _written(json_of(bubble.richText))).strip()


def _written(node: Any) -> str:
    """The text of an editor's document, whose nodes hold other nodes."""
    lines, waiting = [""], [fields_of(fields_of(node).get("root"))]
    while waiting:
        one = waiting.pop()
        if one.get("type") in ("linebreak", "paragraph") and lines[-1]:
            lines.append("")
        lines[-1] += text_of(one.get("text")) or ""
        waiting += reversed(objects_of(one.get("children")))
    return "\n".join(lines)


def _thoughts(bubble: CursorBubble) -> str | None:
    text = text_of(fields_of(bubble.thinking).get("text")) or text_of(bubble.thinking)
    blocks = (text_of(block.get("text")) for block in objects_of(bubble.allThinkingBlocks))
    return text or "\n\n".join(filter(None, blocks))


def _moment(bubble: CursorBubble) -> int | None:
    timing = fields_of(bubble.timingInfo)
    names = ("clientSettleTime", "clientEndTime", "clientRpcSendTime")
    told = (_epoch(timing.get(name)) for name in names)
    return moment_of(bubble.createdAt) or next(filter(None, told), None)


def _asked_at(bubble: CursorBubble) -> int | None:
    return _epoch(fields_of(bubble.timingInfo).get("clientRpcSendTime"))


def _epoch(value: Any) -> int | None:
    return moment_of(value) if isinstance(value, (int, float)) and value >= _EPOCH_MS else None


def _model(config: Any) -> str | None:
    name = text_of(fields_of(config).get("modelName"))
    return None if name in _ANY_MODEL else name
