"""What telling came to, note by note: told, used, and whether the failure came back.

Before and after is no experiment: sessions differ in more than in what they were told. So it is
counted for notes about a command that fails, where there is something to count, and a number is
only put in front of an interval that enough sessions make narrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recollect.errors import NotFound, UsageError
from recollect.model.injections import Effect, Share, is_harmful
from recollect.recall.hooks.statistics import LEAST_SESSIONS, change, share
from recollect.recall.hooks.use import things_in
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.model.notes import Note
    from recollect.store import Store
    from recollect.store.sqlite.injections import UseCounts


def effects(
    store: Store, *, project: str | None = None, ref: str | None = None
) -> Iterator[Effect]:
    """What telling each note came to that was told by a hook, those told most first."""
    feedback = store.injections.all_feedback()
    counts = store.injections.counts()
    wanted = None if ref is None else store.notes.get(ref).ref
    for name, count in sorted(counts.items(), key=lambda pair: (-pair[1].told, pair[0])):
        if not name.startswith("note:") or (wanted is not None and name != wanted):
            continue
        try:
            note = store.notes.get(name)
        except (NotFound, UsageError):
            continue
        if project is None or note.project == project:
            yield _effect(store, note, count, *feedback.get(name, (0, 0)))


def _effect(store: Store, note: Note, count: UseCounts, helpful: int, harmful: int) -> Effect:
    row = Effect(
        ref=note.ref, text=note.text, since=iso(count.since), told=count.told,
        sessions=count.sessions, used=count.used, unused=count.unused,
        unknown=count.told - count.used - count.unused, helpful=helpful, harmful=harmful,
    )  # fmt: skip
    failing = things_in(note.text).failing
    if failing and note.project is not None:
        row.before, row.after = _sides(store, note.project, note.ref, failing, count.since)
        changed = change(row.before, row.after)
        if changed is not None:
            row.change, row.change_low, row.change_high = changed
    row.verdict = _verdict(row)
    return row


def _sides(
    store: Store, project: str, ref: str, failing: tuple[str, ...], since: int
) -> tuple[Share, Share]:
    """In how many sessions it failed before it was first told, and in how many that were told."""
    told = store.injections.told_in(ref)
    sessions = store.injections.sessions_running(project, failing)
    before = [failed for session, at, failed in sessions if at < since and session not in told]
    after = [failed for session, _, failed in sessions if session in told]
    return share(sum(before), len(before)), share(sum(after), len(after))


def _verdict(row: Effect) -> str:
    """What the numbers allow to be said, in a sentence."""
    if is_harmful(row.helpful, row.harmful):
        return f"called harmful {row.harmful} times and helpful {row.helpful}: not told any more"
    if row.before is None or row.after is None:
        return "about no failing command, so there is no before and after"
    if row.change is None or row.change_low is None or row.change_high is None:
        return f"not enough data: before and after take {LEAST_SESSIONS} sessions each"
    points = f"{100 * row.change:+.1f} sessions in 100"
    if row.change_low <= 0 <= row.change_high:
        return f"no clear change ({points})"
    return f"fails {'less' if row.change < 0 else 'more'} often since it is told ({points})"
