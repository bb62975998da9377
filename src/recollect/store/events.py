"""The rows of a turn's body as typed events: the one place that decodes them for the stages.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from recollect.model.calls import Call, PlainEvent
from recollect.store import bodies

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def events_in(turn: int, rows: Iterable[bodies.Row]) -> list[Call | PlainEvent]:
    """What happened in a turn, in order; what the log tells about the turn itself is no event."""
    found: list[Call | PlainEvent] = []
    ordinal = 0
    for row in rows:
        kind = row[bodies.KIND]
        if kind == "tool_call":
            found.append(_call(turn, ordinal, row))
            ordinal += 1
        elif kind != bodies.TELEMETRY:
            found.append(PlainEvent(turn, kind, row[bodies.TEXT] or ""))
    return found


def _call(turn: int, ordinal: int, row: bodies.Row) -> Call:
    _, _, _, _, name, kind, target, given, output, ok, exit_code, took, folder = row
    return Call(
        turn, ordinal, name or "", kind or "other", target or "", ok, exit_code, folder,
        output or "", given, took,
    )  # fmt: skip
