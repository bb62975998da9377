"""The edits that an aider reply proposes, by the file each is for."""

from __future__ import annotations

import re
from typing import Any

Edits = dict[str, list[dict[str, str]]]

_FENCE = re.compile(r"^(`{3,}|~{3,})")
_SEARCH, _DIVIDER, _REPLACE = (
    re.compile(r"^<{5,9} SEARCH"),
    re.compile(r"^={5,9}\s*$"),
    re.compile(r"^>{5,9} REPLACE"),
)
# What models put around a file's name, against the rules.
_DECORATION = "`*#: \t"


def proposed(reply: str) -> Edits:
    """The blocks of a reply: what to search and what to put there, a
    diff, or a file's whole content.
    """
    edits: Edits = {}
    lines = reply.split("\n")
    named, number = "", 0
    while number < len(lines):
        line = lines[number]
        opening = _FENCE.match(line)
        if opening is None:
            named = line.strip(_DECORATION) or named
            number += 1
            continue
        end = _closing(lines, number + 1, opening[1])
        _block(line[opening.end() :].strip(), lines[number + 1 : end], named, edits)
        number = end + 1
    return edits


def given(path: str, edits: Edits) -> dict[str, Any]:
    """The input of the call that edited a file."""
    found = edits.get(path, [])
    if len(found) == 1:
        return {"path": path, **found[0]}
    return {"path": path, "edits": found} if found else {"path": path}


def _closing(lines: list[str], start: int, fence: str) -> int:
    return next(
        (number for number in range(start, len(lines)) if lines[number].rstrip() == fence),
        len(lines),
    )


def _block(language: str, lines: list[str], named: str, edits: Edits) -> None:
    if any(map(_SEARCH.match, lines)):
        _search_and_replace(lines, named, edits)
    elif language == "diff":
        target = next(
            (line[4:].split("\t")[0].strip() for line in lines if line.startswith("+++ ")), named
        )
        edits.setdefault(target.removeprefix("b/"), []).append({"patch": "\n".join(lines)})
    elif named and " " not in named:
        edits.setdefault(named, []).append({"content": "\n".join(lines)})


def _search_and_replace(lines: list[str], named: str, edits: Edits) -> None:
    old: list[str] = []
    new: list[str] = []
    into: list[str] | None = None
    for line in lines:
        if _SEARCH.match(line):
            old, new = [], []
            into = old
        elif into is old and _DIVIDER.match(line):
            into = new
        elif into is new and _REPLACE.match(line):
            edits.setdefault(named, []).append(
                {"old_string": "\n".join(old), "new_string": "\n".join(new)}
            )
            into = None
        elif into is not None:
            into.append(line)
        else:
            # Older versions want the name inside the fence.
            named = line.strip(_DECORATION) or named
