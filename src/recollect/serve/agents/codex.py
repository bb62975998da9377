"""Codex: how a session of it is continued, and what its hooks pass and take.

Observed with 0.166.0: what a hook adds to PreToolUse and PostToolUse reaches
the model as a developer's message. PostToolUse comes after every command, and
tells its output but not how it ended. An ephemeral run names no log.
"""

from __future__ import annotations

# Where it looks for sessions, below the user's home or where the variable says.
HOME = ".codex"
HOME_VARIABLE = "CODEX_HOME"
# A session is found from anywhere; the folder is where its commands will run.
NEEDS_FOLDER = False

# Its events that we listen to, and what each of them is to us.
EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "command",
    "PostToolUse": "failure",
    "Stop": "pause",
    "SubagentStop": "pause",
    "PreCompact": "pause",
    "SessionEnd": "pause",
}
# Where things are in what it passes.
FIELDS = {
    "session": "$.session_id",
    "folder": "$.cwd",
    "log": "$.transcript_path",
    "own_log": "$.agent_transcript_path",
    "prompt": "$.prompt",
    "tool": "$.tool_name",
    "command": "$.tool_input.command",
    "error": "$.tool_response",
    "subagent": "$.agent_id",
}
SHELL_TOOLS = ("Bash",)
# A run that names no log keeps none.
NAMES_LOG = True


def resume(native_id: str) -> list[str]:
    """The command that continues a session, as words."""
    return ["codex", "resume", native_id]


def failed(output: str) -> bool:
    """Whether a command failed, which its output alone does not tell."""
    return True


def answer(event: str, context: str) -> str:
    """The JSON that adds a context; both are JSON already. It refuses every other field."""
    return f'{{"hookSpecificOutput":{{"hookEventName":{event},"additionalContext":{context}}}}}'
