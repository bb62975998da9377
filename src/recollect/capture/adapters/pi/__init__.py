"""Pi and its descendants (oh-my-pi, OpenClaw): a JSONL file per session, a tree of entries.

What we rely on, and how we know, is written down in docs/formats/pi.md.
"""

from __future__ import annotations

from recollect.capture.adapters.pi.adapter import Pi

__all__ = ["Pi"]
