"""Notes by a language model, beside those that the rules find.

A model is asked for them when it has told a session's trace memory, so that a
session is read once in each of its states, and only about sessions that are
long enough for notes. Its word is a candidate like any agent's.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.distill.corroborate import says
from recollect.distill.models.replies import Fact, read_facts
from recollect.distill.models.traces import Work, prompt, record
from recollect.distill.notes import gate
from recollect.distill.notes.extract import Candidate, keep
from recollect.errors import RecollectError
from recollect.model.old_notes import NoteAuthor
from recollect.store import bodies
from recollect.store.notes import Extraction
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recollect.llm import Model
    from recollect.llm.client import Reply
    from recollect.model.digests import Digest, Trace
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store
    from recollect.store.history import Passage

log = logging.getLogger(__name__)


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

    def extract(self, passages: Sequence[Passage], digest: Digest) -> list[Candidate]:
        """The facts that the model finds in a session's passages."""
        if not any(passage.live for passage in passages):
            return []
        return self.read(
            self._model.ask(prompt("notes"), record(passages, self._redactor, self._settings)).text,
            passages,
        )

    def read(self, reply: str, passages: Sequence[Passage]) -> list[Candidate]:
        """The facts in a reply that was about these passages."""
        facts, dropped = read_facts(self._redactor.redact_strictly(reply))
        self.dropped += dropped
        if dropped:
            log.warning("some lines of an answer are no notes", extra={"lines": dropped})
        return [
            _candidate(fact, [passage for passage in passages if passage.live]) for fact in facts
        ]


def _candidate(fact: Fact, passages: Sequence[Passage]) -> Candidate:
    """A fact with the turn in which a person says it, or else with the
    last one, up to which it was found.
    """
    for passage in passages:
        said = [row[bodies.TEXT] for row in passage.rows if row[bodies.KIND] == "prompt"]
        if passage.author == "human" and any(says(text, fact.text) for text in said):
            return Candidate(fact.category, fact.text, fact.confidence, passage.ref, "user")
    return Candidate(fact.category, fact.text, fact.confidence, passages[-1].ref, "assistant")


class NoteTaker:
    """Has a model take notes from sessions, when it is time for that."""

    def __init__(self, store: Store, extractor: ModelExtractor, *, count: bool = False) -> None:
        """With `count`, the notes hold at once, as if a person had accepted each."""
        self._store, self._extractor, self._count = store, extractor, count

    def wants(self, one: Work) -> bool:
        """Whether it is time: the same gate as for the rules."""
        before = self._store.old.find_extraction(one.candidate.session, by="model")
        return gate.ask_gate(gate.progress_of(one.passages, before), before, now_ms()) == "open"

    def keep(self, one: Work, trace: Trace, answer: Future[Reply]) -> None:
        """Keep the notes of an answer.

        The memory is there and was paid for, so it does not go for want of notes.
        """
        try:
            reply = answer.result()
        except RecollectError as error:
            log.warning(
                "no notes were taken", extra={"session": one.candidate.ref, "fault": str(error)}
            )
            return
        trace.tokens += reply.tokens
        trace.cost_usd = (
            None
            if trace.cost_usd is None or reply.cost_usd is None
            else trace.cost_usd + reply.cost_usd
        )
        kept = keep(
            self._store,
            one.passages,
            self._extractor.read(reply.text, one.passages),
            by=self._extractor.author,
        )
        if self._count:
            for note in kept:
                # Not what a person rejected, nor what was theirs before.
                if note.status == "candidate" and note.author == self._extractor.author:
                    self._store.old.accept_note(note.ref)
        before = self._store.old.find_extraction(one.candidate.session, by="model")
        messages = gate.progress_of(one.passages, None).messages
        done = Extraction(messages, 0, (before.times if before else 0) + 1)
        self._store.old.save_extraction(one.candidate.session, done, by="model")
