"""Gives sessions their trace memories: which of them, by whom, and how many in a run.

The rules cost nothing and take every session that is due. A model is asked
about a few in a run; a session is leased meanwhile, so that two runs do not
pay for it twice. One that fails is left to the queue, which tries it again
later, and in the end keeps it as failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recollect.distill.memories import trace
from recollect.distill.memories.consolidate import MOST_CALLS, consolidate, write_memory
from recollect.distill.models.memory import Material, gather
from recollect.distill.models.traces import Kept, NothingWorthKeeping, Verdict, Work
from recollect.distill.tasks.digest import digest_new
from recollect.errors import BadReply, RecollectError, SpendingLimit
from recollect.model.digests import Engine
from recollect.model.reports import Consolidated, Distilled
from recollect.store.traces import Candidate
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.distill.models.engine import LlmEngine
    from recollect.model.leases import Lease
    from recollect.settings import Settings
    from recollect.store import Store
    from recollect.store.traces import Published

CALLS_PER_RUN = 8
HOUR_MS = 3_600_000

T = TypeVar("T")


class ByModel(Protocol):
    """Has a model read sessions and write memories.

    Raises what would meet every other question too.
    """

    calls_per_session: int

    def traces(self, work: Iterable[Work]) -> Iterator[tuple[Candidate, Verdict] | None]:
        """What it says of each session, and None now and then while it says nothing."""

    def memory(self, material: Material) -> Iterator[dict[str, Published] | None]:
        """The files of a project's memory, after None now and then."""

    def spent(self) -> tuple[int, float | None]:
        """Tokens and dollars so far; None when nobody knows how many."""


def distill(
    store: Store,
    settings: Settings,
    *,
    engine: Engine = "rules",
    by: ByModel | None = None,
    now: bool = False,
    limit: int | None = None,
    everything: bool = False,
    project: str | None = None,
) -> Iterator[Distilled]:
    """Bring the trace memories and then the projects' memories up to date.

    The report after each step, the last one counts.

    The engine llm needs somebody to ask; what an agent is to do is left to it.
    What a model says that stops the run is raised in the end, when what it
    said before has found its place.
    """
    report = Distilled()
    faults: list[RecollectError] = []
    for _ in digest_new(store):
        yield report
    per_session = by.calls_per_session if by else 1
    found, chosen = candidates(
        store,
        settings,
        engine,
        now=now,
        limit=limit,
        everything=everything,
        project=project,
        report=report,
        per_session=per_session,
    )
    report.candidates, report.skipped = len(found), len(found) - len(chosen)
    if engine == "rules":
        yield from _by_rules(store, chosen, report)
    elif by is not None:
        yield from _stopped_by(faults, _by_model(store, chosen, by, report))
    else:
        report.skipped = len(found)
    making = consolidate(
        store,
        settings.home,
        traces_kept=settings.number("distill.traces_kept"),
        project=project,
        engine=engine,
        write=by.memory if by and not faults else None,
        now=now,
        most_calls=None if everything else MOST_CALLS,
    )
    for made in _stopped_by(faults, making):
        report.projects, report.consolidated, report.locked = (
            made.projects,
            made.consolidated,
            made.locked,
        )
        yield report
    if by is not None:
        report.tokens, report.cost_usd = by.spent()
    store.old.distill_later(idle_ms=_idle_ms(settings))
    yield report
    for fault in faults:
        if not isinstance(fault, SpendingLimit):  # That one somebody set: the next run goes on.
            raise fault


def candidates(
    store: Store,
    settings: Settings,
    engine: Engine,
    *,
    now: bool = False,
    limit: int | None = None,
    everything: bool = False,
    project: str | None = None,
    report: Distilled | None = None,
    per_session: int = 1,
) -> tuple[list[Candidate], list[Candidate]]:
    """The sessions that are due, and those of them that one run takes on.

    With `now`, also those that may still run and those that wait in the
    queue after a failure. The rules take all on, unless a limit is given; for
    others it is as many as eight calls are enough for.
    """
    idle_before = None if now else now_ms() - _idle_ms(settings)
    considered, found = store.old.trace_candidates(
        engine=engine, idle_before=idle_before, project=project, home=settings.home
    )
    if report is not None:
        report.considered = considered
    free = [candidate for candidate in found if now or not candidate.queued]
    most = CALLS_PER_RUN // per_session if engine != "rules" and limit is None else limit
    return found, free if everything or most is None else free[:most]


def work_on(store: Store, chosen: Iterable[Candidate]) -> Iterator[Work]:
    """What is known of these sessions."""
    for candidate in chosen:
        digest = store.digests.find(candidate.ref)
        if digest is not None:
            yield Work(candidate, digest, store.digests.passages(candidate.session, short=True))


