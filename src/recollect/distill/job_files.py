"""Sessions for the user's own agent to sum up: a file for each, and its answers back.

    <session>.md            header, what to do, how to answer, the record
    <session>.answer.json   what the agent wrote

A file is all that is needed for its session, so any agent can work through
the folder, in any order and several at a time. Of a job's file only the header
is read back, and it is believed as little as the answer is: a session that
has changed since, or that we do not know, keeps the memory it has.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import msgspec

from recollect import platforms
from recollect.distill.model import Work, prompt, record, settle
from recollect.distill.replies import TRACE_SCHEMA
from recollect.errors import BadReply, FileUnwritable, RecollectError, SecretsLeft, UsageError
from recollect.reports import Job, JobFile

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store

JOB, ANSWER = ".md", ".answer.json"
# Thirteen times the longest memory that we would keep.
MOST_ANSWER_BYTES = 4_000_000
HEADER_BYTES = 4_000
CHANGED = "the session has changed since, or is gone: write the jobs again"
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_HEADER = re.compile(r"\Asession: (?P<session>\S+)\nstate: (?P<state>\S+)\nanswer: (?P<answer>\S+)\n")


def name_of(session: str) -> str:
    """What a session's files are called, without their endings."""
    return f"{_OTHER.sub('-', session)[:100]}-{sha256(session.encode()).hexdigest()[:8]}"


def write_jobs(folder: str, work: Iterable[Work], redactor: Redactor, settings: Settings) -> list[JobFile]:
    """Write a job for each session; one that is there already in the same state stays as it is, with its answer."""
    try:
        # A folder that is there stays as open as somebody made it: the files in it are closed.
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return [_write(folder, one, redactor, settings) for one in work]
    except OSError as error:
        raise FileUnwritable(folder, error.strerror or str(error)) from error


def _write(folder: str, one: Work, redactor: Redactor, settings: Settings) -> JobFile:
    candidate, name = one.candidate, name_of(one.candidate.ref)
    job = JobFile(session=candidate.ref, path=os.path.join(folder, name + JOB), outcome="written")
    if _header(job.path) == (candidate.ref, candidate.state):
        job.outcome = "unchanged"
        return job
    try:
        told = record(one.passages, redactor, settings)
    except SecretsLeft as error:
        job.outcome, job.reason = "refused", str(error)
        return job
    schema = msgspec.json.format(msgspec.json.encode(TRACE_SCHEMA)).decode()
    what = prompt("job").replace("{schema}", schema).replace("{instructions}", prompt("trace").rstrip())
    with suppress(FileNotFoundError):
        # It answers an earlier state.
        os.remove(os.path.join(folder, name + ANSWER))
    header = f"session: {candidate.ref}\nstate: {candidate.state}\nanswer: {name}{ANSWER}\n"
    platforms.replace_text(job.path, f"{header}\n{what}\n# The record\n\n{told}")
    return job


def make_job(work: Iterable[Work], redactor: Redactor, settings: Settings) -> Job | None:
    """The first of these sessions that may be given away, without files around it."""
    for one in work:
        with suppress(SecretsLeft):
            text = f"{prompt('trace')}\n{record(one.passages, redactor, settings)}"
            return Job(session=one.candidate.ref, state=one.candidate.state, text=text)
    return None


def commit_jobs(folder: str, store: Store, redactor: Redactor) -> list[JobFile]:
    """Keep what an agent answered; a bad answer is refused with its reason, and the others are kept.

    What was kept before, or has no answer yet, is left alone.
    """
    if not os.path.isdir(folder):
        raise UsageError(f"{folder} is not a folder", hint="name the one that `recollect distill --jobs` wrote to")
    names = sorted(name for name in os.listdir(folder) if name.endswith(JOB))
    return [found for name in names if (found := _commit(folder, name, store, redactor)) is not None]


def _commit(folder: str, name: str, store: Store, redactor: Redactor) -> JobFile | None:
    path = os.path.join(folder, name)
    header = _header(path)
    if header is None or name != name_of(header[0]) + JOB:
        return None  # Somebody else's file.
    session, state = header
    try:
        answer = _answer(os.path.join(folder, name_of(session) + ANSWER))
        outcome = "waiting" if answer is None else keep_answer(session, state, answer, store, redactor)
    except RecollectError as error:
        return JobFile(session=session, path=path, outcome="refused", reason=str(error))
    return JobFile(session=session, path=path, outcome=outcome)


def keep_answer(session: str, state: str, answer: str, store: Store, redactor: Redactor) -> Literal["kept", "unchanged"]:
    """Make an answer the memory of its session, if that is still as it was; BadReply says what is wrong with it."""
    candidate, digest = store.find_candidate(session), store.find_digest(session)
    if candidate is None or candidate.state != state or digest is None:
        raise BadReply(CHANGED)
    made = settle(digest, answer, redactor, engine="agent")
    if store.traced_state(candidate) == state and store.find_trace(session) == made:
        return "unchanged"
    if not store.save_trace(candidate, made):
        raise BadReply(CHANGED)
    return "kept"


def _header(path: str) -> tuple[str, str] | None:
    """The session and the state that a job is about; None when there is no job in this file."""
    with suppress(BadReply):
        if found := _HEADER.match(_read(path, HEADER_BYTES) or ""):
            return found["session"], found["state"]
    return None


def _answer(path: str) -> str | None:
    text = _read(path, MOST_ANSWER_BYTES + 1)
    if text is not None and len(text.encode()) > MOST_ANSWER_BYTES:
        raise BadReply(f"the answer has more than {MOST_ANSWER_BYTES} bytes")
    return text


def _read(path: str, most_bytes: int) -> str | None:
    """The beginning of a file's text; None when there is no such file. A link, or what is no file, is not followed."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise BadReply(f"{os.path.basename(path)} is not a file")
        with open(path, "rb") as file:
            return file.read(most_bytes).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadReply(f"cannot read {os.path.basename(path)}: {error.strerror}") from error
