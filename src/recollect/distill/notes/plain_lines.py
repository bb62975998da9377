"""Command lines that are simple enough for their exit code to say
something, and how a note quotes them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.reading.programs import base, looks_only
from recollect.reading.quoting import quoted_command
from recollect.reading.shell import grammar, pieces, told

if TYPE_CHECKING:
    from recollect.distill.tasks.calls import Done

MOST_CHARACTERS = 100

_OWN = "recollect"
# What PowerShell calls its own commands.
_CMDLET = re.compile(r"[A-Z][a-z]+-[A-Z]\w+")
# How a line only shows or cuts what the command before it says.
_SHOWING = re.compile(
    r"\s*(?:2>&1)?\s*(?:\|\s*(?:tail|head)(?:\s+-\S+|\s+\d+)*|&&\s*echo\s[^&|;]*)?\s*$"
)
# What differs from run to run, or names one place only: nothing of such a command holds tomorrow.
_PASSING = re.compile(
    r"""/tmp/|/var/folders|\$\(|\$\{?\w|[*?]|\b[0-9a-f]{7,40}\b|\blocalhost:|<<|\b\d{4}-\d\d-\d\d\b|\bkill\b|…
      |(?<![\w.])/(?!dev/)\w|~/|\b[A-Za-z]:\\|\bcd\s+\.\.|^(?:Set-Location|sleep)\b|\\\s""",
    re.VERBOSE,
)


def only_command(call: Done) -> list[str] | None:
    """The words of a line that runs one command that matters."""
    if call.alone is None:
        call.alone = _only_command(call) or []
    return call.alone or None


def _only_command(call: Done) -> list[str] | None:
    if call.kind != "shell" or not call.target or len(call.main) != 1:
        return None
    words = call.main[0][1]
    return (
        None
        if words[0].startswith("-") or base(words[0]) == _OWN or _CMDLET.fullmatch(words[0])
        else words
    )


def passed(call: Done) -> bool:
    """Whether the one command of a line worked."""
    if call.ok is not True or not call.target or len(call.main) != 1 or grammar(call.target):
        return False
    # How a check ended has been read from what it printed, where a pipe hides its exit code.
    return call.check or told(True, pieces(call.target), call.main[0][0]) is True


def quotable(call: Done) -> str | None:
    """A line as a note may quote it: whole, short, and with nothing in it that only held then.

    Variables, folders and what is sourced before a command belong to it.
    """
    if looks_only(pieces(call.target or "")[call.main[0][0]]):
        return None
    line = call.target or ""
    if "|" in line or "&" in line:
        line = _SHOWING.sub("", line)
    line = " ".join(line.split())
    if len(line) > MOST_CHARACTERS or _PASSING.search(line) or len(pieces(line)) != 1:
        return None
    if quoted_command(line, MOST_CHARACTERS) != line:
        return None
    return (
        line.removeprefix("(").removesuffix(")")
        if line.startswith("(") and line.count("(") == 1
        else line
    )
