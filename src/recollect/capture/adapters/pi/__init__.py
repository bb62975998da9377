"""Pi and its descendants (oh-my-pi, OpenClaw): one JSONL file per session, a
tree of entries that is appended to.
"""

from __future__ import annotations

from recollect.capture.adapters.pi.adapter import Pi

__all__ = ["Pi"]
