"""How much the store may hold, and what goes when it is more.

Three passes, each over the oldest turns first. By age, and down to the soft
cap, only turns go whose session has a digest of what is stored now and was
quiet for a while. The hard cap is a promise about the disk: should that not be
enough, it takes what has no digest yet, and says how many turns that were.
Digests and notes never go by themselves; when they outgrow their cap, that is
said too.

Turns go a few at a time, each time in a transaction of its own, so that nobody
waits long for the store, and a run that stops anywhere is continued by the next.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from msgspec import Struct

from recollect.errors import StoreError
from recollect.model.reports import HealthCheck, Retained, Room
from recollect.model.retention import WholeTurn
from recollect.settings import Settings
from recollect.store import Store
from recollect.system.clock import now_ms

# A session that goes on after its events went would be digested again from what is left of them.
QUIET_MS = 6 * 3_600_000
DAY_MS = 24 * 3_600_000
# A batch holds the write lock for a few tenths of a second.
BATCH_BYTES = 1 << 20
BATCH_TURNS = 256
# Whoever waits for the lock looks every tenth of a second whether it is free
# (SQLite's busy handler), and has to find it so.
PAUSE_SECONDS = 0.12


class Budget(Struct, frozen=True, kw_only=True):
    """What the settings allow; 0 means no limit."""

    soft_bytes: int = 0
    hard_bytes: int = 0
    max_age_days: int = 0
    distilled_bytes: int = 0

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """The budget that the settings name."""
        return cls(
            soft_bytes=settings.number("retain.raw_soft_cap_bytes"),
            hard_bytes=settings.number("retain.raw_hard_cap_bytes"),
            max_age_days=settings.number("retain.raw_max_age_days"),
            distilled_bytes=settings.number("retain.distilled_cap_bytes"),
        )

    @property
    def limits_raw(self) -> bool:
        """Whether events may be let go at all."""
        return bool(self.soft_bytes or self.hard_bytes or self.max_age_days)


def find_room(store: Store, budget: Budget) -> Room | None:
    """How much is used of what the budget allows; None when it has no limits."""
    if budget == Budget():
        return None
    return Room(
        raw_bytes=store.evictions.raw_bytes(), raw_soft_cap_bytes=budget.soft_bytes,
        raw_hard_cap_bytes=budget.hard_bytes,
        raw_max_age_days=budget.max_age_days, distilled_bytes=store.evictions.distilled_bytes(),
        distilled_cap_bytes=budget.distilled_bytes,
    )  # fmt: skip


def check(store: Store, budget: Budget) -> list[HealthCheck]:
    """Whether the budget is kept to, as far as it has limits.

    More than the soft cap may be there for a good reason.
    """
    try:
        room = find_room(store, budget)
    except StoreError as error:
        return [HealthCheck(name="budget", ok=False, detail=str(error), hint=error.hint or "")]
    if room is None:
        return []
    hint = ""
    if 0 < budget.distilled_bytes < room.distilled_bytes:
        hint = "Forget what you do not need, or raise retain.distilled_cap_bytes."
    if 0 < budget.hard_bytes < room.raw_bytes:
        hint = "Try: recollect retain"
    return [HealthCheck(name="budget", ok=not hint, detail=str(room), hint=hint)]


def is_due(store: Store, budget: Budget, turns: int) -> bool:
    """Whether an import that brought so many turns should be followed by a run.

    Turns age without any import.
    """
    if not budget.limits_raw:
        return False
    return turns > 0 or (budget.max_age_days > 0 and now_ms() - store.evictions.last_run() > DAY_MS)


def retain(store: Store, budget: Budget) -> Iterator[Retained]:
    """Bring the store within its budget, a report after each batch; the last one counts."""
    run = _Run(store, budget)
    yield from run.by_age()
    yield from run.to_soft_cap()
    yield from run.to_hard_cap()
    run.finish()
    yield run.report


def retain_due(store: Store, settings: Settings) -> Iterator[Retained]:
    """The job: bring the store within the budget of the settings."""
    yield from retain(store, Budget.of(settings))


class _Run:
    """One run: what may still go, and what has gone so far."""

    def __init__(self, store: Store, budget: Budget) -> None:
        self.store, self.budget = store, budget
        self.now = now_ms()
        self.whole = store.evictions.whole_turns(self.now - QUIET_MS) if budget.limits_raw else []
        self.done: set[int] = set()
        self.unreadable = 0
        self.report = Retained()
        self._measure()

    def by_age(self) -> Iterator[Retained]:
        if self.budget.max_age_days:
            before = self.now - self.budget.max_age_days * DAY_MS
            yield from self._evict(
                "age", [one for one in self._safe() if one.at is not None and one.at < before]
            )

    def to_soft_cap(self) -> Iterator[Retained]:
        if self.budget.soft_bytes:
            yield from self._evict("soft", self._safe(), cap=self.budget.soft_bytes)

    def to_hard_cap(self) -> Iterator[Retained]:
        if self.budget.hard_bytes:
            # Sorting keeps the oldest first among those that are alike.
            last_resort = sorted(self._left(), key=lambda one: (not one.distilled, not one.quiet))
            yield from self._evict(
                "hard", last_resort, cap=self.budget.hard_bytes, undistilled=True
            )

    def finish(self) -> None:
        """Give the space back to the disk, and say what could not be kept to."""
        report = self.report
        if not self.budget.limits_raw:
            report.alerts = list(self._alerts())
            return
        self._measure()
        report.alerts = list(self._alerts())
        try:
            report.given_back = self.store.evictions.give_back()
        except StoreError as error:
            # A full disk has no room for the copy that this takes; the pages are
            # empty all the same, and used first.
            report.alerts.append(f"The file could not be made smaller: {error}")
        self.store.evictions.save_run()

    def _measure(self) -> None:
        self.report.final_usage, self.report.distilled_usage = (
            self.store.evictions.raw_bytes(),
            self.store.evictions.distilled_bytes(),
        )

    def _left(self) -> list[WholeTurn]:
        return [one for one in self.whole if one.turn not in self.done]

    def _safe(self) -> list[WholeTurn]:
        return [one for one in self._left() if one.distilled and one.quiet]

    def _evict(
        self,
        name: str,
        chosen: list[WholeTurn],
        *,
        cap: int | None = None,
        undistilled: bool = False,
    ) -> Iterator[Retained]:
        """Let go of these turns in their order; with a cap, only until the rest is within it."""
        report, at = self.report, 0
        while at < len(chosen) and (cap is None or report.final_usage > cap):
            batch = _batch(
                chosen,
                at,
                BATCH_BYTES if cap is None else min(BATCH_BYTES, report.final_usage - cap),
            )
            at += len(batch)
            evicted = self.store.evictions.evict(
                [one.turn for one in batch], undistilled=undistilled
            )
            self.done |= {gone.turn for gone in evicted}
            # The last resort takes whatever can be read.
            self.unreadable += undistilled * (len(batch) - len(evicted))
            for gone in evicted:
                report.freed += gone.freed_bytes
                report.final_usage -= gone.raw_bytes
                report.distilled_usage += gone.raw_bytes - gone.freed_bytes
                if gone.freed_bytes > 0:
                    report.evicted[name] += 1
                    report.data_loss += not gone.distilled
            if sum(gone.raw_bytes for gone in evicted) < sum(one.size_bytes for one in batch):
                # Somebody else is at it: what they let go of need not go here.
                self._measure()
            yield report
            if at < len(chosen):
                time.sleep(PAUSE_SECONDS)

    def _alerts(self) -> Iterator[str]:
        report, budget = self.report, self.budget
        if report.data_loss:
            yield (
                "Turns shortened before they had a digest, because of retain.raw_hard_cap_bytes: "
                f"{report.data_loss}"
            )
        for name, cap in (("soft", budget.soft_bytes), ("hard", budget.hard_bytes)):
            if cap and report.final_usage > cap:
                yield (
                    f"Events take {report.final_usage} bytes, more than "
                    f"retain.raw_{name}_cap_bytes ({cap}): {self._why(name)}"
                )
        if budget.distilled_bytes and report.distilled_usage > budget.distilled_bytes:
            yield (
                f"Digests, notes and memories take {report.distilled_usage} bytes, more than "
                f"retain.distilled_cap_bytes ({budget.distilled_bytes}). They are kept: "
                "forget what you do not need, or raise the limit."
            )

    def _why(self, name: str) -> str:
        if name == "hard" and self.unreadable:
            return f"{self.unreadable} turns cannot be read. Try: recollect doctor --verify"
        left = self._left()
        if name == "hard" or not left:
            return "new ones came in meanwhile; the next run takes them."
        waiting = sum(not one.distilled for one in left)
        return (
            f"{waiting} turns have no digest yet, {len(left) - waiting} are in sessions that may "
            "go on."
        )


def _batch(chosen: list[WholeTurn], start: int, most_bytes: int) -> list[WholeTurn]:
    """The next turns with so many bytes in all, as many as it takes and no more."""
    batch: list[WholeTurn] = []
    size = 0
    for one in chosen[start : start + BATCH_TURNS]:
        if size >= most_bytes:
            break
        batch.append(one)
        size += one.size_bytes
    return batch
