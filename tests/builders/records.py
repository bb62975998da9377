"""Sessions as the finders read them: what was asked, what was run, and what was answered."""

from __future__ import annotations

from typing import Any

from recollect.model.logs import ToolKind
from recollect.model.record import CallRecord, SessionRecord, TurnRecord

FOLDER = "/home/ada/shop"


def ran(
    command: str, output: str = "", *, code: int | None = 0, folder: str | None = None
) -> CallRecord:
    """A shell command; without a code nobody knows how it ended."""
    ok = None if code is None else code == 0
    return CallRecord("shell", "Bash", command, folder, ok, code, output)


def edited(path: str) -> CallRecord:
    return CallRecord("edit", "Edit", path, ok=True)


def read(path: str) -> CallRecord:
    return CallRecord("read", "Read", path, ok=True)


def used(
    name: str,
    given: Any = None,
    output: str = "",
    *,
    ok: bool | None = True,
    kind: ToolKind = "other",
) -> CallRecord:
    """Any tool."""
    return CallRecord(kind, name, "", ok=ok, output=output, given=given)


def turn(
    prompt: str = "Fix the till, please", *calls: CallRecord, reply: str = "", **more: Any
) -> TurnRecord:
    """A prompt, what was done about it, and what was answered; `session` numbers it."""
    replies = (reply,) if reply else ()
    return TurnRecord("", "", True, (prompt,), replies, calls, **more)


def session(*turns: TurnRecord, number: int = 1, **more: Any) -> SessionRecord:
    """A conversation of a person's; each number is a day later than the one before."""
    ref, day = f"claude-code:s{number}", f"2026-01-{number:02}"
    numbered = [
        one._replace(ref=f"{ref}#{place}", at=f"{day}T10:{place:02}:00Z")
        for place, one in enumerate(turns, 1)
    ]
    return SessionRecord(ref, f"{day}T10:00:00Z", FOLDER, tuple(numbered), **more)
