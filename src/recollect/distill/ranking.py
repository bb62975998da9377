"""What a project's memory tells, in which order: one order, two lengths.

The pack is what an agent is told at its start: filled only with what is sure, so it may be
shorter than its budget. The long form goes on from there with what is probable. Candidates
that say the same are one, the newest of them; a line that repeats another's words waits for
lines that say something else. Ties are broken by text, so the same store tells the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.distill.corroborate import STOP_WORDS
from recollect.distill.finders import block
from recollect.distill.finders.cleaning import words
from recollect.distill.finders.cues import cues, without_rules
from recollect.distill.finders.given_up import GivenUp
from recollect.distill.finders.stale import Disk
from recollect.distill.finders.steps import steps
from recollect.model.candidates import Candidate, CandidateKind, Line
from recollect.model.memories import memory_text
from recollect.model.notes import Section
from recollect.model.record import SessionRecord
from recollect.reading.tokens import tokens_of

PACK_TOKENS, LONG_TOKENS = 600.0, 2_500.0
PACK_BLOCK_TOKENS, LONG_BLOCK_TOKENS = 120.0, 190.0
# What a line has to reach to be told unasked; the long form takes less.
SURE, PROBABLE = 0.3, -1.0
# Of two lines that share more than this much of their words, one is told; of those of the pack
# already with less, because there each line has to say something of its own.
SAME, SAME_IN_PACK = 0.6, 0.45
# Lines of so few words are compared word by word: a typing error is a rare word.
SHORT_WORDS = 8
# What was not run in the newer half of so many sessions is taken for given up.
FEWEST_SESSIONS, PAST = 10, 0.8
# Lines about one command.
MOST_OF_A_FORM = 2
# Lines that share so much of their words say nearly the same; said in more sessions it is surer,
# and what somebody else says too.
NEAR, SESSIONS_WEIGHT, MOST_SESSIONS = 0.45, 0.35, 5
SUPPORT = {
    "person": 0.4,
    "remedy": 0.5,
    "failure": 0.4,
    "missing": 0.4,
    "command": 0.2,
    "told": 0.2,
}

# How far a kind of candidate is believed before its own words count.
TRUST: Mapping[CandidateKind, float] = {
    "remedy": 0.6, "missing": 0.6, "failure": 0.4, "command": 0.3, "person": 0.0, "answer": 0.0,
    "instruction": 0.0, "standing": 0.0, "note": 0.0, "commit": -0.6, "conclusion": -1.5,
    "plan": -1.6,
}  # fmt: skip
# What a tool stands behind is believed more.
PROVEN = 0.7
# What an agent said in two sessions is told unasked from here on.
SAID_AGAIN = 0.9
# What was taken back, or said anew.
GONE = -9.0
# What a person wrote or accepted is told before all that was found, what they pinned first.
DECIDED, PINNED = 10.0, 20.0
# From here on a line is told before what the rules choose: people decided about it, or an
# engine chose it for the short form.
CHOSEN = 6.0
# The share of a budget that a section may fill before the rest compete.
SHARES: Mapping[Section, float] = {
    "preferences": 0.36, "commands": 0.16, "traps": 0.26, "decisions": 0.14, "left_off": 0.08,
}  # fmt: skip

# Two wishes that share only these are about different things: "use tabs here" and "we use uv here".
NO_SUBJECTS = STOP_WORDS | {
    "use", "used", "using", "run", "make", "put", "write", "add", "keep", "set", "get", "go",
    "call", "start", "work", "works", "now", "or", "but", "not", "no", "if", "when", "all",
    "any", "every", "only", "always", "never", "again", "still", "can", "should", "must", "will",
    "want", "need", "like", "file", "files", "code", "project", "repo",
}  # fmt: skip

# Lines beyond these are not looked at: a project of any size is ranked in the same time.
MOST_LINES = 500
TITLE_TOKENS = 21

_DIGITS = re.compile(r"\d+")


class MemoryLines(NamedTuple):
    """The lines of a project in order; the first `sure` of them are the pack's."""

    lines: tuple[Line, ...]
    sure: int
    pack_block: tuple[str, ...]
    long_block: tuple[str, ...]

    def pack(self) -> str:
        return memory_text(_told(self.lines[: self.sure]), self.pack_block)

    def long(self) -> str:
        return memory_text(_told(self.lines), self.long_block)


