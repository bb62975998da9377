"""Whether a later tool call does what a failed one tried.

The proof that an error was overcome is that the command that met it passes
later: the same command, or one that is alike (same program, same subcommand).
"""

from __future__ import annotations

from recollect.reading.programs import looks_only, main_pieces, program_of
from recollect.reading.shell import pieces, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Match = Literal["same", "alike"]


class Attempt:
    """A tool call as far as it is compared.

    A shell command is taken apart once, when that is asked for.
    """

    __slots__ = ("_main", "_programs", "_weight", "kind", "name", "ok", "target")

    def __init__(self, kind: str, name: str, target: str | None, ok: bool | None) -> None:
        self.kind, self.name, self.target, self.ok = kind, name, target, ok
        self._main: list[tuple[int, list[str]]] | None = None
        self._programs: list[tuple[str, ...]] | None = None
        self._weight: int | None = None

    @property
    def main(self) -> list[tuple[int, list[str]]]:
        """The commands of its line that matter, by their place in it."""
        if self._main is None:
            self._main = main_pieces(self.target or "") if self.kind == "shell" else []
        return self._main

    @property
    def programs(self) -> list[tuple[str, ...]]:
        """The program and subcommand of each of these commands."""
        if self._programs is None:
            self._programs = [program_of(words) for _, words in self.main]
        return self._programs

    @property
    def chosen(self) -> set[str]:
        """What its commands were told to look at; options change how they tell of it."""
        return {word for _, words in self.main for word in words[1:] if not word.startswith("-")}

    @property
    def weight(self) -> int:
        """How many things it may have changed; reading and searching change nothing."""
        if self.kind != "shell":
            return self.kind == "edit"
        if self._weight is None:
            self._weight = sum(not looks_only(piece) for piece in pieces(self.target or ""))
        return self._weight


def compare(failed: Attempt, later: Attempt) -> tuple[Match, bool] | None:
    """Whether a later call does what a failed one tried, and whether its line hides how that ended.

    In a chain nobody knows which command failed: the same is one that has
    them all, and one that is alike has at least the last of their programs.
    """
    if failed.kind != "shell" or later.kind != "shell":
        matching = (
            failed.kind == later.kind
            and failed.target is not None
            and failed.target == later.target
        )
        return ("same" if failed.name == later.name else "alike", False) if matching else None
    if not failed.main or failed.programs[-1] not in later.programs:
        return None
    line = pieces(later.target or "")
    wanted, there = [words for _, words in failed.main], [words for _, words in later.main]
    if all(words in there for words in wanted):
        return "same", any(
            told(later.ok, line, index) is None for index, words in later.main if words in wanted
        )
    program = failed.programs[-1]
    alike = [
        index for (index, _), one in zip(later.main, later.programs, strict=True) if one == program
    ]
    return ("alike", told(later.ok, line, alike[-1]) is None) if program else None


def find_proof(worked: list[bool], matches: list[tuple[Match, bool] | None]) -> int | None:
    """The run that proves most: the same command before one that is alike, a plain
    end before a hidden one; the first such.
    """
    proofs = [
        (match[0] != "same", match[1], index)
        for index, match in enumerate(matches)
        if match and worked[index]
    ]
    return min(proofs)[2] if proofs else None
