"""The list of sessions, a page at a time."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from recollect.model.search import CHOICES
from recollect.serve.web import words
from recollect.serve.web.app import PageRequest, View

if TYPE_CHECKING:
    from recollect.serve.web.app import Context

ROWS = 60
MOST_PROJECTS = 6
MOST_NAMED = 8
FILTERS = ("project", "outcome", "agent", "since", "until")


def build(asked: PageRequest) -> Context:
    """One page of sessions, with the filters that are on and those that could be."""
    memory, text = asked.memory, asked.value("q")
    filters = {name: value for name in FILTERS if (value := asked.value(name))}
    found = memory.session_page(text, limit=ROWS, cursor=asked.value("cursor") or None, **filters)
    kept = {"q": text, **filters} if text else dict(filters)
    months = groupby(found.rows, key=lambda one: _month(one.started_at))
    return {
        "q": text,
        "filters": filters or text,
        "total": found.total,
        "rows": [(month, list(some)) for month, some in months],
        "chips": _chips(asked, kept),
        "later_url": _url({**kept, "cursor": found.cursor}) if found.cursor else "",
        "earlier_url": _url(kept) if asked.value("cursor") else "",
    }


def _month(at: str | None) -> str:
    found = words.local(at)
    if found is None:
        return "No date in the log"
    return "Today" if words.when(at) == words.clock(at) else f"{found:%B %Y}"


def _chips(asked: PageRequest, kept: dict[str, str]) -> list[dict[str, object]]:
    """What can be filtered by with one click; a click on what is on takes it away."""
    wanted = [("since", kept["since"], f"since {kept['since']}")] if "since" in kept else []
    wanted += [("until", kept["until"], f"until {kept['until']}")] if "until" in kept else []
    projects = [one.key for one in asked.side()["projects"][:MOST_PROJECTS]]
    if "project" in kept and kept["project"] not in projects:
        projects.append(kept["project"])
    wanted += [("project", key, asked.web.project_name(key)) for key in projects]
    if "agent" in kept:
        wanted.append(("agent", kept["agent"], asked.web.agent_name(kept["agent"])))
    wanted += [("outcome", name, name) for name in CHOICES["outcome"]]
    chips = []
    for name, value, label in wanted:
        is_on = kept.get(name) == value
        rest = {key: one for key, one in kept.items() if key != name}
        chips.append(
            {
                "label": label,
                "outcome": value if name == "outcome" else "",
                "on": is_on,
                "url": _url(rest if is_on else {**rest, name: value}),
            }
        )
    return chips


def _url(values: dict[str, str]) -> str:
    return f"/sessions?{urlencode(values)}" if values else "/sessions"


def named(asked: PageRequest) -> Context:
    """A few sessions with some words, for whoever jumps."""
    return {"rows": list(asked.memory.sessions(asked.value("q"), limit=MOST_NAMED))}


PALETTE = View("/palette", "palette.html", named)
VIEW = View("/sessions", "sessions.html", build)
