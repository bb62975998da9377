"""What went wrong in a session, and what made it go away.

An error was overcome when the command that met it passes later: what was
changed in between is taken for the fix. Failures of looking (a `grep` that
finds nothing) are no errors, nor is what a person declined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.distill.tasks.calls import COMMAND_CHARACTERS, one_line
from recollect.model.digests import Trouble
from recollect.reading.calls import find_proof, find_retry, proves
from recollect.reading.error_text import error_lines, headline, shape
from recollect.reading.programs import program_of
from recollect.reading.quoting import as_run

if TYPE_CHECKING:
    from recollect.distill.tasks.calls import Done

# A command that passes a day of work later says little about an error.
CALLS_AFTER = 80
STEPS_SHOWN = 6
STEP_CHARACTERS = 160
ERROR_CHARACTERS = 300
_PROGRAMS = ("shell", "mcp")


def troubles(calls: Sequence[Done]) -> list[tuple[int, Trouble]]:
    """Each error once, with the number of the turn that met it first."""
    found: dict[tuple[str, tuple[str, ...]], tuple[int, Trouble]] = {}
    for index, call in enumerate(calls):
        error = _error(call)
        if error is None:
            continue
        key = shape(error), program_of(call.main[-1][1]) if call.main else (call.name,)
        if key in found and found[key][1].worked:
            continue
        later = calls[index + 1 : index + 1 + CALLS_AFTER]
        end, steps = _overcome(call, later, key[0])
        ordinal, first = found.get(key, (call.ordinal, None))
        trouble = Trouble(
            ref=first.ref if first else call.ref, error=one_line(error, ERROR_CHARACTERS),
            command=as_run(call.target, COMMAND_CHARACTERS) if call.target else None, steps=steps,
            worked=None if end is None else later[end].ref,
        )  # fmt: skip
        if first is None or trouble.worked:
            found[key] = (ordinal, trouble)
    return list(found.values())


def _error(call: Done) -> str | None:
    """The line that names what went wrong, if something did."""
    if (
        call.ok is not False
        or call.kind not in _PROGRAMS
        or (call.kind == "shell" and not call.check and not call.weight)
    ):
        return None
    return headline(error_lines(call.output))


def _overcome(failed: Done, later: Sequence[Done], error: str) -> tuple[int | None, list[str]]:
    """Which later call proves that an error is gone, and what was changed before it.

    Nothing when none does.
    """
    matches = [find_retry(failed, call) for call in later]
    worked = [
        match is not None
        and proves(call, match)
        and not (match and match[1] and _says(call, error))
        for call, match in zip(later, matches, strict=True)
    ]
    end = find_proof(worked, matches)
    if end is None:
        return None, []
    steps = [
        _step(call)
        for call, match in zip(later[:end], matches, strict=False)
        if not match and call.weight and call.ok
    ]
    if later[end].weight > failed.weight or (not steps and later[end].target != failed.target):
        # The line that passed did more than the one that failed, or the same in
        # another way: that may be the fix.
        steps.append(_step(later[end]))
    return end, list(dict.fromkeys(steps))[-STEPS_SHOWN:]


def _says(call: Done, error: str) -> bool:
    return any(shape(line) == error for line in error_lines(call.output))


def _step(call: Done) -> str:
    edited = f"edit {', '.join(call.files)}" if call.kind == "edit" else None
    return as_run(edited or call.target or call.name, STEP_CHARACTERS)
