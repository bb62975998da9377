"""The team: what of ours is out there, who sees it, and what is thought of each member here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from recollect.errors import RecollectError
from recollect.serve.web.app import Form, PageRequest, View
from recollect.serve.web.views.memory import back_to
from recollect.serve.web.words import last_name

if TYPE_CHECKING:
    from recollect.serve.web.app import Context

LIMIT = 30


def build(asked: PageRequest) -> Context:
    """What is known here; the members, whom only the hub knows, come after it."""
    team = asked.memory.team
    return {"status": team.status(ask=False) if team.name() else None, "members": None}


def members(asked: PageRequest) -> Context:
    """Everybody, and how the hub is; what is wrong where it cannot be asked."""
    team = asked.memory.team
    try:
        status = team.status()
        found = [] if status.failed else team.members()
    except RecollectError as error:
        return {"status": None, "members": [], "away": f"{error} {error.hint or ''}".strip()}
    return {
        "status": status,
        "members": found,
        "away": status.failed,
        "trustable": [one.key for one in asked.memory.projects.all() if one.kind == "remote"],
    }


def search(asked: PageRequest) -> Context:
    """What the team shares about some words; the hub is asked once somebody sends them."""
    text, team = asked.value("q"), asked.memory.team
    begun = time.perf_counter()
    result = team.search(text, limit=LIMIT) if text and team.name() else None
    return {
        "q": text,
        "team": team.name(),
        "result": result,
        "took_ms": 1_000 * (time.perf_counter() - begun),
        "own_url": f"/search?{urlencode({'q': text})}" if text else "/search",
    }


def trust(asked: PageRequest) -> str:
    """Believe what a member shares for a project."""
    name, project = asked.form.get("name", ""), asked.form.get("project", "")
    asked.memory.team.trust(name, project=project)
    return back_to(
        asked, f"What {name} shares of {last_name(project)} is told with the name.", None
    )


def distrust(asked: PageRequest) -> str:
    """Decide about each of their notes again."""
    name, project = asked.form.get("name", ""), asked.form.get("project", "")
    asked.memory.team.distrust(name, project=project)
    return back_to(asked, f"What {name} shares of {last_name(project)} waits for you again.", None)


def mute(asked: PageRequest) -> str:
    """Hear nothing of a member."""
    name = asked.form.get("name", "")
    asked.memory.team.mute(name)
    return back_to(asked, f"Nothing of {name} is here any more.", None)


def unmute(asked: PageRequest) -> str:
    """Hear them again."""
    name = asked.form.get("name", "")
    asked.memory.team.mute(name, muted=False)
    return back_to(asked, f"The next sync brings what {name} shares.", None)


VIEW = View("/team", "team.html", build)
MEMBERS = View("/team/members", "part.html", members, fragment="members.html", asks_hub=True)
SEARCH = View("/search/team", "team_search.html", search, asks_hub=True)
FORMS = (
    Form("/team/trust", trust),
    Form("/team/distrust", distrust),
    Form("/team/mute", mute),
    Form("/team/unmute", unmute),
)
