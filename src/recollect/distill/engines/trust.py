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

from recollect.distill.engines.answer import Told
from recollect.distill.engines.check import Check, spans_of
from recollect.distill.engines.evidence import Evidence, stands_in
from recollect.distill.finders.cleaning import words
from recollect.distill.finders.steps import form, passed, steps
from recollect.model.notes import Trust

# A turn that has so much more of a line's words than the cited ones is where it comes from.
CLEARLY = 0.25
# What stands in outputs alone is told only where it is an error: so much of a line may.
MOST_OUTPUT = 0.34
FEWEST_WORDS = 4

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
_LINK = re.compile(r"https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])")


class Standing(NamedTuple):
    """How far a line is believed, and whether somebody outside may have written it."""

    trust: Trust
    tainted: bool


def standing_of(line: Told, check: Check) -> Standing:
    """How far a line may be believed by what it cites."""
    evidence, turns = check.evidence, check.turns(line)
    spans = [span.text for span in spans_of(line.text)]
    own = frozenset(words(line.text)) - _USUAL
    if _is_said_by_person(line, spans, own, turns, evidence):
        return Standing("user", False)
    is_tainted = (
        any(evidence.places[turn].turn.tainted for turn in turns)
        or _comes_from_outside(own, spans, turns, evidence)
        or _is_only_output(line, own, turns, evidence)
        or bool(_LINK.search(line.text))
    )
    if _is_proven(line, turns, evidence):
        return Standing("tool-verified", is_tainted)
    return Standing("assistant", is_tainted)


def _is_said_by_person(
    line: Told, spans: Sequence[str], own: frozenset[str], turns: Sequence[str], evidence: Evidence
) -> bool:
    """Whether all that a line quotes stands in a cited prompt, in a person's own words.

    What a person pasted is not their own.
    """
    if not spans:
        return False
    for turn in turns:
        own_lines = evidence.own_lines(turn)
        if all(any(stands_in(span, said) for said in own_lines) for span in spans):
            said_words = frozenset(word for said in own_lines for word in words(said))
            quoted = frozenset(word for span in spans for word in words(span))
            # Around the quote stands no more than a frame of the writer's.
            if len(quoted) >= 2 or len(own & said_words) * 2 >= len(own):
                return line.section in ("preferences", "decisions", "commands", "files", "traps")
    return False


def _is_proven(line: Told, turns: Sequence[str], evidence: Evidence) -> bool:
    """Whether a command of a line ended in a cited turn as the line says."""
    commands = [span.text for span in spans_of(line.text) if form(span.text)]
    for turn in turns:
        place = evidence.places[turn]
        for call in place.turn.calls:
            if call.kind != "shell":
                continue
            run = steps(call.target, call.folder, place.session.folder)
            for at, step in enumerate(run):
                ended = passed(call, run, at)
                is_named = any(stands_in(command, step.text.casefold()) for command in commands)
                if is_named and (ended or (line.section == "traps" and ended is False)):
                    return True
    return False


def _comes_from_outside(
    own: frozenset[str], spans: Sequence[str], turns: Sequence[str], evidence: Evidence
) -> bool:
    """Whether a turn that had read something from outside says a line better than those it cites."""
    tainted = [ref for ref, place in evidence.places.items() if place.turn.tainted]
    if not tainted or len(own) < FEWEST_WORDS:
        return False
    cited = frozenset().union(
        *(
            evidence.words(turn, voice)
            for turn in turns
            if not evidence.places[turn].turn.tainted
            for voice in ("person", "agent", "command", "output")
        )
    )
    shown = len(own & cited) / len(own)
    for span in spans:
        stands = list(evidence.turns_with(span))
        if stands and all(evidence.places[turn].turn.tainted for turn in stands):
            return True
    for turn in tainted:
        said = evidence.words(turn, "output") | evidence.words(turn, "agent")
        if len(own & said) / len(own) > shown + CLEARLY:
            return True
    return False


def _is_only_output(
    line: Told, own: frozenset[str], turns: Sequence[str], evidence: Evidence
) -> bool:
    """Whether what a line says stands in no words but those of outputs: files, pages, tools.

    An error is told in the words of an output, a rule is not.
    """
    if line.section in ("traps", "commands", "files") or len(own) < FEWEST_WORDS:
        return False
    outputs = frozenset().union(*(evidence.words(turn, "output") for turn in turns))
    others = frozenset().union(
        *(evidence.words(turn, voice) for turn in turns for voice in ("person", "agent", "command"))
    )
    return len(own & (outputs - others)) > MOST_OUTPUT * len(own)
