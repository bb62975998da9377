"""GitHub Copilot Chat in VS Code, and in editors made of it: a file per chat."""

from __future__ import annotations

from recollect.capture.adapters.vscode_copilot_chat.adapter import VscodeCopilotChat

__all__ = ["VscodeCopilotChat"]
