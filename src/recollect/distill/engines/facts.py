"""Facts in a model's reply, a line each: `MEMORY: <category> | <confidence 0-10> | <fact>`.

For programs that ask a model of their own and want notes of what it says.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from recollect.distill.plain import category_of, plain
from recollect.errors import UsageError
from recollect.model.notes import Category

_MARK = "MEMORY:"
_CONFIDENCE = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
# What we told an agent ourselves, and the marks that an import left in its place.
_OWN_BLOCK = re.compile(
    r"<recalled by=[^>]*>.*?(?:</recalled>|\Z)|\[recalled(?:: [^\]\n]{0,2000})?\]", re.DOTALL
)


class Fact(NamedTuple):
    """One line of a reply that may become a note; the confidence is between 0 and 1."""

    category: Category
    confidence: float
    text: str


def read_facts(text: str) -> tuple[list[Fact], int]:
    """The facts in a reply, and how many of its lines that should be some were no good."""
    found: list[Fact] = []
    dropped = 0
    for line in text.splitlines():
        if line.strip().startswith(_MARK):
            fact = _fact(line.strip().removeprefix(_MARK))
            if fact is None:
                dropped += 1
            else:
                found.append(fact)
    return found, dropped


def _fact(fields: str) -> Fact | None:
    # A fact may contain the separator.
    category, confidence, text = (field.strip() for field in [*fields.split("|", 2), "", ""][:3])
    if not _CONFIDENCE.fullmatch(confidence):
        return None
    try:
        return Fact(
            category_of(category),
            min(float(confidence), 10.0) / 10,
            plain(_OWN_BLOCK.sub("", text)),
        )
    except UsageError:
        return None
