"""One conversation as its messages come in.

Most formats are a list of messages: a person says something, the agent thinks,
answers, calls tools, and results come back. What an adapter has to know is how
its agent writes these down. Which turn they belong to, which call a result
answers and what must be remembered until the next import is the same for all,
and is here.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recollect.capture.logs.tools import kind_of, target_of
from recollect.model.logs import (
    Author,
    Event,
    EventKind,
    Item,
    Liveness,
    SessionFacts,
    ToolKind,
    ToolResult,
    TurnFacts,
    Usage,
)

# What stands before the first prompt belongs to a turn of its own, after
# the session's id: keys are not shared.
OPENING = "/start"
# A call that gets no answer would otherwise be remembered for ever, and a checkpoint may not grow.
MOST_WAITING = 256
# Ids are a few dozen characters long; longer ones are not waited for.
LONGEST_ID = 100


class DialogueState(Struct):
    """Where a conversation stands: what a checkpoint must remember of it."""

    turn: str = ""
    waiting: dict[str, str] = field(default_factory=dict)


class Dialogue:
    """The items of one session, in order, until somebody takes them from `items`."""

    def __init__(
        self, session: str, state: DialogueState | None = None, *, own_keys: bool = False
    ) -> None:
        """A key of a turn means that turn in every session, so that copies of it are known.

        `own_keys` says that those of this format mean something in one
        session only, such as a number.
        """
        self.session = session
        self.state = state or DialogueState()
        self.items: list[Item] = []
        self._prefix = f"{session}/" if own_keys else ""

    def drain(self) -> list[Item]:
        """What was gathered since the last time."""
        items, self.items = self.items, []
        return items

    @property
    def turn(self) -> str:
        """The native key of the turn that things belong to now; one is begun when there is none."""
        if not self.state.turn:
            self.begin(f"{self.session}{OPENING}", author="system")
        return self.state.turn

    def own(self, key: str) -> str:
        """A key of this format as the key of a turn."""
        return key if key.startswith(self._prefix) else f"{self._prefix}{key}"

    # Facts

    def facts(self, **facts: Any) -> None:
        """Something about the session; see `SessionFacts`."""
        self.items.append(SessionFacts(session=self.session, **facts))

    def begin(
        self,
        key: str,
        *,
        at: int | None = None,
        author: Author = "human",
        cwd: str | None = None,
        git_remote: str | None = None,
        telemetry: dict[str, Any] | None = None,
    ) -> None:
        """A turn begins. Its key must be the same when the log is read again."""
        turn = self.state.turn = self.own(key)
        self.items.append(
            TurnFacts(
                session=self.session,
                turn=turn,
                at=at,
                author=author,
                cwd=cwd,
                git_remote=git_remote,
                telemetry=telemetry,
            )
        )

    def learn(
        self,
        *,
        cwd: str | None = None,
        telemetry: dict[str, Any] | None = None,
        turn: str | None = None,
    ) -> None:
        """More about the turn that is going on, or about another one."""
        self.items.append(
            TurnFacts(
                session=self.session,
                turn=self.own(turn) if turn else self.turn,
                cwd=cwd,
                telemetry=telemetry,
            )
        )

    def undo(self, turn: str, *, live: bool = False) -> None:
        """A turn was undone, or is part of the conversation again."""
        self.items.append(Liveness(session=self.session, turn=self.own(turn), live=live))

    # What was said and done

    def prompt(
        self,
        key: str,
        text: str,
        *,
        at: int | None = None,
        author: Author = "human",
        cwd: str | None = None,
    ) -> None:
        """A turn begins with these words."""
        self.begin(key, at=at, author=author, cwd=cwd)
        self.say("prompt", text, at=at)

    def say(self, kind: EventKind, text: str | None, *, at: int | None = None) -> None:
        """A reply, a thought, an error and so on; nothing when there is no text to it."""
        if text or kind in ("compaction", "abort"):
            self.items.append(
                Event(session=self.session, turn=self.turn, kind=kind, at=at, text=text or "")
            )

    def call(
        self,
        call: str | None,
        name: str,
        given: Any = None,
        *,
        at: int | None = None,
        kind: ToolKind | None = None,
        target: str | None = None,
        output: str | None = None,
        ok: bool | None = None,
        exit_code: int | None = None,
        duration_ms: int | None = None,
    ) -> None:
        """A tool was called; its result is known already or comes later, by the call's id."""
        kind = kind or kind_of(name)
        turn = self.turn
        self.items.append(
            Event(
                session=self.session,
                turn=turn,
                kind="tool_call",
                at=at,
                call=call,
                name=name,
                tool_kind=kind,
                target=target or target_of(kind, given),
                input=given,
                output=output,
                ok=ok,
                exit_code=exit_code,
                duration_ms=duration_ms,
            )
        )
        if call and output is None and ok is None and len(call) + len(turn) <= 2 * LONGEST_ID:
            waiting = self.state.waiting
            waiting[call] = turn
            if len(waiting) > MOST_WAITING:
                del waiting[next(iter(waiting))]

    def result(
        self,
        call: str,
        output: str | None = None,
        *,
        at: int | None = None,
        ok: bool | None = None,
        exit_code: int | None = None,
        duration_ms: int | None = None,
        last: bool = True,
    ) -> None:
        """What a call gave back.

        It goes to the call's turn. Not the `last`, more of it is to come.
        """
        waiting = self.state.waiting
        turn = (waiting.pop(call, None) if last else waiting.get(call)) or self.turn
        self.items.append(
            ToolResult(
                session=self.session,
                turn=turn,
                call=call,
                at=at,
                output=output,
                ok=ok,
                exit_code=exit_code,
                duration_ms=duration_ms,
            )
        )

    def usage(
        self,
        key: str,
        *,
        model: str | None = None,
        at: int | None = None,
        input: int = 0,
        cache_read: int = 0,
        cache_write: int = 0,
        output: int = 0,
        reasoning: int = 0,
        cost_usd: float | None = None,
        turn: str | None = None,
    ) -> None:
        """The tokens of a model call, and what the log says it cost.

        Nothing when it says neither.
        """
        if input or cache_read or cache_write or output or reasoning or cost_usd:
            self.items.append(
                Usage(
                    session=self.session,
                    turn=self.own(turn) if turn else self.turn,
                    key=key,
                    model=model,
                    at=at,
                    input=input,
                    cache_read=cache_read,
                    cache_write=cache_write,
                    output=output,
                    reasoning=reasoning,
                    cost_usd=cost_usd,
                )
            )
