"""Distilling by a language model: the same shapes as by rules, from the whole record of a session.

One question per session. The record goes out redacted and between marks that
nothing in it can forge; what comes back is parsed, redacted and limited before
anybody sees it. One of four things comes of it: a memory that is `Kept`,
`NothingWorthKeeping`, `TryLater` because the service cannot answer now, or
`GaveUp` because this session cannot be asked about or was not answered well.
Nothing worth keeping is a success.

A wrong key, a model that does not exist and a spending limit concern the whole
run: those are raised, after everything that was answered before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Protocol

from recollect.distill.memories import trace
from recollect.distill.models import replies
from recollect.distill.models.asking import AT_ONCE, Questions
from recollect.distill.models.transcript import has_secrets, transcript
from recollect.errors import (
    BadReply,
    EngineUnavailable,
    RecollectError,
    SecretsLeft,
    SpendingLimit,
    UsageError,
)
from recollect.model.digests import Digest, Engine, Trace

if TYPE_CHECKING:
    from concurrent.futures import Future

    from recollect.llm import Model
    from recollect.llm.client import Reply
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store.history import Passage
    from recollect.store.traces import Candidate


class Work(NamedTuple):
    """A session to be distilled, with everything that this takes."""

    candidate: Candidate
    digest: Digest
    passages: Sequence[Passage]


class Kept(NamedTuple):
    """A memory."""

    trace: Trace


class NothingWorthKeeping(NamedTuple):
    """The session was read, and nothing in it is for later; an older memory of it goes."""

    trace: Trace


class TryLater(NamedTuple):
    """There was no answer this time."""

    reason: str


class GaveUp(NamedTuple):
    """There will be no good answer about this session as it is."""

    reason: str


Verdict = Kept | NothingWorthKeeping | TryLater | GaveUp


@cache
def prompt(name: str) -> str:
    """Our own words to a model."""
    return (files("recollect.distill.models") / "prompts" / f"{name}.md").read_text(
        encoding="utf-8"
    )


def record(passages: Sequence[Passage], redactor: Redactor, settings: Settings) -> str:
    """A session as it is given to others, between marks.

    SecretsLeft when something stored should not be.
    """
    if has_secrets(passages, redactor):
        raise SecretsLeft(passages[0].ref.rpartition("#")[0])
    return framed(transcript(passages, redactor, settings))


def framed(text: str) -> str:
    """A record between two marks that nothing in it can forge: they are made of all of it."""
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"The record stands between the two lines with the mark {mark}.\n\n--- {mark} begins\n{text}\n--- {mark} ends\n"


class Notes(Protocol):
    """Takes notes of a session with the same model, when it has said what to remember of it."""

    def wants(self, one: Work) -> bool:
        """Whether to ask about this session."""

    def keep(self, one: Work, trace: Trace, answer: Future[Reply]) -> None:
        """Keep the notes of an answer, which may be none, and add what
        it took to that of the trace.
        """


class _Question(NamedTuple):
    """What one question is about.

    `verdict` when it is the second about its session, that for notes.
    """

    work: Work
    record: str
    verdict: Kept | NothingWorthKeeping | None = None


def traces_by_model(
    model: Model,
    redactor: Redactor,
    settings: Settings,
    work: Iterable[Work],
    *,
    notes: Notes | None = None,
    at_once: int = AT_ONCE,
) -> Iterator[tuple[Candidate, Verdict] | None]:
    """The trace memory of each session by a model, as the answers come in.

    None now and then while none does.

    `at_once` requests run at a time; everything else, and the redactor, stays
    in the caller's thread, which may write to the store between two results.
    """
    waiting, questions = iter(work), Questions[_Question](model, at_once)
    fault: RecollectError | None = None
    while True:
        while fault is None and questions.has_room and (one := next(waiting, None)) is not None:
            try:
                told = record(one.passages, redactor, settings)
            except SecretsLeft as error:
                yield one.candidate, GaveUp(str(error))
            else:
                questions.put(_Question(one, told), prompt("trace"), told, replies.TRACE_SCHEMA)
        if not questions.open:
            break
        answered = questions.answered()
        if answered is None:
            yield None
            continue
        (one, told, known), answer = answered
        if known is not None and notes is not None:
            notes.keep(one, known.trace, answer)
            yield one.candidate, known
            continue
        verdict, stops = _verdict(one.digest, answer, redactor)
        fault = fault or stops
        if (
            notes is not None
            and isinstance(verdict, Kept | NothingWorthKeeping)
            and notes.wants(one)
        ):
            questions.put(_Question(one, told, verdict), prompt("notes"), told)
        else:
            yield one.candidate, verdict
    if fault is not None:
        raise fault


def _verdict(
    digest: Digest, future: Future[Reply], redactor: Redactor
) -> tuple[Verdict, RecollectError | None]:
    """What came of one question, and the fault that would meet every other one too."""
    try:
        reply = future.result()
        made = settle(digest, reply.text, redactor, engine="llm")
    except BadReply as error:
        return GaveUp(str(error)), None
    except EngineUnavailable as error:
        return TryLater(str(error)), None if error.passing else error
    except SpendingLimit as error:
        return TryLater(str(error)), error
    made.tokens, made.cost_usd = reply.tokens, reply.cost_usd
    return Kept(made) if made.memory else NothingWorthKeeping(made), None


def settle(digest: Digest, reply: str, redactor: Redactor, *, engine: Engine) -> Trace:
    """The trace memory that a reply gives, without secrets, in our shape and within our limits.

    BadReply when it gives none.
    """
    told = replies.read_trace(reply)
    try:
        memory, summary = trace.settled(
            *redactor.redact_all([told.trace_memory, told.summary]), title=digest.title
        )
    except UsageError as error:
        raise BadReply(str(error), hint=error.hint) from None
    return Trace(
        session=digest.session,
        project=digest.project,
        memory=memory,
        summary=summary,
        engine=engine,
    )
