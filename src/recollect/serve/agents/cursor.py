"""Cursor: what its hooks pass and take. From its documentation; not run here."""

from __future__ import annotations

# Its events that we listen to, and what each of them is to us.
EVENTS = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "stop": "pause",
    "preCompact": "pause",
    "sessionEnd": "pause",
}
# Where things are in what it passes.
FIELDS = {
    "session": "$.conversation_id",
    "folder": "$.workspace_roots[0]",
    "prompt": "$.prompt",
}
SHELL_TOOLS = ()
NAMES_LOG = False


def failed(output: str) -> bool:
    """Whether a command failed; it is not asked."""
    return False


def answer(event: str, context: str) -> str:
    """The JSON that adds a context, which is JSON already."""
    go_on = '"continue":true,' if event == '"beforeSubmitPrompt"' else ""
    return f'{{{go_on}"additional_context":{context}}}'
