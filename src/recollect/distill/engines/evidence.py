"""What stands in a project's logs, turn by turn and by who said it.

Texts are compared without case, Markdown and the shape of their spaces, with a person's home
written as `~`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from recollect.distill.condense import typed
from recollect.distill.finders.answers import ASKED
from recollect.distill.finders.cleaning import words
from recollect.model.record import CallRecord, SessionRecord, TurnRecord

# Whose words something is: a person's own, those of an agent, what was run, what came of it.
Voice = Literal["person", "agent", "command", "output"]
VOICES: tuple[Voice, ...] = ("person", "agent", "command", "output")

# So much of a turn's outputs is compared word by word.
OUTPUT_CHARACTERS = 100_000

_JOINTS = re.compile(r"[-_./]+")
_MARKS = re.compile(r"\*\*|`")
_HOME = re.compile(r"/(?:home|users)/[^/\s\"']+(?=/)|/root(?=/)|\$home(?=/)")
_QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "„": '"', "\\": "/"})


@lru_cache(512)
def plain(text: str) -> str:
    """A text as it is compared."""
    folded = unicodedata.normalize("NFKC", text.replace('\\"', '"')).translate(_QUOTES)
    folded = folded.replace("//", "/").casefold()
    return _HOME.sub("~", " ".join(_MARKS.sub("", folded).split()))


class SessionTurn(NamedTuple):
    """A turn in its session, with the prompt after it."""

    session: SessionRecord
    turn: TurnRecord
    after: TurnRecord | None


class ProjectEvidence:
    """Everything that was said and done in a project, to look things up in."""

    def __init__(self, sessions: Sequence[SessionRecord]) -> None:
        self.sessions = sessions
        self.places: dict[str, SessionTurn] = {}
        for session in sessions:
            for number, turn in enumerate(session.turns):
                later = (one for one in session.turns[number + 1 :] if one.by_person)
                self.places[turn.ref] = SessionTurn(session, turn, next(later, None))
        self._texts: dict[tuple[str, Voice], str] = {}
        self._words: dict[tuple[str, Voice], frozenset[str]] = {}
        self._outside: frozenset[str] | None = None

    def text(self, turn: str, voice: Voice) -> str:
        """What one voice said in a turn, as it is compared."""
        key = (turn, voice)
        if key not in self._texts:
            place = self.places[turn]
            self._texts[key] = plain("\n".join(_said(place.session, place.turn, voice)))
        return self._texts[key]

    def words(self, turn: str, voice: Voice) -> frozenset[str]:
        """The words that one voice used in a turn."""
        key = (turn, voice)
        if key not in self._words:
            self._words[key] = parts_of(self.text(turn, voice)[:OUTPUT_CHARACTERS])
        return self._words[key]

    def outside(self) -> frozenset[str]:
        """The words of everything that came from outside: pages, other people's servers."""
        if self._outside is None:
            texts = (
                plain(call.output[:OUTPUT_CHARACTERS])
                for place in self.places.values()
                for call in place.turn.calls
                if call.kind in ("web", "mcp")
            )
            self._outside = frozenset(word for text in texts for word in parts_of(text))
        return self._outside

    def files(self, turn: str) -> list[str]:
        """The files that were read or edited in the session of a turn."""
        return [
            call.target
            for _, call in self.places[turn].session.calls()
            if call.kind in ("edit", "read") and not call.failed
        ]

    def voices(self, span: str, turn: str) -> Iterator[Voice]:
        """Who has a span in a turn."""
        return (voice for voice in VOICES if stands_in(span, self.text(turn, voice)))

    def turns_with(self, span: str) -> Iterator[str]:
        """The turns that have a span, the newest first."""
        for session in reversed(self.sessions):
            for turn in reversed(session.turns):
                if any(True for _ in self.voices(span, turn.ref)):
                    yield turn.ref

    def own_lines(self, turn: str) -> list[str]:
        """The sentences that a person typed or answered in a turn, without what they pasted."""
        place = self.places[turn]
        said = [
            one.text
            for prompt in (place.turn.prompts if place.turn.by_person else ())
            for one in typed.said_in(prompt)
            if not one.pasted
        ]
        if not place.turn.tainted:
            # An agent that had read something offers what that says.
            said += [call.output for call in place.turn.calls if call.name in ASKED]
        # A quote may reach over the end of a sentence.
        return [plain(" ".join(said))] if said else []

    def is_about(self, span: str) -> bool:
        """Whether a span names a folder or branch that sessions began in."""
        sought = plain(span)
        return any(
            sought in plain(session.folder) or sought == plain(session.branch or "")
            for session in self.sessions
        )

    def nearest(self, span: str) -> str:
        """The text of the logs that shares most of its beginning with a span."""
        sought = plain(span)
        for length in range(len(sought) - 1, max(4, len(sought) // 3), -2):
            for session in reversed(self.sessions):
                for turn in reversed(session.turns):
                    for voice in VOICES:
                        text = self.text(turn.ref, voice)
                        at = text.find(sought[:length])
                        if at >= 0:
                            return text[max(0, at - 10) : at + len(sought) + 40].strip()
        return ""


def parts_of(text: str) -> frozenset[str]:
    """The words of a text, those that hyphens and dots join apart."""
    return frozenset(part for word in words(text) for part in _JOINTS.split(word) if part)


def stands_in(span: str, text: str) -> bool:
    """Whether a span stands in a text that is as it is compared; its spaces may differ."""
    sought = plain(span)
    if not sought:
        return True
    at = text.find(sought)
    while at >= 0:
        if not _goes_on(text, at, at + len(sought)):
            return True
        at = text.find(sought, at + 1)
    return len(sought) > 8 and " " in sought and sought.replace(" ", "") in _joined(text)


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a place begins or ends inside a word: `--cov` does not stand in `--coverage`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return (_is_letter(before) and _is_letter(text[start])) or (
        _is_letter(after) and _is_letter(text[end - 1])
    )


def _is_letter(char: str) -> bool:
    # Languages without spaces have no words that could go on.
    return char.isalnum() and ord(char) < 0x2E80


@lru_cache(64)
def _joined(text: str) -> str:
    return text.replace(" ", "")


def _said(session: SessionRecord, turn: TurnRecord, voice: Voice) -> Iterator[str]:
    if voice == "person":
        if turn.by_person:
            for prompt in turn.prompts:
                yield typed.own_words(prompt)
        for call in turn.calls:
            if _is_answer(call):
                yield call.output
    elif voice == "agent":
        yield from turn.replies
        yield from turn.summaries
        if not turn.by_person:
            yield from turn.prompts
    elif voice == "command":
        yield session.folder
        yield session.branch or ""
        for call in turn.calls:
            yield call.name
            yield call.target
            yield call.folder or ""
            yield from _strings(call.given)
    else:
        for call in turn.calls:
            yield call.output


def _is_answer(call: CallRecord) -> bool:
    """Whether a call's output is what a person answered."""
    from recollect.distill.condense.runs import said_instead
    from recollect.distill.finders.answers import ASKED, reason_of_refusal

    return call.name in ASKED or said_instead(call) is not None or bool(reason_of_refusal(call))


def _strings(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, dict):
        for value in given.values():
            yield from _strings(value)
    elif isinstance(given, list | tuple):
        for value in given:
            yield from _strings(value)
