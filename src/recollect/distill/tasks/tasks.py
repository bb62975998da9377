"""The tasks of a session: which turns belong together because one thing was asked.

A prompt that brings up a new topic begins a task. What goes on with the topic, corrects or accepts
it, and whatever the agent starts by itself, belongs to the task before. A prompt that could be
either goes on with the topic when it answers a question of the agent, speaks of the same things, or
leads to work on the same files, on a command that failed, or on what was only looked into; unless
what was asked before is settled: accepted or committed. Turns that were undone stay in the task
they were made in, for what they tell about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.distill.outcomes import talk
from recollect.distill.outcomes.operations import operations_of
from recollect.model.calls import Call, PlainEvent
from recollect.model.titles import request_in
from recollect.reading.calls import find_retry
from recollect.reading.quoting import quoted, typed

if TYPE_CHECKING:
    from recollect.distill.tasks.actions import Action
    from recollect.store.history import Passage

TITLE_CHARACTERS = 80
ASKED_CHARACTERS = 300
# So many words in common make two prompts speak of the same thing.
SHARED_WORDS = 2
# Of what failed in a task, only the last can be what the next prompt is about.
FAILURES_KEPT = 5


_WORD = re.compile(r"[^\W_]{2,}")
_TWO_WORDS = re.compile(r"[^\W_]{2,}.*?[\W_][^\W_]{2,}", re.DOTALL)
_RESUMES = re.compile(
    r"\b(?:continue|resume|pick up|carry on|go on)\b.*\b(?:left off|stopped|(?:we|you) were)\b",
    re.IGNORECASE | re.DOTALL,
)
# What an import leaves in the place of an image.
_IMAGE = re.compile(r"\[image [^\]\n]*\]")


class Span:
    """Turns in a row that are about one task, the prompt that opened it and the one
    that says what it is, and what they touch.
    """

    __slots__ = (
        "_last",
        "_said",
        "_words",
        "asked",
        "failed",
        "files",
        "has_looked",
        "is_settled",
        "is_vague",
        "opening",
        "passages",
    )

    def __init__(self, opening: str) -> None:
        self.opening = self.asked = opening
        self.is_vague = says_little(opening)
        self.passages: list[Passage] = []
        self.files: set[str] = set()
        self._last: list[Passage] = []
        self._said: list[str] = []
        self._words: set[str] = set()
        self.failed: list[Call] = []
        self.has_looked = self.is_settled = False

    @property
    def live(self) -> list[Passage]:
        """The turns that were not undone."""
        return [passage for passage in self.passages if passage.live]

    @property
    def words(self) -> set[str]:
        """What was spoken of so far."""
        while self._said:
            self._words |= talk.topics(self._said.pop())
        return self._words

    def take(self, passage: Passage, said: str, kind: str, actions: Sequence[Action]) -> None:
        """One more turn."""
        self.passages.append(passage)
        if not passage.live:
            return
        self._last = [passage]
        self._said.append(said)
        self.is_settled |= kind == "acceptance"
        self.has_looked |= bool(actions)
        for action in actions:
            call = action.call
            if action.files:
                self.files.update(action.files)
                self.is_settled = False
            if call.failed and call.kind == "shell" and (action.check or action.weight):
                self.failed = [*self.failed[1 - FAILURES_KEPT :], call]
            self.is_settled |= "kept" in operations_of(call)

    def goes_on_in(self, said: str, actions: Sequence[Action]) -> bool:
        """Whether a turn is about the same thing, as far as its words and calls tell."""
        if self.is_settled:
            return False
        # First it was looked into, or seen to fail; now it is done.
        is_begun = bool(self.failed) or (self.has_looked and any(one.files for one in actions))
        return (
            (is_begun and not self.files)
            or asks_back(self._last)
            or any(not self.files.isdisjoint(one.files) for one in actions)
            or len(self.words & talk.topics(said)) >= SHARED_WORDS
            or any(find_retry(failed, one.call) for failed in self.failed for one in actions)
        )


def kinds_of(passages: Sequence[Passage]) -> dict[int, talk.Kind]:
    """What each prompt of a person is to the one before it, by the numbers of their turns."""
    kinds: dict[int, talk.Kind] = {}
    before: str | None = None
    for passage in passages:
        said = prompt_of(passage) if passage.author == "human" else ""
        if said and not _is_ignored(passage, said):
            kinds[passage.ordinal] = talk.kind_of(said, before)
            before = said
    return kinds


def spans(
    passages: Sequence[Passage],
    actions: Mapping[int, Sequence[Action]],
    kinds: Mapping[int, talk.Kind],
) -> list[Span]:
    """The tasks of a session, in order; those in which nothing is left are left out.

    `actions` and `kinds` are of the turns that were not undone, by their numbers.
    """
    found: list[Span] = []
    for passage in passages:
        said, own, kind = (
            prompt_of(passage),
            actions.get(passage.ordinal, ()),
            kinds.get(passage.ordinal, "going_on"),
        )
        if not found or (
            kind == "task" and (talk.hear(said).begins or not found[-1].goes_on_in(said, own))
        ):
            found.append(Span(said))
        if found[-1].is_vague and not says_little(said):
            found[-1].asked, found[-1].is_vague = said, False
        found[-1].take(passage, said, kind, own)
    return [
        span
        for span in found
        if any(not _is_ignored(passage, prompt_of(passage)) for passage in span.live)
    ]


def prompt_of(passage: Passage) -> str:
    """What was asked in a turn, without what we told the agent ourselves.

    Empty when nothing was.
    """
    if passage.said is None:
        prompts = (
            event.text
            for event in passage.events
            if isinstance(event, PlainEvent) and event.kind == "prompt" and event.text
        )
        passage.said = typed(next(prompts, ""))
    return passage.said


def asked_in(span: Span) -> str:
    """What was asked, near verbatim, in one short line."""
    return quoted(span.asked, ASKED_CHARACTERS)


def says_little(said: str) -> bool:
    """Whether a prompt says nothing of what is asked: "start", "!make test",
    "can we continue where we left off?".
    """
    if said.startswith(("/", "!")):
        # A command of the agent's program is asked for by its name; one for
        # the shell is the person's own.
        return said.startswith("!")
    return not _TWO_WORDS.search(said[:200]) or _RESUMES.search(said[:200]) is not None


def title_of(span: Span) -> str:
    """The first line that says what was asked.

    What an agent's program put between tags or in place of an image, and a
    heading such as "User input", come after anything else.
    """
    asked = _IMAGE.sub(" ", span.asked)
    first = next((line for line in asked.splitlines() if any(map(str.isalnum, line))), "")
    said = request_in(asked) or first.strip().lstrip("#*-> \t").replace("**", "")
    return quoted(said.rstrip("\\ "), TITLE_CHARACTERS)


def asks_back(passages: Sequence[Passage]) -> bool:
    """Whether the last of some turns ends with a question of the agent."""
    events = passages[-1].events if passages else []
    last = next(
        (
            event
            for event in reversed(events)
            if isinstance(event, Call) or event.kind in ("reply", "prompt", "abort")
        ),
        None,
    )
    return (
        isinstance(last, PlainEvent)
        and last.kind == "reply"
        and last.text.rstrip(" *_`\n").endswith(("?", "？"))
    )


def _is_ignored(passage: Passage, said: str) -> bool:
    """`/clear` and its like are said to the agent's program: nothing comes of them.

    Nor of a turn without anything in it.
    """
    events = [event for event in passage.events if event.kind != "command"]
    return not events or (said.startswith("/") and len(events) == 1)
