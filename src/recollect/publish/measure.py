"""What became of patterns and notes: offered, opened, cited, and what happened before and after.

Before and after is no experiment: other things change too, and something is
published because it had been seen often just before. So every number comes
with its interval, and below a stated number of sessions or tasks there is none.
docs/measure.md says what can be concluded from this and what cannot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from recollect.model.publications import Measured, Share, Side, is_harmful
from recollect.publish import statistics
from recollect.publish.statistics import LEAST_SESSIONS, LEAST_TASKS
from recollect.store.measured import OPENING, UNWANTED
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.store import Store
    from recollect.store.measured import Done, Held, Offer, Seen, Subject

NOT_ENOUGH = "not enough data"
_MORE = ("tool_sequence", "decision_point", "context")


def measure(store: Store, ref: str | None = None) -> list[Measured]:
    """Measure one pattern or note, or all that are or were told."""
    offers = store.old.offers()
    standing, came_up = store.old.standing(), store.old.came_up_after(offers)
    by_ref: dict[str, list[Offer]] = defaultdict(list)
    for offer in offers:
        for name in offer.refs:
            by_ref[name].append(offer)
    return [
        _measured(
            store,
            subject,
            by_ref[subject.ref],
            standing.get(subject.ref, (0, 0)),
            came_up.get(subject.ref, {}),
        )
        for subject in store.old.subjects(ref)
    ]


def _measured(
    store: Store,
    subject: Subject,
    own: Sequence[Offer],
    standing: tuple[int, int],
    came_up: dict[str, bool],
) -> Measured:
    offered = [offer for offer in own if offer.event not in OPENING]
    opened = [offer for offer in own if offer.event in OPENING]
    helpful, harmful = standing
    row = Measured(
        ref=subject.ref, kind=subject.kind, text=subject.text, status=subject.status,
        since=iso(subject.since),
        wanted=_wanted(subject.kind), offered=len(offered),
        offered_sessions=len({one.session for one in offered if one.session}),
        opened=len(opened), cited=_cited(store, subject, offered, came_up),
        came_back=sum(not well for well in came_up.values()),
        helpful=helpful, harmful=harmful, retire=is_harmful(helpful, harmful),
    )  # fmt: skip
    if subject.since is not None and subject.projects:
        _compare(store, subject, row, offered)
    row.verdict = _verdict(row)
    return row


def _wanted(kind: str) -> Literal["fewer", "more"] | None:
    """Whether less of it is better; a note is about no one thing that could be counted."""
    return "fewer" if kind in UNWANTED else "more" if kind in _MORE else None


def _cited(
    store: Store, subject: Subject, offered: Sequence[Offer], came_up: dict[str, bool]
) -> int:
    """In how many sessions an agent named it after it was offered there, or
    did what it says and that worked.
    """
    first: dict[str, int] = {}
    for offer in offered:
        if offer.session is not None:
            first[offer.session] = min(offer.at, first.get(offer.session, offer.at))
    named = {
        session
        for session, at in store.old.naming(subject.ref)
        if session in first and (at is None or at >= first[session])
    }
    return len(named | {session for session, well in came_up.items() if well})


def _compare(store: Store, subject: Subject, row: Measured, offered: Sequence[Offer]) -> None:
    """Fill in what happened before and after."""
    assert subject.since is not None
    sessions = store.old.sessions_in(subject.projects)
    before = [one for one in sessions if one.at < subject.since]
    after = [one for one in sessions if one.at >= subject.since]
    if subject.signature is None:
        # A note is told in every session since; only those that it was
        # offered to say something about it.
        told = {offer.session for offer in offered}
        row.before, row.after = (
            _side(store, before, None),
            _side(store, [one for one in after if one.ref in told], None),
        )
        return
    seen = store.old.sightings(subject.kind, subject.signature)
    row.before, row.after = _side(store, before, seen), _side(store, after, seen)
    changed = statistics.change(row.before.sessions, row.after.sessions)
    row.enough = changed is not None
    if changed is not None:
        row.change, row.change_low, row.change_high = changed


def _side(store: Store, sessions: Sequence[Held], seen: Sequence[Seen] | None) -> Side:
    """One side: of a pattern, the sessions it was seen in and the tasks it came up in.

    Of a note, all of them.
    """
    numbers = {one.session for one in sessions}
    if seen is None:
        tasks, share = store.old.tasks_of(sorted(numbers)), Share(count=0, of=len(sessions))
    else:
        places = {(one.session, one.turn) for one in seen if one.session in numbers}
        found = {session for session, _ in places}
        share = statistics.share(len(found), len(sessions), LEAST_SESSIONS)
        tasks = [
            task
            for task in store.old.tasks_of(sorted(found))
            if any((task.session, turn) in places for turn in task.turns)
        ]
    return Side(
        sessions=share,
        success=_success(tasks),
        tokens=statistics.amount([task.tokens for task in tasks]),
        seconds=statistics.amount([task.seconds for task in tasks if task.seconds is not None]),
    )


def _success(tasks: Sequence[Done]) -> Share:
    """How many of the tasks whose outcome is known went well."""
    known = [task for task in tasks if task.outcome != "uncertain"]
    return statistics.share(
        sum(task.outcome == "success" for task in known), len(known), LEAST_TASKS
    )


def _verdict(row: Measured) -> str:
    """What the numbers allow to be said, in a sentence."""
    if row.retire:
        return f"harmful {row.harmful} times and helpful {row.helpful}: it is not told any more, and should be retired"
    if row.since is None:
        return "not accepted yet, so there is no before and after"
    if row.wanted is None:
        return "a note is about no one failure, so there is nothing to count before and after"
    if row.change is None or row.change_low is None or row.change_high is None:
        return f"{NOT_ENOUGH}: before and after take {LEAST_SESSIONS} sessions each"
    better, worse = row.change_high < 0, row.change_low > 0
    if row.wanted == "more":
        better, worse = worse, better
    points = f"{100 * row.change:+.1f} sessions in 100"
    if not better and not worse:
        return f"no clear change ({points})"
    return f"seen {'less' if row.change < 0 else 'more'} often since ({points}), which is {'good' if better else 'bad'}"
