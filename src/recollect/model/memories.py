"""A project's memory as it is told: its notes in order, and the two texts that are made of them."""

from __future__ import annotations

import re
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
_CJK = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


class ProjectMemory(Struct, kw_only=True):
    """What a next session in a project should know: `pack` is the short form, `long` the other."""

    project: str
    pack: str
    long: str
    notes: list[Note]


def tokens_of(text: str) -> float:
    """About how many tokens a model takes for a text."""
    wide = len(_CJK.findall(text))
    return (len(text) - wide) / 3.6 + wide * 0.8


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
