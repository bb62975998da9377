"""Gemini CLI: what its hooks pass and take.

Observed with 0.61.0: what a hook adds to AfterTool reaches the model, and to
BeforeTool not. PreCompress comes before every request to the model, whether or
not there is something to compress, so it is left out. What was added at the
start stands before the first prompt, in a tag of its own.
"""

from __future__ import annotations

# Its events that we listen to, and what each of them is to us.
EVENTS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterTool": "failure",
    "AfterAgent": "pause",
    "SessionEnd": "pause",
}
# Where things are in what it passes.
FIELDS = {
    "session": "$.session_id",
    "folder": "$.cwd",
    "log": "$.transcript_path",
    "prompt": "$.prompt",
    "tool": "$.tool_name",
    "command": "$.tool_input.command",
    "error": "$.tool_response.llmContent",
}
SHELL_TOOLS = ("run_shell_command",)
# A run that names no log keeps none.
NAMES_LOG = True
# What stands around a context that the prompt begins with.
CONTEXT_TAGS = ("<hook_context>", "</hook_context>")


def failed(output: str) -> bool:
    """Whether a command failed: only then its exit code is told."""
    return "\nExit Code: " in output


def answer(event: str, context: str) -> str:
    """The JSON that adds a context; both are JSON already."""
    return f'{{"hookSpecificOutput":{{"hookEventName":{event},"additionalContext":{context}}}}}'
