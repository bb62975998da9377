"""GitHub Copilot CLI: a folder per session, with an event log that is appended to."""

from __future__ import annotations

from recollect.capture.adapters.copilot_cli.adapter import CopilotCli

__all__ = ["CopilotCli"]
