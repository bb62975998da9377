"""One key at a time, from whoever sits at a terminal."""

from __future__ import annotations

import sys
from contextlib import suppress

INTERRUPT, END = "\x03", "\x04"


def is_agreed(question: str) -> bool:
    """Ask a person something that can be undone: yes, unless one of the keys for no is pressed."""
    sys.stderr.write(f"{question} [Y/n] ")
    sys.stderr.flush()
    pressed = read_key().lower()
    agreed = pressed in ("y", "\r", "\n")
    sys.stderr.write("y\n" if agreed else "n\n")
    return agreed


def read_key() -> str:
    """The next key; the first character of a line where keys cannot be had one by one.

    Empty when there is nothing more to read.
    """
    with suppress(ImportError):
        import msvcrt

        return str(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]
    try:
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
    except (ImportError, OSError, ValueError):
        return sys.stdin.readline()[:1]
    try:
        tty.setcbreak(descriptor)
        key = sys.stdin.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    if key == INTERRUPT:
        raise KeyboardInterrupt
    return "" if key == END else key
