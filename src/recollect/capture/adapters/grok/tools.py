"""Tool calls of Grok Build, put together from the places that tell of them.

The updates say that a call was made, with what and how it went; the chat has
the model's own arguments and everything it was given back; the events have how
long it took. All of them use the id that the model gave the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from recollect.capture.adapters.grok.records import GrokUpdate, decode_raw, decode_raw_fields
from recollect.capture.logs.tools import kind_of, target_of
from recollect.capture.logs.values import (
    Fields,
    content_text,
    fields_of,
    json_of,
    objects_of,
    text_of,
    whole_of,
)
from recollect.model.logs import Event, ToolKind

# Of the protocol's sorts of tools: where a name says nothing, the sort does.
_KINDS: dict[str | None, ToolKind] = {
    "read": "read", "edit": "edit", "delete": "edit", "move": "edit", "search": "search",
    "execute": "shell", "fetch": "web",
}  # fmt: skip
_ENDED = {"completed": True, "failed": False}
_NAME = re.compile(r"[\w.:-]{1,128}")
# A tool that calls another one, of a server: what matters is which.
_DISPATCHER = "use_tool"


class GrokCall:
    """One tool call, and the event that it becomes."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self._sort: str | None = None
        self._title: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether it is known how the call went."""
        return self.event.ok is not None

    def learn(self, update: GrokUpdate, own: Fields) -> None:
        """What an update adds. While a command runs its output comes again and again.

        Only the last counts.
        """
        if update.status == "in_progress" and self._title is not None:
            return
        event, title, sort = self.event, text_of(update.title), text_of(update.tool_kind)
        identity = fields_of(own.get("x.ai/tool"))
        name = text_of(identity.get("name")) or (
            title if title and _NAME.fullmatch(title) else None
        )
        event.name = event.name or name
        self._title = self._title or title or ""
        # The first one is a guess, made before the arguments were understood.
        self._sort = sort if sort in _KINDS else self._sort
        if not event.input:
            event.input = decode_raw(update.given)
            event.name = event.name or text_of(fields_of(event.input).get("variant"))
        ended = _ENDED.get(text_of(update.status) or "")
        if ended is not None:
            event.ok = ended
            self._end(update)

    def _end(self, update: GrokUpdate) -> None:
        gave = decode_raw_fields(update.gave)
        event = self.event
        event.output = _output(decode_raw(update.content), gave)
        event.exit_code = whole_of(gave.get("exit_code"))
        if event.exit_code or gave.get("timed_out") is True:
            # The update says only whether the command could be run.
            event.ok = False
        if action := fields_of(gave.get("action")):
            # A tool of the vendor's servers: what was asked of it is told with its result.
            event.input = action

    def asked(self, name: str | None, given: Any) -> None:
        """What the model itself wrote."""
        self.event.name = name or self.event.name
        if given not in (None, "", {}):
            self.event.input = given

    def settle(self) -> None:
        """Say what sort of call it was, now that all is known."""
        event, given = self.event, fields_of(self.event.input)
        name = event.name or self._title or "tool"
        if name == _DISPATCHER and (inner := text_of(given.get("tool_name"))):
            name, given = inner, fields_of(json_of(given.get("tool_input")))
        kind = kind_of(name)
        event.tool_kind = _KINDS.get(self._sort, kind) if kind == "other" else kind
        event.name, event.target = name, target_of(event.tool_kind, given)


class GrokCalls:
    """The tool calls of a session, by their id."""

    def __init__(self) -> None:
        self._calls: dict[str, GrokCall] = {}

    def find(self, call: str) -> GrokCall | None:
        """The call of this id."""
        return self._calls.get(call)

    def begin(self, call: str, event: Event) -> GrokCall:
        """A call is made."""
        event.call = call
        made = self._calls[call] = GrokCall(event)
        return made

    def __iter__(self) -> Iterator[GrokCall]:
        return iter(self._calls.values())

    def settle(self) -> None:
        """All is known."""
        for call in self._calls.values():
            call.settle()


def asked_for(tool_call: Fields) -> tuple[str | None, str | None, Any]:
    """The id, the name and the arguments of a call in a message of either version."""
    function = fields_of(tool_call.get("function")) or tool_call
    return (
        text_of(tool_call.get("id")),
        text_of(function.get("name")),
        json_of(function.get("arguments")),
    )


def _output(content: object, gave: Fields) -> str:
    """What a call gave back, as far as the updates tell."""
    said = "\n".join(filter(None, map(_shown, objects_of(content))))
    text = text_of(gave.get("output_for_prompt")) or said
    return text or content_text(gave.get("content")) or text_of(gave.get("text")) or ""


def _shown(part: Fields) -> str:
    if part.get("type") == "diff":
        return f"edited {part.get('path')}" if text_of(part.get("path")) else ""
    return content_text(part.get("content")) if part.get("type") == "content" else ""
