"""Gemini CLI: one file per session, a document at first and a log of changes since spring 2026.

Records of the log replace earlier ones, so a file is always replayed whole. What
we rely on, and the versions we saw it in, is written down in
docs/formats/gemini-cli.md.
"""

from __future__ import annotations

from recollect.capture.adapters.gemini_cli.adapter import GeminiCli

__all__ = ["GeminiCli"]
