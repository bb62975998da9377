"""Gemini CLI: one file per session, a document at first and a log of changes since spring 2026."""

from __future__ import annotations

from recollect.capture.adapters.gemini_cli.adapter import GeminiCli

__all__ = ["GeminiCli"]
