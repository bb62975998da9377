"""Claude Code: one JSONL file for each session and sub-agent, appended to while it runs.

Records form a tree, in which people go back: `tree` knows how turns follow each
other, and `turns` which of them a record belongs to. The format has no public
description; what we rely on, and how we know it, is in docs/formats/claude-code.md.
"""

from __future__ import annotations

from recollect.capture.adapters.claude_code.adapter import ClaudeCode

__all__ = ["ClaudeCode"]
