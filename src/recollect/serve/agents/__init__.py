"""What each agent expects of those who come to it: a file per agent.

Besides the adapters this is the only folder that names an agent. An agent
that is not here can be read, and cannot be continued.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# agent id: its module here, which has `HOME`, `HOME_VARIABLE` and `resume(native_id)`.
AGENTS = {
    "claude-code": "claude_code",
    "codex": "codex",
}


def find_agent(agent: str) -> ModuleType | None:
    """What we know about an agent, or None."""
    return import_module(f"recollect.serve.agents.{AGENTS[agent]}") if agent in AGENTS else None
