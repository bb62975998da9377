"""Grok: xAI's Grok Build, and the grok-cli of the community that shares its folder.

Grok Build keeps a folder with several files for each session; `reader` makes one
session of them, `updates` and `chat` read the two logs that tell its turns.
`database` reads the one database of grok-cli. What we rely on, and how we know,
is written down in docs/formats/grok.md.
"""

from __future__ import annotations

from recollect.capture.adapters.grok.adapter import Grok

__all__ = ["Grok"]
