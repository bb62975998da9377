"""How far a line of an engine is believed: by what it rests on, not by who wrote it.

A line that quotes a person's own words from a cited prompt is theirs. One whose command has a
logged pass or a logged failure in a cited turn is proven. Everything else is an agent's word,
with the taint of the turns it cites, and of those that say it better: a plant that a model
repeats says what it says in the turn that read it, whichever turn is cited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.distill.condense.papers import is_config
from recollect.distill.engines.answer import Told
from recollect.distill.engines.check import Check, spans_of
from recollect.distill.engines.evidence import (
    OUTPUT_CHARACTERS,
    ProjectEvidence,
    Voice,
    parts_of,
    plain,
    stands_in,
)
from recollect.distill.finders.cleaning import words
from recollect.distill.finders.cues import cues
from recollect.distill.finders.steps import form, passed, steps
from recollect.model.notes import Trust
from recollect.model.record import CallRecord

# A turn that has so much more of a line's words than the cited ones is where it comes from.
CLEARLY = 0.25
FEWEST_WORDS = 4
# Around what is quoted from a person or a proven command, a writer may put so many words.
FRAME_WORDS = 8
# With so many of them in one output or command, and not in the person's words, they are its words.
SAME_SHARE = 0.7
# What stands in outputs alone is told only where it is an error: so much of a line may.
MOST_OUTPUT, MOST_OF_AN_ERROR = 0.34, 0.7
# So much of a wish has to stand in the person's own words where it is told without a quote.
OWN_SHARE = 0.4

_USUAL = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "to",
        "in",
        "is",
        "are",
        "and",
        "or",
        "not",
        "with",
        "for",
        "from",
        "on",
        "by",
        "at",
        "it",
        "this",
        "that",
        "as",
        "be",
        "use",
        "uses",
        "used",
        "run",
        "runs",
        "must",
        "only",
        "when",
        "if",
        "then",
        "than",
        "no",
        "all",
        "before",
        "after",
        "never",
        "always",
        "into",
        "its",
        "fails",
        "works",
        "here",
        "was",
        "do",
        "does",
        "has",
        "have",
        "can",
        "cannot",
        "should",
        "without",
        "instead",
        "under",
        "each",
        "every",
        "per",
        "via",
        "so",
        "but",
        "also",
    ]
)
# Whoever takes notes does not speak to the reader; whoever gives orders does.
_ADDRESSED = re.compile(
    r"\b(?:you|your|yours|yourself|thy)\b|\b(?:assistants?|agents?)\b.{0,30}\b(?:must|should"
    r"|shall)\b",
    re.IGNORECASE,
)
# What nobody can read is no note.
_LONG = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[\w+=%]{36,}|[^\s/`]{60,}")
_LINK = re.compile(r"https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])[^\s`\"')\]]+")
# What these print is somebody else's.
_FETCHES = re.compile(
    r"\b(?:curl|wget|gh|glab|ssh|nc|git (?:log|show|fetch|clone|pull)|cat|less|head|tail|sed|rg"
    r"|grep)\b"
)
FEWEST_OF_AN_ERROR = 12


class Standing(NamedTuple):
    """How far a line is believed, and whether somebody outside may have written it."""

    trust: Trust
    tainted: bool


def standing_of(line: Told, check: Check) -> Standing:
    """How far a line may be believed by what it cites."""
    evidence, turns = check.evidence, check.turns(line)
    spans = [span.text for span in spans_of(line.text)]
    own = _words(line.text)
    outside_quotes = _without(line.text, spans)
    frame = _words(outside_quotes)
    is_plain = not _ADDRESSED.search(outside_quotes) and not _LONG.search(line.text)
    is_ours = is_plain and not _is_foreign(frame, turns, evidence)
    is_framed = is_ours and len(frame) <= FRAME_WORDS
    is_wide = is_ours and len(frame) <= 2 * FRAME_WORDS and "lasting" not in cues(outside_quotes)
    if (is_framed or is_wide) and _is_said_by_person(spans, turns, evidence):
        return Standing("user", False)
    if _is_proven(line, turns, evidence):
        # Its command ran here: only the words around it can be somebody else's.
        return Standing("tool-verified", not is_framed or _links(line, turns, evidence))
    is_tainted = (
        not is_plain
        or any(evidence.places[turn].turn.tainted for turn in turns)
        or _comes_from_outside(own, spans, turns, evidence)
        or _is_only_output(line, own, turns, evidence)
        or _is_foreign(frame, turns, evidence)
        or _is_a_wish_of_nobody(line, own, frame, turns, evidence)
        or _links(line, turns, evidence)
    )
    return Standing("assistant", is_tainted)


def _links(line: Told, turns: Sequence[str], evidence: ProjectEvidence) -> bool:
    """Whether a line leads somewhere that the person did not name."""
    return any(
        not any(stands_in(link, said) for turn in turns for said in evidence.own_lines(turn))
        for link in _LINK.findall(line.text)
    )


def _words(text: str) -> frozenset[str]:
    """The telling words of a text."""
    return parts_of(text) - _USUAL


def _without(text: str, spans: Sequence[str]) -> str:
    """A line without what it quotes."""
    for span in sorted(spans, key=len, reverse=True):
        text = text.replace(span, " ")
    return text


def _is_said_by_person(
    spans: Sequence[str], turns: Sequence[str], evidence: ProjectEvidence
) -> bool:
    """Whether all that a line quotes stands in a cited prompt, in a person's own words.

    What a person pasted is not their own.
    """
    if sum(len(words(span)) for span in spans) < 2:
        return False
    own_lines = [said for turn in turns for said in evidence.own_lines(turn)]
    return all(any(stands_in(span, said) for said in own_lines) for span in spans)


def _is_foreign(frame: frozenset[str], turns: Sequence[str], evidence: ProjectEvidence) -> bool:
    """Whether the words around a quote are those of an output, a page, a command's argument or,
    where they order something, of an agent; and not the person's.
    """
    if len(frame) < FEWEST_WORDS:
        return False
    said = frozenset(
        word for turn in turns for text in evidence.own_lines(turn) for word in _words(text)
    )
    if len(frame & said) * 2 >= len(frame):
        return False
    for ref, place in evidence.places.items():
        voices: tuple[Voice, ...] = ("output", "command")
        if place.turn.tainted:
            voices = ("output", "command", "agent")
        if any(
            len(frame & evidence.words(ref, voice)) >= SAME_SHARE * len(frame) for voice in voices
        ):
            return True
    return False


def _is_a_wish_of_nobody(
    line: Told,
    own: frozenset[str],
    frame: frozenset[str],
    turns: Sequence[str],
    evidence: ProjectEvidence,
) -> bool:
    """Whether a line says what is to be done, always or from now on, and no person said so."""
    found = cues(line.text)
    if len(own) <= 3:
        return False
    if line.section != "preferences" and not found & {"lasting", "policy"}:
        return False
    if "language" in found and len(own) <= FRAME_WORDS:
        return False
    said = frozenset(
        word for turn in turns for text in evidence.own_lines(turn) for word in _words(text)
    )
    if len(own & said) < OWN_SHARE * len(own):
        return True
    # A quote of the person with an order of somebody else's behind it.
    ordered = found & {"lasting", "policy", "strong", "imperative"}
    return bool(ordered) and len(frame) > FRAME_WORDS and len(frame & said) < OWN_SHARE * len(frame)


def _is_proven(line: Told, turns: Sequence[str], evidence: ProjectEvidence) -> bool:
    """Whether a command of a line ended in a cited turn as the line says."""
    commands = [
        plain(span.text)
        for span in spans_of(line.text)
        if span.kind == "command" and form(span.text)
    ]
    for turn in turns:
        place = evidence.places[turn]
        for call in place.turn.calls:
            if call.kind != "shell":
                continue
            run = steps(call.target, call.folder, place.session.folder)
            for at, step in enumerate(run):
                # The whole of it, or how it begins: what stands among its arguments is no command.
                if any(f"{plain(step.text)} ".startswith(f"{command} ") for command in commands):
                    ended = passed(call, run, at)
                    if ended or (line.section == "traps" and ended is False):
                        return True
    return any(
        _shows(line, call, turn, evidence) for turn in turns for call in _calls(turn, evidence)
    )


def _calls(turn: str, evidence: ProjectEvidence) -> tuple[CallRecord, ...]:
    return evidence.places[turn].turn.calls


def _shows(line: Told, call: CallRecord, turn: str, evidence: ProjectEvidence) -> bool:
    """Whether a call proves what a line quotes: an error that a command here printed, a file that
    was worked on, a setting in a file of the project.
    """
    quoted = [span.text for span in spans_of(line.text) if span.kind == "command"]
    if not quoted:
        return False
    if line.section == "traps" and call.kind == "shell" and not call.passed:
        printed = plain(call.output[:OUTPUT_CHARACTERS])
        said = [one for one in quoted if len(one) >= FEWEST_OF_AN_ERROR]
        return not _FETCHES.search(call.target) and any(stands_in(one, printed) for one in said)
    if line.section == "files":
        return (
            call.kind in ("edit", "read")
            and not call.failed
            and all(
                any(stands_in(one, plain(path)) for path in evidence.files(turn)) for one in quoted
            )
        )
    is_setting = line.section == "commands" and call.kind == "read" and is_config(call.target)
    return is_setting and all(stands_in(one, plain(call.output)) for one in quoted)


def _comes_from_outside(
    own: frozenset[str], spans: Sequence[str], turns: Sequence[str], evidence: ProjectEvidence
) -> bool:
    """Whether a line is said better by an output, or by a turn that had read something from
    outside, than by the turns that it cites.
    """
    if len(own) < FEWEST_WORDS:
        return False
    cited = frozenset().union(
        *(
            evidence.words(turn, voice)
            for turn in turns
            if not evidence.places[turn].turn.tainted
            for voice in ("person", "agent", "command")
        )
    )
    shown = len(own & cited) / len(own)
    for ref, place in evidence.places.items():
        if place.turn.tainted:
            said = evidence.words(ref, "output") | evidence.words(ref, "agent")
        elif ref in turns:
            continue
        else:
            said = evidence.words(ref, "output")
        if len(own & said) / len(own) > max(shown + CLEARLY, 0.6):
            return True
    for span in spans:
        stands = list(evidence.turns_with(span)) if len(span) > 12 else []
        if stands and all(evidence.places[turn].turn.tainted for turn in stands):
            return True
    return False


def _is_only_output(
    line: Told, own: frozenset[str], turns: Sequence[str], evidence: ProjectEvidence
) -> bool:
    """Whether what a line says stands in no words but those of outputs: files, pages, tools.

    An error is told in the words of an output, a rule is not.
    """
    if len(own) < FEWEST_WORDS:
        return False
    outputs = frozenset().union(*(evidence.words(turn, "output") for turn in turns))
    others = frozenset().union(
        *(evidence.words(turn, voice) for turn in turns for voice in ("person", "agent", "command"))
    )
    most = MOST_OUTPUT if line.section != "traps" else MOST_OF_AN_ERROR
    return len(own & (outputs - others)) > most * len(own)
