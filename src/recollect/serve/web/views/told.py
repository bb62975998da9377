"""What agents were told unasked, and what came of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from recollect.errors import RecollectError
from recollect.serve.web.app import Form, PageRequest, View
from recollect.serve.web.views.memory import back_to

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.model.injections import Effect, Injection
    from recollect.serve.web.app import Context

LIMIT = 200
PERIODS = (("7d", "7 days"), ("30d", "30 days"), ("", "All"))
MOST_EFFECTS = 12
# The plot of what changed, in percentage points.
LEFT, MIDDLE, A_POINT, ROW = 420, 700, 2.8, 28


def build(asked: PageRequest) -> Context:
    """Every time that an agent was told something, in a period."""
    memory = asked.memory
    since = asked.value("since", "30d")
    found = memory.injections.list(since=since or None, limit=LIMIT)
    chosen = asked.value("id")
    return {
        "since": since,
        "periods": PERIODS,
        "rows": [told(memory, one) for one in found],
        "sums": sums(found),
        "effects": _plot(memory.injections.effect()[:MOST_EFFECTS]),
        "chosen": memory.injections.get(chosen) if chosen else None,
        "back": f"/told?since={since}",
    }


def told(memory: Memory, injection: Injection) -> dict[str, Any]:
    """One time, with the session in which it was and how its lines were used."""
    title = None
    if injection.session:
        try:
            title = memory.session(injection.session).title
        except RecollectError:
            # It is not imported yet, or was forgotten.
            title = None
    return {
        "injection": injection,
        "title": title,
        "uses": Counter(line.use for line in injection.lines),
    }


def sums(found: list[Injection]) -> dict[str, int]:
    """How many sessions and lines, and how many of them were used."""
    uses = Counter(line.use for one in found for line in one.lines)
    return {
        "sessions": len({one.session for one in found if one.session}),
        "lines": sum(uses.values()),
        "used": uses["used"],
        "unknown": uses["unknown"],
    }


def _plot(effects: list[Effect]) -> list[dict[str, Any]]:
    """Each note with the interval of what changed, where there is enough data."""
    rows = []
    for place, one in enumerate(effects):
        low, high = one.change_low, one.change_high
        known = one.change is not None and low is not None and high is not None
        row: dict[str, Any] = {"effect": one, "y": 38 + ROW * place, "known": known}
        if known:
            row |= {"low": _x(low), "high": _x(high), "at": _x(one.change)}
            row["clear"] = (high or 0.0) < 0 or (low or 0.0) > 0
        rows.append(row)
    return rows


def _x(change: float | None) -> float:
    """Where a change stands on the axis, from a hundred points fewer to a hundred more."""
    return MIDDLE + A_POINT * 100 * max(-1.0, min(1.0, change or 0.0))


def helpful(asked: PageRequest) -> str:
    """It helped."""
    asked.memory.injections.give_feedback(asked.form.get("ref", ""), True, by="person")
    return back_to(asked, "Noted: it helped.", None)


def harmful(asked: PageRequest) -> str:
    """It did harm."""
    asked.memory.injections.give_feedback(asked.form.get("ref", ""), False, by="person")
    return back_to(asked, "Noted: it did harm.", None)


VIEW = View("/told", "told.html", build)
FORMS = (Form("/told/helpful", helpful), Form("/told/harmful", harmful))
