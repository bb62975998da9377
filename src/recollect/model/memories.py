"""A project's memory as it is shown: the lines, and the two texts that are made of them."""

from __future__ import annotations

from msgspec import Struct

from recollect.model.notes import Category, Trust


class MemoryLine(Struct, kw_only=True):
    """One fact for the next session, with the turn it rests on."""

    text: str
    section: str
    category: Category
    trust: Trust
    turn: str
    at: str | None
    times: int
    sessions: int
    in_pack: bool


class ProjectMemory(Struct, kw_only=True):
    """What a next session in a project should know: `pack` is the short form, `long` the other."""

    project: str
    pack: str
    long: str
    lines: list[MemoryLine]
