"""A project's sessions as those read them who look for what is worth remembering.

Nothing here knows the store: turns in order, with what was typed, what was answered, and
what was done with what came of it. Times are ISO 8601 text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from recollect.model.logs import ToolKind


class CallRecord(NamedTuple):
    """One tool call with what came of it. `target` is the command, path or question.

    `folder` is where it ran, None where the log does not say. `ok` is how it ended, as
    `reading.endings` decided: None while nothing is known, which is neither a pass nor a
    failure. The exit code alone does not tell: that of `rg` may be an answer.
    """

    kind: ToolKind
    name: str
    target: str
    folder: str | None = None
    ok: bool | None = None
    exit_code: int | None = None
    output: str = ""
    given: Any = None

    @property
    def passed(self) -> bool:
        return self.ok is True

    @property
    def failed(self) -> bool:
        return self.ok is False


class TurnRecord(NamedTuple):
    """One prompt, or several that were typed on top of each other, and all until the next.

    `replies` are what the agent said, the last one last; `summaries` what it wrote when
    its context was compacted. `aborted` says that the person stopped it, `tainted` that
    something from outside had been read before it was answered.
    """

    ref: str
    at: str
    by_person: bool
    prompts: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    summaries: tuple[str, ...] = ()
    aborted: bool = False
    tainted: bool = False


class SessionRecord(NamedTuple):
    """One conversation, without what was undone. `interactive` says that a person was there."""

    ref: str
    at: str
    folder: str
    turns: tuple[TurnRecord, ...]
    interactive: bool = True
    branch: str | None = None

    def calls(self) -> Iterator[tuple[TurnRecord, CallRecord]]:
        """Every call in order, with its turn."""
        for turn in self.turns:
            for call in turn.calls:
                yield turn, call
