"""What agents said, sentence by sentence: last replies, causes in between, summaries of compaction.

Of hundreds of kilobytes some twelve fit into a record. A sentence is taken for how much it
looks like knowledge, for what nothing before it says, and for how new it is.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from recollect.distill.condense import sense
from recollect.distill.condense.typed import own_words
from recollect.distill.finders.cleaning import spoken, words
from recollect.distill.finders.cues import cues
from recollect.model.record import SessionRecord, TurnRecord

# R is the last reply of a turn, M one before it, K a summary at compaction.
ReplyKind = Literal["R", "M", "K"]
LEAST, FEWEST = 0.35, 14
# What a prompt says counts as half told, however often: most of its words are anybody's.
HEARD = 0.5
REPLY_CHARACTERS = 24_000
_CHOICE = re.compile(
    r"^\(?(?:Q?\d{1,2}\s*[:.=)、-]|[A-Da-d]\b|\d\b|option|yes|no\b|はい|いいえ|案|选|方案|ok\b)",
    re.IGNORECASE,
)
_OPTION = re.compile(r"[?？]|^(?:Q\d|[A-D][:.)]|Option|案|Recommended|推奨)|^[A-D] — ")
_TELLING_HEADING = re.compile(
    r"cause|reason|why|how to|note|caveat|important|limit|known|gotcha|decision|原因|注意|手順"
    r"|nguyên nhân|lưu ý",
    re.IGNORECASE,
)
_ENDLESS = re.compile(r"\S{140,}")


class ReplySentence(NamedTuple):
    """A sentence of an agent's, and how telling it is."""

    session: SessionRecord
    turn: TurnRecord
    kind: ReplyKind
    text: str
    value: float
    order: int

    @property
    def cost(self) -> int:
        return len(self.text.encode()) + 3


def read(sessions: Sequence[SessionRecord]) -> list[ReplySentence]:
    """Every sentence that may be worth its room, in order."""
    found: list[ReplySentence] = []
    for session in sessions:
        for place, turn in enumerate(session.turns):
            after = session.turns[place + 1] if place + 1 < len(session.turns) else None
            chosen = _answers_a_choice(after)
            for number, reply in enumerate(turn.replies):
                is_last = number == len(turn.replies) - 1
                kind: ReplyKind = "R" if is_last else "M"
                _take(found, session, turn, reply, kind, chosen=chosen and is_last)
            for summary in turn.summaries[-1:]:
                _take(found, session, turn, summary, "K", chosen=False)
            for prompt in turn.prompts:
                if prompt.lstrip().startswith("This session is being continued"):
                    _take(found, session, turn, prompt, "K", chosen=False)
    return found


def _answers_a_choice(turn: TurnRecord | None) -> bool:
    """Whether the next prompt only picks one of what was offered."""
    text = own_words(turn.prompts[0]) if turn and turn.by_person and turn.prompts else ""
    return bool(text) and len(text) < 120 and _CHOICE.match(text) is not None


def _take(
    found: list[ReplySentence],
    session: SessionRecord,
    turn: TurnRecord,
    text: str,
    kind: ReplyKind,
    *,
    chosen: bool,
) -> None:
    for number, sentence in enumerate(spoken(text[:REPLY_CHARACTERS])):
        said = _ENDLESS.sub(lambda one: one[0][:60] + "…", sentence.text)
        if len(said.encode()) < FEWEST:
            continue
        if kind == "M" and not cues(said) & {"cause", "limit"}:
            continue
        value = sense.of_agent(said)
        value += 0.35 * bool(sentence.heading and _TELLING_HEADING.search(sentence.heading))
        value -= {"R": 0.0, "M": 0.45, "K": 0.15}[kind] + 0.3 * turn.aborted
        value += 0.15 * (number == 0 and kind == "R")
        if chosen and _OPTION.search(said):
            value += 1.6
        if value > LEAST:
            found.append(ReplySentence(session, turn, kind, said, value, len(found)))


class Choice:
    """Picks sentences for so much room, those first that say most that is new."""

    def __init__(self, replies: Sequence[ReplySentence], sessions: Sequence[SessionRecord]) -> None:
        self.replies = replies
        places = {session.ref: place for place, session in enumerate(sessions)}
        self._terms = [frozenset(words(reply.text)) for reply in replies]
        seen = Counter(term for terms in self._terms for term in terms)
        self._rarity = {
            term: math.log(1 + len(replies) / times) ** 2 for term, times in sorted(seen.items())
        }
        self._whole = [
            sum(self._rarity[term] for term in sorted(terms)) + 1e-9 for terms in self._terms
        ]
        self._recency = [
            0.7 + 0.3 * (places[reply.session.ref] + 1) / len(sessions) for reply in replies
        ]

    def choose(self, told: Iterable[str], room: int) -> list[ReplySentence]:
        """What fits into so many bytes beside what is told already; in order."""
        if sum(reply.cost for reply in self.replies) <= room:
            return list(self.replies)
        known = {term: HEARD for text in told for term in words(text)}
        heap = [(-self._worth(place, known), place) for place in range(len(self.replies))]
        heapq.heapify(heap)
        chosen: list[int] = []
        turns: set[tuple[str, str]] = set()
        while heap:
            _, place = heapq.heappop(heap)
            worth = self._worth(place, known)
            if heap and worth < -heap[0][0] * 0.999:
                heapq.heappush(heap, (-worth, place))
                continue
            reply = self.replies[place]
            cost = reply.cost + (14 if (reply.turn.ref, reply.kind) not in turns else 0)
            if cost > room:
                continue
            room -= cost
            turns.add((reply.turn.ref, reply.kind))
            chosen.append(place)
            for term in self._terms[place]:
                known[term] = known.get(term, 0.0) + 1.0
        return [self.replies[place] for place in sorted(chosen)]

    def _worth(self, place: int, known: dict[str, float]) -> float:
        new = 0.0
        for term in self._terms[place]:
            told = known.get(term, 0.0)
            share = 1.0 if told < 0.4 else 0.55 if told < 1 else 0.3 if told < 2 else 0.1
            new += self._rarity[term] * share
        reply = self.replies[place]
        # Sums over sets differ in their last digits from run to run.
        novelty = round(new / self._whole[place], 6)
        worth = (reply.value + 0.2) * (0.15 + 0.85 * novelty) * self._recency[place]
        return float(round(worth / reply.cost**0.45, 9))


def joined(chosen: Sequence[ReplySentence]) -> Iterator[tuple[str, str, str]]:
    """The sentences of each reply in a line: session, turn, text."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for reply in chosen:
        lines.setdefault((reply.session.ref, reply.turn.ref, reply.kind), []).append(reply.text)
    for (session, turn, kind), texts in lines.items():
        yield session, turn, f"{kind} " + " / ".join(texts)
