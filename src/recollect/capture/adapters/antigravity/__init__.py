"""Antigravity, the CLI and the editor: a conversation is spread
over several files that go by its id.
"""

from __future__ import annotations

from recollect.capture.adapters.antigravity.adapter import Antigravity

__all__ = ["Antigravity"]
