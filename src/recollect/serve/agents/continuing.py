"""How each agent continues one of its sessions, as far as that is known.

With Claude Code, Codex, Copilot CLI, Gemini CLI and OpenCode it was tried, and
is by every run of `tests/real`; for the others it stands in their documentation.
"""

from __future__ import annotations

from typing import NamedTuple


class Way(NamedTuple):
    """The words that come before the session's id, and where the agent looks for sessions.

    That is below the user's home, or where the variable says. One that needs
    the folder looks only among the sessions of the folder it is started in.
    """

    words: tuple[str, ...]
    home: str
    variable: str = ""
    needs_folder: bool = False


WAYS = {
    "claude-code": Way(("claude", "--resume"), ".claude", "CLAUDE_CONFIG_DIR", needs_folder=True),
    "codex": Way(("codex", "resume"), ".codex", "CODEX_HOME"),
    "grok": Way(("grok", "--resume"), ".grok", "GROK_HOME"),
    "copilot-cli": Way(("copilot", "--resume"), ".copilot", "COPILOT_HOME"),
    "opencode": Way(("opencode", "--session"), ".local/share/opencode"),
    "gemini-cli": Way(("gemini", "--resume"), ".gemini", needs_folder=True),
    "goose": Way(("goose", "session", "--resume", "--session-id"), ".local/share/goose"),
    "droid": Way(("droid", "--resume"), ".factory"),
    "openhands": Way(("openhands", "--resume"), ".openhands"),
}
