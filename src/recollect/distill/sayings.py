"""What a person said about how to work: corrections, and what holds beyond the moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.digests import Saying
from recollect.distill import talk
from recollect.distill.stated import statements
from recollect.distill.tasks import prompt_of
from recollect.reading.quoting import quoted

if TYPE_CHECKING:
    from recollect.store.history import Passage

SAYING_CHARACTERS = 300
# How to work; what the project is like, or what was decided, is for notes.
_WISHES = ("preference", "constraint")


def sayings(passages: Sequence[Passage]) -> list[Saying]:
    """Corrections and stated preferences, near verbatim, in order and each once."""
    found: dict[str, Saying] = {}
    before: str | None = None
    for passage in passages:
        said = prompt_of(passage)
        if passage.author != "human" or not said:
            continue
        for one in _said(passage.ref, said, before):
            found.setdefault(one.text.lower(), one)
        before = said
    return list(found.values())


def _said(ref: str, said: str, before: str | None) -> list[Saying]:
    corrects = before is not None and talk.kind_of(said, before) == "correction"
    wishes = [statement.text for statement in statements(said, corrects=corrects) if statement.category in _WISHES]
    if wishes or not corrects:
        return [Saying(ref=ref, kind="preference", text=quoted(text, SAYING_CHARACTERS)) for text in wishes]
    return [Saying(ref=ref, kind="correction", text=quoted(said, SAYING_CHARACTERS))]
