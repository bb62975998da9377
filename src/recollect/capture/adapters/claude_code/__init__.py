"""Claude Code: one JSONL file for each session and sub-agent, appended to while it runs."""

from __future__ import annotations

from recollect.capture.adapters.claude_code.adapter import ClaudeCode

__all__ = ["ClaudeCode"]
