"""Who a session of Grok Build is: its summary, what its parent keeps about it, and its counters."""

from __future__ import annotations

import os
from typing import Any

from recollect.capture.logs.folders import name_in_text
from recollect.capture.logs.values import (
    Fields,
    count_of,
    fields_of,
    first_text,
    list_of,
    moment_of,
    text_of,
)
from recollect.model.logs import SessionFacts

# What a session's parent writes down when it starts a sub-agent:
# `<parent>/subagents/<sub-agent>/meta.json`.
LINK = "meta.json"
_TOLD = (
    "agent_name", "reasoning_effort", "sandbox_profile", "session_kind", "source_workspace_dir",
    "worktree_label", "prompt_display_cwd", "previous_cwd", "fork_context_source", "git_root_dir",
)  # fmt: skip
_COUNTERS = {
    "contextTokensUsed": "context_tokens", "contextWindowTokens": "context_window_tokens",
    "compactionCount": "compactions", "errorCount": "errors", "toolFailureCount": "tool_failures",
    "cancellationCount": "cancellations", "gitCommitCount": "git_commits",
    "prCreatedCount": "pull_requests_created", "agentLinesAdded": "agent_lines_added",
    "agentLinesRemoved": "agent_lines_removed", "sessionDurationSeconds": "duration_seconds",
    "positiveRatings": "positive_ratings", "negativeRatings": "negative_ratings",
}  # fmt: skip


class GrokSession:
    """The facts of a session.

    Grok itself links a sub-agent to its parent only from the parent's side.
    """

    def __init__(self, told: Fields, links: list[str], folder: str) -> None:
        info = fields_of(told.get("info"))
        self._told, self._info = told, info
        own = text_of(info.get("id")) or name_in_text(folder)
        kind = text_of(told.get("session_kind")) or ""
        above = [_parent_in(link) for link in links]
        self.is_subagent = bool(above) or kind.startswith("subagent")
        parent = text_of(told.get("parent_session_id"))
        if self.is_subagent and not above and kind != "subagent_resume" and parent:
            above = [parent]
        self.parent = "/".join(reversed(above[:2])) or None if self.is_subagent else parent
        self.session = f"{above[0]}/{own}" if above else own
        self.forked_at = moment_of(told.get("forked_at"))
        self.inherited = count_of(told.get("inherited_prefix_len"))

    def facts(self, title: str | None, link: Fields, signals: Fields) -> SessionFacts:
        """All that the documents say."""
        told = self._told
        meta: dict[str, Any] = {name: text_of(told.get(name)) for name in _TOLD}
        meta["model"] = text_of(told.get("current_model_id"))
        meta["hidden"] = True if told.get("hidden") is True else None
        meta |= {
            name: text_of(link.get(name)) for name in ("subagent_type", "description", "status")
        }
        meta |= {
            name: count_of(signals.get(counter)) or None for counter, name in _COUNTERS.items()
        }
        meta = {name: value for name, value in meta.items() if value is not None}
        return SessionFacts(
            session=self.session,
            parent=self.parent,
            origin="subagent" if self.is_subagent else None,
            cwd=text_of(self._info.get("cwd")),
            title=text_of(told.get("generated_title"))
            or title
            or text_of(told.get("session_summary")),
            started_at=moment_of(told.get("created_at")),
            git_branch=text_of(told.get("head_branch")),
            git_sha=text_of(told.get("head_commit")),
            git_remote=first_text(*list_of(told.get("git_remotes"))),
            meta=meta or None,
        )


def _parent_in(link: str) -> str:
    """The session whose folder a link lies in."""
    return name_in_text(os.path.dirname(os.path.dirname(os.path.dirname(link))))
