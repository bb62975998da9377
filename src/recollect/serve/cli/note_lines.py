"""Notes on a terminal: as the lines that agents are told, and as a list to decide about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.memory import Memory
from recollect.model.memories import ProjectMemory
from recollect.model.notes import Note, Trust, told_text
from recollect.serve.cli.lists import Screen, project_names, turn_name
from recollect.serve.cli.style import Column, age, cells, fill, number, pad

# Who said it, in plain words.
SAYERS: dict[Trust, str] = {
    "user": "you",
    "tool-verified": "proven",
    "team": "team",
    "assistant": "agent",
    "external": "external",
}
SHORT = 8
# From this width on each line has who said it; the reference is always there.
WIDE = 90


def short_ref(note: Note) -> str:
    """The id of a note as commands take it."""
    return note.ref.removeprefix("note:")[:SHORT]


def list_notes(screen: Screen, notes: Sequence[Note]) -> Iterator[str]:
    """One line a note, with what it is and how to name it."""
    if not notes:
        return
    style = screen.style
    projects = project_names(note.project for note in notes)
    several = len({note.project for note in notes}) > 1
    columns = [
        Column(role="accent", right=True), Column("note", flexible=True), Column("status", drop=2),
        *([Column("project", drop=3)] if several else []), Column("by", drop=1),
        Column("last", role="dim", right=True, drop=4), Column("id", role="accent"),
    ]  # fmt: skip
    rows = []
    for note in notes:
        text = style.clean(note.text)
        where = style.clean(projects[note.project]) if note.project else "everywhere"
        said = {
            "": screen.number(note.ref), "note": text, "project": where,
            "status": "pinned" if note.pinned else note.status, "by": note.by or note.author,
            "last": style.glyph(age(note.at)), "id": short_ref(note),
        }  # fmt: skip
        rows.append([said[column.name] for column in columns])
    yield from screen.table(columns, rows)


def tell_memory(screen: Screen, memory: Memory, found: ProjectMemory) -> Iterator[str]:
    """The lines that agents are told, word for word, each with whose it is and what it rests on."""
    style = screen.style
    lines = found.pack.splitlines()
    told = sum(line.startswith("- ") for line in lines)
    if not told:
        return
    name = style.clean(project_names([found.project])[found.project])
    head = f" · agents are told these {number(told)} lines at the start of a session"
    yield style.paint("bold", style.cut(name, 40)) + style.cut(
        style.glyph(head), style.width - min(40, cells(name))
    )
    notes = {" ".join(told_text(note).split()): note for note in found.notes}
    sessions = {note.turns[0].rpartition("#")[0] for note in found.notes if note.turns}
    names = memory.names(sorted(sessions))
    for line in lines:
        if not line.startswith("- "):
            yield ""
            yield style.paint("bold", style.clean(line).rstrip(":"))
            continue
        text = style.clean(line[2:])
        note = notes.get(" ".join(line[2:].split()))
        ref, sayer = "", ""
        if note is not None:
            sayer, ref = SAYERS[note.trust], short_ref(note)
        turn = turn_name(note.turns[0], lambda one: names[one].short) if note and note.turns else ""
        right = (f"  {pad(sayer, 8)}{pad(turn, 13)}" if style.width >= WIDE else "  ") + pad(ref, 8)
        first, *rest = fill(text, style.width - 4 - cells(right)) or [""]
        at = style.width - 4 - cells(right)
        line = "    " + pad(style.cut(first, at), at) + style.paint("accent", right.rstrip())
        yield line.rstrip()
        for more in rest:
            yield f"    {style.cut(more, at)}"
    yield from screen.hint("Change one: recollect memory edit ID TEXT, reject ID, pin ID")
