"""OpenCode's tool calls: a part each, with what was asked and what came back."""

from __future__ import annotations

import re

from recollect.capture.adapters.opencode.records import (
    OpenCodePart,
    OpenCodeTimes,
    OpenCodeToolDetails,
    OpenCodeToolState,
)
from recollect.capture.logs.tools import kind_of, target_of
from recollect.capture.logs.values import Fields, moment_of, text_of, whole_of
from recollect.model.logs import Event

# How an edit is told, by the words that other agents use for the same.
_EDITS = {"oldString": "old_string", "newString": "new_string", "patchText": "patch"}
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def call_of(part: OpenCodePart, session: str, turn: str, at: int | None) -> Event:
    """A call with its result, as far as there is one yet; `at` is when its message was begun."""
    name = text_of(part.tool) or "tool"
    kind = kind_of(name)
    state = part.state if isinstance(part.state, OpenCodeToolState) else OpenCodeToolState()
    start = end = None
    if isinstance(state.time, OpenCodeTimes):
        start, end = moment_of(state.time.start), moment_of(state.time.end)
    details = state.metadata
    exit_code = whole_of(details.exit) if isinstance(details, OpenCodeToolDetails) else None
    failed = state.status == "error"
    done = failed or state.status in ("completed", "success")
    given, target = state.input, None
    if kind == "edit" and isinstance(given, dict):
        target, given = _patched_file(given), _edit(given)
    output = state.error if failed else state.output
    return Event(
        session=session,
        turn=turn,
        kind="tool_call",
        at=start or at,
        call=text_of(part.callID) or text_of(part.id),
        name=name,
        tool_kind=kind,
        target=target or target_of(kind, given),
        input=given,
        output=output if isinstance(output, str) else None,
        # A command that ran to its end has completed, whatever it came to.
        ok=not failed and not exit_code if done else None,
        exit_code=exit_code,
        duration_ms=end - start if start is not None and end is not None and end >= start else None,
    )


def _edit(given: Fields) -> Fields:
    """The input of an edit, in the words that other agents use."""
    told = {_EDITS.get(name, name): value for name, value in given.items()}
    if isinstance(told.get("edits"), list):
        told["edits"] = [_edit(edit) if isinstance(edit, dict) else edit for edit in told["edits"]]
    return told


def _patched_file(given: Fields) -> str | None:
    found = _PATCHED.search(given["patchText"]) if isinstance(given.get("patchText"), str) else None
    return found[1].strip() if found else None
