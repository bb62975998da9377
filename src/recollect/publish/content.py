"""What is said in the block: lessons as lines of Markdown, the same for the same lessons.

Order and words depend on nothing but what was accepted and when, so that a
second run changes nothing and a new lesson is one new line. When there is not
room for all, those that least speaks for are left out.

The lines go into files that agents read as guidance, some of which read
other files that a line names after an @. So each is one visible line that can
neither end our block nor call up a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from recollect.model.publications import is_harmful
from recollect.publish.block import BEGIN_AFTER_NO_LINE_END, END
from recollect.reading.quoting import visible
from recollect.store.published import Lesson

# With its markers. Agents read this at every start, and some read
# only the first 32 KB of such a file.
MOST_BYTES = 4_096
MOST_CHARACTERS = 600

HEADING = "## What earlier sessions taught"
LEAD = "Lessons of earlier sessions, each of them accepted by a person; `recollect publish` keeps them up to date."
_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Rules and decisions", ("constraint", "preference", "decision", "project", "pattern")),
    ("When something fails", ("error_recovery", "failure")),
    ("What works here", ("decision_point", "tool_sequence", "context")),
    ("What wastes time", ("friction",)),
)
_NOTES = _SECTIONS[0][1]
_IMPORT = re.compile(r"(?<![\w`@])@(?=[\w~./\\])[^\s`),;]*")
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def without_notes(lessons: Iterable[Lesson]) -> list[Lesson]:
    """What to know when the time comes; notes are to be known always."""
    return [one for one in lessons if one.kind not in _NOTES]


class Content(NamedTuple):
    """What goes between the markers, the references in it, and those that there was no room for."""

    text: str
    refs: list[str]
    left_out: list[str]


def compose(
    lessons: Iterable[Lesson],
    standing: dict[str, tuple[int, int]],
    redact: Callable[[str], str],
    *,
    line_end: str = "\n",
) -> Content:
    """The block for these lessons, of which `standing` says how often each helped and harmed.

    Empty when there are none.
    """
    told = [one for one in lessons if not is_harmful(*standing.get(one.ref, (0, 0)))]
    lines = {one.ref: line for one in sorted(told, key=_rank) if (line := _line(one, redact))}
    by_ref = {one.ref: one for one in told}
    kept: list[Lesson] = []
    for ref in lines:
        if _size(_text([*kept, by_ref[ref]], lines), line_end) > MOST_BYTES:
            break
        kept.append(by_ref[ref])
    refs = [one.ref for one in sorted(kept, key=_place)]
    return Content(_text(kept, lines), refs, [ref for ref in lines if ref not in refs])


def _rank(one: Lesson) -> tuple[object, ...]:
    """What to keep when there is not room for all: a person's words first, then
    what several agents and most sessions saw.
    """
    return (
        one.kind not in _NOTES,
        _NOTES.index(one.kind) if one.kind in _NOTES else 0,
        one.agents < 2,
        -one.sessions,
        one.decided_at,
        one.ref,
    )


def _place(one: Lesson) -> tuple[object, ...]:
    section = next((number for number, (_, kinds) in enumerate(_SECTIONS) if one.kind in kinds), 0)
    # What was accepted later comes later, so that it is one more line and moves none.
    return section, one.decided_at, one.ref


def _text(lessons: Sequence[Lesson], lines: dict[str, str]) -> str:
    if not lessons:
        return ""
    said = [HEADING, "", LEAD]
    for title, kinds in _SECTIONS:
        own = [lines[one.ref] for one in sorted(lessons, key=_place) if one.kind in kinds]
        if own:
            said += ["", f"### {title}", "", *own]
    return "\n".join(said)


def _line(one: Lesson, redact: Callable[[str], str]) -> str:
    """A lesson as one line; nothing when nothing of it may be said."""
    text = visible(redact(visible(one.text)))
    if len(text) > MOST_CHARACTERS:
        text = text[: MOST_CHARACTERS - 1].rstrip() + "…"
    return f"- {_harmless(text)} ({one.ref})" if text else ""


def _harmless(text: str) -> str:
    """A line that ends no comment, so that no marker can be in it, and that has no file read."""
    text = text.replace("<!--", "‹!--").replace("-->", "--›")
    # What stands in a code span is no import; an odd backtick would
    # make one of the rest of the block.
    if text.count("`") % 2:
        text = text.replace("`", "'")
    pieces, end = [], 0
    for span in _SPAN.finditer(text):
        pieces += [_IMPORT.sub(r"`\g<0>`", text[end : span.start()]), span[0]]
        end = span.end()
    return "".join([*pieces, _IMPORT.sub(r"`\g<0>`", text[end:])])


def _size(text: str, line_end: str) -> int:
    """How many bytes a block takes in a file, with both markers."""
    lines = [BEGIN_AFTER_NO_LINE_END, *text.split("\n"), END, ""]
    return len(line_end.join(lines).encode("utf-8", "replace"))
