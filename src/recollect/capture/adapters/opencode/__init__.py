"""OpenCode: a database since February 2026, and a JSON file for
every message and part before that.
"""

from __future__ import annotations

from recollect.capture.adapters.opencode.adapter import OpenCode

__all__ = ["OpenCode"]
