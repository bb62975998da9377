"""What Grok Build measures of its turns: how tools did, how long things took."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recollect.capture.adapters.grok.records import EventLine
from recollect.capture.logs.problems import ProblemCounter
from recollect.capture.logs.values import count_of, moment_of, text_of, whole_of

_PASSED_OVER = {
    "phase_changed", "loop_started", "tool_started", "permission_requested", "interjected",
    "yolo_toggled", "todo_gate_fired", "todo_gate_exhausted",
}  # fmt: skip
_FAMILIES = ("goal_", "mcp_", "laziness_")


class Outcome(Struct, gc=False):
    """How a tool call went."""

    ok: bool | None
    duration_ms: int | None
    told: str | None


class Run(Struct):
    """One turn as it was measured."""

    at: int
    number: int | None
    ended_at: int | None = None
    telemetry: dict[str, Any] = field(default_factory=dict)


class Events:
    """The outcomes of tool calls by their id, and the turns in order."""

    def __init__(self, problems: ProblemCounter) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.runs: list[Run] = []
        self.problems = problems

    def take(self, line: EventLine) -> None:
        """One more line."""
        kind, at = text_of(line.type), moment_of(line.ts)
        run = self.runs[-1] if self.runs and self.runs[-1].ended_at is None else None
        if kind == "tool_completed":
            self._tool(line)
        elif kind == "turn_started":
            if at is not None:
                self.runs.append(Run(at, whole_of(line.turn_number), None, _facts(line)))
        elif kind == "first_token":
            if run and at is not None:
                run.telemetry.setdefault("first_token_ms", max(0, at - run.at))
        elif kind == "permission_resolved":
            if run and (waited := count_of(line.wait_ms)):
                run.telemetry["permission_wait_ms"] = (
                    run.telemetry.get("permission_wait_ms", 0) + waited
                )
        elif kind == "turn_ended":
            if run:
                self._ended(run, line, at)
        elif kind is None or not (kind in _PASSED_OVER or kind.startswith(_FAMILIES)):
            self.problems.unknown("event", line.type)

    def _tool(self, line: EventLine) -> None:
        # The workspace measures the same call a second time, from further away.
        call = text_of(line.tool_call_id)
        if call and line.source != "workspace":
            told = text_of(line.outcome)
            self.outcomes[call] = Outcome(
                told == "success" if told else None, whole_of(line.duration_ms), told
            )

    def _ended(self, run: Run, line: EventLine, at: int | None) -> None:
        run.ended_at = at if at is not None else run.at
        run.telemetry["duration_ms"] = max(0, run.ended_at - run.at)
        if outcome := text_of(line.outcome):
            run.telemetry["outcome"] = outcome
        if category := text_of(line.cancellation_category):
            run.telemetry["cancellation"] = category


def _facts(line: EventLine) -> dict[str, Any]:
    told = {
        "model": text_of(line.model_id),
        "yolo_mode": line.yolo_mode if line.yolo_mode is True else None,
    }
    return {name: value for name, value in told.items() if value is not None}
