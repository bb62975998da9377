"""Copilot CLI: what its hooks pass and take.

Observed with 1.0.102: what a hook adds reaches the model at all of these
events. A failed command counts as a success whose text ends with its exit code.
"""

from __future__ import annotations

# Its events that we listen to, and what each of them is to us.
EVENTS = {
    "sessionStart": "start",
    "userPromptSubmitted": "prompt",
    "preToolUse": "command",
    "postToolUse": "failure",
    "agentStop": "pause",
    "sessionEnd": "pause",
}
# Where things are in what it passes.
FIELDS = {
    "session": "$.sessionId",
    "folder": "$.cwd",
    "log": "$.transcriptPath",
    "prompt": "$.prompt",
    "tool": "$.toolName",
    "command": "$.toolArgs.command",
    "error": "$.toolResult.textResultForLlm",
}
SHELL_TOOLS = ("bash",)
# Only agentStop does.
NAMES_LOG = False


def failed(output: str) -> bool:
    """Whether a command failed."""
    return "completed with exit code" in output and "completed with exit code 0>" not in output


def answer(event: str, context: str) -> str:
    """The JSON that adds a context, which is JSON already."""
    return f'{{"additionalContext":{context}}}'
