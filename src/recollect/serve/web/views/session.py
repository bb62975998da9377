"""A session: its turns in windows, what it came to, and what goes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import RecollectError
from recollect.model.sessions import ToolCall
from recollect.serve.cli.digest import EVIDENCE
from recollect.serve.handoff import handed_over, takers
from recollect.serve.resume import continuation
from recollect.serve.web.app import PageRequest, View
from recollect.serve.web.views.calls import show_turn
from recollect.serve.web.views.search import wanted_in
from recollect.serve.web.views.told import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.memory import Memory
    from recollect.model.notes import Note
    from recollect.model.sessions import Session
    from recollect.serve.web.app import Context
    from recollect.serve.web.views.calls import TurnView

# So many turns at once; more come when they are scrolled to.
WINDOW, BEFORE = 40, 5
# A session of more turns than this has no drawing of its shape.
MOST_IN_SHAPE = 60
MOST_FOUND = 200
# Of a longer one only what is known already is shown of how its tasks went.
MOST_DIGESTED = 400


def build(asked: PageRequest) -> Context:
    """A session with the turns around the one that was asked for."""
    memory = asked.memory
    session = memory.session(asked.part("ref"))
    at = asked.number("at", 1)
    after = max(0, at - 1 - BEFORE) if session.turns > WINDOW else 0
    learned = _learned(memory, session)
    window = _window(memory, session, after, learned)
    turns = window["turns"]
    is_short = session.turns <= MOST_IN_SHAPE
    return {
        "session": session,
        **window,
        "shape": _shape(turns) if is_short and len(turns) == session.turns else [],
        "tasks": _tasks(memory, session, turns),
        "resume": _resume(memory, session.id),
        "takers": takers(),
        "subagents": _subagents(memory, session),
        "told": [told(memory, one) for one in memory.injections.list(session=session.id)],
        "learned_total": sum(map(len, learned.values())),
        "changed": _changed(turns),
        "project_key": session.project,
    }


def hand_over(asked: PageRequest) -> Context:
    """What a session leaves behind for another agent, to copy."""
    made = handed_over(asked.memory, asked.value("session"), to=asked.value("to") or None)
    return {
        "handoff": made,
        "session": asked.memory.session(made.session),
        "takers": takers(),
        "project_key": made.project,
    }


def more(asked: PageRequest) -> Context:
    """The next turns of a session, for a page that shows others already."""
    session = asked.memory.session(asked.value("session"))
    learned = _learned(asked.memory, session)
    return {
        "session": session,
        **_window(asked.memory, session, asked.number("after", 0), learned),
    }


def find(asked: PageRequest) -> Context:
    """The turns of a session that hold some words."""
    session = asked.memory.session(asked.value("session"))
    text = asked.value("find")
    hits = (
        asked.memory.search(text, mode="text", limit=MOST_FOUND, session=session.id).hits
        if text
        else []
    )
    found = sorted(hits, key=lambda hit: hit.turn)
    return {"session": session, "find": text, "hits": found, "wanted": wanted_in(text)}


def _window(
    memory: Memory, session: Session, after: int, learned: Mapping[int, list[Note]]
) -> dict[str, Any]:
    """Some turns in a row, and where those before and after them begin."""
    found = memory.turns(session.id, after=after, limit=WINDOW + 1)
    contexts = memory.contexts(session.id, after=after, limit=WINDOW)
    shown = [
        show_turn(turn, context=contexts.get(turn.ordinal), learned=learned.get(turn.ordinal, ()))
        for turn in found[:WINDOW]
    ]
    return {
        "turns": shown,
        "earlier_after": max(0, after - WINDOW) if after else None,
        "later_after": shown[-1].turn.ordinal if len(found) > WINDOW else None,
    }


def _learned(memory: Memory, session: Session) -> dict[int, list[Note]]:
    """What is remembered from a session, by the turn that it rests on first."""
    found: dict[int, list[Note]] = {}
    for note in memory.notes.of_session(session.id):
        own = [ref for ref in note.turns if ref.rpartition("#")[0] == session.id]
        if own:
            found.setdefault(min(int(ref.rpartition("#")[2]) for ref in own), []).append(note)
    return found


def _tasks(memory: Memory, session: Session, turns: list[TurnView]) -> list[dict[str, Any]]:
    """The tasks of a session, how each went and by what evidence, with those of its turns
    that are on the page.
    """
    if session.outcome is None or session.turns > MOST_DIGESTED:
        # Nobody waits for a long session to be looked at again.
        return [{"task": task, "evidence": [], "turns": []} for task in session.tasks]
    shown = {one.turn.ordinal: one for one in turns}
    return [
        {
            "task": task,
            "evidence": [(EVIDENCE[one.kind], one) for one in task.evidence],
            "turns": [shown[number] for number in task.turns if number in shown],
        }
        for task in memory.digest(session.id).tasks
    ]


def _shape(turns: list[TurnView]) -> list[dict[str, Any]]:
    """Each turn as a bar, as wide as it took long, with a stroke for each call."""
    width = 840.0 / max(1, sum(_weight(one) for one in turns))
    left, bars = 0.0, []
    for one in turns:
        wide = max(8.0, _weight(one) * width - 6)
        calls = [event for event in one.turn.events if isinstance(event, ToolCall)]
        strokes = [
            (left + wide * (place + 1) / (len(calls) + 1), call.ok is False)
            for place, call in enumerate(calls)
        ]
        bars.append(
            {"turn": one, "x": left, "width": wide, "strokes": strokes if wide > 12 else []}
        )
        left += wide + 6
    return bars


def _weight(one: TurnView) -> float:
    # By its calls: times are missing in many logs, and waiting says little.
    return 1.0 + sum(isinstance(event, ToolCall) for event in one.turn.events)


def _resume(memory: Memory, ref: str) -> dict[str, Any]:
    """The command that continues a session; why there is none, where there is none."""
    try:
        found = continuation(memory, ref)
    except RecollectError as error:
        return {"command": "", "warnings": [str(error)]}
    return {"command": found.command, "warnings": found.warnings}


def _subagents(memory: Memory, session: Session) -> list[Session]:
    if not session.subagents:
        return []
    found = memory.sessions(session=session.id, subagents=True, limit=None)
    return [one for one in found if one.parent == session.id]


def _changed(turns: list[TurnView]) -> list[str]:
    """The files that these turns changed."""
    named = dict.fromkeys(
        event.target
        for one in turns
        for event in one.turn.events
        if isinstance(event, ToolCall) and event.tool_kind == "edit" and event.target
    )
    return list(named)[:20]


VIEW = View("/s/{ref:path}", "session.html", build)
TURNS = View("/turns", "turns.html", more, fragment="turns.html")
HANDOFF = View("/handoff", "handoff.html", hand_over)
FIND = View("/find", "found.html", find, fragment="found.html")
