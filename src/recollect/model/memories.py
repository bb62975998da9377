"""A project's memory as it is told: its notes in order, and the two texts that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from recollect.model.notes import Note, Section

TITLES: Mapping[Section, str] = {
    "preferences": "Preferences",
    "commands": "Commands",
    "traps": "Traps",
    "decisions": "Decisions",
    "files": "Files",
    "left_off": "Left off",
}


class ProjectMemory(Struct, kw_only=True):
    """What a next session in a project should know: `pack` is the short form, `long` the other."""

    project: str
    pack: str
    long: str
    notes: list[Note]


def memory_text(lines: Iterable[tuple[Section, str]], block: Sequence[str] = ()) -> str:
    """Lines under the titles of their sections, with the block among the files."""
    told: dict[Section, list[str]] = {}
    for section, text in lines:
        told.setdefault(section, []).append(text)
    found: list[str] = []
    for section, title in TITLES.items():
        texts = [*told.get(section, ()), *(block if section == "files" else ())]
        if texts:
            found += [f"{title}:", *(f"- {text}" for text in texts)]
    return "\n".join(found)
