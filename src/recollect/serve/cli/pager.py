"""A long answer on a terminal goes through a pager, as git's does."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

# Leave at once when it fits, show colours, leave the text on the screen.
LESS = "FRX"


def print_paged(lines: Iterable[str], *, rows: int) -> int:
    """Print lines, through a pager when there are more than the screen has; how many there were.

    Leaving the pager early is nothing that went wrong.
    """
    rest = iter(lines)
    first = [line for _, line in zip(range(rows), rest, strict=False)]
    words = find_pager() if len(first) >= rows else None
    if words is None:
        count = 0
        for line in chain(first, rest):
            sys.stdout.write(line + "\n")
            count += 1
        return count
    return _page(words, chain(first, rest))


def find_pager() -> list[str] | None:
    """The program that people chose, or less; None for none."""
    chosen = next(
        (os.environ[name] for name in ("RECOLLECT_PAGER", "PAGER") if name in os.environ), "less"
    )
    words = shlex.split(chosen)
    return words if words and words[0] != "cat" and shutil.which(words[0]) else None


def _page(words: list[str], lines: Iterator[str]) -> int:
    sys.stdout.flush()
    environ = {"LESS": LESS, "LV": "-c", **os.environ}
    pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=environ)
    assert pager.stdin is not None
    count = 0
    # Ctrl-C is the pager's: it stops a search in it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for line in lines:
            pager.stdin.write((line + "\n").encode("utf-8", "replace"))
            count += 1
    except BrokenPipeError:
        count += 1
    finally:
        with suppress(BrokenPipeError):
            pager.stdin.close()
        pager.wait()
        signal.signal(signal.SIGINT, before)
    return count
