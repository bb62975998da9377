"""When notes are taken from a session: not from a short one, not all the
time, and not in the middle of something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from recollect.store import bodies
from recollect.system.clock import now_ms

if TYPE_CHECKING:
    from recollect.store.history import Passage
    from recollect.store.notes import Extraction

FEWEST_MESSAGES = 20
# From the second time on: so many tool calls since the last.
FEWEST_CALLS = 3
# A session that has been quiet for longer is over, even if a call never returned.
LIVES_MS = 6 * 3_600_000

Answer = Literal["open", "short", "early", "busy"]


class Progress(NamedTuple):
    """How far a session got: its messages, how many of them are tool calls
    since the last time, and what still runs.
    """

    messages: int
    calls: int
    is_pending: bool
    last_at: int | None


def progress_of(passages: Sequence[Passage], since: Extraction | None) -> Progress:
    """How far a session got since notes were taken from it."""
    events = [row for passage in passages if passage.live for row in passage.rows]
    messages = [row for row in events if row[bodies.KIND] in ("prompt", "reply", "tool_call")]
    calls = [row for row in messages if row[bodies.KIND] == "tool_call"]
    new = [
        row for row in messages[since.message if since else 0 :] if row[bodies.KIND] == "tool_call"
    ]
    times = [row[bodies.AT] for row in events if row[bodies.AT] is not None]
    pending = any(row[bodies.OUTPUT] is None and row[bodies.OK] is None for row in calls)
    return Progress(len(messages), len(new), pending, max(times, default=None))


def ask_gate(progress: Progress, since: Extraction | None = None, now: int | None = None) -> Answer:
    """Whether notes may be taken from a session now: "open" when they may.

    "short" has too few messages, "early" too little that is new since the
    last time (`since`), and "busy" is only a matter of waiting. Times are
    milliseconds of UTC.
    """
    if progress.messages < FEWEST_MESSAGES:
        return "short"
    if since is not None and since.times and progress.calls < FEWEST_CALLS:
        return "early"
    at = now_ms() if now is None else now
    lives = progress.last_at is not None and at - progress.last_at < LIVES_MS
    return "busy" if progress.is_pending and lives else "open"
