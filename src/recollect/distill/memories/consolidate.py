"""Makes one memory of what a project's sessions came to: MEMORY.md,
skills, and the files that a person reads.

Rows first: under a lease, and only as long as that is ours, the new versions
are committed together with what they were made of. Then the files follow the
rows, while nobody else can write the store. Killed anywhere, the next run finds
rows that are older than the traces, or files that differ from the rows, and
goes on from there; with nothing new it changes nothing.

The rules need a moment, a model minutes: the lease is renewed meanwhile. What a
model wrote stays until it has written something better. As long as there is
nothing of a model's, or when a person has forgotten it, the rules fill the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import TYPE_CHECKING

from recollect.distill.memories import files, guidance, memory_file, skills
from recollect.distill.models.memory import NEWEST_SESSIONS, Material, gather, without_refused
from recollect.distill.notes.sameness import find_same
from recollect.errors import BadReply, EngineUnavailable, SecretsLeft, SpendingLimit
from recollect.model.digests import Digest, Engine
from recollect.model.leases import LeaseLost
from recollect.model.reports import Consolidated
from recollect.store.notes import compared
from recollect.store.traces import Published

if TYPE_CHECKING:
    from recollect.model.leases import Lease
    from recollect.model.old_notes import OldNote
    from recollect.store import Store

MOST_CALLS = 8

# Has a model write a project's memory: None as long as it has not, then the files.
Write = Callable[[Material], Iterator[dict[str, Published] | None]]


def consolidate(
    store: Store,
    home: str,
    *,
    traces_kept: int,
    project: str | None = None,
    engine: Engine = "rules",
    write: Write | None = None,
    now: bool = False,
    most_calls: int | None = MOST_CALLS,
) -> Iterator[Consolidated]:
    """Bring the memory of every project, or of one, up to date.

    A report after each, the last one counts.

    A model that fails on a project leaves what was there, and is asked again
    later by a job; with `now`, at once. What would meet every other project
    too is raised when all files are written. An engine that is not there to
    `write` is waited for.
    """
    report = Consolidated()
    fault: EngineUnavailable | None = None
    known = store.old.memory_projects()
    for number, key in known:
        if project is not None and key != project:
            continue
        may_ask = (
            write
            if most_calls is None or report.consolidated + report.failed < most_calls
            else None
        )
        if may_ask is not None and not now and store.old.is_memory_queued(number, key):
            may_ask = None
        done = report.consolidated
        try:
            for _ in _make(store, number, key, report, engine, may_ask):
                yield report
            if report.consolidated > done:
                store.jobs.drop("memory", key)
        except SpendingLimit:
            write = None  # It is a limit that somebody set: the next run goes on.
        except (BadReply, EngineUnavailable, SecretsLeft) as error:
            if isinstance(error, EngineUnavailable) and not error.passing:
                write, fault = None, error
            else:
                store.jobs.leave("memory", key, str(error))
                report.failed += 1
        write_files(store, home, number, key, traces_kept=traces_kept)
        yield report
    with store.transaction():
        for name in store.old.memory_folders() - {files.folder_name(key) for _, key in known}:
            files.clear(home, name)
            store.old.drop_memory_folder(name)
    yield report
    if fault is not None:
        raise fault


def write_memory(
    store: Store, home: str, project: str, write: Write, *, traces_kept: int
) -> Iterator[Consolidated]:
    """Have a model write a project's memory that it failed on; raises what is in the way."""
    report = Consolidated()
    for number, key in store.old.memory_projects():
        if key == project:
            for _ in _make(store, number, key, report, "llm", write):
                yield report
            write_files(store, home, number, key, traces_kept=traces_kept)


def compose(project: str, digests: Sequence[Digest], refused: Set[str]) -> dict[str, Published]:
    """The files of a project's memory that the rules make of its digests, newest first."""
    made = skills.compose(project, digests)
    found = guidance.sections(digests, refused)
    if found:
        behind = dict.fromkeys(
            session
            for statements in found.values()
            for one in statements
            for session in one.sessions
        )
        lines = {
            heading: [one.line() for one in statements] for heading, statements in found.items()
        }
        made[files.MEMORY] = Published(memory_file.render(project, lines), list(behind))
    return made


def write_files(store: Store, home: str, number: int, key: str, *, traces_kept: int) -> None:
    """Make a project's files what its rows say."""
    with store.transaction():
        store.old.keep_memory_folder(files.folder_name(key))
        files.write(
            home, key, store.old.kept_traces(number, traces_kept), store.old.published(number)
        )


def _make(
    store: Store, number: int, key: str, report: Consolidated, engine: Engine, write: Write | None
) -> Iterator[None]:
    """Make a project's memory, if it is due and nobody else is at it."""
    if not store.old.is_memory_due(number, engine):
        return
    report.projects += 1
    lease = store.leases.take(store.old.memory_lease(number))
    if lease is None:
        report.locked += 1
        return
    try:
        if engine == "rules" or not store.old.kept_traces(number, 1):
            _by_rules(store, lease, number, key, engine)
            report.consolidated += 1
        else:
            _tidy(store, lease, number, key, engine)
            if write is not None:
                yield from _by_model(store, lease, number, key, write)
                report.consolidated += 1
    except LeaseLost:
        report.locked += 1
    finally:
        store.leases.release(lease)


def _by_rules(store: Store, lease: Lease, number: int, key: str, engine: Engine = "rules") -> None:
    # Only now that the lease is ours: what another one made while we waited is made.
    state = store.old.memory_state(number)
    digests = store.old.traced_digests(number, NEWEST_SESSIONS)
    refused = store.old.refused_notes(number) | _restated(
        digests, store.old.list_notes(project=key, statuses=["rejected"])
    )
    made = compose(key, digests, refused)
    store.old.publish(lease, number, state, made, engine=engine)


def _restated(digests: Sequence[Digest], rejected: Sequence[OldNote]) -> set[str]:
    """The words in which a person said what they rejected since as a note: one
    note may stand for several wordings.
    """
    if not rejected:
        return set()
    said = {one.text for digest in digests for one in digest.sayings}
    return {compared(text) for text in said if find_same(text, rejected)}


def _by_model(store: Store, lease: Lease, number: int, key: str, write: Write) -> Iterator[None]:
    material = gather(store, number, key)
    for made in write(material):
        if made is not None:
            store.old.publish(lease, number, material.state, made, engine="llm")
        elif not store.leases.renew(lease):
            raise LeaseLost(lease.name)
        yield


def _tidy(store: Store, lease: Lease, number: int, key: str, engine: Engine) -> None:
    """What does not have to wait for a model: what a person rejected goes, and the
    rules stand in until it has written.
    """
    if not store.old.published(number, by_model=True):
        if store.old.is_memory_due(number, "rules"):
            _by_rules(store, lease, number, key)
    else:
        current = store.old.published(number)
        left = without_refused(current, store.old.refused_notes(number))
        if {name: made.text for name, made in left.items()} != current:
            store.old.publish(lease, number, None, left, engine=engine)
