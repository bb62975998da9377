"""What was done after a failed call: looked up in the store, and as answers show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.model.answers import FixStep
from recollect.reading.calls import FollowUp, follow
from recollect.reading.quoting import as_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.model.calls import Call
    from recollect.model.search import Place
    from recollect.store import Store

# An error is worked on in the turn that met it and the next few; a command
# that passes a day of turns later says little about it.
TURNS_AFTER = 6
CALLS_AFTER = 80
STEPS_SHOWN = 12
STEPS_UNPROVEN = 5
STEP_CHARACTERS = 300


def follow_up(
    store: Store,
    turn: int,
    ordinal: int,
    *,
    fails_again: Callable[[Call], bool] = lambda call: True,
) -> FollowUp:
    """What was done after a failed call; see `reading.calls.follow`."""
    calls = store.calls.since(turn, ordinal, turns=TURNS_AFTER, limit=1 + CALLS_AFTER)
    if not calls or (calls[0].turn, calls[0].ordinal) != (turn, ordinal):
        return FollowUp([])
    return follow(calls[0], calls[1:], fails_again=fails_again)


def shown(after: FollowUp) -> list[Call]:
    """The calls worth showing of what was done.

    The last before the proof are the likeliest to be the fix; without one, only
    the first may have to do with it.
    """
    return after.done[-STEPS_SHOWN:] if after.proof else after.done[:STEPS_UNPROVEN]


def step_of(call: Call, place: Place) -> FixStep:
    """A call as an answer shows it."""
    return FixStep(
        ref=place.ref,
        kind="edit" if call.kind == "edit" else "command",
        text=text_of(call),
        ok=call.ok,
        exit_code=call.exit_code,
    )


def text_of(call: Call) -> str:
    """What a call did: the command as it was run, or the files."""
    return as_run(call.target or call.name, STEP_CHARACTERS)
