"""Messages in a person's name: which words are the person's, and which the host's."""

from __future__ import annotations

from recollect.capture.logs.genai import ChatMessage, parts_in, parts_of, said_in
from recollect.capture.logs.tags import without

# Around what the host says of the session, and around what hooks
# say; a message may hold nothing else.
_CONTEXTS = ("session_context", "hook_context")
_SNAPSHOT = "<state_snapshot>"
# From here on a prompt holds the files that it mentions with an @.
_REFERENCED = "--- Content from referenced files ---"
_INJECTED = (
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "System: Potential loop detected.",
    "[System: You previously ",
)
# What the host says to a model that stopped too early.
_GO_ON = "Please continue."


def typed(message: ChatMessage) -> str:
    """What a person typed; nothing when the host wrote it all."""
    text = said_in(parts_of(message.displayContent) or parts_in(message), "\n")
    text = without(text, *_CONTEXTS).partition(_REFERENCED)[0].strip()
    return "" if text == _GO_ON or text.startswith(_INJECTED) else text


def is_snapshot(text: str) -> bool:
    """Whether a text is the summary that takes the place of a long conversation."""
    return text.startswith(_SNAPSHOT)
