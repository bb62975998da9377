"""Continue: a JSON document for each session, written anew with every message."""

from __future__ import annotations

from recollect.capture.adapters.continue_dev.adapter import ContinueDev

__all__ = ["ContinueDev"]
