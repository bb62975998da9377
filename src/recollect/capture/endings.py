"""What a log says of a call's end becomes what the store keeps: passed, failed or unknown.

`reading.endings` decides; this finds, for each result, the command it belongs
to, which may have been read long before. The log's own exit code stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable

from recollect.model.batch import Batch, TurnPart
from recollect.model.calls import Call, stored_ending
from recollect.model.logs import Event, ToolResult
from recollect.reading.endings import ending_of

FindCall = Callable[[str, str, str], Call | None]
# Commands that wait for their results: those of a few sessions at once.
MOST_WAITING = 2_000


class Endings:
    """Decides how the calls of batches ended.

    `find_call` is asked, by session, turn and call, about the commands of an earlier run.
    """

    def __init__(self, find_call: FindCall) -> None:
        self.find_call = find_call
        self._waiting: dict[tuple[str, str], str] = {}

    def decide(self, agent: str, batch: Batch) -> None:
        """Put the ending of each call in the place of what its log says."""
        for part in batch.turns.values():
            for event in part.events:
                if event.kind != "tool_call":
                    continue
                kind, said = event.tool_kind, event.ok
                if said is None and event.exit_code is None:
                    if kind == "shell" and event.call and event.target:
                        self._wait(event.session, event.call, event.target)
                    continue
                if kind == "shell" or said is None:
                    event.ok = stored_ending(
                        ending_of(kind, event.target, said, event.exit_code, event.output or "")
                    )
                    event.exit_code = _exit_code(said, event)
            for late in part.late:
                if late.ok is not None or late.exit_code is not None:
                    self._late(agent, part, late)

    def _late(self, agent: str, part: TurnPart, late: ToolResult) -> None:
        command = self._waiting.pop((late.session, late.call), None)
        if command is None:
            call = self.find_call(f"{agent}:{late.session}", part.facts.turn, late.call)
            command = call.target if call is not None and call.kind == "shell" else None
        said = late.ok
        late.ok = stored_ending(
            ending_of("shell", command, said, late.exit_code, late.output or "")
        )
        late.exit_code = _exit_code(said, late)

    def _wait(self, session: str, call: str, command: str) -> None:
        self._waiting[session, call] = command
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]


def _exit_code(said: bool | None, told: Event | ToolResult) -> int | None:
    """The exit code of a line of which the log says that it ended well and we, what it hides."""
    return 0 if said and told.ok is None and told.exit_code is None else told.exit_code
