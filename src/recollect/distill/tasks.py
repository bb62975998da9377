"""The tasks of a session: which turns belong together because one thing was asked.

A prompt that brings up a new topic begins a task. What goes on with the
topic, corrects or accepts it, and whatever the agent starts by itself, belongs
to the task before. A prompt that could be either goes on with the topic when it
answers a question of the agent, speaks of the same things, or leads to work on
the same files, on a command that failed, or on what was only looked into; unless what was asked before is
settled: accepted or committed. Turns that were undone stay in the task they
were made in, for what they tell about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.distill import talk
from recollect.distill.deeds import deeds_of
from recollect.reading.attempts import compare
from recollect.reading.programs import names
from recollect.reading.quoting import quoted, typed
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.distill.calls import Done
    from recollect.store.history import Passage

TITLE_CHARACTERS = 80
ASKED_CHARACTERS = 300
# So many words in common make two prompts speak of the same thing.
SHARED_WORDS = 2
# Of what failed in a task, only the last can be what the next prompt is about.
FAILURES_KEPT = 5
_WORD = re.compile(r"[^\W\d_]{5,}")
# Words that prompts have whatever they are about.
_ANY_TOPIC = names(
    "about above after again already always another because before below between could doing error every everything files "
    "first going instead keeps known little maybe needs never other please right should since something still tests thanks "
    "their there these thing things think those through today until using wants where which while without works would write"
)


class Stretch:
    """Turns in a row that are about one task, the prompt that asked for it, and what they have to do with."""

    __slots__ = ("asked", "failed", "files", "has_looked", "is_settled", "passages", "words")

    def __init__(self, asked: str) -> None:
        self.asked = asked
        self.passages: list[Passage] = []
        self.files: set[str] = set()
        self.words: set[str] = set()
        self.failed: list[Done] = []
        self.has_looked = self.is_settled = False

    @property
    def live(self) -> list[Passage]:
        """The turns that were not undone."""
        return [passage for passage in self.passages if passage.live]

    def take(self, passage: Passage, said: str, kind: str, calls: Sequence[Done]) -> None:
        """One more turn."""
        self.passages.append(passage)
        if not passage.live:
            return
        self.words |= _words(said)
        self.is_settled |= kind == "acceptance"
        self.has_looked |= bool(calls)
        for call in calls:
            if call.files:
                self.files.update(call.files)
                self.is_settled = False
            if call.ok is False and call.kind == "shell" and (call.check or call.weight):
                self.failed = [*self.failed[1 - FAILURES_KEPT :], call]
            self.is_settled |= "kept" in deeds_of(call)

    def goes_on_in(self, said: str, calls: Sequence[Done]) -> bool:
        """Whether a turn is about the same thing, as far as its words and calls tell."""
        if self.is_settled:
            return False
        # First it was looked into, or seen to fail; now it is done.
        is_begun = bool(self.failed) or (self.has_looked and any(call.files for call in calls))
        return (
            (is_begun and not self.files)
            or asks_back(self.live[-1:])
            or len(self.words & _words(said)) >= SHARED_WORDS
            or any(self.files.intersection(call.files) for call in calls)
            or any(compare(failed, call) for failed in self.failed for call in calls)
        )


def stretches(passages: Sequence[Passage], calls: Mapping[int, Sequence[Done]]) -> list[Stretch]:
    """The tasks of a session, in order, from its turns and the calls of each; those in which nothing is left are left out."""
    found: list[Stretch] = []
    before: str | None = None
    for passage in passages:
        said, own = prompt_of(passage), calls.get(passage.ordinal, ())
        kind = "going_on"
        if passage.live and passage.author == "human" and said and not _is_ignored(passage, said):
            kind = talk.kind_of(said, before)
            before = said
        if not found or (kind == "task" and (talk.hear(said).begins or not found[-1].goes_on_in(said, own))):
            found.append(Stretch(said))
        if not found[-1].asked:
            found[-1].asked = said
        found[-1].take(passage, said, kind, own)
    return [stretch for stretch in found if any(not _is_ignored(passage, prompt_of(passage)) for passage in stretch.live)]


def prompt_of(passage: Passage) -> str:
    """What was asked in a turn, without what we told the agent ourselves; empty when nothing was."""
    return next((typed(row[bodies.TEXT]) for row in passage.rows if row[bodies.KIND] == "prompt" and row[bodies.TEXT]), "")


def asked_in(stretch: Stretch) -> str:
    """What was asked, near verbatim, in one short line."""
    return quoted(stretch.asked, ASKED_CHARACTERS)


def title_of(stretch: Stretch) -> str:
    """The first line that was asked; what an agent's program put between tags comes after anything that was typed."""
    lines = [line for line in stretch.asked.splitlines() if any(map(str.isalnum, line))]
    first = next((line for line in lines if not line.lstrip().startswith("<")), lines[0] if lines else "")
    return quoted(first.lstrip("#*-> \t"), TITLE_CHARACTERS)


def asks_back(passages: Sequence[Passage]) -> bool:
    """Whether the last of some turns ends with a question of the agent."""
    rows = passages[-1].rows if passages else []
    last = next((row for row in reversed(rows) if row[bodies.KIND] in ("reply", "tool_call", "prompt", "abort")), None)
    return last is not None and last[bodies.KIND] == "reply" and last[bodies.TEXT].rstrip(" *_`\n").endswith(("?", "？"))


def _is_ignored(passage: Passage, said: str) -> bool:
    """`/clear` and its like are said to the agent's program: nothing comes of them. Nor of a turn without anything in it."""
    return not passage.rows or (said.startswith("/") and len(passage.rows) == 1)


def _words(said: str) -> set[str]:
    return set(_WORD.findall(said[:4_000].lower())) - _ANY_TOPIC
