"""Continue: a JSON document for each session, written anew with every message.

What we rely on, and the versions we saw it in, is in docs/formats/continue.md.
"""

from __future__ import annotations

from recollect.capture.adapters.continue_dev.adapter import ContinueDev

__all__ = ["ContinueDev"]