def for_agent(
    store: Store,
    settings: Settings,
    *,
    kind: str | None = None,
    subject: str | None = None,
    project: str | None = None,
    **options: Any,
) -> Iterator[Work | Material]:
    """What an agent is to do, or one thing of it that is named by its kind and subject.

    A project comes when none of its sessions is left to be summed up: what
    is kept of a session changes what the project is made of.
    """
    for _ in digest_new(store):
        pass
    due, chosen = candidates(store, settings, "agent", project=project, **options)
    if subject is not None:
        candidate = store.old.find_candidate(subject) if kind == "trace" else None
        chosen = [candidate] if candidate else []
    yield from work_on(store, chosen)
    if kind == "trace":
        return
    unfinished = {digest.project for one in due if (digest := store.digests.find(one.ref))}
    for number, key in store.old.memory_projects():
        is_wanted = key in (subject, project) or (subject is None and project is None)
        if is_wanted and key not in unfinished and store.old.is_memory_due(number, "agent"):
            yield gather(store, number, key)


def distill_due(
    store: Store, settings: Settings, engine: Engine, llm: LlmEngine | None
) -> Iterator[Distilled]:
    """The job: bring memories up to date with the engine of the settings."""
    return distill(store, settings, engine=engine, by=llm)


def consolidate_due(
    store: Store, settings: Settings, engine: Engine, llm: LlmEngine | None
) -> Iterator[Consolidated]:
    """The job: bring the memories of the projects up to date."""
    kept = settings.number("distill.traces_kept")
    write = llm.memory if llm else None
    return consolidate(store, settings.home, traces_kept=kept, engine=engine, write=write)


def write_again(
    store: Store, settings: Settings, subject: str, llm: LlmEngine | None
) -> Iterator[object]:
    """The job: have the model write a project's memory that it failed on."""
    if llm is not None:
        kept = settings.number("distill.traces_kept")
        yield from write_memory(store, settings.home, subject, llm.memory, traces_kept=kept)


def ask_again(store: Store, subject: str, llm: ByModel | None) -> Iterator[None]:
    """The job: ask a model once more about a session that failed; raises what is in the way."""
    if llm is None:
        return
    candidate = store.old.find_candidate(subject)
    holding = _Leased(store, [candidate] if candidate else [])
    try:
        for answer in llm.traces(holding.work()):
            if answer is None:
                holding.renew()
                yield
                continue
            one, verdict = answer
            if not isinstance(verdict, Kept | NothingWorthKeeping):
                raise BadReply(verdict.reason, hint="`recollect jobs` says when it is tried again")
            store.old.save_trace(one, verdict.trace)
        store.jobs.mark("memories outdated")
    finally:
        holding.release()


class _Leased:
    """Sessions that are ours to ask about, as long as we do."""

    def __init__(self, store: Store, chosen: Iterable[Candidate]) -> None:
        self._store, self._chosen = store, chosen
        self._leases: list[Lease] = []

    def work(self) -> Iterator[Work]:
        """Those of the sessions that nobody else is at, from now on ours."""
        for one in work_on(self._store, self._chosen):
            lease = self._store.leases.take(f"trace:{one.candidate.ref}")
            if lease is not None:
                self._leases.append(lease)
                yield one

    def renew(self) -> None:
        for lease in self._leases:
            self._store.leases.renew(lease)

    def release(self) -> None:
        for lease in self._leases:
            self._store.leases.release(lease)


def _idle_ms(settings: Settings) -> int:
    return settings.number("distill.idle_hours") * HOUR_MS


def _stopped_by(faults: list[RecollectError], steps: Iterator[T]) -> Iterator[T]:
    """The steps of something until it is stopped; by what is added to the faults."""
    try:
        yield from steps
    except RecollectError as error:
        faults.append(error)


def _by_rules(store: Store, chosen: Sequence[Candidate], report: Distilled) -> Iterator[Distilled]:
    for candidate in chosen:
        digest = store.digests.find(candidate.ref)
        if digest is not None and store.old.save_trace(candidate, trace.compose(digest)):
            report.distilled += 1
        else:
            # Forgotten or grown since we looked; the next run sees it as it is then.
            report.skipped += 1
        yield report


def _by_model(
    store: Store, chosen: Sequence[Candidate], by: ByModel, report: Distilled
) -> Iterator[Distilled]:
    unanswered: list[tuple[Candidate, str]] = []
    holding = _Leased(store, chosen)
    try:
        for answer in by.traces(holding.work()):
            if answer is None:
                holding.renew()
            else:
                candidate, verdict = answer
                if not isinstance(verdict, Kept | NothingWorthKeeping):
                    unanswered.append((candidate, verdict.reason))
                elif store.old.save_trace(candidate, verdict.trace):
                    report.distilled += 1
                    store.jobs.drop("trace", candidate.ref)
            report.tokens, report.cost_usd = by.spent()
            yield report
        # Not when the run was stopped: then it is not their fault.
        for candidate, reason in unanswered:
            store.jobs.leave("trace", candidate.ref, reason)
            report.failed += 1
    finally:
        report.skipped += len(chosen) - report.distilled - report.failed
        holding.release()
