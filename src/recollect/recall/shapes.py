"""The shapes by which a command or an error is reminded of an earlier one.

What the job looked up and what the hook is about to see are taken apart by
the same code.
"""

from __future__ import annotations

from recollect.reading.programs import base, launched, main_pieces, shape_of

ANY_USE = " *"


def shapes_of(kind: str, text: str) -> set[str]:
    """The shapes by which a command, or an output with an error, may have a reminder."""
    if kind == "command":
        return {shaped for _, words in main_pieces(text) for shaped in use_shapes(words)}
    # Compiling its patterns takes a quarter as long as starting Python,
    # and a command needs none of them.
    from recollect.reading.error_text import error_lines, shape, telling, tells

    return {shaped for line in error_lines(text) if tells(line) and telling(shaped := shape(line))}


def use_shapes(words: list[str]) -> tuple[str, str]:
    """A command's own shape, and the one of any use of its program.

    `.venv/bin/pytest` is another program than `pytest`.
    """
    start = launched(words)
    start = start if start < len(words) else 0
    program = base(words[start])
    written = " ".join(words[: start + 1])
    return written + shape_of(words[start:], 0, [program]).removeprefix(program), written + ANY_USE
