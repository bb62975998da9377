"""Codex: how a session of it is continued."""

from __future__ import annotations

# Where it looks for sessions, below the user's home or where the variable says.
HOME = ".codex"
HOME_VARIABLE = "CODEX_HOME"
# A session is found from anywhere; the folder is where its commands will run.
NEEDS_FOLDER = False


def resume(native_id: str) -> list[str]:
    """The command that continues a session, as words."""
    return ["codex", "resume", native_id]
