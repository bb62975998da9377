"""OpenHands: a folder for each conversation with a file for each
event, and exports of the same events.
"""

from __future__ import annotations

from recollect.capture.adapters.openhands.adapter import OpenHands

__all__ = ["OpenHands"]
