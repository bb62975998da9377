"""In which language people and agents talk here, where it is not the one that agents begin in.

Nobody says it, because it goes without saying; a new session writes its first words, its
plans and its commits in English all the same. A language is known by its letters, so only
those are known that have letters of their own. What is answered counts: people type without
accents, and in letters that are not theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.distill.finders.cleaning import typed
from recollect.model.candidates import Candidate
from recollect.model.record import SessionRecord

# So many turns have to be answered, nearly all of them in one language.
FEWEST_TURNS, NEARLY_ALL = 3, 0.8
# A name or a quoted message is no language.
FEWEST_LETTERS, READ_CHARACTERS = 8, 2_000

# In order: Japanese has Chinese letters too.
_LETTERS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Vietnamese", re.compile(r"[ăđơưạảấầẩậắặẹẻẽếềểễệỉịọỏốồổỗộớờởợụủứừửữự]", re.IGNORECASE)),
    ("Russian", re.compile(r"[\u0430-\u044f]", re.IGNORECASE)),
    ("Greek", re.compile(r"[\u03b1-\u03c9]")),
    ("Arabic", re.compile(r"[\u0620-\u064a]")),
    ("Hebrew", re.compile(r"[\u05d0-\u05ea]")),
    ("Thai", re.compile(r"[\u0e01-\u0e3a]")),
    ("Hindi", re.compile(r"[\u0904-\u0939]")),
)


def find(sessions: Sequence[SessionRecord]) -> Iterator[Candidate]:
    """The language of a project's conversations, if nearly all are in one that is known."""
    turns = [
        turn
        for session in sessions
        if session.interactive
        for turn in session.turns
        if turn.by_person and turn.replies and any(map(typed, turn.prompts))
    ]
    spoken = Counter(_language(turn.replies[-1]) for turn in turns)
    language, times = spoken.most_common(1)[0] if spoken else ("", 0)
    if not language or times < FEWEST_TURNS or times < NEARLY_ALL * len(turns):
        return
    newest = turns[-1]
    yield Candidate(
        kind="instruction",
        section="preferences",
        category="preference",
        text=f"Conversations here are in {language}: answer in {language}.",
        key="language",
        trust="tool-verified",
        strength=1.8,
        at=newest.at,
        turn=newest.ref,
        is_sure=True,
    )


def _language(text: str) -> str:
    text = text[:READ_CHARACTERS]
    return next(
        (name for name, letters in _LETTERS if len(letters.findall(text)) >= FEWEST_LETTERS), ""
    )
