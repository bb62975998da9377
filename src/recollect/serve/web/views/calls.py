"""Tool calls and turns as the page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from recollect.model.sessions import ToolCall, Turn
from recollect.serve.patches import patch_of, signed
from recollect.serve.web import words

if TYPE_CHECKING:
    from recollect.model.notes import Note

ICONS = {"shell": "shell", "edit": "edit", "read": "read", "search": "search", "agent": "agent"}
MOST_DIFF_LINES = 400
TITLE_CHARACTERS = 300


class CallView(NamedTuple):
    """One tool call as a line that opens."""

    title: str
    icon: str
    exit: str
    failed: bool
    took: str
    folder: str
    command: str
    output: Markup | str
    changes: list[tuple[str, str]]
    added: int
    removed: int
    is_open: bool


class TurnView(NamedTuple):
    """One turn with its events in the order in which they happened, calls in a row together."""

    turn: Turn
    blocks: list[tuple[str, Any]]
    failed: bool
    took: str
    tokens_in: int
    cached: float
    context: int | None = None
    learned: tuple[Note, ...] = ()


def show_call(call: ToolCall, *, is_open: bool = False) -> CallView:
    """A call as the page shows it."""
    target = call.target or call.name or "a tool"
    is_edit = call.tool_kind == "edit"
    changes = signed(patch_of(call.input)) if is_edit else []
    added, removed = (sum(sign == one for sign, _ in changes) for one in "+-")
    if len(changes) > MOST_DIFF_LINES:
        left_out = len(changes) - MOST_DIFF_LINES
        changes = [*changes[:MOST_DIFF_LINES], ("@", f"… {left_out:,} more lines …")]
    failed = call.ok is False
    ended = "" if call.exit_code is None else f"exit {call.exit_code}"
    if not ended and call.ok is not None:
        ended = "failed" if failed else "" if is_edit else "ok"
    folder = call.folder or ""
    return CallView(
        title=_one_line(target),
        icon=ICONS.get(call.tool_kind or "", "go"),
        exit=ended,
        failed=failed,
        took=words.took(call.duration_ms),
        folder=folder if call.tool_kind == "shell" else "",
        command=words.cut(target) if "\n" in target or len(target) > TITLE_CHARACTERS else "",
        output=_output(call),
        changes=changes,
        added=added,
        removed=removed,
        is_open=is_open or failed,
    )


def show_turn(turn: Turn, *, context: int | None = None, learned: Sequence[Note] = ()) -> TurnView:
    """A turn as the page shows it, with how full its context was and what is remembered of it."""
    blocks: list[tuple[str, Any]] = []
    for event in turn.events:
        if isinstance(event, ToolCall):
            if not blocks or blocks[-1][0] != "calls":
                blocks.append(("calls", []))
            blocks[-1][1].append(show_call(event))
        elif event.text or event.kind == "abort":
            blocks.append((event.kind, event.text))
    tokens = turn.tokens
    read = tokens.input + tokens.cache_read + tokens.cache_write
    return TurnView(
        turn=turn,
        blocks=blocks,
        failed=any(isinstance(one, ToolCall) and one.ok is False for one in turn.events),
        took=words.between(turn.started_at, turn.ended_at),
        tokens_in=read,
        cached=tokens.cache_read / read if read else 0.0,
        context=context,
        learned=tuple(learned),
    )


def _output(call: ToolCall) -> Markup | str:
    text = (call.output or "").rstrip("\n")
    if not text:
        return ""
    return words.error_lines(text) if call.ok is False else words.cut(text)


def _one_line(text: str) -> str:
    line = " ⏎ ".join(part for part in text.split("\n") if part.strip())
    return line if len(line) <= TITLE_CHARACTERS else f"{line[:TITLE_CHARACTERS]}…"
