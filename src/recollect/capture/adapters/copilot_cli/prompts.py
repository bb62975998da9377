"""What a person typed, out of what Copilot CLI wraps around it."""

from __future__ import annotations

from recollect.capture.logs.tags import without

# What the CLI puts around a prompt for the model; early versions logged it as part of the prompt.
_WRAPPERS = (
    "current_datetime",
    "reminder",
    "system_reminder",
    "system_notification",
    "tagged_files",
    "skill-context",
)


def typed(text: str) -> str:
    """What a person wrote of a prompt."""
    return without(text, *_WRAPPERS)
