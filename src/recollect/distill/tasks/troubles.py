"""What went wrong in a session, and what made it go away.

An error was overcome when the command that met it passes later: what was
changed in between is taken for the fix. Failures of looking (a `grep` that
finds nothing) are no errors, nor is what a person declined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.distill.tasks.actions import COMMAND_CHARACTERS, one_line
from recollect.model.calls import Call
from recollect.model.digests import Trouble
from recollect.reading.calls import follow
from recollect.reading.error_text import error_lines, headline, shape
from recollect.reading.programs import program_of
from recollect.reading.quoting import as_run

if TYPE_CHECKING:
    from recollect.distill.tasks.actions import Action

# A command that passes a day of work later says little about an error.
CALLS_AFTER = 80
STEPS_SHOWN = 6
STEP_CHARACTERS = 160
ERROR_CHARACTERS = 300
_PROGRAMS = ("shell", "mcp")


def troubles(actions: Sequence[Action]) -> list[tuple[int, Trouble]]:
    """Each error once, with the number of the turn that met it first."""
    found: dict[tuple[str, tuple[str, ...]], tuple[int, Trouble]] = {}
    calls = [action.call for action in actions]
    for index, action in enumerate(actions):
        error = _error(action)
        if error is None:
            continue
        name = (action.call.name,)
        key = shape(error), program_of(action.main[-1][1]) if action.main else name
        if key in found and found[key][1].worked:
            continue
        later = slice(index + 1, index + 1 + CALLS_AFTER)
        worked, steps = _overcome(action.call, calls[later], actions[later], key[0])
        turn, first = found.get(key, (action.turn, None))
        trouble = Trouble(
            ref=first.ref if first else action.ref, error=one_line(error, ERROR_CHARACTERS),
            command=as_run(action.call.target, COMMAND_CHARACTERS) if action.call.target else None,
            steps=steps, worked=worked,
        )  # fmt: skip
        if first is None or trouble.worked:
            found[key] = (turn, trouble)
    return list(found.values())


def _error(action: Action) -> str | None:
    """The line that names what went wrong, if something did."""
    call = action.call
    if (
        not call.failed
        or call.kind not in _PROGRAMS
        or (call.kind == "shell" and not action.check and not action.weight)
    ):
        return None
    return headline(error_lines(call.output))


def _overcome(
    failed: Call, later: Sequence[Call], actions: Sequence[Action], error: str
) -> tuple[str | None, list[str]]:
    """The turn of the call that proves that an error is gone, and what was changed before it.

    Nothing when none does.
    """
    after = follow(failed, later, fails_again=lambda call: _says(call, error))
    if after.proof is None:
        return None, []
    known = {id(action.call): action for action in actions}
    steps = [_step(known[id(call)]) for call in after.done if call.ok]
    proof = known[id(after.proof)]
    if after.more or (not steps and proof.call.target != failed.target):
        # The line that passed did more than the one that failed, or the same in
        # another way: that may be the fix.
        steps.append(_step(proof))
    return proof.ref, list(dict.fromkeys(steps))[-STEPS_SHOWN:]


def _says(call: Call, error: str) -> bool:
    return any(shape(line) == error for line in error_lines(call.output))


def _step(action: Action) -> str:
    call = action.call
    edited = f"edit {', '.join(action.files)}" if call.kind == "edit" else None
    return as_run(edited or call.target or call.name, STEP_CHARACTERS)
