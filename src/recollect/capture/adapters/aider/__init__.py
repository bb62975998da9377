"""Aider: one Markdown file per project, appended to by every session in it.

What we rely on, and the versions we saw it in, is written down in
docs/formats/aider.md.
"""

from __future__ import annotations

from recollect.capture.adapters.aider.adapter import Aider

__all__ = ["Aider"]
