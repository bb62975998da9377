"""What is said in the block: notes as lines of Markdown, the same for the same notes.

Order and words depend on nothing but what was accepted and when, so that a
second run changes nothing and a new note is one new line. When there is not
room for all, those that least speaks for are left out.

The lines go into files that agents read as guidance, some of which read
other files that a line names after an @. So each is one visible line that can
neither end our block nor call up a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from recollect.model.memories import TITLES
from recollect.model.notes import Note
from recollect.publish.block import BEGIN_AFTER_NO_LINE_END, END
from recollect.reading.quoting import visible

# With its markers. Agents read this at every start, and some read
# only the first 32 KB of such a file.
MOST_BYTES = 4_096
MOST_CHARACTERS = 600

HEADING = "## What earlier sessions taught"
LEAD = "Lines that a person accepted; `recollect publish` keeps them up to date."
# A procedure: what it is for, then its commands in order.
_PROCEDURE = re.compile(r"(?P<title>[^`]*?):? (?P<steps>`[^`]+`(?: → `[^`]+`)+)\.?")
_IMPORT = re.compile(r"(?<![\w`@])@(?=[\w~./\\])[^\s`),;]*")
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def find_steps(text: str) -> tuple[str, list[str]] | None:
    """What a procedure is for, and its commands in order; None for any other line."""
    found = _PROCEDURE.fullmatch(text)
    return (found["title"], found["steps"].split(" → ")) if found else None


class Content(NamedTuple):
    """What goes between the markers, the references in it, and those that there was no room for."""

    text: str
    refs: list[str]
    left_out: list[str]


def compose(
    notes: Sequence[Note],
    harmful: Collection[str],
    redact: Callable[[str], str],
    *,
    line_end: str = "\n",
    procedures: bool = False,
) -> Content:
    """The block for these notes, without those that did harm.

    Empty when there are none. A skill has `procedures` alone, step by step.
    """
    lines = {
        one.ref: line
        for one in sorted(notes, key=_rank)
        if one.ref not in harmful and (line := (_steps if procedures else _line)(one, redact))
    }
    by_ref = {one.ref: one for one in notes}
    say = _procedures_text if procedures else _text
    kept: list[Note] = []
    for ref in lines:
        if _size(say([*kept, by_ref[ref]], lines), line_end) > MOST_BYTES:
            break
        kept.append(by_ref[ref])
    refs = [one.ref for one in sorted(kept, key=_place)]
    return Content(say(kept, lines), refs, [ref for ref in lines if ref not in refs])


def _rank(one: Note) -> tuple[object, ...]:
    """What to keep when there is not room for all: preferences first, then what most
    sessions speak for.
    """
    return one.section != "preferences", -one.sessions, one.decided_at or "", one.ref


def _place(one: Note) -> tuple[object, ...]:
    # What was accepted later comes later, so that it is one more line and moves none.
    return list(TITLES).index(one.section), one.decided_at or "", one.ref


def _text(notes: Sequence[Note], lines: dict[str, str]) -> str:
    if not notes:
        return ""
    said = [HEADING, "", LEAD]
    for section, title in TITLES.items():
        own = [lines[one.ref] for one in sorted(notes, key=_place) if one.section == section]
        if own:
            said += ["", f"### {title}", "", *own]
    return "\n".join(said)


def _procedures_text(notes: Sequence[Note], lines: dict[str, str]) -> str:
    ordered = [lines[one.ref] for one in sorted(notes, key=_place)]
    return "\n\n".join([HEADING, LEAD, *ordered]) if ordered else ""


def _steps(one: Note, redact: Callable[[str], str]) -> str:
    """A procedure as a title and numbered commands; nothing for any other note."""
    found = find_steps(visible(redact(visible(one.text))))
    if found is None:
        return ""
    title, commands = found
    numbered = [f"{place}. {_harmless(command)}" for place, command in enumerate(commands, 1)]
    return "\n".join([f"### {_harmless(title)} ({one.ref})", "", *numbered])


def _line(one: Note, redact: Callable[[str], str]) -> str:
    """A note as one line; nothing when nothing of it may be said."""
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
