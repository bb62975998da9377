"""What an edit changed, told from the input of its tool call.

Agents say it in three ways: a piece of text and what replaces it, the whole
new content, or a patch. The words for them differ; the ideas do not. What is
in none of these forms has no counts, and the command itself is the excerpt.
"""

from __future__ import annotations

import re
from typing import Any

from recollect.reading.shell_edits import PATCH_HEADS

EXCERPT_CHARACTERS = 120

OLD_TEXT = ("old_string", "old_str", "old_text", "oldText", "old", "search")
NEW_TEXT = ("new_string", "new_str", "new_text", "newText", "new", "replace", "new_source")
WHOLE_TEXT = ("content", "file_text", "contents", "text", "code")
PATCH_TEXT = ("patch", "diff", "input", "unified_diff")
_WORDY = re.compile(r"[^\W\d_]{3,}")
_DULL = re.compile(r"^(?:import |from \S+ import |use |#include|package |//|#|\*|/\*|\"\"\"|<!--)")


class Change:
    """Lines that came and lines that went; None for both when the input does not tell."""

    __slots__ = ("added", "known", "removed")

    def __init__(self, added: list[str], removed: list[str], *, known: bool = True) -> None:
        self.added, self.removed, self.known = added, removed, known

    def excerpt(self) -> str:
        """The line that says most about the change: the first telling one
        that came, else the first that went.
        """
        for mark, lines in (("+ ", self.added), ("- ", self.removed)):
            wordy = [line.strip() for line in lines if _WORDY.search(line)]
            told = next(
                (line for line in wordy if not _DULL.match(line)), wordy[0] if wordy else None
            )
            if told:
                return mark + shortened(told)
        return ""


def shortened(text: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """Text in one line, cut where it gets long."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def change_in(given: Any, file: str) -> Change:
    """What a call with this input changed in a file."""
    if isinstance(given, str):
        return _patched(given, file) or Change([], [], known=False)
    if not isinstance(given, dict):
        return Change([], [], known=False)
    edits = given.get("edits")
    pieces = (
        [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else [given]
    )
    found = [change for change in map(_replaced, pieces) if change]
    if found:
        return Change(
            [line for one in found for line in one.added],
            [line for one in found for line in one.removed],
        )
    return _written(given, file) or Change([], [], known=False)


def _replaced(piece: dict[str, Any]) -> Change | None:
    """A text and what replaces it; lines that both have at their ends are no change."""
    old, new = (
        next((piece[key] for key in keys if isinstance(piece.get(key), str)), None)
        for keys in (OLD_TEXT, NEW_TEXT)
    )
    if old is None or new is None:
        return None
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > 4000:
        return Change(after, before)
    from difflib import SequenceMatcher

    added: list[str] = []
    removed: list[str] = []
    for what, first, end, other, other_end in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if what != "equal":
            removed += before[first:end]
            added += after[other:other_end]
    return Change(added, removed)


def _written(given: dict[str, Any], file: str) -> Change | None:
    for key in PATCH_TEXT:
        if isinstance(given.get(key), str) and (change := _patched(given[key], file)):
            return change
    command = given.get("command") or given.get("cmd")
    for text in command if isinstance(command, list) else [command]:
        if isinstance(text, str) and (change := _patched(text, file)):
            return change
    for key in WHOLE_TEXT:
        if isinstance(given.get(key), str):
            return Change(given[key].splitlines(), [])
    # Changes by path: {"src/a.py": {"update": {"unified_diff": "..."}}}
    for path, value in given.items():
        if is_same_file(str(path), file) and isinstance(value, (dict, str)):
            inner = (
                value
                if isinstance(value, str)
                else next((one for one in value.values() if isinstance(one, dict)), value)
            )
            return _patched(inner, "") if isinstance(inner, str) else _written(inner, "")
    return None


def _patched(text: str, file: str) -> Change | None:
    """The lines of a patch that concern a file; those of the whole text when it names none."""
    added: list[str] = []
    removed: list[str] = []
    named = (
        any(line.startswith(PATCH_HEADS) for line in text.splitlines()) if "*** " in text else False
    )
    inside, seen = not named, False
    for line in text.splitlines():
        if named and line.startswith("*** "):
            head = next((head for head in PATCH_HEADS if line.startswith(head)), None)
            if head:
                path = line.removeprefix(head).strip()
                # A move belongs to the file before it as well as to the one after.
                inside = is_same_file(path, file) or (inside and head == PATCH_HEADS[-1])
                seen = seen or inside
        elif inside and line.startswith("+") and not line.startswith("+++ "):
            added.append(line[1:])
        elif inside and line.startswith("-") and not line.startswith("--- "):
            removed.append(line[1:])
    if named:
        return Change(added, removed) if seen else None
    return Change(added, removed) if "@@" in text and (added or removed) else None


def is_same_file(path: str, file: str) -> bool:
    """Whether a path in an edit may be a file, as far as the shorter of the two goes."""
    path = path.removeprefix("./")
    return path == file or file.endswith("/" + path) or path.endswith("/" + file)
