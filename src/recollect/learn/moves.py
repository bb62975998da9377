"""What was done in a task, move by move: which deeds, and what came of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from recollect.learn.deeds import Deed, deed_of
from recollect.learn.error_classes import error_class, is_declined
from recollect.learn.signatures import kind_of
from recollect.reading import checks
from recollect.reading.attempts import Attempt, compare
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.episodes import Step
    from recollect.reading.attempts import Match
    from recollect.store.history import Passage


class Move(Attempt):
    """One deed and what came of it.

    `ok` is how its check ended, where it has one. A search that found nothing
    did not fail, and what a person declined was not done at all.
    """

    __slots__ = ("acting", "declined", "deed", "exit_code", "failed", "given", "output", "turn")

    def __init__(
        self, turn: int, deed: Deed, ok: bool | None, output: str = "", exit_code: int | None = None, given: object = None
    ) -> None:
        self.acting = deed.acting
        self.declined = ok is not True and is_declined(output)
        if deed.check:
            if not (ok and deed.shows_success) and not (ok is False and deed.shows_failure):
                ok = checks.ended(deed.target or "", ok, output)
        elif not deed.acting and deed.kind == "shell" and ok is False and exit_code in (1, None):
            ok = None
        super().__init__(deed.kind, deed.name, deed.target, ok)
        self._main = deed.main
        self.turn, self.deed, self.output, self.exit_code, self.given = turn, deed, output, exit_code, given
        self.failed = ok is False and not self.declined

    @property
    def error(self) -> str:
        """What sort of error it met."""
        return error_class(self.output, self.exit_code)

    def tries_again(self, failed: Move) -> tuple[Match, bool] | None:
        """Whether it does what a failed one tried, and whether its line hides how that ended; see `reading.attempts`."""
        if failed.deed.kind == "shell" and failed.deed.last_program not in self.deed.programs:
            return None
        return compare(failed, self)


def moves_of(passages: Iterable[Passage]) -> list[Move]:
    """The moves of some turns, in order; what was asked of this program itself is none."""
    found = []
    for passage in passages:
        for row in passage.rows:
            if row[bodies.KIND] == "tool_call":
                deed = deed_of(row[bodies.TOOL_KIND] or "other", row[bodies.NAME] or "", row[bodies.TARGET] or "")
                if deed.steps and not deed.is_own:
                    output, code, given = row[bodies.OUTPUT] or "", row[bodies.EXIT_CODE], row[bodies.INPUT]
                    found.append(Move(passage.ordinal, deed, row[bodies.OK], output, code, given))
    return found


def moves_of_steps(steps: Sequence[Step]) -> list[Move]:
    """The moves of an attempt that was recorded live; the number of a step stands for its turn."""
    found = []
    for number, step in enumerate(steps, 1):
        deed = deed_of(kind_of(step.tool), step.tool, step.action)
        if deed.steps and not deed.is_own:
            move = Move(number, deed, step.success, step.observation)
            # Whoever records an attempt records what was done; an agent's log also has its plans and lists.
            move.acting = move.acting or deed.kind == "other"
            found.append(move)
    return found
