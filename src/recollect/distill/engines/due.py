"""When an engine is asked: about a project that was left alone and has more than a little new,
one at a time, and never more than somebody allowed for a day.

After a failure the next try waits, each time twice as long. What stands in the way is said in
words, for `doctor` and for whoever asks by hand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from recollect.distill.engines.material import FEWEST_PROMPTS, gather
from recollect.distill.engines.writing import Engine, write
from recollect.errors import EngineUnavailable
from recollect.model.engines import EngineTotals
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.redact import Redactor
    from recollect.settings import Settings
    from recollect.store import Store

LEASE = "engine"
DAY_MS, HOUR_MS, MINUTE_MS = 86_400_000, 3_600_000, 60_000
# After the first failure in a row; at most a day.
WAIT_MINUTES = 15
# What one run takes at most: a record of 60 KB with what it is asked, and the answer.
RUN_TOKENS = 24_000


def write_due(
    store: Store, settings: Settings, writer: Engine | None, redactor: Redactor,
    readable: Collection[str] | None,
) -> Iterator[str]:  # fmt: skip
    """The job: have the engine of the settings write about every project that waits for it."""
    if writer is None:
        return
    lease = store.leases.take(LEASE, seconds=2 * settings.number("distill.timeout_seconds"))
    if lease is None:
        return
    try:
        idle_ms = settings.number("distill.idle_hours") * HOUR_MS
        for project, newest_at in store.engine_runs.waiting(FEWEST_PROMPTS):
            if obstacle(store, settings) or not store.leases.renew(lease):
                break
            if newest_at + idle_ms > now_ms():
                store.jobs.mark("session quiet", at=newest_at + idle_ms)
                continue
            if _waits(store, project):
                continue
            material = gather(
                store, project, redactor,
                most_prompts=settings.number("distill.max_items"), agents=readable,
            )  # fmt: skip
            if material is None:
                continue
            judged = settings.flag("distill.second_look")
            run = write(store, material, writer, redactor, judged=judged)
            yield project
            if run.outcome == "later":
                break
    finally:
        store.leases.release(lease)


def obstacle(store: Store, settings: Settings) -> str:
    """Why no engine is asked now; empty when one may be."""
    spent = store.engine_runs.spent_since(now_ms() - DAY_MS)
    if cap := _cap(spent, settings):
        return cap
    failed = store.engine_runs.failures()
    if failed and failed.outcome == "later":
        ready_at = failed.at + _wait_ms(failed.times)
        if ready_at > now_ms():
            minutes = -(-(ready_at - now_ms()) // MINUTE_MS)
            return f"it failed ({failed.why.rstrip('.')}); the next try is in {minutes} minutes"
    return ""


def _cap(spent: EngineTotals, settings: Settings) -> str:
    runs, tokens = (
        settings.number("distill.runs_per_day"),
        settings.number("distill.tokens_per_day"),
    )
    usd = settings.amount("distill.usd_per_day")
    if spent.runs >= runs:
        return f"{spent.runs} runs in 24 hours (distill.runs_per_day)"
    if 0 < tokens < spent.tokens + RUN_TOKENS:
        return f"{spent.tokens:,} tokens in 24 hours (distill.tokens_per_day is {tokens:,})"
    if 0 < usd <= spent.cost_usd:
        return f"{spent.cost_usd:.2f} dollars in 24 hours (distill.usd_per_day is {usd:.2f})"
    return ""


def _waits(store: Store, project: str) -> bool:
    """Whether the last answers about a project were no good, not long ago."""
    failed = store.engine_runs.failures(project)
    return failed is not None and failed.at + _wait_ms(failed.times) > now_ms()


def _wait_ms(failures: int) -> int:
    return min(WAIT_MINUTES * (1 << min(failures - 1, 10)) * MINUTE_MS, DAY_MS)


def refuse_if_obstacle(store: Store, settings: Settings) -> None:
    """For whoever asks by hand: raises what stands in the way."""
    if why := obstacle(store, settings):
        raise EngineUnavailable(f"No engine is asked now: {why}.", hint="Ask all the same: --force")
