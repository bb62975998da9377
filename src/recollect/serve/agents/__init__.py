"""What each agent expects of those who come to it: a file per agent.

Besides the adapters this is the only folder that names an agent. A hook loads
one of these files each time it runs, so they are tables and import nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# agent id: its module here, which says how its hooks speak: `EVENTS`, `FIELDS`, `SHELL_TOOLS`,
# `NAMES_LOG`, `failed(output)` and `answer(event, context)`.
AGENTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "cursor": "cursor",
    "opencode": "opencode",
    "copilot-cli": "copilot_cli",
}


def find_agent(agent: str) -> ModuleType | None:
    """What we know about an agent, or None."""
    if agent not in AGENTS:
        return None
    name = f"recollect.serve.agents.{AGENTS[agent]}"
    module: ModuleType = __import__(name, fromlist=["EVENTS"])
    return module
