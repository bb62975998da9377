"""Codex: what its hooks pass and take.

Observed with 0.166.0: what a hook adds to PreToolUse and PostToolUse reaches
the model as a developer's message. PostToolUse comes after every command, and
tells its output but not how it ended. An ephemeral run names no log.
"""

from __future__ import annotations

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


def failed(output: str) -> bool:
    """Whether a command failed, which its output alone does not tell."""
    return True


def answer(event: str, context: str) -> str:
    """The JSON that adds a context; both are JSON already. It refuses every other field."""
    return f'{{"hookSpecificOutput":{{"hookEventName":{event},"additionalContext":{context}}}}}'
