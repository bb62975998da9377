"""What a person states about how to work here: preferences, facts, decisions, constraints.

A sentence becomes a note only when it can be read by somebody who was not
there. So it must state a rule or a fact in one of a few known forms, and it must
not point at anything outside of itself: "never do that again" says nothing
tomorrow. Questions, reports of what went wrong and pasted text state nothing.

The words stay the person's own; only what leads into them ("ok, and please")
is left out. The forms are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from recollect.distill.notes.forms import (
    CERTAIN,
    FORMS,
    LEAD,
    NOT_POINTING,
    NUMBERED,
    POINTING,
    REPORTING,
    SCREENS,
)
from recollect.distill.tasks.typed import END_OF_SENTENCE, typed
from recollect.model.notes import Category

FEWEST_WORDS, MOST_WORDS, MOST_CHARACTERS = 3, 40, 260
# Whoever wrote more lines or items than this, or headings, wrote or pasted a
# document: a plan, a review, a log. Of what real prompts of that size state, hardly
# anything was about more than the task.
MOST_LINES, MOST_ITEMS = 6, 3
MOST_HEADINGS = 1
# A line that is shorter was ended by whoever wrote it, not by an editor's margin.
WRAPPED_CHARACTERS = 50
# How many of a sentence's characters are letters and spaces, at least,
# once code in backticks is left out.
LETTERS = 0.8


class Statement(NamedTuple):
    """A sentence worth keeping."""

    category: Category
    text: str
    confidence: float


_HEADING = re.compile(r"^(?:#{1,6} |\*\*[^*]+\*\*:?$|[A-Z][\w /&-]{2,40}:$)", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_CODE = re.compile(r"`[^`\n]+`")
_ODD = re.compile(
    r"[{}│┃▌⎿⏺❯✓✔✗✘→⇡]|\[(?:recalled|REDACTED)|==|=>|->|\\n|\"\w+\":|&&|\|\||::|</|~~|https?://|\w+\.\w+:\d+"
)


def statements(prompt: str, *, corrects: bool = False) -> list[Statement]:
    """What a prompt states; one that `corrects` an edit is a little surer of it."""
    found = _statements(prompt)
    return (
        [one._replace(confidence=min(CERTAIN, one.confidence + 0.1)) for one in found]
        if corrects
        else found
    )


# Asked twice: for what was said about how to work, and for notes.
@lru_cache(256)
def _statements(prompt: str) -> list[Statement]:
    return list(_stated(prompt))


def _stated(prompt: str) -> Iterator[Statement]:
    if is_document(prompt):
        return
    for said, asks in _sentences(typed(prompt)):
        sentence = _without_lead(said)
        # The forms first: hardly any sentence has one, and the rest takes longer to tell.
        found = None if asks else _form_of(sentence)
        if (
            found is not None
            and _is_prose(sentence)
            and not REPORTING.search(sentence)
            and stands_alone(sentence)
        ):
            category, sure = found
            yield Statement(category, sentence[0].upper() + sentence[1:], sure)


def is_document(prompt: str) -> bool:
    """Whether a prompt is a text that was written elsewhere: a command's
    template, a plan, a review, a log.
    """
    lines = [line for line in prompt.splitlines() if line.strip()]
    return (
        len(lines) > MOST_LINES
        or sum(_ITEM.match(line) is not None for line in lines) > MOST_ITEMS
        or (len(lines) > MOST_HEADINGS and len(_HEADING.findall(prompt)) > MOST_HEADINGS)
        or prompt.lstrip().startswith(("#", "/", "!", "---", "@", "["))
    )


def stands_alone(sentence: str) -> bool:
    """Whether a sentence can be read without what was said before it."""
    bare = NOT_POINTING.sub(" ", _CODE.sub(" ", sentence.replace("’", "'")))
    return not POINTING.search(bare) and not NUMBERED.search(bare)


def _form_of(sentence: str) -> tuple[Category, float] | None:
    plain = sentence.replace("’", "'")
    return next(
        (FORMS[index][1:] for index in SCREENS.possible(plain) if FORMS[index][0].search(plain)),
        None,
    )


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, and whether each one asks; a list's items are sentences."""
    for paragraph in _paragraphs(text):
        pieces = END_OF_SENTENCE.split(paragraph)
        for said, end in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
            # What ends with a colon is only the beginning of something.
            if said.strip() and not said.rstrip().endswith(":"):
                yield said.strip(), "?" in end


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that belong together, as one."""
    held = ""
    before = ""
    for line in text.splitlines():
        goes_on = (
            bool(held)
            and len(before) >= WRAPPED_CHARACTERS
            and not _ITEM.match(line)
            and line[:1].strip() != ""
        )
        if not goes_on and held:
            yield held
            held = ""
        bare = _ITEM.sub("", line).strip()
        held = f"{held} {bare}".strip() if bare else ""
        before = line
    if held:
        yield held


def _without_lead(said: str) -> str:
    """A sentence without what leads into it, unless that is all of it."""
    lead = LEAD.match(said)
    return (said[lead.end() :] if lead else said).strip(" \t\"'“”*_-,;:")


def _is_prose(sentence: str) -> bool:
    words = sentence.split()
    bare = _CODE.sub("", sentence)
    letters = sum(char.isalpha() or char.isspace() for char in bare)
    return (
        FEWEST_WORDS <= len(words) <= MOST_WORDS
        and len(sentence) <= MOST_CHARACTERS
        and not _ODD.search(sentence)
        and letters >= LETTERS * len(bare)
    )
