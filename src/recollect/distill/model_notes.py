"""Notes by a language model, beside those that the rules find.

A model is asked for them when it has told a session's trace memory, so that a
session is read once in each of its states, and only about sessions that are
long enough for notes. Its word is a candidate like any agent's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.distill import gate
from recollect.distill.corroborate import says
from recollect.distill.extract import Candidate, keep
from recollect.distill.model import Kept, NothingWorthKeeping, Verdict, Work, prompt, record
from recollect.distill.replies import Fact, read_facts
from recollect.errors import RecollectError
from recollect.model import NoteAuthor
from recollect.store import bodies

if TYPE_CHECKING:
    from recollect.digests import Digest, Trace
    from recollect.llm import Model
    from recollect.llm.client import Reply
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store, traces
    from recollect.store.history import Passage

log = logging.getLogger(__name__)

Told = Iterator[tuple["traces.Candidate", Verdict]]


class ModelExtractor:
    """Finds notes by asking a model, one call per session.

    What it says is an agent's word, however it is put, unless a person's own
    words in the session say the same.
    """

    author: NoteAuthor = "model"

    def __init__(self, model: Model, redactor: Redactor, settings: Settings) -> None:
        self._model, self._redactor, self._settings = model, redactor, settings
        self.dropped = 0
        """How many lines of replies were no good so far."""
        self.last: Reply | None = None
        """What the last call took, if there was one."""

    def extract(self, passages: Sequence[Passage], digest: Digest) -> list[Candidate]:
        """The facts that the model finds in a session's passages."""
        self.last = None
        live = [passage for passage in passages if passage.live]
        if not live:
            return []
        self.last = self._model.ask(prompt("notes"), record(passages, self._redactor, self._settings))
        facts, dropped = read_facts(self._redactor.redact(self.last.text))
        self.dropped += dropped
        return [_candidate(fact, live) for fact in facts]


def _candidate(fact: Fact, passages: Sequence[Passage]) -> Candidate:
    """A fact with the turn in which a person says it, or else with the last one, up to which it was found."""
    for passage in passages:
        said = [row[bodies.TEXT] for row in passage.rows if row[bodies.KIND] == "prompt"]
        if passage.author == "human" and any(says(text, fact.text) for text in said):
            return Candidate(fact.category, fact.text, fact.confidence, passage.ref, "user")
    return Candidate(fact.category, fact.text, fact.confidence, passages[-1].ref, "assistant")


def with_notes(store: Store, extractor: ModelExtractor, ask: Callable[[Iterable[Work]], Told], work: Iterable[Work]) -> Told:
    """What `ask` says of sessions, and the notes of each one that it answered kept; their tokens are the session's."""
    asked: dict[str, Work] = {}

    def remembered() -> Iterator[Work]:
        for one in work:
            asked[one.candidate.ref] = one
            yield one

    for candidate, verdict in ask(remembered()):
        one = asked.pop(candidate.ref)
        if isinstance(verdict, Kept | NothingWorthKeeping):
            _note(store, extractor, one, verdict.trace)
        yield candidate, verdict


def _note(store: Store, extractor: ModelExtractor, one: Work, trace: Trace) -> None:
    if gate.progress_of(one.passages, None).messages < gate.FEWEST_MESSAGES:
        return
    try:
        keep(store, one.passages, extractor.extract(one.passages, one.digest), by=extractor.author)
    except RecollectError as error:
        # The memory is there and was paid for: it does not go for want of notes.
        log.warning("no notes were taken", extra={"session": one.candidate.ref, "fault": str(error)})
    if extractor.last is not None:
        trace.tokens += extractor.last.tokens
        known = trace.cost_usd is not None and extractor.last.cost_usd is not None
        trace.cost_usd = (trace.cost_usd or 0.0) + (extractor.last.cost_usd or 0.0) if known else None
