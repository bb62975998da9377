"""The one table of jobs: what can wait, and what it follows from.

Whoever changes something sets a mark, in the transaction that changes it
(`store.jobs.mark("digested")`), and knows of no job. Only this table knows
which jobs follow from a mark, how often one is tried and how long it is leased.
docs/jobs.md draws it.

Handlers are named, not imported: nothing is loaded that does not run. A handler
is called with what its parameters without a default ask for by name: `store`,
`subject` (what the job is about) and what the caller of `run_due` gives, such as
`settings` or `encoder`. One that takes long is a generator, and keeps its job
by yielding now and then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.system.clock import now_ms
from recollect.system.operations import Operation

if TYPE_CHECKING:
    from recollect.store import Store
    from recollect.store.sqlite.jobs import JobLease

    # What handlers may ask for by name, made when one does.
    Given = Mapping[str, Callable[[], object]]

log = logging.getLogger(__name__)


class Job(NamedTuple):
    """A kind of work that can wait: what does it, and when it is worth doing."""

    kind: str
    # One after the other, each "package.module:function".
    run: tuple[str, ...]
    # What it is about; the jobs of a kind that a stage leaves one by one name it themselves.
    subject: str = ""
    due_after: tuple[str, ...] = ()
    tries: int = 5
    lease_seconds: float = 60


_DIGEST = "recollect.distill.tasks.digest:digest_new"

JOBS = (
    Job(
        "digest",
        run=(_DIGEST,),
        subject="sessions",
        due_after=("imported", "digests dropped", "repaired"),
    ),
    Job(
        "remember",
        # Which of the notes that agents gave a person has said is settled first, and what hooks
        # tell is made of notes.
        run=(
            "recollect.distill.corroborate:corroborate",
            "recollect.distill.remember:remember_due",
            "recollect.recall.hooks.lines:make_ready",
            "recollect.recall.hooks.use:look_at_use",
        ),
        subject="projects",
        due_after=(
            "imported",
            "digested",
            "notes changed",
            "memories rest",
            "hook lines outdated",
            "repaired",
        ),
    ),
    Job(
        "engine",
        # Whoever is asked may cost money: it waits for idle projects, and asks seldom.
        run=("recollect.distill.engines.due:write_due",),
        subject="projects",
        due_after=("imported", "session quiet"),
        tries=3,
        lease_seconds=900,
    ),
    Job(
        "embed",
        run=("recollect.recall.embedding:embed",),
        subject="turns",
        due_after=("turns to embed", "repaired"),
    ),
    Job(
        "optimize",
        run=("recollect.retain.text:optimize_text",),
        subject="text",
        due_after=("imported much", "scrub unfinished"),
    ),
    Job(
        "retain",
        # Only what has a digest may go.
        run=(_DIGEST, "recollect.retain.budgets:retain_due"),
        subject="events",
        due_after=("over budget",),
    ),
    Job(
        "sync",
        # The only one that asks a server; nothing that is told or searched waits for it.
        run=("recollect.share.sync:sync_due",),
        subject="team",
        due_after=("imported", "digested", "notes changed", "hub is due"),
        lease_seconds=300,
    ),
    Job(
        "derive",
        run=("recollect.episodes.derive:derive_new",),
        subject="episodes",
        due_after=("digested", "repaired"),
    ),
)


def follow_marks(store: Store, table: tuple[Job, ...] = JOBS) -> None:
    """Ask for the jobs that follow from what changed, and give up what was tried often enough.

    Where nothing may be written, nothing follows.
    """
    if store.read_only:
        return
    following: dict[str, list[tuple[str, str]]] = {}
    for job in table:
        for mark in job.due_after:
            following.setdefault(mark, []).append((job.kind, job.subject))
    store.jobs.follow_marks(following)
    store.jobs.give_up({job.kind: job.tries for job in table})


def run_due(
    store: Store, given: Given, *, limit: int | None = None, table: tuple[Job, ...] = JOBS
) -> int:
    """Do the jobs that are due, one after the other; returns how many were done.

    A handler that raises costs its own job: that one is tried again later. One
    that yields is left where it is when somebody else has taken the job over.
    """
    known = {job.kind: job for job in table}
    leases_ms = {job.kind: int(job.lease_seconds * 1000) for job in table}
    done = 0
    while limit is None or done < limit:
        follow_marks(store, table)
        started = now_ms()
        lease = store.jobs.take(leases_ms)
        if lease is None:
            break
        job = known[lease.kind]
        try:
            _carry_out(store, job, lease, given)
        except Exception as error:
            fault = type(error).__name__
            log.warning(
                "a job failed",
                extra={"kind": lease.kind, "subject": lease.subject, "fault": fault},
            )
            store.jobs.fail(lease, f"{fault}: {error}", most_tries=job.tries)
        else:
            done += store.jobs.finish(lease, started_at=started)
    return done


def find_handler(name: str) -> Callable[..., Any]:
    """The function that a "package.module:function" names."""
    module, _, function = name.partition(":")
    handler: Callable[..., Any] = getattr(import_module(module), function)
    return handler


def parameters_of(handler: Callable[..., Any]) -> list[str]:
    """What a handler asks for by name: its parameters without a default."""
    from inspect import Parameter, signature

    return [
        name
        for name, parameter in signature(handler).parameters.items()
        if parameter.default is Parameter.empty
    ]


def _carry_out(store: Store, job: Job, lease: JobLease, given: Given) -> None:
    renewed_at = now_ms()
    for _ in _steps(store, job, lease, given):
        if now_ms() - renewed_at > lease.lease_ms // 6:
            renewed_at = now_ms()
            if not store.jobs.renew(lease):
                break


def _steps(store: Store, job: Job, lease: JobLease, given: Given) -> Iterator[object]:
    """Everything that a job's handlers do, a step at a time."""
    everything: dict[str, Callable[[], object]] = {
        **given,
        "store": lambda: store,
        "subject": lambda: lease.subject,
    }
    for name in job.run:
        with Operation("job", kind=job.kind, step=name.rpartition(":")[2]) as operation:
            handler = find_handler(name)
            made = handler(**{wanted: everything[wanted]() for wanted in parameters_of(handler)})
            if isinstance(made, Iterator):
                done = 0
                for one in made:
                    done += 1
                    yield one
                operation.note(count=done)
        yield name
