"""The operation log of a chat: a snapshot, and what was changed since, line by line.

    {"kind": 0, "v": …}                     everything, anew
    {"kind": 1, "k": [path], "v": …}        a value is set
    {"kind": 2, "k": [path], "v": […]}      a list grows; with "i" it is cut there first
    {"kind": 3, "k": [path]}                a value is gone

Requests that a person took back are still in the log until it is compacted.
They are kept beside the chat that the replay comes to.
"""

from __future__ import annotations

from typing import Any

import msgspec

from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import Fields, fields_of, objects_of, text_of

_SNAPSHOT, _SET, _PUSH, _DELETE = range(4)

# What is read of a chat and its requests. The rest (attached files, citations, the
# state of the input box) can be most of a log.
CHAT = frozenset(
    ("version", "sessionId", "creationDate", "customTitle", "initialLocation", "responderUsername",
    "requests",
     "workingDirectory", "repoData", "mode", "inputState"),
)  # fmt: skip
REQUEST = frozenset(
    ("requestId", "timestamp", "message", "variableData", "response", "result", "modelId",
    "modeInfo", "agent", "isCanceled",
     "isHidden", "shouldBeRemovedOnSend", "modelState", "confirmation", "usage", "completionTokens",
     "promptTokens", "modelTotals", "copilotCredits", "elapsedMs", "responseErrorDetails"),
)  # fmt: skip


class CopilotChatOperation(msgspec.Struct, gc=False):
    """One operation on a chat: a line of its log."""

    kind: Any = None
    k: Any = None
    v: Any = None
    i: Any = None


OPERATIONS: msgspec.json.Decoder[CopilotChatOperation] = msgspec.json.Decoder(CopilotChatOperation)


def snapshot(chat: Fields) -> CopilotChatOperation:
    """The operation that begins a log of a chat as it is."""
    return CopilotChatOperation(kind=_SNAPSHOT, v=chat)


class CopilotChatLog:
    """A chat, as it is after the operations so far."""

    def __init__(self, problems: ProblemCounter) -> None:
        self.problems = problems
        self.chat: Fields = {}
        # Every request that ever was part of it, in the order they came.
        self.requests: dict[str, Fields] = {}

    def apply(self, operation: CopilotChatOperation) -> None:
        """One more operation; one that makes no sense is passed over."""
        if operation.kind == _SNAPSHOT:
            self.chat = _kept(fields_of(operation.v), CHAT)
            self.chat["requests"] = [
                _kept(request, REQUEST) for request in objects_of(self.chat.get("requests"))
            ]
            self._notice(self.chat["requests"])
        elif operation.kind not in (_SET, _PUSH, _DELETE):
            self.problems.unknown("operation", operation.kind)
        elif _is_read(operation.k):
            if not self._change(operation.k, operation):
                self.problems.bad("an operation on something that is not there")
            elif operation.k[0] == "requests" and len(operation.k) < 3:
                self._notice(operation.v if isinstance(operation.v, list) else [operation.v])

    def _notice(self, requests: list[Any]) -> None:
        for request in objects_of(requests):
            if name := text_of(request.get("requestId")):
                self.requests[name] = request

    def taken_back(self) -> list[Fields]:
        """The requests that are no longer part of the chat."""
        left = {
            text_of(request.get("requestId")) for request in objects_of(self.chat.get("requests"))
        }
        return [request for name, request in self.requests.items() if name not in left]

    def _change(self, path: list[Any], operation: CopilotChatOperation) -> bool:
        holder: Any = self.chat
        for step in path[:-1]:
            holder = _inside(holder, step)
        last = path[-1]
        if operation.kind == _PUSH:
            return _push(holder, last, operation)
        if operation.kind == _DELETE:
            if isinstance(holder, dict) and isinstance(last, str):
                holder.pop(last, None)
                return True
            return False
        return _put(holder, last, operation.v)


def _is_read(path: object) -> bool:
    """Whether a path leads to something that we read."""
    if not isinstance(path, list) or not path:
        return False
    if not isinstance(path[0], str) or path[0] not in CHAT:
        return False
    return (
        len(path) < 3 or path[0] != "requests" or (isinstance(path[2], str) and path[2] in REQUEST)
    )


def _kept(fields: Fields, names: frozenset[str]) -> Fields:
    return {name: value for name, value in fields.items() if name in names}


def _inside(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.get(step)
    if isinstance(holder, list) and isinstance(step, int) and 0 <= step < len(holder):
        return holder[step]
    return None


def _put(holder: Any, step: Any, value: Any) -> bool:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
    elif isinstance(holder, list) and isinstance(step, int) and 0 <= step <= len(holder):
        holder[step : step + 1] = [value]
    else:
        return False
    return True


def _push(holder: Any, step: Any, operation: CopilotChatOperation) -> bool:
    grown = _inside(holder, step)
    if grown is None:
        grown = []
        if not _put(holder, step, grown):
            return False
    if not isinstance(grown, list):
        return False
    if isinstance(operation.i, int) and operation.i >= 0:
        del grown[operation.i :]
    grown += operation.v if isinstance(operation.v, list) else []
    return True
