"""Tokens and cost: by day, and split by project, model, agent or tool."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from recollect.serve.web import words
from recollect.serve.web.app import PageRequest, View

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.model.reports import StatsRow
    from recollect.serve.web.app import Context

SPLITS = (
    ("day", "Day"), ("project", "Project"), ("model", "Model"), ("agent", "Agent"),
    ("tool", "Tool"),
)  # fmt: skip
PERIODS = (("7d", "7 days"), ("30d", "30 days"), ("90d", "90 days"), ("", "All"))
# More days than these are shown as weeks.
DAYS_SHOWN = 120
MOST_ROWS = 200
WIDTH, HEIGHT, LEFT = 1120, 210, 52


def build(asked: PageRequest) -> Context:
    """Sums over a period, beside those of the period before it."""
    split = asked.value("by", "project")
    split = split if split in dict(SPLITS) else "project"
    measure = "tokens" if asked.value("what") == "tokens" else "cost"
    since = asked.value("since")
    now, before = periods(since)
    # What is kept holds for a day: a period moves on with it.
    day = f"{date.today()}"
    sums = {
        name: asked.kept(f"usage {name} {since} {day}", _summing(name, now))
        for name in {split, "day", "agent"}
    }
    earlier = {
        name: asked.kept(f"before {name} {since} {day}", _summing(name, before)) if before else []
        for name in {split, "agent"}
    }
    month = _summing("all", {"since": f"{date.today():%Y-%m}-01"})
    budget = asked.memory.settings.amount("cost.month_usd")
    return {
        "split": split,
        "splits": SPLITS,
        "periods": PERIODS,
        "since": since,
        "measure": measure,
        "rows": sums[split][:MOST_ROWS],
        "before": {row.name: row for row in earlier[split]} if split != "day" else {},
        "total": _total(sums["agent"]),
        "total_before": _total(earlier["agent"]) if earlier["agent"] else None,
        "chart": _chart(sums["day"], measure, budget / 30 if measure == "cost" else 0.0),
        "budget": budget,
        "month": _total(asked.kept(f"month {day}", month)) if budget else None,
    }


def periods(since: str) -> tuple[dict[str, str], dict[str, str] | None]:
    """The filters of a period such as 30d, and those of the one as long before it."""
    if not (since.endswith("d") and since[:-1].isdecimal() and len(since) < 6):
        return ({"since": since} if since else {}), None
    days, today = int(since[:-1]), date.today()
    begins = today - timedelta(days=days - 1)
    ended = begins - timedelta(days=1)
    return (
        {"since": f"{begins}"},
        {"since": f"{begins - timedelta(days=days)}", "until": f"{ended}"},
    )


def _summing(name: str, filters: dict[str, str]) -> Callable[[Memory], list[StatsRow]]:
    return lambda memory: memory.stats(name, **filters)


def as_csv(rows: list[StatsRow]) -> str:
    """The rows of a table, for other programs; unknown is empty."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["name", "sessions", "turns", "tool_calls", "input", "cache_read", "cache_write", "output",
         "cost_usd", "unpriced_calls"]
    )  # fmt: skip
    for row in rows:
        tokens = row.tokens
        some = (
            [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output]
            if tokens
            else ["", "", "", ""]
        )
        writer.writerow(
            [row.name, row.sessions, row.turns, row.tool_calls, *some, row.cost_usd,
             row.unpriced_calls]
        )  # fmt: skip
    return out.getvalue()


def _total(rows: list[StatsRow]) -> dict[str, Any]:
    """The sums of all rows; what has no price is counted apart."""
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    tokens = [row.tokens for row in rows if row.tokens]
    read = sum(one.input + one.cache_read + one.cache_write for one in tokens)
    return {
        "cost": sum(costs) if costs else None,
        "sessions": sum(row.sessions for row in rows),
        "turns": sum(row.turns for row in rows),
        "tokens": read + sum(one.output for one in tokens),
        "cached": sum(one.cache_read for one in tokens) / read if read else None,
        "unpriced": sum(row.unpriced_calls or 0 for row in rows),
    }


def _chart(rows: list[StatsRow], measure: str, budget: float) -> dict[str, Any]:
    """Bars by day, or by week where there are too many, with their axis, and the line that they
    may not pass on average.
    """
    days = [(day, _value(row, measure) if row else 0.0) for day, row in _days(rows)]
    length = 1 if len(days) <= DAYS_SHOWN else 7
    values = [
        (days[at][0], sum(value for _, value in days[at : at + length]))
        for at in range(0, len(days), length)
    ][-DAYS_SHOWN:]
    budget *= length
    most = max((value for _, value in values), default=0.0)
    if not most:
        return {"bars": [], "lines": [], "unit": "day"}
    most = max(most, budget)
    step = (WIDTH - LEFT) / max(len(values), 14)
    say = words.money if measure == "cost" else words.short
    return {
        "bars": [
            {
                "x": LEFT + place * step,
                "y": HEIGHT - value / most * (HEIGHT - 26),
                "width": max(1.0, step - 3),
                "height": value / most * (HEIGHT - 26),
                "label": f"{'Week of ' if length == 7 else ''}{words.day(day)}: {say(value)}",
                "url": f"/sessions?since={day}&until={_after(day, length - 1)}",
                "text": words.day(day) if place % max(1, len(values) // 10) == 0 else "",
            }
            for place, (day, value) in enumerate(values)
        ],
        "unit": "day" if length == 1 else "week",
        "budget_y": HEIGHT - budget / most * (HEIGHT - 26) if budget else None,
        "lines": [
            {"y": HEIGHT - share * (HEIGHT - 26), "text": say(share * most)}
            for share in (0.0, 0.5, 1.0)
        ],
    }


def _days(rows: list[StatsRow]) -> Iterator[tuple[str, StatsRow | None]]:
    """Each day from the first to the last one, those without anything too."""
    known = {row.name: row for row in rows if row.name}
    if not known:
        return
    last, first = (date.fromisoformat(some(known)) for some in (max, min))
    if (last - first).days >= DAYS_SHOWN:
        # Shown by week: each begins on a Monday.
        first -= timedelta(days=first.weekday())
    for number in range((last - first).days + 1):
        day = (first + timedelta(days=number)).isoformat()
        yield day, known.get(day)


def _after(day: str, days: int) -> str:
    return f"{date.fromisoformat(day) + timedelta(days=days)}"


def _value(row: StatsRow, measure: str) -> float:
    if measure == "cost":
        return row.cost_usd or 0.0
    tokens = row.tokens
    return (
        float(tokens.input + tokens.cache_read + tokens.cache_write + tokens.output)
        if tokens
        else 0.0
    )


VIEW = View("/usage", "usage.html", build, takes_long=True, ahead=True)
