"""GitHub Copilot CLI: a folder per session, with an event log that is appended to.

`documents` reads the sessions of the first versions, one document each. What we
rely on, and how we know, is written down in docs/formats/copilot-cli.md.
"""

from __future__ import annotations

from recollect.capture.adapters.copilot_cli.adapter import CopilotCli

__all__ = ["CopilotCli"]
