"""How an agent calls us: by the absolute path, since one
started from a desktop has another PATH.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from recollect.system import platforms


def program() -> list[str]:
    """The words that start this recollect again, from any folder and with any PATH."""
    name = "recollect.exe" if platforms.WINDOWS else "recollect"
    beside = os.path.join(os.path.dirname(sys.executable), name)
    for path in (sys.argv[0], beside, shutil.which("recollect")):
        # Links are kept: that of a tool installer outlives the version it leads to.
        if (
            path
            and os.path.basename(path) == name
            and os.access(path, os.X_OK)
            and os.path.isfile(path)
        ):
            return [os.path.abspath(path)]
    # Without -P Python would look for our modules in the folder of
    # whatever project the agent works in.
    return [sys.executable, "-P", "-m", "recollect"]


def line(words: Sequence[str]) -> str:
    """Words as one command line for the system's shell."""
    return subprocess.list2cmdline(words) if platforms.WINDOWS else shlex.join(words)


def words_of(entry: Any) -> list[str]:
    """The command that an agent's entry starts, as words: of a text, of a
    list, of a program with its arguments.
    """
    if not isinstance(entry, dict):
        return []
    call: Any = next(
        (entry[key] for key in ("command", "bash", "powershell") if key in entry), None
    )
    rest: Any = entry.get("args", [])
    if isinstance(call, str):
        call = [call] if "args" in entry else _split(call)
    if not isinstance(call, list) or not isinstance(rest, list):
        return []
    return [str(word) for word in [*call, *rest]]


def is_ours(words: Sequence[str], *verb: str) -> bool:
    """Whether a command starts a recollect, at whatever path, with this verb."""
    for at, word in enumerate(words):
        if (
            re.fullmatch(r"recollect(\.exe)?", re.split(r"[/\\]", word)[-1])
            and tuple(words[at + 1 : at + 1 + len(verb)]) == verb
        ):
            return True
    return False


def _split(text: str) -> list[str]:
    try:
        return [word.strip("\"'") for word in shlex.split(text, posix=not platforms.WINDOWS)]
    except ValueError:
        return []  # A quote without its end: not written by us.
