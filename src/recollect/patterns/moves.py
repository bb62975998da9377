"""What was done in a task, move by move: which deeds, and what came of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from recollect.patterns.deeds import Deed, deed_of, deed_of_step
from recollect.patterns.error_classes import error_class, is_declined
from recollect.reading import checks
from recollect.reading.calls import Retry, find_retry
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.model.episodes import Step
    from recollect.store.history import Passage


class Move:
    """One deed and what came of it.

    `ok` is how its check ended, where it has one. A search that found nothing
    did not fail, and what a person declined was not done at all.
    """

    __slots__ = (
        "acting",
        "declined",
        "deed",
        "exit_code",
        "failed",
        "given",
        "ok",
        "output",
        "turn",
    )

    def __init__(
        self,
        turn: int,
        deed: Deed,
        ok: bool | None,
        output: str = "",
        exit_code: int | None = None,
        given: object = None,
    ) -> None:
        self.turn = turn
        self.deed = deed
        self.output = output
        self.exit_code = exit_code
        self.given = given
        self.acting = deed.acting
        self.declined = False
        if ok:
            if deed.check and not deed.shows_success:
                ok = checks.ended(deed.target or "", ok, output, exit_code)
        else:
            self.declined = is_declined(output)
            if deed.check:
                ok = (
                    ok
                    if ok is False and deed.shows_failure
                    else checks.ended(deed.target or "", ok, output, exit_code)
                )
            elif not deed.acting and deed.kind == "shell" and exit_code in (1, None):
                ok = None
        self.ok = ok
        self.failed = ok is False and not self.declined

    @property
    def error(self) -> str:
        """What sort of error it met."""
        return error_class(self.output, self.exit_code)

    def tries_again(self, failed: Move) -> Retry | None:
        """How it does what a failed one tried, if it does; see `reading.calls`."""
        tried, deed = failed.deed, self.deed
        if tried is deed and deed.check:
            return Retry("same", hidden=False)
        retry = find_retry(tried.call(None), deed.call(self.ok))
        # A check was read to its last words.
        return retry and Retry(retry.form, retry.hidden and not deed.check)


def moves_of(passages: Iterable[Passage]) -> list[Move]:
    """The moves of some turns, in order; what was asked of this program itself is none."""
    found = []
    for passage in passages:
        for row in passage.rows:
            if row[bodies.KIND] == "tool_call":
                deed = deed_of(
                    row[bodies.TOOL_KIND] or "other",
                    row[bodies.NAME] or "",
                    row[bodies.TARGET] or "",
                )
                if deed.steps and not deed.is_own:
                    output, code, given = (
                        row[bodies.OUTPUT] or "",
                        row[bodies.EXIT_CODE],
                        row[bodies.INPUT],
                    )
                    found.append(Move(passage.ordinal, deed, row[bodies.OK], output, code, given))
    return found


def moves_of_steps(steps: Sequence[Step]) -> list[Move]:
    """The moves of an attempt that was recorded live; the number of a step stands for its turn."""
    found = []
    for number, step in enumerate(steps, 1):
        deed = deed_of_step(step.tool, step.action)
        if deed.steps and not deed.is_own:
            move = Move(number, deed, step.success, step.observation)
            if deed.kind == "other":
                # Whoever records an attempt records what was done; an agent's
                # log also has its plans and lists.
                move.acting = True
            found.append(move)
    return found
