"""Kimi CLI and Kimi Code, its successor: both append to wire logs, in shapes of their own.

`cli` reads the logs of the one, `code` those of the other, `reader` the messages
for the model that both may keep. What we rely on, and how we know, is written
down in docs/formats/kimi.md.
"""

from __future__ import annotations

from recollect.capture.adapters.kimi.adapter import Kimi

__all__ = ["Kimi"]
