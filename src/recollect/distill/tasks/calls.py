"""The tool calls of a session in order, each with what it was about and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.model.calls import Call
from recollect.model.digests import Run
from recollect.reading import checks
from recollect.reading.calls import read_line, weight_of
from recollect.reading.quoting import as_run
from recollect.reading.shell_edits import changed_files, is_patch, patched_files
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.store.history import Passage

# What is kept of a command: enough for any that a person would type.
COMMAND_CHARACTERS = 400


class Done(Call):
    """A tool call, where it was made, and what it printed.

    `ok` is how its check ended, where it has one; `ordinal` is that of its turn.

    Files are named as seen from the folder that the session began in.
    """

    __slots__ = ("alone", "check", "files", "ref")

    def __init__(self, ref: str, ordinal: int, row: bodies.Row, cwd: str | None) -> None:
        kind, target, ok, output = (
            row[bodies.TOOL_KIND],
            row[bodies.TARGET] or "",
            row[bodies.OK],
            row[bodies.OUTPUT] or "",
        )
        if kind == "shell" and is_patch(target):
            kind, target = "edit", ", ".join(patched_files(target))
        self.check = kind == "shell" and checks.is_check(target)
        super().__init__(
            0, ordinal, row[bodies.NAME] or "", kind, target,
            checks.ended(target, ok, output, row[bodies.EXIT_CODE]) if self.check else ok, row[bodies.EXIT_CODE],
            output=output,
        )  # fmt: skip
        self.alone: list[str] | None = None
        """What `plain_lines.only_command` found, once that was asked."""
        self.ref = ref
        self.files = [_inside(path, cwd) for path in self._changed()]

    def _changed(self) -> list[str]:
        if self.ok is False or not self.target:
            return []
        if self.kind == "edit":
            return self.target.split(", ")
        return changed_files(self.target) if self.kind == "shell" else []

    @property
    def main(self) -> list[tuple[int, list[str]]]:
        """The commands of its line that matter, by their place in it."""
        return read_line(self.target).main if self.kind == "shell" else []

    @property
    def weight(self) -> int:
        """How many things it may have changed."""
        return weight_of(self)

    @property
    def run(self) -> Run:
        """A shell command as a digest has it."""
        return Run(
            ref=self.ref,
            command=as_run(self.target, COMMAND_CHARACTERS),
            ok=self.ok,
            exit_code=self.exit_code,
            check=self.check,
        )


def calls_of(passages: Iterable[Passage], cwd: str | None = None) -> list[Done]:
    """All calls of some turns, in order."""
    return [
        Done(passage.ref, passage.ordinal, row, cwd)
        for passage in passages
        for row in passage.rows
        if row[bodies.KIND] == "tool_call"
    ]


def _inside(path: str, cwd: str | None) -> str:
    return path.removeprefix(cwd.rstrip("/") + "/") if cwd else path


def one_line(command: str, most: int = COMMAND_CHARACTERS) -> str:
    """A command or a text in one line, cut where it gets long."""
    line = " ".join(command[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
