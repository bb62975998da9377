"""Steps as extractors read them: what each does, by names that agents share, and its end."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.episodes.error_classes import UNKNOWN, error_class, is_declined
from recollect.model.calls import Call
from recollect.reading import checks
from recollect.reading.calls import Retry, find_retry
from recollect.reading.programs import main_pieces, program_of
from recollect.reading.shell import pieces, told
from recollect.reading.signatures import (
    acts,
    command_name,
    command_names,
    file_kind,
    informs,
    is_own,
    kind_of,
    step_signature,
)

if TYPE_CHECKING:
    from recollect.model.episodes import Step

# What comes from elsewhere: whoever wrote it may want to be learned from.
_EXTERNAL = ("web", "mcp")


class StepAction:
    """What a step does, whatever comes of it: worked out once, because agents do the same often.

    `names` are those of all it does; a line of the shell may do several things. `name` is
    the only one, or empty; `plain_name` has no sort of file in it, because how a tool fails
    has nothing to do with that; `form` is the only command with what launches it;
    `informing` are the names that say something that is not true of all work.
    """

    __slots__ = (
        "acting", "check", "external", "files", "first_check", "form", "informing", "is_own",
        "kind", "last_program", "main", "name", "names", "plain_name", "programs",
        "shows_failure", "shows_success", "target", "tool", "tries",
    )  # fmt: skip

    def __init__(self, kind: str, tool: str, target: str) -> None:
        self.kind, self.tool, self.target = kind, tool, target or None
        is_shell = kind == "shell"
        self.main = main_pieces(target) if is_shell else []
        self.check = is_shell and checks.is_check(target)
        self.acting = self.check or (acts(target) if is_shell else kind in ("edit", "mcp"))
        named = tool if kind in ("mcp", "other") else kind
        self.names = command_names(target) if is_shell else (step_signature(named, target),)
        self.informing = frozenset(filter(informs, self.names))
        self.name = self.names[0] if len(self.names) == 1 else ""
        self.plain_name = kind if kind in ("edit", "read") else self.name
        self.form = command_name(self.main[0][1], form=True) if len(self.main) == 1 else ""
        kinds = map(file_kind, target.split(", ")) if kind == "edit" and target else ()
        self.files = tuple(dict.fromkeys(one for one in kinds if one != "file"))
        is_checked = self.check and self.names and checks.is_check(self.names[0])
        self.first_check = self.names[0] if is_checked else ""
        self.external = kind in _EXTERNAL
        self.is_own = any(map(is_own, self.names))
        self.tries = tuple(
            "did " + name
            for name in dict.fromkeys((*self.names, self.plain_name, self.form))
            if name
        )
        self.programs = frozenset(program_of(words) for _, words in self.main)
        self.last_program = program_of(self.main[-1][1]) if self.main else ()
        line = pieces(target) if self.check else ()
        # Whether the end of the line is the end of its check, so that
        # nobody has to read what it printed.
        self.shows_success = len(line) == 1 and told(True, line, 0) is True
        self.shows_failure = len(line) == 1 and told(False, line, 0) is False

    def call(self, ok: bool | None) -> Call:
        """It as far as it is compared with others, having ended so."""
        return Call(0, 0, self.tool, self.kind, self.target or "", ok)


@lru_cache(16_384)
def action_of(tool: str, target: str) -> StepAction:
    """What a step does; the same step has the same one."""
    return StepAction(kind_of(tool), tool, target)


class Taken:
    """A step that was taken, by its number: what it does and what came of it.

    `ok` is how its check ended, where it has one. A search that found nothing did not
    fail, and what a person declined was not done at all.
    """

    __slots__ = ("acting", "action", "declined", "failed", "is_live", "number", "ok", "output")

    def __init__(
        self, number: int, action: StepAction, ok: bool | None, output: str, *, is_live: bool
    ) -> None:
        self.number, self.action, self.output, self.is_live = number, action, output, is_live
        # Whoever records an attempt records what was done; an agent's log also
        # has its plans and lists.
        self.acting = action.acting or (is_live and action.kind == "other")
        self.declined = not ok and is_declined(output)
        if action.check and is_live:
            if not (action.shows_success if ok else ok is False and action.shows_failure):
                ok = checks.ended(action.target or "", ok, output)
        elif not ok and not action.acting and action.kind == "shell":
            ok = None
        self.ok = ok
        self.failed = ok is False and not self.declined

    @property
    def error(self) -> str:
        """What sort of error it met."""
        # Of a derived step its class is all that was kept.
        return error_class(self.output) if self.is_live else self.output or UNKNOWN

    def tries_again(self, failed: Taken) -> Retry | None:
        """How it does what a failed one tried, if it does; see `reading.calls`."""
        tried, action = failed.action, self.action
        if tried is action and action.check:
            return Retry("same", hidden=False)
        retry = find_retry(tried.call(None), action.call(self.ok))
        # A check was read to its last words.
        return retry and Retry(retry.form, retry.hidden and not action.check)


def taken_in(steps: Iterable[Step], *, is_live: bool) -> list[Taken]:
    """The steps of an attempt, numbered from 1; what was asked of this program itself is none."""
    found = []
    for number, step in enumerate(steps, 1):
        action = action_of(step.tool, step.action)
        if action.names and not action.is_own:
            found.append(Taken(number, action, step.success, step.observation, is_live=is_live))
    return found
