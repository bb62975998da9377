"""Gives sessions their trace memories: which of them, by whom, and how many in a run.

The rules cost nothing and take every session that is due. A model is asked
about a few in a run; a session is leased meanwhile, so that two runs do not
pay for it twice. One that fails is left to the queue, which tries it again
later, and in the end keeps it as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.clock import now_ms
from recollect.digests import Engine
from recollect.distill import trace
from recollect.distill.consolidate import consolidate
from recollect.distill.digest import digest_all
from recollect.distill.model import Kept, NothingWorthKeeping, Verdict, Work
from recollect.errors import BadReply, RecollectError, SpendingLimit
from recollect.reports import Distilled
from recollect.store.traces import Candidate

if TYPE_CHECKING:
    from recollect.settings import Settings
    from recollect.store import Store
    from recollect.store.leases import Lease

CALLS_PER_RUN = 8
HOUR_MS = 3_600_000

# Has a model read sessions; raises what would meet every other one too.
Ask = Callable[[Iterable[Work]], Iterator[tuple[Candidate, Verdict]]]


def distill(
    store: Store,
    settings: Settings,
    *,
    ask: Ask | None = None,
    now: bool = False,
    limit: int | None = None,
    everything: bool = False,
    project: str | None = None,
) -> Iterator[Distilled]:
    """Bring the trace memories and then the projects' memories up to date; the report after each step, the last one counts.

    What a model says that stops the run is raised in the end, when what it
    said before has found its place.
    """
    report, fault = Distilled(), None
    for _ in digest_all(store):
        yield report
    found, chosen = candidates(
        store, settings, "llm" if ask else "rules", now=now, limit=limit, everything=everything, project=project, report=report
    )
    report.candidates, report.skipped = len(found), len(found) - len(chosen)
    if ask is None:
        yield from _by_rules(store, chosen, report)
    else:
        try:
            yield from _by_model(store, chosen, ask, report)
        except SpendingLimit:
            pass  # It is a limit that somebody set: the next run goes on.
        except RecollectError as error:
            fault = error
    for made in consolidate(store, settings.home, traces_kept=settings.number("distill.traces_kept"), project=project):
        report.projects, report.consolidated, report.locked = made.projects, made.consolidated, made.locked
        yield report
    store.distill_later(idle_ms=_idle_ms(settings))
    if fault is not None:
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
) -> tuple[list[Candidate], list[Candidate]]:
    """The sessions that are due, and those of them that one run takes on.

    With `now`, also those that may still run and those that wait in the
    queue after a failure. The rules take all on, unless a limit is given.
    """
    idle_before = None if now else now_ms() - _idle_ms(settings)
    considered, found = store.trace_candidates(engine=engine, idle_before=idle_before, project=project, home=settings.home)
    if report is not None:
        report.considered = considered
    free = [candidate for candidate in found if now or not candidate.queued]
    most = CALLS_PER_RUN if engine != "rules" and limit is None else limit
    return found, free if everything or most is None else free[:most]


def work_on(store: Store, chosen: Iterable[Candidate]) -> Iterator[Work]:
    """What is known of these sessions."""
    for candidate in chosen:
        digest = store.find_digest(candidate.ref)
        if digest is not None:
            yield Work(candidate, digest, store.passages(candidate.session))


def ask_again(store: Store, ref: str, ask: Ask) -> None:
    """Ask a model once more about a session that failed; raises what is in the way."""
    candidate = store.find_candidate(ref)
    for one, verdict in ask(work_on(store, [candidate] if candidate else [])):
        if not isinstance(verdict, Kept | NothingWorthKeeping):
            raise BadReply(verdict.reason, hint="`recollect jobs` says when it is tried again")
        store.save_trace(one, verdict.trace)


def _idle_ms(settings: Settings) -> int:
    return settings.number("distill.idle_hours") * HOUR_MS


def _by_rules(store: Store, chosen: Sequence[Candidate], report: Distilled) -> Iterator[Distilled]:
    for candidate in chosen:
        digest = store.find_digest(candidate.ref)
        if digest is not None and store.save_trace(candidate, trace.compose(digest)):
            report.distilled += 1
        else:
            # Forgotten or grown since we looked; the next run sees it as it is then.
            report.skipped += 1
        yield report


def _by_model(store: Store, chosen: Sequence[Candidate], ask: Ask, report: Distilled) -> Iterator[Distilled]:
    leases: dict[str, Lease] = {}
    unanswered: list[tuple[Candidate, str]] = []

    def work() -> Iterator[Work]:
        for one in work_on(store, chosen):
            lease = store.take_lease(f"trace:{one.candidate.ref}")
            if lease is not None:
                leases[one.candidate.ref] = lease
                yield one

    before = report.distilled
    try:
        for candidate, verdict in ask(work()):
            if not isinstance(verdict, Kept | NothingWorthKeeping):
                unanswered.append((candidate, verdict.reason))
                continue
            _spent(report, verdict.trace.tokens, verdict.trace.cost_usd)
            if store.save_trace(candidate, verdict.trace):
                report.distilled += 1
                store.drop_job("trace", candidate.ref)
            yield report
        # Not when the run was stopped: then it is not their fault.
        for candidate, reason in unanswered:
            store.fail_job("trace", candidate.ref, reason)
            report.failed += 1
    finally:
        report.skipped += len(chosen) - (report.distilled - before) - report.failed
        for lease in leases.values():
            store.release_lease(lease)


def _spent(report: Distilled, tokens: int, cost_usd: float | None) -> None:
    report.tokens += tokens
    report.cost_usd = None if report.cost_usd is None or cost_usd is None else report.cost_usd + cost_usd
