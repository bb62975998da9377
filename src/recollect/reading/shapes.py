"""The shapes by which a command or an error is reminded of an earlier one.

What the job looked up and what the hook is about to see are taken apart by
the same code.
"""

from __future__ import annotations

import os

from recollect.reading.programs import base, launched, main_pieces, program_of, shape_of
from recollect.reading.shell import pieces

ANY_USE = " *"


def shapes_of(kind: str, command: str, output: str = "") -> set[str]:
    """The shapes by which a command, or an output with an error of it, may have a reminder."""
    found = [words for _, words in main_pieces(command)]
    if kind == "command":
        return {shaped for words in found for shaped in (*use_shapes(words), words_shape(words))}
    # Compiling its patterns takes a quarter as long as starting Python,
    # and a command needs none of them.
    from recollect.reading.error_text import error_lines, shape, telling, tells

    return {
        error_shape(words, shaped)
        for line in error_lines(output)
        if tells(line) and telling(shaped := shape(line))
        for words in found
    }


def error_shape(words: list[str], shaped: str) -> str:
    """An error of the same subcommand of a program, that was given arguments or none."""
    has_arguments = "…" in use_shapes(words)[0].split()
    return f"{' '.join(program_of(words))}{' …' if has_arguments else ''}: {shaped}"


def words_shape(words: list[str]) -> str:
    """What only a command of just these words has."""
    return "= " + " ".join(words)


def folder_of(command: str, folder: str) -> str:
    """Where a line that is given in a folder runs its commands, as far as it moves."""
    for piece in pieces(command):
        if piece.words and piece.words[0] in ("cd", "pushd") and len(piece.words) > 1:
            folder = os.path.normpath(os.path.join(folder, piece.words[1]))
    return folder.rstrip("/") or folder


def use_shapes(words: list[str]) -> tuple[str, str]:
    """A command's own shape, and the one of any use of its program.

    `.venv/bin/pytest` is another program than `pytest`.
    """
    start = launched(words)
    start = start if start < len(words) else 0
    program = base(words[start])
    written = " ".join(words[: start + 1])
    return written + shape_of(words[start:], 0, [program]).removeprefix(program), written + ANY_USE
