"""Kimi CLI and Kimi Code, its successor: both append to wire logs,
in layouts and shapes of their own.
"""

from __future__ import annotations

from recollect.capture.adapters.kimi.adapter import Kimi

__all__ = ["Kimi"]
