"""What is new: the newest sessions, what waits, what agents will delete, the year."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from recollect.serve.web import words
from recollect.serve.web.app import PageRequest, View
from recollect.serve.web.views.told import sums, told

if TYPE_CHECKING:
    from recollect.model.reports import StatsRow
    from recollect.model.sessions import Session
    from recollect.serve.web.app import Context

MOST_SESSIONS = 12
MOST_TOLD, MOST_SHOWN, MOST_CANDIDATES = 500, 5, 3
WEEKS = 53
# Of the days on which something was done, the shares up to which a day is shown as light.
SHADES = (0.25, 0.5, 0.75)


def build(asked: PageRequest) -> Context:
    """The first page: it opens on the newest day that has anything."""
    memory = asked.memory
    page = memory.session_page(limit=MOST_SESSIONS)
    if not page.total:
        return {"empty": True, "agents": [one for one in memory.agents.all() if one.found]}
    days = [(name, list(some)) for name, some in groupby(page.rows, key=lambda one: _day(one))]
    lines_told = memory.injections.list(since="today", limit=MOST_TOLD)
    return {
        "empty": False,
        "today": datetime.now().astimezone(),
        "days": days,
        "total": page.total,
        "newest": days[0],
        "told": [told(memory, one) for one in lines_told[:MOST_SHOWN]],
        "told_sums": sums(lines_told),
        "candidates": list(memory.notes.search(status="candidate", limit=MOST_CANDIDATES)),
        "back": "/",
    }


def store_in_short(asked: PageRequest) -> Context:
    """What is kept, and what agents will delete soon."""
    return {"summary": asked.kept("summary", lambda one: one.summary())}


def year(asked: PageRequest) -> Context:
    """The days of the last year."""
    return {"year": _year(asked.kept("days", lambda one: one.stats("day")))}


def _day(session: Session) -> str:
    found = words.local(session.started_at)
    if found is None:
        return "No date in the log"
    today = datetime.now().astimezone().date()
    if found.date() == today:
        return "Today"
    if found.date() == today - timedelta(days=1):
        return "Yesterday"
    return words.day(session.started_at)


def _year(rows: list[StatsRow]) -> dict[str, Any]:
    """The days of the last year by how much was asked in them."""
    counts = {row.name: row.turns for row in rows if row.name}
    if not counts:
        return {"cells": [], "months": [], "turns": 0}
    last = max(date.fromisoformat(max(counts)), datetime.now().astimezone().date())
    first = last - timedelta(days=7 * WEEKS - 1)
    first -= timedelta(days=first.weekday())
    shown = sorted(count for day, count in counts.items() if day >= first.isoformat())
    limits = [shown[int(share * (len(shown) - 1))] for share in SHADES] if shown else [1, 1, 1]
    cells: list[dict[str, Any]] = []
    months: list[tuple[float, str]] = []
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        week, row = divmod(number, 7)
        count = counts.get(day.isoformat(), 0)
        shade = 0 if not count else 1 + sum(count > limit for limit in limits)
        x, y = 34 + 20.5 * week, 20 + 20.5 * row
        cells.append({"x": x, "y": y, "shade": shade, "day": day, "count": count})
        if day.day == 1 or not number:
            months.append((x, f"{day:%b}"))
    if len(months) > 1 and months[1][0] - months[0][0] < 30:
        del months[0]
    return {
        "cells": cells,
        "months": months,
        "turns": sum(counts.values()),
        "first": min(counts),
    }


VIEW = View("/", "home.html", build)
# What the first page need not wait for.
KEPT = View("/home/kept", "part.html", store_in_short, fragment="home_kept.html", takes_long=True)
YEAR = View("/home/year", "part.html", year, fragment="home_year.html", takes_long=True)
