"""Errors that come back, with what got past them; tools by failures; outcomes over time."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from recollect.model.search import CHOICES
from recollect.serve.web import words
from recollect.serve.web.app import PageRequest, View

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.model.answers import Friction
    from recollect.model.reports import WeekOutcome
    from recollect.serve.web.app import Context

LIMIT = 20
MOST_TOOLS = 12
FEWEST_CALLS = 5
WEEKS_SHOWN = 26
LEFT, WIDTH, HEIGHT = 34, 1120, 130
# How tall a week is in which an error was met most.
TALL = 20
# The colours of the plot, in the order in which outcomes stand on each other.
SHADES = {"success": "good", "partial": "part", "uncertain": "calm", "abandoned": "calm2",
          "fail": "bad"}  # fmt: skip


def build(asked: PageRequest) -> Context:
    """What keeps failing; with an error in the address, what helped against it."""
    memory, error = asked.memory, asked.value("error")
    project = asked.value("project") or None
    sessions = max(2, asked.number("sessions", 2))
    filters = {"project": project} if project else {}
    found = asked.kept(
        f"friction {sessions} {project}",
        lambda one: one.friction(sessions=sessions, limit=LIMIT, **filters),
    )
    return {
        "error": error,
        "fixes": memory.fix(error, folder=asked.web.folder, limit=6) if error else None,
        "least": sessions,
        "project_key": project,
        "troubles": [(one, _histogram(one, found.rows)) for one in found],
        "tools": asked.kept(f"tools {project}", lambda one: _tools(one, filters)),
        "weeks": _weeks(asked.kept("outcomes", lambda one: one.outcomes_by_week())),
    }


def past(asked: PageRequest) -> Context:
    """The best that got past one error, for a page that shows the error already."""
    error = asked.value("error")
    found = asked.kept(f"fix {error}", lambda one: list(one.fix(error, limit=3)))
    return {"fix": next((one for one in found if one.proof is not None), None)}


def _tools(memory: Memory, filters: dict[str, str]) -> list[dict[str, Any]]:
    rows = [
        row
        for row in memory.stats("tool", **filters)
        if (row.tool_calls or 0) >= FEWEST_CALLS and row.failed_tool_calls
    ]
    rows.sort(key=lambda row: -(row.failed_tool_calls or 0))
    return [
        {"row": row, "share": 100 * (row.failed_tool_calls or 0) / (row.tool_calls or 1)}
        for row in rows[:MOST_TOOLS]
    ]


def _histogram(trouble: Friction, all_rows: list[Friction]) -> dict[str, Any] | None:
    """How often an error was met in each of the last weeks, over the same weeks for all."""
    weeks = _weeks_to(max((week for one in all_rows for week in one.weeks), default=None))
    counts = [trouble.weeks.get(week, 0) for week in weeks]
    most = max(counts, default=0)
    if not most:
        return None
    met = [f"{count} in the week of {words.day(week)}"
           for week, count in zip(weeks, counts, strict=True) if count]  # fmt: skip
    return {
        "heights": [TALL * count / most for count in counts],
        "label": f"By week: {', '.join(met)}",
    }


def _weeks_to(last: str | None) -> list[str]:
    """The weeks that are shown, up to one."""
    if last is None:
        return []
    end = date.fromisoformat(last)
    return [(end - timedelta(weeks=back)).isoformat() for back in range(WEEKS_SHOWN)][::-1]


def _weeks(counts: list[WeekOutcome]) -> dict[str, Any]:
    """The sessions of each week by what they came to, as bars on each other."""
    if not counts:
        return {"bars": [], "outcomes": ()}
    weeks = _weeks_to(max(one.week for one in counts))
    weeks = [week for week in weeks if week >= min(one.week for one in counts)]
    by_week: dict[tuple[str, str], int] = {(one.week, one.outcome): one.sessions for one in counts}
    most = max(sum(by_week.get((week, name), 0) for name in SHADES) for week in weeks) or 1
    step = (WIDTH - LEFT) / max(len(weeks), 12)
    bars = []
    for place, week in enumerate(weeks):
        y = float(HEIGHT)
        parts = []
        for name, shade in SHADES.items():
            height = (HEIGHT - 16) * by_week.get((week, name), 0) / most
            y -= height
            if height:
                parts.append({"y": y, "height": height, "shade": shade})
        said = ", ".join(
            f"{count} {name}" for name in SHADES if (count := by_week.get((week, name)))
        )
        end = date.fromisoformat(week) + timedelta(days=6)
        bars.append(
            {
                "x": LEFT + place * step,
                "width": max(2.0, step - 4),
                "parts": parts,
                "label": f"Week of {words.day(week)}: {said or 'nothing'}",
                "url": f"/sessions?since={week}&until={end}",
                "text": words.day(week) if place % max(1, len(weeks) // 8) == 0 else "",
            }
        )
    return {"bars": bars, "most": most, "outcomes": CHOICES["outcome"], "shades": SHADES}


VIEW = View("/trouble", "trouble.html", build, takes_long=True, ahead=True)
FIX = View("/trouble/fix", "part.html", past, fragment="fix_of.html", takes_long=True)
