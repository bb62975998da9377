"""The tool calls of a turn, each with what can be read from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.model.calls import Call
from recollect.model.digests import Run
from recollect.reading import checks
from recollect.reading.calls import read_line, weight_of
from recollect.reading.quoting import as_run
from recollect.reading.shell_edits import changed_files, is_patch, patched_files

if TYPE_CHECKING:
    from recollect.store.history import Passage

# What is kept of a command: enough for any that a person would type.
COMMAND_CHARACTERS = 400
# What is written by a script that stands in the line: `python - <<EOF`, `node -e`.
_WRITES = re.compile(r"\.write_text\(|\bopen\([^)\n]*['\"][wa]\+?['\"]|writeFileSync\(")


class Action:
    """A tool call with the turn it is in, whether it is a check, and the files that it changed,
    as seen from the folder that the session began in.

    The call is as it was read: a patch that was given to a shell is an edit, and a
    check has ended as its own last words say, whatever its line hides.
    """

    __slots__ = ("call", "check", "files", "ref", "turn")

    def __init__(self, passage: Passage, call: Call, cwd: str | None) -> None:
        if call.kind == "shell" and is_patch(call.target):
            call.kind, call.target = "edit", ", ".join(patched_files(call.target))
        self.check = call.kind == "shell" and checks.is_check(call.target)
        if self.check:
            call.ok = checks.ended(call.target, call.ok, call.output, call.exit_code)
        self.call, self.ref, self.turn = call, passage.ref, passage.ordinal
        self.files = [_inside(path, cwd) for path in _changed(call)]

    @property
    def main(self) -> list[tuple[int, list[str]]]:
        """The commands of its line that matter, by their place in it."""
        return read_line(self.call.target).main if self.call.kind == "shell" else []

    @property
    def writes(self) -> bool:
        """Whether a script that stands in its line writes files, and nobody can tell which."""
        call = self.call
        return call.kind == "shell" and not call.failed and bool(_WRITES.search(call.target))

    @property
    def changes(self) -> bool:
        """Whether it changed files."""
        return bool(self.files) or self.writes

    @property
    def weight(self) -> int:
        """How many things it may have changed."""
        return weight_of(self.call)

    @property
    def run(self) -> Run:
        """A shell command as a digest has it."""
        call = self.call
        return Run(
            ref=self.ref, command=as_run(call.target, COMMAND_CHARACTERS), ok=call.ok,
            exit_code=call.exit_code, check=self.check,
        )  # fmt: skip


def actions_of(passage: Passage, cwd: str | None = None) -> list[Action]:
    """What was done in a turn, in order."""
    return [Action(passage, event, cwd) for event in passage.events if isinstance(event, Call)]


def _changed(call: Call) -> list[str]:
    if call.ok is False or not call.target:
        return []
    if call.kind == "edit":
        return call.target.split(", ")
    return changed_files(call.target) if call.kind == "shell" else []


def _inside(path: str, cwd: str | None) -> str:
    return path.removeprefix(cwd.rstrip("/") + "/") if cwd else path


def one_line(command: str, most: int = COMMAND_CHARACTERS) -> str:
    """A command or a text in one line, cut where it gets long."""
    line = " ".join(command[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
