"""What an edit changed, as lines of a patch: agents say it in many ways."""

from __future__ import annotations

_BEGINS = "*** Begin Patch"
# What agents call the text that was there, and the one that takes its place.
_OLD = ("old_string", "oldText", "old_str", "old_text", "oldString")
_NEW = (
    "new_string", "newText", "new_str", "new_text", "newString", "content", "file_text",
    "contents", "code_edit",
)  # fmt: skip
# Of texts longer than this the lines are not compared: all old ones, then all new ones.
_MOST_COMPARED = 2_000


def patch_of(given: object) -> list[str]:
    """The lines of a patch, each with its sign; none where an edit's input does not say."""
    if isinstance(given, str):
        return given.splitlines()
    if not isinstance(given, dict):
        return []
    for name, text in given.items():
        if isinstance(text, str) and (name in ("input", "patch", "diff") or _BEGINS in text):
            return text[max(text.find(_BEGINS), 0) :].splitlines()
    edits = given.get("edits")
    lines: list[str] = []
    for edit in edits if isinstance(edits, list) else [given]:
        if isinstance(edit, dict):
            lines += _compared(_first(edit, _OLD), _first(edit, _NEW))
    return lines


def signed(lines: list[str]) -> list[tuple[str, str]]:
    """Each line of a patch apart from its sign: added, removed, a heading or unchanged."""
    found = []
    for line in lines:
        if line.startswith(("+++", "---", "***", "@@")):
            found.append(("@", line))
        elif line[:1] in ("+", "-"):
            found.append((line[0], line[1:]))
        else:
            found.append((" ", line.removeprefix(" ")))
    return found


def _first(edit: dict[str, object], names: tuple[str, ...]) -> list[str]:
    for name in names:
        if isinstance(text := edit.get(name), str):
            return text.splitlines()
    return []


def _compared(old: list[str], new: list[str]) -> list[str]:
    from difflib import SequenceMatcher

    if not old or not new or len(old) + len(new) > _MOST_COMPARED:
        return [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [f" {line}" for line in old[a:b]]
        else:
            lines += [*(f"-{line}" for line in old[a:b]), *(f"+{line}" for line in new[c:d])]
    return lines
