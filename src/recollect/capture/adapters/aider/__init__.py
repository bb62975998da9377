"""Aider: one Markdown file per project, appended to by every session in it."""

from __future__ import annotations

from recollect.capture.adapters.aider.adapter import Aider

__all__ = ["Aider"]
