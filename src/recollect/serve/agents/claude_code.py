"""Claude Code: what its hooks pass and take.

Observed with 2.1.197: what a hook adds to PreToolUse and PostToolUseFailure
reaches the model together with the result of the command; an answer to Stop or
SubagentStop would make it go on, so those are never answered.
"""

from __future__ import annotations

# Its events that we listen to, and what each of them is to us.
EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "command",
    "PostToolUseFailure": "failure",
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
    "error": "$.error",
    "subagent": "$.agent_id",
}
SHELL_TOOLS = ("Bash",)
# A run that names no log keeps none.
NAMES_LOG = True


def failed(output: str) -> bool:
    """Whether a command failed; it is only asked about those that did."""
    return True


def answer(event: str, context: str) -> str:
    """The JSON that adds a context; both are JSON already."""
    return f'{{"hookSpecificOutput":{{"hookEventName":{event},"additionalContext":{context}}}}}'
