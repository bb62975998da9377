"""What lies beside a log of Kimi: which files, and what they say of its session.

Kimi CLI:  `<home>/sessions/<hash of the working directory>/<session>/wire.jsonl`,
           `context.jsonl`, `state.json`, `subagents/<agent>/wire.jsonl` and `meta.json`;
           the working directories are listed in `<home>/kimi.json`.
Kimi Code: `<home>/sessions/wd_<name>_<hash>/<session>/agents/<agent>/wire.jsonl`
           and, for all agents of a session, `state.json`.
"""

from __future__ import annotations

import hashlib
import os

from recollect.capture.logs.documents import BrokenDocument, read_json
from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.values import Fields, fields_of, moment_of, objects_of, text_of

WIRE, CONTEXT, STATE, AGENT = "wire.jsonl", "context.jsonl", "state.json", "meta.json"
SUBAGENTS, AGENTS, MAIN = "subagents", "agents", "main"
# A session that Kimi Code took over has the id of the old one after this.
TAKEN_OVER = "ses_"
_DOCUMENT_BYTES = 4 << 20


def _document(path: str) -> Fields:
    """A file that may be absent or half written; it is read again when its log has grown."""
    try:
        return fields_of(read_json(path, limit=_DOCUMENT_BYTES))
    except (BrokenDocument, UnreadableSource):
        return {}


def _known(**facts: object) -> Fields:
    return {name: value for name, value in facts.items() if value is not None}


# Kimi CLI


def companions_of_cli(path: str) -> tuple[str, ...]:
    """The companions of a log of Kimi CLI."""
    folder, name = os.path.split(path)
    if _agents_session(path):
        beside, session = [AGENT], os.path.dirname(os.path.dirname(folder))
    elif name == WIRE:
        beside, session = [CONTEXT, STATE, SUBAGENTS], folder
    elif name == CONTEXT:
        beside, session = [STATE], folder
    else:
        beside, session = [], path
    listing = _folders_file(session)
    return (*(os.path.join(folder, other) for other in beside), *([listing] if listing else []))


def facts_of_cli(path: str) -> tuple[str, Fields]:
    """The session of a log of Kimi CLI, and what is said of it beside the log."""
    folder = os.path.dirname(path)
    if parent := _agents_session(path):
        agent = _document(os.path.join(folder, AGENT))
        kind = text_of(agent.get("subagent_type"))
        return f"{parent}/{name_in_text(folder)}", _known(
            parent=parent,
            origin="subagent",
            cwd=_working_folder(os.path.dirname(os.path.dirname(folder))),
            title=text_of(agent.get("description")),
            started_at=moment_of(agent.get("created_at")),
            meta={"subagent_type": kind} if kind else None,
        )
    if os.path.basename(path) not in (WIRE, CONTEXT):
        return name_in_text(path).removesuffix(".jsonl"), _known(cwd=_working_folder(path))
    state = _document(os.path.join(folder, STATE))
    marks = {
        "archived": state.get("archived"),
        "yolo": fields_of(state.get("approval")).get("yolo"),
    }
    return name_in_text(folder), _known(
        cwd=_working_folder(folder),
        title=text_of(state.get("custom_title")),
        meta={name: True for name, mark in marks.items() if mark is True} or None,
    )


def model_of_agent(path: str) -> str | None:
    """The model that a sub-agent of Kimi CLI was started with; no other log of it tells one."""
    agent = _document(os.path.join(os.path.dirname(path), AGENT)) if _agents_session(path) else {}
    return text_of(fields_of(agent.get("launch_spec")).get("effective_model"))


def _agents_session(path: str) -> str | None:
    """The session of whose sub-agent a log tells."""
    session = _above_agents(path, SUBAGENTS)
    return name_in_text(session) if session else None


def _above_agents(path: str, folder: str) -> str | None:
    """The folder that has the folder of agents in it, of one of which this is the log."""
    agents = os.path.dirname(os.path.dirname(path))
    is_log = os.path.basename(path) == WIRE and os.path.basename(agents) == folder
    return os.path.dirname(agents) if is_log else None


def _folders_file(session: str) -> str | None:
    """Where the working directories are listed, for a session that lies where it should."""
    sessions = os.path.dirname(os.path.dirname(session))
    if os.path.basename(sessions) != "sessions":
        return None
    return os.path.join(os.path.dirname(sessions), "kimi.json")


def _working_folder(session: str) -> str | None:
    """The working directory whose hash names the folder that a session lies in."""
    listing = _folders_file(session)
    name = os.path.basename(os.path.dirname(session))
    for known in objects_of(_document(listing).get("work_dirs")) if listing else ():
        path = text_of(known.get("path"))
        data = (path or "").encode("utf-8", "replace")
        if path and name.endswith(hashlib.md5(data, usedforsecurity=False).hexdigest()):
            return path
    return None


# Kimi Code


def companions_of_code(path: str) -> tuple[str, ...]:
    """The companions of a log of Kimi Code."""
    session = session_folder(path)
    return (os.path.join(session, STATE),) if session else ()


def session_folder(path: str) -> str | None:
    """The folder of a session of Kimi Code, by the log of one of its agents."""
    return _above_agents(path, AGENTS)


def is_taken_over(path: str) -> bool:
    """Whether a log begins with what Kimi CLI had told."""
    session = session_folder(path)
    return session is not None and os.path.basename(session).startswith(TAKEN_OVER)


def facts_of_code(path: str) -> tuple[str, Fields]:
    """The session of a log of Kimi Code, and what is said of it beside the log."""
    folder = session_folder(path)
    if folder is None:
        return name_in_text(path).removesuffix(".jsonl"), {}
    session, agent = name_in_text(folder), name_in_text(os.path.dirname(path))
    state = _document(os.path.join(folder, STATE))
    cwd = text_of(state.get("workDir"))
    if agent != MAIN:
        noted = fields_of(fields_of(state.get("agents")).get(agent))
        parent = text_of(noted.get("parentAgentId")) or MAIN
        above = session if parent == MAIN else f"{session}/{parent}"
        return f"{session}/{agent}", _known(parent=above, origin="subagent", cwd=cwd)
    old = session.removeprefix(TAKEN_OVER) if is_taken_over(path) else None
    marks = (state.get("archived"), fields_of(state.get("custom")).get("archived"))
    archived = any(mark is True for mark in marks)
    return session, _known(
        parent=old or text_of(state.get("forkedFrom")),
        cwd=cwd,
        title=text_of(state.get("title")),
        started_at=None if old else moment_of(state.get("createdAt")),
        meta={"archived": True} if archived else None,
    )
