"""Codex: tool calls and what came of them, joined by their ids."""

from __future__ import annotations

from collections import defaultdict

from recollect.capture.adapters.codex.calls import Made, command_of, ended_by, made_by
from recollect.capture.adapters.codex.records import Fields, fields, listed, moment
from recollect.capture.adapters.codex.talk import Talk
from recollect.capture.adapters.codex.tools import Outcome, outcome
from recollect.capture.adapters.codex.turns import MAX_CALLS, State, trim
from recollect.model.logs import Event, ToolResult

# Longer ids are not ids; they would only fill the checkpoint.
MAX_ID = 200


class Work(Talk):
    """Calls are remembered with their turn, because a result may come much later."""

    def __init__(self, state: State | None = None) -> None:
        super().__init__(state)
        self.odd: defaultdict[str, int] = defaultdict(int)

    def function_called(self, item: Fields, stamp: object) -> None:
        """A function call; commands take the short way."""
        found, call = command_of(item), id_of(item.get("call_id"))
        if found is None or call is None:
            self.called(item, stamp)
            return
        turn = self.settled or self.content_turn(stamp)
        self._await(call, turn)
        target, given = found
        self.out.append(
            Event(
                session=self.session,
                turn=turn,
                kind="tool_call",
                at=moment(stamp),
                call=call,
                name=item["name"],
                tool_kind="shell",
                target=target,
                input=given,
            )
        )

    def called(self, item: Fields, stamp: object) -> None:
        """Any call that an item asks for."""
        made, end = made_by(item)
        turn = self.content_turn(stamp)
        if made.kind == "web" and made.target and self.is_twin("web", made.target, -1):
            return
        if end is not None and self._turn_of(made.call) is not None:
            return
        self._tool_call(made, turn, stamp, end)

    def ended(self, told: Fields, stamp: object) -> None:
        """The end of a call, told by an event; often nothing else tells the call itself."""
        made, end = ended_by(told)
        if made.call is not None and self._turn_of(made.call) is not None:
            self._join(made.call, end, stamp)
            return
        turn = self.content_turn(stamp)
        if made.kind == "web" and made.target and self.is_twin("web", made.target, 1):
            return
        self._tool_call(made, turn, stamp, end)

    def answered(self, item: Fields, stamp: object) -> None:
        """The output of a call."""
        call = item.get("call_id")
        if type(call) is str:
            self._join(call[:MAX_ID], outcome(item.get("output")), stamp)

    def found_tools(self, item: Fields, stamp: object) -> None:
        """The output of a search for tools: their names."""
        names = [fields(tool).get("name") for tool in listed(item.get("tools"))]
        if call := id_of(item.get("call_id")):
            self._join(
                call, Outcome(", ".join(name for name in names if isinstance(name, str))), stamp
            )

    def _tool_call(self, made: Made, turn: str, stamp: object, end: Outcome | None) -> None:
        state, call = self.state, made.call
        if call is None and made.kind == "shell":
            state.unnamed += 1
            call = f"unnamed-{state.unnamed}"
        if call is not None:
            self._await(call, turn)
            if end is not None and end.text is not None:
                self._settle(call, turn)
        event = Event(
            session=self.session,
            turn=turn,
            kind="tool_call",
            at=moment(stamp),
            call=call,
            name=made.name,
            tool_kind=made.kind,
            target=made.target,
            input=made.input,
        )
        if end is not None:
            event.output, event.ok = end.text, end.ok
            event.exit_code, event.duration_ms = end.exit_code, end.duration_ms
        self.out.append(event)

    def _await(self, call: str, turn: str) -> None:
        """A call is out; an id that is used again stands for the newest."""
        waiting = self.state.calls
        waiting[call] = turn
        if len(waiting) > MAX_CALLS:
            trim(waiting, MAX_CALLS)

    def _settle(self, call: str, turn: str) -> None:
        """Its output is known; what is told later can only add to it."""
        state = self.state
        del state.calls[call]
        state.answered[call] = turn
        if len(state.answered) > MAX_CALLS:
            trim(state.answered, MAX_CALLS // 2)

    def _turn_of(self, call: str | None) -> str | None:
        return self.state.calls.get(call) or self.state.answered.get(call) if call else None

    def _join(self, call: str, end: Outcome, stamp: object) -> None:
        state, output = self.state, end.text
        turn = state.calls.get(call)
        if turn is None:
            turn, output = state.answered.get(call), None
            if turn is None:
                self.odd["a result without its call"] += 1
                return
        elif output:
            self._settle(call, turn)
        self.out.append(
            ToolResult(
                session=self.session,
                turn=turn,
                call=call,
                at=moment(stamp),
                output=output,
                ok=end.ok,
                exit_code=end.exit_code,
                duration_ms=end.duration_ms,
            )
        )


def id_of(value: object) -> str | None:
    """The value if it can be an id."""
    return value[:MAX_ID] if type(value) is str and value else None
