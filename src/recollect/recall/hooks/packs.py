"""The pack: what an agent is told of a project when it starts, out of its notes in their order.

One text, whoever asks: the hook at a start, `recollect memory`, `recall` without a prompt and
the MCP server's address of a project. Which notes are sure enough was decided when they were
ranked; here their lines are put under the titles of their sections, within a budget.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from recollect.model.injections import is_harmful
from recollect.model.memories import memory_text
from recollect.model.notes import told_text
from recollect.reading.tokens import tokens_of
from recollect.recall.hooks.frame import framed

if TYPE_CHECKING:
    from recollect.model.notes import Note

# What is said again after a compaction; the errors of the session itself join it.
AFTER_COMPACTION = ("preferences", "commands")


class NewPack(NamedTuple):
    """A pack in its frame with the notes in it, the lines told again after a compaction with
    the notes in those, the long form.
    """

    text: str
    refs: list[str]
    compact: str
    compact_refs: list[str]
    long: str


def make_pack(
    notes: Sequence[Note],
    block: Sequence[str],
    long_block: Sequence[str],
    *,
    mark: str,
    budget_tokens: float,
    feedback: dict[str, tuple[int, int]],
    published: Collection[str] = (),
) -> NewPack:
    """What is told of these notes, the most important first, within a budget with the frame.

    What is `published` stands in a file that the agent reads anyway; what did more harm than
    good by what people and agents say of it is not told.
    """
    told = [
        note
        for note in notes
        if note.in_pack
        and may_be_told(note)
        and note.ref not in published
        and not is_harmful(*feedback.get(note.ref, (0, 0)))
        and mark not in note.text
    ]
    own_block = [line for line in block if mark not in line]
    lines = _under_titles(told, own_block)
    while told and tokens_of(framed(lines, mark)) > budget_tokens:
        told.pop()
        lines = _under_titles(told, own_block)
    if tokens_of(framed(lines, mark)) > budget_tokens:
        lines = []
    again = [note for note in told if note.section in AFTER_COMPACTION]
    return NewPack(
        framed(lines, mark) if lines else "",
        [note.ref for note in told],
        "\n".join(_under_titles(again, ())),
        [note.ref for note in again],
        "\n".join(_under_titles(notes, long_block)),
    )


def may_be_told(note: Note) -> bool:
    """Whether a note may be told unasked, whatever else was decided about it."""
    if note.status != "active" or note.stale is not None or note.trust == "external":
        return False
    return note.trust != "assistant" or not note.tainted or note.decided_at is not None


def _under_titles(notes: Sequence[Note], block: Sequence[str]) -> list[str]:
    text = memory_text([(note.section, told_text(note)) for note in notes], block)
    return text.split("\n") if text else []
