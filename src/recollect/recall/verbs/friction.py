"""Errors that come back: the same shape, in several sessions.

Of each failed call the line that names the error counts, once; what a fork
copied counts once too. Whether the failed command worked afterwards is looked
up for the latest few occurrences of each.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from recollect.model.answers import Answers
from recollect.model.answers import Friction as Row
from recollect.model.calls import Call
from recollect.reading.error_text import error_lines, headline, shape, telling
from recollect.reading.quoting import as_run
from recollect.recall.verbs.after import follow_up
from recollect.system.clock import iso

if TYPE_CHECKING:
    from recollect.model.calls import PlainEvent, Scene
    from recollect.model.search import Scope
    from recollect.store import Store

# Reading a turn takes a tenth of a millisecond, and what failed years ago is no friction of today.
NEWEST_TURNS = 4_000
LOOKED_AT = 3


class Occurrence(NamedTuple):
    """A failed call, or an error of the agent itself: `ordinal` is then None.

    With the line that names the error, and what had been called.
    """

    turn: int
    ordinal: int | None
    line: str
    command: str


def friction(
    store: Store,
    *,
    scope: Scope,
    sessions: int = 3,
    limit: int | None = 20,
) -> Answers[Row]:
    """Errors that were met in at least so many sessions, the most widespread first."""
    found: dict[str, list[Occurrence]] = {}
    for event in store.calls.failed(scope, turns=NEWEST_TURNS):
        if one := _occurrence(event):
            found.setdefault(shape(one.line), []).append(one)
    often = {
        shaped: met
        for shaped, met in found.items()
        if telling(shaped) and len({one.turn for one in met}) >= sessions
    }
    scenes = store.turns.scenes(list({one.turn for met in often.values() for one in met}))
    rows = []
    for shaped, met in often.items():
        kept = _without_copies(met, scenes)
        in_sessions = len({scenes[one.turn].session for one in kept})
        if in_sessions >= sessions:
            rows.append((-in_sessions, -len(kept), shaped, kept))
    # No shape is there twice, so nothing behind it is compared.
    rows.sort()
    answers = Answers([_row(store, shaped, met, scenes) for _, _, shaped, met in rows[:limit]])
    if len(rows) > len(answers):
        answers.remarks.append(f"{len(rows) - len(answers)} more. To see them, raise --limit.")
    failed = store.calls.count_failed_turns(scope)
    if failed > NEWEST_TURNS:
        answers.remarks.append(
            f"Counted the newest {NEWEST_TURNS:,} of {failed:,} turns with errors. For older "
            "ones, add until:DATE."
        )
    return answers


def _occurrence(event: Call | PlainEvent) -> Occurrence | None:
    """What failed, if there is a line that names the error."""
    line = headline(error_lines(event.output if isinstance(event, Call) else event.text))
    if line is None:
        return None
    if isinstance(event, Call):
        return Occurrence(event.turn, event.ordinal, line, event.target)
    return Occurrence(event.turn, None, line, "")


def _without_copies(met: list[Occurrence], scenes: dict[int, Scene]) -> list[Occurrence]:
    kept: dict[tuple[object, ...], Occurrence] = {}
    for one in met:
        kept.setdefault((*scenes[one.turn].copy_of, one.ordinal, one.line), one)
    return sorted(
        kept.values(), key=lambda one: (scenes[one.turn].at or 0, one.turn, one.ordinal or 0)
    )


def _row(store: Store, shaped: str, met: list[Occurrence], scenes: dict[int, Scene]) -> Row:
    calls = [(one.turn, one.ordinal) for one in reversed(met) if one.ordinal is not None]
    latest = calls[:LOOKED_AT]
    # A turn that was undone, a sub-agent's or anybody's, is a poorer example than any other.
    example = max(
        met,
        key=lambda one: (
            scenes[one.turn].live,
            not scenes[one.turn].subagent,
            not scenes[one.turn].external,
            scenes[one.turn].at or 0,
        ),
    )
    times = [at for one in met if (at := scenes[one.turn].at) is not None]
    return Row(
        shape=shaped, count=len(met), sessions=len({scenes[one.turn].session for one in met}),
        agents=sorted({scenes[one.turn].agent for one in met}),
        projects=sorted({project for one in met if (project := scenes[one.turn].project)}),
        first_at=iso(min(times, default=None)), last_at=iso(max(times, default=None)),
        example=example.line,
        ref=scenes[example.turn].ref, external=scenes[example.turn].external,
        command=as_run(example.command, 200) if example.command else None,
        # Whether the command is known to have worked afterwards: a hidden end tells nothing.
        fixed=sum(follow_up(store, *call).proof is not None for call in latest),
        looked_at=len(latest),
        weeks=dict(sorted(Counter(map(_week, times)).items())),
    )  # fmt: skip


def _week(at: int) -> str:
    """The Monday of the week that a time in milliseconds is in."""
    day = datetime.fromtimestamp(at / 1000, UTC).date()
    return f"{day - timedelta(days=day.weekday())}"
