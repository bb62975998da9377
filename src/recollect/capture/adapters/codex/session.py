"""Codex: who a session is, from its session_meta."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from recollect.capture.adapters.codex.records import moment
from recollect.capture.logs.values import Fields, fields_of, text_of
from recollect.model.logs import Origin, SessionFacts

DESCRIBED = (
    "originator", "source", "thread_source", "model_provider", "history_mode", "memory_mode",
    "agent_nickname", "agent_role", "agent_path", "forked_from_id", "session_id",
)  # fmt: skip
HEADLESS_SOURCES = ("exec", "mcp")
HEADLESS_ORIGINATORS = ("codex_exec", "codex_mcp_server")


class CodexThread(NamedTuple):
    """The ids of a session, and where it came from."""

    thread: str
    session: str
    parent: str | None
    forked_from: str | None
    origin: Origin
    agent_path: str | None


def identity(meta: Fields, fallback: str) -> CodexThread:
    """Who the first session_meta of a file says it is; `fallback` when it says nothing."""
    thread = text_of(meta.get("id")) or text_of(meta.get("session_id")) or fallback
    forked_from = text_of(meta.get("forked_from_id"))
    source = meta.get("source")
    from_agent = isinstance(source, dict) and "subagent" in source
    if from_agent or meta.get("thread_source") == "subagent":
        return _agent_identity(meta, thread, forked_from)
    headless = source in HEADLESS_SOURCES or meta.get("originator") in HEADLESS_ORIGINATORS
    origin: Origin = "headless" if headless else "interactive"
    return CodexThread(thread, thread, forked_from, forked_from, origin, None)


def _agent_identity(meta: Fields, thread: str, forked_from: str | None) -> CodexThread:
    spawn = fields_of(fields_of(fields_of(meta.get("source")).get("subagent")).get("thread_spawn"))
    parent = text_of(spawn.get("parent_thread_id")) or text_of(meta.get("parent_thread_id"))
    path = text_of(meta.get("agent_path")) or text_of(spawn.get("agent_path"))
    if parent is None:
        return CodexThread(thread, thread, forked_from, forked_from, "subagent", path)
    root = text_of(meta.get("session_id"))
    # A sub-agent of a sub-agent: only at this depth do we know its parent's own parent.
    nested = spawn.get("depth") == 2 and root is not None and root != parent
    above = f"{root}/{parent}" if nested else parent
    return CodexThread(thread, f"{parent}/{thread}", above, forked_from, "subagent", path)


def facts_of(meta: Fields, who: CodexThread, at: int | None) -> SessionFacts:
    """What a session_meta tells beyond the ids."""
    git = fields_of(meta.get("git"))
    return SessionFacts(
        session=who.session,
        parent=who.parent,
        origin=who.origin,
        cwd=text_of(meta.get("cwd")),
        started_at=moment(meta.get("timestamp")) or at,
        agent_version=text_of(meta.get("cli_version")),
        git_branch=text_of(git.get("branch")),
        git_sha=text_of(git.get("commit_hash")),
        git_remote=text_of(git.get("repository_url")),
        meta=_described(meta),
    )


def _described(meta: Fields) -> Fields | None:
    """The rest, as it is; of the instructions only the size and a hash."""
    found = {name: meta[name] for name in DESCRIBED if meta.get(name) is not None}
    base = meta.get("base_instructions")
    told = text_of(base.get("text") if isinstance(base, dict) else base)
    told = told or text_of(meta.get("instructions"))
    if told:
        mark = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]
        found["instructions"] = {"length": len(told), "sha256": mark}
    return found or None
