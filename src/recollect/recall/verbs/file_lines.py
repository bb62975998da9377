"""A file as its last change left it, each line with the turn that wrote it.

No file is read: the edits that logs tell are made again, the oldest first. A log rarely holds
the whole of a file, so what is known may be pieces of it: a piece begins where an edit names
text that no earlier edit left. What somebody changed by hand is not in any log; an edit that
fits nowhere any more is where that shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from recollect.model.answers import FileChange, FileLine, FileLines
from recollect.model.sessions import SessionDetail, ToolCall, Turn
from recollect.reading.shell_edits import PATCH_HEADS
from recollect.recall.verbs.changes import NEW_TEXT, OLD_TEXT, PATCH_TEXT, WHOLE_TEXT, is_same_file

_ADDED = "*** Add File: "
# Longer pieces are not compared line by line: all of the new lines are the edit's.
MOST_COMPARED = 4_000


class Edit(NamedTuple):
    """One text in the place of another; without an `old` one, of the whole file."""

    old: str | None
    new: str
    everywhere: bool = False


def replay(edits: Iterable[tuple[str, object, str]]) -> FileLines:
    """The file after these edits, the oldest first: of which turn, the input of the call, and
    the file as the call names it.
    """
    pieces: list[list[FileLine]] = []
    is_whole, unplaced = False, 0
    for ref, given, file in edits:
        for edit in edits_in(given, file):
            if edit.old is None:
                # What somebody else wrote meanwhile is gone with it.
                before = pieces[0] if is_whole else []
                pieces, is_whole = [_merged(before, edit.new.splitlines(), ref)], True
            elif not _placed(pieces, edit, ref):
                unplaced += is_whole
                old = [FileLine(text=line) for line in edit.old.splitlines()]
                pieces.append(_merged(old, edit.new.splitlines(), ref))
    return FileLines(pieces=[one for one in pieces if one], is_whole=is_whole, unplaced=unplaced)


def edits_of(
    changes: Sequence[FileChange], turn_of: Callable[[str], Turn | SessionDetail]
) -> Iterator[tuple[str, object, str]]:
    """What `replay` wants to know of these changes of one file, the newest of which is first."""
    for change in reversed(changes):
        turn = turn_of(change.ref) if change.live else None
        for call in turn.events if isinstance(turn, Turn) else []:
            if isinstance(call, ToolCall) and call.tool_kind == "edit" and call.ok is not False:
                named = (call.target or "").split(", ")
                if any(is_same_file(name, change.file) for name in named):
                    yield change.ref, call.input, change.file


def edits_in(given: object, file: str) -> Iterator[Edit]:
    """What a call with this input does to a file, step by step."""
    if isinstance(given, str):
        yield from _patched(given, file)
        return
    if not isinstance(given, dict):
        return
    edits = given.get("edits")
    steps = [one for one in edits if isinstance(one, dict)] if isinstance(edits, list) else [given]
    found = False
    for step in steps:
        old, new = _first(step, OLD_TEXT), _first(step, NEW_TEXT)
        if old is not None and new is not None:
            found = True
            yield Edit(old or None, new, bool(step.get("replace_all") or step.get("replaceAll")))
    if found:
        return
    for text in _texts(given):
        if patched := list(_patched(text, file)):
            yield from patched
            return
    whole = _first(given, WHOLE_TEXT)
    if whole is not None:
        yield Edit(None, whole)
    for path, value in given.items():
        if isinstance(value, dict) and is_same_file(str(path), file):
            for inner in (value, *(one for one in value.values() if isinstance(one, dict))):
                yield from edits_in(inner, "")


def _texts(given: dict[str, Any]) -> Iterator[str]:
    command = given.get("command") or given.get("cmd")
    commands = command if isinstance(command, list) else [command]
    yield from (one for one in (*map(given.get, PATCH_TEXT), *commands) if isinstance(one, str))


def _first(given: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((given[key] for key in keys if isinstance(given.get(key), str)), None)


def _patched(text: str, file: str) -> Iterator[Edit]:
    """The steps of a patch that concern a file; of one that names none, all of them."""
    lines = text.splitlines()
    is_named = any(line.startswith(PATCH_HEADS) for line in lines)
    if not is_named and not any(line.startswith("@@") for line in lines):
        return
    inside, is_new = not is_named, False
    old: list[str] = []
    new: list[str] = []

    def step() -> Iterator[Edit]:
        if inside and (old or new) and (old != new or is_new):
            yield Edit(None if is_new else "\n".join(old), "\n".join(new))
        old.clear()
        new.clear()

    for line in lines:
        if line.startswith(("*** ", "--- ", "+++ ", "diff --git", "@@")):
            yield from step()
            head = next((head for head in PATCH_HEADS if line.startswith(head)), None)
            if head:
                inside = is_same_file(line.removeprefix(head).strip(), file)
                is_new = head == _ADDED
        elif line[:1] in ("+", "-"):
            (new if line[0] == "+" else old).append(line[1:])
        elif not line.startswith("\\"):
            old.append(line.removeprefix(" "))
            new.append(line.removeprefix(" "))
    yield from step()


def _placed(pieces: list[list[FileLine]], edit: Edit, ref: str) -> bool:
    """Make an edit where its old text stands; says whether it stands anywhere."""
    assert edit.old is not None
    found = False
    for place, piece in enumerate(pieces):
        text = "\n".join(line.text for line in piece)
        begin = text.find(edit.old)
        while begin >= 0:
            found = True
            first = text.count("\n", 0, begin)
            last = first + edit.old.count("\n") + 1
            start = text.rfind("\n", 0, begin) + 1
            end = text.find("\n", begin + len(edit.old))
            rest = text[begin + len(edit.old) : end if end >= 0 else len(text)]
            made = f"{text[start:begin]}{edit.new}{rest}"
            lines = made.split("\n") if made else []
            pieces[place] = piece = [
                *piece[:first], *_merged(piece[first:last], lines, ref), *piece[last:],
            ]  # fmt: skip
            if not edit.everywhere:
                return True
            text = "\n".join(line.text for line in piece)
            begin = text.find(edit.old, start + len(made) - len(rest))
    return found


def _merged(old: list[FileLine], new: list[str], ref: str) -> list[FileLine]:
    """New lines, those that were there before with the turn that wrote them then."""
    if len(old) + len(new) > MOST_COMPARED:
        return [FileLine(text=line, ref=ref) for line in new]
    before = [line.text for line in old]
    made: list[FileLine] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, new, autojunk=False).get_opcodes():
        made += old[a:b] if kind == "equal" else [FileLine(text=one, ref=ref) for one in new[c:d]]
    return made
