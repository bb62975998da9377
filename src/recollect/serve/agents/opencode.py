"""OpenCode: what our plugin in it passes and takes; OpenCode itself has no command hooks."""

from __future__ import annotations

# What the plugin calls us at, and what each of them is to us.
EVENTS = {
    "session.created": "start",
    "chat.message": "prompt",
    "tool.execute.before": "command",
    "tool.execute.after": "failure",
    "session.idle": "pause",
    "session.compacted": "pause",
}
# Where things are in what it passes.
FIELDS = {
    "session": "$.session",
    "folder": "$.folder",
    "prompt": "$.prompt",
    "tool": "$.tool",
    "command": "$.command",
    "error": "$.error",
}
SHELL_TOOLS = ("bash",)
NAMES_LOG = False


def failed(output: str) -> bool:
    """Whether a command failed; the plugin passes only those that did."""
    return True


def answer(event: str, context: str) -> str:
    """The JSON that adds a context, which is JSON already."""
    return f'{{"context":{context}}}'
