"""Search as somebody types: hits by session, why each is where it is, and one turn beside them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from recollect.model.search import CHOICES, FILTERS
from recollect.model.sessions import Turn
from recollect.serve.web.app import Form, PageRequest, View
from recollect.serve.web.views.calls import show_turn
from recollect.serve.web.views.memory import back_to

if TYPE_CHECKING:
    from recollect.model.search import Hit
    from recollect.model.sessions import Session
    from recollect.serve.web.app import Context

LIMIT = 30
MODES = (("hybrid", "Both"), ("text", "Words"), ("vector", "Meaning"))
_FILTER = re.compile(rf'(-?)({"|".join(FILTERS)}):("[^"]*"|\S+)', re.IGNORECASE)


def build(asked: PageRequest) -> Context:
    """The hits of a query, in the sessions they are from."""
    text, mode = asked.value("q"), asked.value("mode", "hybrid")
    begun = time.perf_counter()
    result = (
        asked.memory.search(text, mode=mode, limit=LIMIT, explain=True, here=asked.web.folder)
        if text
        else None
    )
    took_ms = 1_000 * (time.perf_counter() - begun)
    hits = result.hits if result else []
    asked.web.keep_hits(text, mode, hits)
    saved = asked.memory.searches.all()
    return {
        "q": text,
        "mode": mode,
        "modes": [(name, label, _url(text, name)) for name, label in MODES],
        "result": result,
        "groups": _by_session(asked, hits),
        "wanted": wanted_in(text),
        "took_ms": took_ms,
        "chips": _chips(asked, text, mode, hits),
        "preview": preview_of(asked, hits[0].ref) if hits else None,
        "why": parts_of(hits[0], hits) if hits else None,
        "why_first": True,
        "examples": _examples(asked) if not text else [],
        "saved": [(one, _url(one, "hybrid")) for one in saved],
        "is_saved": text in saved,
        "back": _url(text, mode) if text else "/search",
        "team": asked.memory.team.name(),
        "team_url": f"/search/team?{urlencode({'q': text})}" if text else "/search/team",
    }


def preview(asked: PageRequest) -> Context:
    """One turn, as it is shown beside the hits, and why it is among them."""
    ref = asked.value("ref")
    hits = asked.web.kept_hits(asked.value("q"), asked.value("mode", "hybrid"))
    hit = next((one for one in hits if one.ref == ref), None)
    return {
        "preview": preview_of(asked, ref),
        "why": parts_of(hit, hits) if hit else None,
        "why_first": bool(hits) and hit is hits[0],
    }


def preview_of(asked: PageRequest, ref: str) -> dict[str, Any]:
    """A turn with the session it is from, and what was asked before it."""
    turn = asked.memory.show(ref)
    if not isinstance(turn, Turn):
        turn = asked.memory.turns(ref, limit=1)[0]
    session = _session(asked, turn.ref.rpartition("#")[0])
    before = asked.memory.turns(session.id, after=max(0, turn.ordinal - 2), limit=1)
    return {
        "shown": show_turn(turn),
        "session": session,
        "before": before[0] if before and before[0].ordinal < turn.ordinal else None,
    }


def parts_of(hit: Hit, hits: list[Hit]) -> list[dict[str, Any]]:
    """What a score is made of, each part with its share of the best score."""
    best = max((one.score for one in hits), default=0.0) or 1.0
    parts = [
        (name, float(value))
        for name, value in (hit.reason or {}).items()
        if isinstance(value, int | float) and not isinstance(value, bool) and name != "score"
    ]
    return [
        {"name": name.replace("_", " "), "value": value, "share": max(0.0, 100 * value / best)}
        for name, value in parts
        if value
    ]


def wanted_in(text: str) -> list[str]:
    """The words of a query that are marked in what it finds: without their endings."""
    found = re.findall(r"(?<![\w-])\w[\w.+#-]*", _FILTER.sub(" ", text))
    return [word[: max(4, len(word) - 2)] if len(word) > 5 else word for word in found]


def _session(asked: PageRequest, ref: str) -> Session:
    """A session; from one keystroke to the next most are the same."""
    return asked.kept(f"session {ref}", lambda memory: memory.session(ref))


def _by_session(asked: PageRequest, hits: list[Hit]) -> list[dict[str, Any]]:
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.session, []).append(hit)
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    return [
        {
            "session": _session(asked, session),
            "hits": [{"hit": hit, "bar": max(2.0, 100 * hit.score / best)} for hit in some],
        }
        for session, some in groups.items()
    ]


def _chips(asked: PageRequest, text: str, mode: str, hits: list[Hit]) -> list[dict[str, Any]]:
    """The filters that are part of the query, each to be taken away, and some that would fit."""
    chips = [
        {
            "label": f"{sign}{name.lower()}",
            "value": value.strip('"'),
            "on": True,
            "url": _url(" ".join(text.replace(f"{sign}{name}:{value}", " ").split()), mode),
        }
        for sign, name, value in _FILTER.findall(text)
    ]
    known = {chip["label"] for chip in chips}
    more: list[tuple[str, str, str]] = []
    if "project" not in known:
        counts = _counts(hit.project for hit in hits if hit.project)
        more += (
            [("project", key, asked.web.project_name(key)) for key in counts[:3]]
            if len(counts) > 1
            else []
        )
    if "agent" not in known:
        counts = _counts(hit.agent for hit in hits)
        name = asked.web.agent_name
        more += [("agent", key, name(key)) for key in counts] if len(counts) > 1 else []
    if hits and "is" not in known:
        more += [("is", "human", "my words"), ("is", "error", "errors")]
    if hits and "outcome" not in known:
        more += [("outcome", name, name) for name in CHOICES["outcome"][:3:2]]
    return chips + [
        {"label": name, "value": label, "on": False, "url": _url(f"{text} {name}:{value}", mode)}
        for name, value, label in more
    ]


def _counts(found: Any) -> list[str]:
    from collections import Counter

    return [value for value, _ in Counter(found).most_common(4)]


def _url(text: str, mode: str) -> str:
    return f"/search?{urlencode({'q': text, 'mode': mode} if mode != 'hybrid' else {'q': text})}"


def _examples(asked: PageRequest) -> list[str]:
    example = asked.memory.store.example_query()
    return [one for one in (example, "what did I do yesterday", "is:error since:7d") if one]


def save(asked: PageRequest) -> str:
    """Keep the query."""
    asked.memory.searches.save(asked.form.get("q", ""))
    return back_to(asked, "Saved. It stands under the field.", None)


def forget(asked: PageRequest) -> str:
    """Keep it no longer."""
    asked.memory.searches.forget(asked.form.get("q", ""))
    return back_to(asked, "No longer saved.", None)


VIEW = View("/search", "search.html", build, fragment="hits.html")
FORMS = (Form("/search/save", save), Form("/search/forget", forget))
PREVIEW = View("/preview", "preview.html", preview, fragment="preview.html")
