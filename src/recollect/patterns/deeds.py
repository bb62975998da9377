"""What a tool call is, whatever came of it: worked out once, because
agents do the same again and again.
"""

from __future__ import annotations

from functools import lru_cache

from recollect.model.calls import Call
from recollect.patterns.lesson import DID
from recollect.reading import checks
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

# What comes from elsewhere: whoever wrote it may want to be learned from.
_EXTERNAL = ("web", "mcp")


class Deed:
    """A call by names that two agents share.

    `steps` are the names of what it does; a line of the shell may do several
    things. `step` is the only one, or empty; `plain_step` has no sort of file
    in it, because how a tool fails has nothing to do with that; `form` is the
    only command with what launches it; `telling` are the steps that say
    something that is not true of all work.
    """

    __slots__ = (
        "acting", "check", "external", "files", "first_check", "form", "is_own", "kind",
        "last_program", "main", "name",
        "occasions", "plain_step", "programs", "shows_failure", "shows_success", "step", "steps",
        "target", "telling",
    )  # fmt: skip

    def __init__(self, kind: str, name: str, target: str) -> None:
        self.kind, self.name, self.target = kind, name, target or None
        is_shell = kind == "shell"
        self.main = main_pieces(target) if is_shell else []
        self.check = is_shell and checks.is_check(target)
        self.acting = self.check or (acts(target) if is_shell else kind in ("edit", "mcp"))
        tool = name if kind in ("mcp", "other") else kind
        self.steps = command_names(target) if is_shell else (step_signature(tool, target),)
        self.telling = frozenset(filter(informs, self.steps))
        self.step = self.steps[0] if len(self.steps) == 1 else ""
        self.plain_step = kind if kind in ("edit", "read") else self.step
        self.form = command_name(self.main[0][1], form=True) if len(self.main) == 1 else ""
        kinds = map(file_kind, target.split(", ")) if kind == "edit" and target else ()
        self.files = tuple(dict.fromkeys(one for one in kinds if one != "file"))
        self.first_check = (
            self.steps[0] if self.check and self.steps and checks.is_check(self.steps[0]) else ""
        )
        self.external = kind in _EXTERNAL
        self.is_own = any(map(is_own, self.steps))
        self.occasions = tuple(
            DID + step for step in dict.fromkeys((*self.steps, self.plain_step, self.form)) if step
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
        return Call(0, 0, self.name, self.kind, self.target or "", ok)


@lru_cache(16_384)
def deed_of(kind: str, name: str, target: str) -> Deed:
    """The deed of a call; the same call has the same one."""
    return Deed(kind, name, target)


@lru_cache(16_384)
def deed_of_step(tool: str, action: str) -> Deed:
    """The deed of a step that was recorded live, whose tool has a name of its own."""
    return deed_of(kind_of(tool), tool, action)