def remember(
    candidates: Iterable[Candidate],
    sessions: Sequence[SessionRecord],
    folder: Path | None = None,
) -> MemoryLines:
    """The memory of a project out of what the finders found in its sessions, the oldest first.

    With its `folder` on this machine, files and scripts that are gone are not listed.
    """
    order, sure = arrange(weigh(candidates, sessions))
    return with_block(order, sure, sessions, folder)


def weigh(
    candidates: Iterable[Candidate],
    sessions: Sequence[SessionRecord],
    notes: Sequence[Line] = (),
) -> list[Line]:
    """Every line that there is, each with what the whole project says for it, best first.

    `notes` are those that are not found but kept: what people wrote or accepted, what engines
    and team mates gave.
    """
    found = list(candidates)
    said = GivenUp([*(line.candidate for line in notes), *found], sessions)
    lines = [*notes, *_merged(said.without(found), sessions)][:MOST_LINES]
    similar = _Similar(lines)
    weighed = _supported(_current(lines, similar), similar)
    return sorted(weighed, key=lambda line: (-line.value, line.candidate.text))


def arrange(lines: Sequence[Line]) -> tuple[list[Line], int]:
    """The lines to tell, in order, and how many of them are the pack's."""
    lines = [line for line in lines if line.value >= PROBABLE]
    choice = _Choice(lines, _Similar(lines))
    room = PACK_TOKENS - PACK_BLOCK_TOKENS - TITLE_TOKENS
    choice.take_first(room)
    choice.fill(
        room,
        {place for place, one in enumerate(lines) if one.is_sure and one.value >= SURE},
        same=SAME_IN_PACK,
    )
    sure = len(choice.chosen)
    room = LONG_TOKENS - LONG_BLOCK_TOKENS - TITLE_TOKENS
    choice.fill(room, {place for place, one in enumerate(lines) if one.value >= PROBABLE})
    return [lines[place] for place in choice.chosen], sure


def with_block(
    order: Sequence[Line],
    sure: int,
    sessions: Sequence[SessionRecord],
    folder: Path | None = None,
) -> MemoryLines:
    """A memory of these lines, with the block of what is run and edited most beside them."""
    disk = Disk(folder) if folder and folder.is_dir() else None
    given_up = GivenUp((line.candidate for line in order), sessions)
    pack_text, long_text = (
        "\n".join(line.candidate.text for line in some) for some in (order[:sure], order)
    )
    return MemoryLines(
        tuple(order),
        sure,
        tuple(block.lines(sessions, PACK_BLOCK_TOKENS, pack_text, disk=disk, given_up=given_up)),
        tuple(
            block.lines(
                sessions, LONG_BLOCK_TOKENS, long_text, lines_each=2, disk=disk, given_up=given_up
            )
        ),
    )


def _merged(candidates: Iterable[Candidate], sessions: Sequence[SessionRecord]) -> list[Line]:
    """Candidates that say the same as one, the newest, with how often and where it was said."""
    places = {session.ref: place for place, session in enumerate(sessions)}
    last_runs = _last_runs(sessions)
    same: defaultdict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.trust == "external":
            continue
        same[group(candidate.kind), candidate.key].append(candidate)
    lines = []
    for some in same.values():
        some.sort(key=lambda one: (one.at, one.text))
        newest = max(some, key=lambda one: (one.strength, one.at, one.text))
        said_in = {one.turn.rpartition("#")[0] for one in some}
        recency = (max(places.get(one, 0) for one in said_in) + 1) / max(1, len(sessions))
        value = max(one.strength for one in some) + TRUST[newest.kind]
        if newest.kind == "conclusion" and any(one.is_sure for one in some):
            value += PROVEN
        value += 0.3 * recency
        is_past = _is_past(newest, last_runs, len(sessions))
        if is_past:
            value -= PAST
        turns = tuple(dict.fromkeys(one.turn for one in reversed(some)))
        is_sure = not is_past and any(one.is_sure for one in some)
        lines.append(Line(newest, value, len(some), len(said_in), turns, is_sure))
    return sorted(lines, key=lambda line: (-line.value, line.candidate.text))


