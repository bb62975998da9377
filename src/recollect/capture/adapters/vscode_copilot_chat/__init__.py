"""GitHub Copilot Chat in VS Code, and in editors made of it: a file per chat.

Until early 2026 a chat is one document, since then a log of operations that
has to be replayed. Visual Studio has the same assistant and leaves traces, which
`traces` reads. What we rely on is written down in docs/formats/vscode-copilot-chat.md.
"""

from __future__ import annotations

from recollect.capture.adapters.vscode_copilot_chat.adapter import VscodeCopilotChat

__all__ = ["VscodeCopilotChat"]
