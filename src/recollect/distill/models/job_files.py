"""Memories for the user's own agent to write, of sessions and of projects: a
file for each, and its answers back.

    <subject>.md            header, what to do, how to answer, the record
    <subject>.answer.json   what the agent wrote

A file is all that is needed for its subject, so any agent can work through
the folder, in any order and several at a time. Of a job's file only the header
is read back, and it is believed as little as the answer is: a session or a
project that has changed since, or that we do not know, keeps the memory it has.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from recollect.distill.models import memory as model_memory
from recollect.distill.models.memory import Material
from recollect.distill.models.replies import MEMORY_SCHEMA, TRACE_SCHEMA
from recollect.distill.models.traces import Work, prompt, record, settle
from recollect.errors import BadReply, FileUnwritable, RecollectError, SecretsLeft, UsageError
from recollect.llm.client import MOST_ANSWER_BYTES
from recollect.model.leases import LeaseLost
from recollect.model.reports import Assignment, JobFile, JobKind
from recollect.system import platforms

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store

JOB, ANSWER = ".md", ".answer.json"
HEADER_BYTES = 4_000
CHANGED = "what it is about has changed since, or is gone: write the jobs again"
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_HEADER = re.compile(
    r"\Akind: (?P<kind>trace|memory)\nsubject: (?P<subject>[^\n]+)\nstate: (?P<state>\S+)\nanswer: "
    r"\S+\n"
)


class Header(NamedTuple):
    """What a job is about."""

    kind: JobKind
    subject: str
    state: str

    @property
    def name(self) -> str:
        """What its files are called, without their endings."""
        short = _OTHER.sub("-", self.subject)[-100:].lstrip("-.")
        return (
            f"{self.kind}-{short}-{sha256(self.subject.encode('utf-8', 'replace')).hexdigest()[:8]}"
        )


def write_jobs(
    folder: str, work: Iterable[Work | Material], redactor: Redactor, settings: Settings
) -> list[JobFile]:
    """Write a job for each session or project.

    One that is there already in the same state stays as it is, with its answer.
    """
    try:
        # A folder that is there stays as open as somebody made it: the files in it are closed.
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return [_write(folder, one, redactor, settings) for one in work]
    except OSError as error:
        raise FileUnwritable(folder, error.strerror or str(error)) from error


def _write(folder: str, one: Work | Material, redactor: Redactor, settings: Settings) -> JobFile:
    header = _header_of(one)
    job = JobFile(
        kind=header.kind,
        subject=header.subject,
        path=os.path.join(folder, header.name + JOB),
        outcome="written",
    )
    if _header(job.path) == header:
        job.outcome = "unchanged"
        return job
    try:
        told = _record(one, redactor, settings)
    except SecretsLeft as error:
        job.outcome, job.reason = "refused", str(error)
        return job
    schema = msgspec.json.format(msgspec.json.encode(_SCHEMAS[header.kind])).decode()
    what = (
        prompt("job")
        .replace("{schema}", schema)
        .replace("{instructions}", prompt(header.kind).rstrip())
    )
    with suppress(FileNotFoundError):
        # It answers an earlier state.
        os.remove(os.path.join(folder, header.name + ANSWER))
    lines = [
        f"{name}: {value}\n"
        for name, value in zip(("kind", "subject", "state"), header, strict=True)
    ]
    head = "".join([*lines, f"answer: {header.name}{ANSWER}\n"])
    platforms.replace_text(job.path, f"{head}\n{what}\n# The record\n\n{told}")
    return job


_SCHEMAS: dict[JobKind, dict[str, Any]] = {"trace": TRACE_SCHEMA, "memory": MEMORY_SCHEMA}


def _header_of(one: Work | Material) -> Header:
    if isinstance(one, Work):
        return Header("trace", one.candidate.ref, one.candidate.state)
    return Header("memory", one.project, one.state)


def _record(one: Work | Material, redactor: Redactor, settings: Settings) -> str:
    if isinstance(one, Work):
        return record(one.passages, redactor, settings)
    return model_memory.question(one, redactor, settings)


def make_assignment(
    work: Iterable[Work | Material], redactor: Redactor, settings: Settings
) -> Assignment | None:
    """The first of these that may be given away, without files around it."""
    for one in work:
        with suppress(SecretsLeft):
            kind, subject, state = _header_of(one)
            return Assignment(
                kind=kind,
                subject=subject,
                state=state,
                text=f"{prompt(kind)}\n{_record(one, redactor, settings)}",
            )
    return None


def commit_jobs(folder: str, store: Store, redactor: Redactor) -> Iterator[JobFile]:
    """Keep what an agent answered.

    A bad answer is refused with its reason, and the others are kept.

    What was kept before, or has no answer yet, is left alone. Projects come
    before sessions: what is kept of a session changes its project.
    """
    if not os.path.isdir(folder):
        raise UsageError(
            f"{folder} is not a folder",
            hint="name the one that `recollect distill --jobs` wrote to",
        )
    for name in sorted(name for name in os.listdir(folder) if name.endswith(JOB)):
        path = os.path.join(folder, name)
        header = _header(path)
        if header is not None and name == header.name + JOB:  # Else it is somebody else's file.
            yield _commit(folder, path, header, store, redactor)


def _commit(folder: str, path: str, header: Header, store: Store, redactor: Redactor) -> JobFile:
    job = JobFile(kind=header.kind, subject=header.subject, path=path, outcome="waiting")
    try:
        answer = _answer(os.path.join(folder, header.name + ANSWER))
        if answer is not None:
            job.outcome = keep_answer(*header, answer, store, redactor)
    except RecollectError as error:
        job.outcome, job.reason = "refused", str(error)
    return job


def keep_answer(
    kind: str, subject: str, state: str, answer: str, store: Store, redactor: Redactor
) -> Literal["kept", "unchanged"]:
    """Make an answer the memory of its subject, if that is still as it was.

    BadReply says what is wrong with it.
    """
    keep = {"trace": _keep_trace, "memory": _keep_memory}.get(kind)
    if keep is None:
        raise UsageError(
            f"no job is of the kind {kind[:50]}", hint="trace or memory, as the job says"
        )
    outcome = keep(subject, state, answer, store, redactor)
    # A model that failed on it need not be asked again.
    store.jobs.drop(kind, subject)
    return outcome


def _keep_trace(
    session: str, state: str, answer: str, store: Store, redactor: Redactor
) -> Literal["kept", "unchanged"]:
    candidate, digest = store.old.find_candidate(session), store.digests.find(session)
    if candidate is None or candidate.state != state or digest is None:
        raise BadReply(CHANGED)
    made = settle(digest, answer, redactor, engine="agent")
    if store.old.traced_state(candidate) == state and store.old.find_trace(session) == made:
        return "unchanged"
    if not store.old.save_trace(candidate, made):
        raise BadReply(CHANGED)
    return "kept"


def _keep_memory(
    project: str, state: str, answer: str, store: Store, redactor: Redactor
) -> Literal["kept", "unchanged"]:
    number = next((number for number, key in store.old.memory_projects() if key == project), None)
    if number is None:
        raise BadReply(CHANGED)
    lease = store.leases.take(store.old.memory_lease(number))
    if lease is None:
        raise BadReply(
            "somebody else is writing this project's memory", hint="try again when they are done"
        )
    try:
        material = model_memory.gather(store, number, project)
        if material.state != state:
            raise BadReply(CHANGED)
        made = model_memory.settle_memory(material, answer, redactor).files
        if {
            name: one.text for name, one in made.items()
        } == material.current and not store.old.is_memory_due(number, "agent"):
            return "unchanged"
        store.old.publish(lease, number, state, made, engine="agent")
    except LeaseLost:
        raise BadReply(CHANGED) from None
    finally:
        store.leases.release(lease)
    return "kept"


def _header(path: str) -> Header | None:
    """What a job is about; None when there is no job in this file."""
    with suppress(BadReply):
        if found := _HEADER.match(_read(path, HEADER_BYTES) or ""):
            return Header(
                "trace" if found["kind"] == "trace" else "memory", found["subject"], found["state"]
            )
    return None


def _answer(path: str) -> str | None:
    text = _read(path, MOST_ANSWER_BYTES + 1)
    if text is not None and len(text.encode()) > MOST_ANSWER_BYTES:
        raise BadReply(f"the answer has more than {MOST_ANSWER_BYTES} bytes")
    return text


def _read(path: str, most_bytes: int) -> str | None:
    """The beginning of a file's text.

    None when there is no such file. A link, or what is no file, is not followed.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise BadReply(f"{os.path.basename(path)} is not a file")
        with open(path, "rb") as file:
            return file.read(most_bytes).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadReply(f"cannot read {os.path.basename(path)}: {error.strerror}") from error
