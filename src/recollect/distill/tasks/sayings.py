"""What a person said about how to work: corrections, and what holds beyond the moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.distill.notes.stated import statements
from recollect.distill.outcomes import talk
from recollect.distill.tasks.tasks import prompt_of
from recollect.model.digests import Saying
from recollect.reading.quoting import quoted

if TYPE_CHECKING:
    from recollect.store.history import Passage

SAYING_CHARACTERS = 300
# How to work; what the project is like, or what was decided, is for notes.
_WISHES = ("preference", "constraint")


def sayings(passages: Sequence[Passage], kinds: Mapping[int, talk.Kind]) -> list[Saying]:
    """Corrections and stated preferences in some turns, near verbatim, in order and each once."""
    found: dict[str, Saying] = {}
    for passage in passages:
        kind = kinds.get(passage.ordinal)
        for one in (
            _said(passage.ref, prompt_of(passage), corrects=kind == "correction") if kind else ()
        ):
            found.setdefault(one.text.lower(), one)
    return list(found.values())


def _said(ref: str, said: str, *, corrects: bool) -> list[Saying]:
    wishes = [
        statement.text
        for statement in statements(said, corrects=corrects)
        if statement.category in _WISHES
    ]
    if wishes or not corrects:
        return [
            Saying(ref=ref, kind="preference", text=quoted(text, SAYING_CHARACTERS))
            for text in wishes
        ]
    heard = talk.hear(said)
    # Of a long prompt, with what was pasted into it, the sentence that corrects.
    text = (
        said
        if len(said) <= SAYING_CHARACTERS
        else heard.corrected or heard.reported or heard.annoyed or said
    )
    return [Saying(ref=ref, kind="correction", text=quoted(text, SAYING_CHARACTERS))]