def _last_runs(sessions: Sequence[SessionRecord]) -> dict[str, int]:
    """The last session in which each command form was run."""
    return {
        step.form: place
        for place, session in enumerate(sessions)
        for _, call in session.calls()
        if call.kind == "shell"
        for step in steps(call.target, call.folder, session.folder)
        if step.form
    }


def _is_past(candidate: Candidate, last_runs: Mapping[str, int], sessions: int) -> bool:
    """Whether a line is about a command that nobody has run for long."""
    last = last_runs.get(candidate.form)
    return last is not None and sessions >= FEWEST_SESSIONS and sessions - 1 - last > sessions / 2


def _current(lines: Sequence[Line], similar: _Similar) -> list[Line]:
    """Lines without what a newer one of the same sort says in other words, or contradicts."""
    gone = contradicted([line.candidate for line in lines])
    found = list(lines)
    for place, line in enumerate(lines):
        if place in gone:
            found[place] = line._replace(value=GONE)
        elif line.is_sure and group(line.candidate.kind) in ("person", "told"):
            for other in similar.near(place, SAME):
                older = lines[other]
                if (
                    group(older.candidate.kind) == group(line.candidate.kind)
                    and older.candidate.at < line.candidate.at
                ):
                    found[other] = older._replace(value=GONE)
                    found[place] = found[place]._replace(value=max(found[place].value, older.value))
    return found


def contradicted(candidates: Sequence[Candidate]) -> set[int]:
    """The places of what people said and later took back.

    The two rarest words that a wish is about are the same, and one of the two forbids.
    """
    said = [
        (place, one)
        for place, one in enumerate(candidates)
        if one.kind in ("person", "answer") or (one.kind == "note" and one.trust == "user")
    ]
    subjects = {place: set(words(without_rules(one.text))) - NO_SUBJECTS for place, one in said}
    usual = Counter(word for subject in subjects.values() for word in subject)
    gone = set()
    for place, one in said:
        rarest = set(sorted(subjects[place], key=lambda word: (usual[word], word))[:2])
        gone |= {
            place
            for other, newer in said
            if len(rarest) == 2
            and newer.at > one.at
            and rarest <= subjects[other]
            and ("negation" in cues(newer.text)) != ("negation" in cues(one.text))
        }
    return gone


def _supported(lines: Sequence[Line], similar: _Similar) -> list[Line]:
    """Lines with what others that say nearly the same say for them, from other sessions and
    other kinds.
    """
    found = []
    for place, line in enumerate(lines):
        if line.value < PROBABLE - 0.5:
            found.append(line)
            continue
        near = [lines[other] for other in similar.near(place, NEAR)]
        sessions = {turn.rpartition("#")[0] for one in (line, *near) for turn in one.turns}
        kinds = {group(one.candidate.kind) for one in near} - {group(line.candidate.kind)}
        value = line.value + SESSIONS_WEIGHT * math.log(min(max(1, len(sessions)), MOST_SESSIONS))
        value += sum(SUPPORT.get(kind, 0.0) for kind in kinds)
        is_sure = line.is_sure or (
            line.candidate.kind == "conclusion"
            and line.candidate.section == "traps"
            and len(sessions) > 1
            and value >= SAID_AGAIN
        )
        found.append(line._replace(value=value, sessions=len(sessions), is_sure=is_sure))
    return found


def group(kind: CandidateKind) -> str:
    """The sort of candidate within which a key means one fact."""
    return "told" if kind in ("conclusion", "plan", "commit", "standing") else kind


