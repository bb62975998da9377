"""Claude Code: how a session of it is continued."""

from __future__ import annotations

# Where it looks for sessions, below the user's home or where the variable says.
HOME = ".claude"
HOME_VARIABLE = "CLAUDE_CONFIG_DIR"
# It looks only among the sessions of the folder it is started in.
NEEDS_FOLDER = True


def resume(native_id: str) -> list[str]:
    """The command that continues a session, as words."""
    return ["claude", "--resume", native_id]