class _Choice:
    """The lines to tell, best first."""

    def __init__(self, lines: Sequence[Line], similar: _Similar) -> None:
        self.lines, self._similar = lines, similar
        self.chosen: list[int] = []
        self._costs = [tokens_of(line.candidate.text) + 1 for line in lines]
        self._worth: list[float] = [
            1 / (1 + math.exp(1.5 - line.value)) / len(line.candidate.text) ** 0.3 for line in lines
        ]
        self._overlap = [0.0] * len(lines)
        self._forms: Counter[str] = Counter()
        self._spent: defaultdict[Section, float] = defaultdict(float)

    def take_first(self, budget: float) -> None:
        """Take what people decided and what an engine chose, in its order and whatever its section,
        up to a budget.
        """
        for place, line in enumerate(self.lines):
            if line.value < CHOSEN:
                break
            if self._value(place, budget - sum(self._spent.values()), SAME):
                self._take(place)

    def fill(self, budget: float, among: set[int], same: float = SAME) -> None:
        """Take more lines, up to a budget: each section's share, then whatever is left.

        Lines that share more than `same` with one that was taken are left out.
        """
        among = among.difference(self.chosen)
        for section in (*SHARES, None):
            places = sorted(
                place
                for place in among
                if section is None or self.lines[place].candidate.section == section
            )
            while True:
                room = budget - sum(self._spent.values())
                if section is not None:
                    room = min(room, SHARES[section] * budget - self._spent[section])
                best = max(places, key=lambda place: self._value(place, room, same), default=None)
                if best is None or not self._value(best, room, same):
                    break
                self._take(best)
                places.remove(best)
                among.discard(best)

    def _value(self, place: int, room: float, same: float) -> float:
        """What a line would add; 0 where it does not fit or is told already."""
        form = self.lines[place].candidate.form
        if (
            self._overlap[place] > same
            or self._costs[place] > room
            or (form and self._forms[form] >= MOST_OF_A_FORM)
        ):
            return 0.0
        return self._worth[place] * (1 - self._overlap[place])

    def _take(self, place: int) -> None:
        self.chosen.append(place)
        self._similar.add(self._overlap, place)
        candidate = self.lines[place].candidate
        self._forms[candidate.form] += 1
        self._spent[candidate.section] += self._costs[place]


class _Similar:
    """How much two lines share of their words, those rare in the project the most."""

    def __init__(self, lines: Sequence[Line]) -> None:
        # Numbers apart: templates give each of a hundred things one.
        counts = [Counter(words(_DIGITS.sub("0", line.candidate.text))) for line in lines]
        lines_with = Counter(word for count in counts for word in count)
        self._vectors: list[dict[str, float]] = []
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        for place, count in enumerate(counts):
            vector = {
                word: (1 + math.log(times)) * math.log(1 + len(lines) / lines_with[word])
                for word, times in count.items()
            }
            length = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
            # The rarest words first: those that say most of what a line shares with others.
            weights = sorted(vector.items(), key=lambda pair: (-pair[1], pair[0]))
            self._vectors.append({word: weight / length for word, weight in weights})
            for word in vector:
                self._holding[word].append(place)

    def near(self, place: int, least: float) -> list[int]:
        """The other lines that share at least so much."""
        shared = self._shared(place, least)
        return [other for other, amount in shared.items() if amount > least and other != place]

    def _shared(self, place: int, least: float = 0.0) -> dict[int, float]:
        """How much each other line shares with one: of their vectors, or nearly all words of a
        short one. Of lines that share less than `least` some are left out.
        """
        vectors, own = self._vectors, self._vectors[place]
        shared: defaultdict[int, float] = defaultdict(float)
        is_short = len(own) <= SHORT_WORDS
        left = 1.0
        for word, weight in own.items():
            # A line that has none of the words so far can share no more than is left of this one.
            if left < least * least and not is_short:
                for other in shared:
                    shared[other] += weight * vectors[other].get(word, 0.0)
            else:
                for other in self._holding[word]:
                    shared[other] += weight * vectors[other][word]
            left -= weight * weight
        if is_short:
            for other in shared:
                theirs = vectors[other]
                if len(theirs) <= SHORT_WORDS:
                    common = len(own.keys() & theirs.keys())
                    fewest = min(len(own), len(theirs))
                    shared[other] = max(shared[other], 0.9 * common / fewest)
        return shared

    def add(self, overlap: list[float], place: int) -> None:
        """Raise the overlap of every line to what it shares with this one."""
        for other, amount in self._shared(place).items():
            overlap[other] = max(overlap[other], amount)


def _told(lines: Sequence[Line]) -> list[tuple[Section, str]]:
    return [(line.candidate.section, line.candidate.text) for line in lines]
