"""OpenHands: a folder for each conversation with a file for each event.

`folder` reads such folders, which both versions have, `reader` the events of
version 1 and `version_0` those before, with the exports of them. What we rely on,
and the versions we saw it in, is in docs/formats/openhands.md.
"""

from __future__ import annotations

from recollect.capture.adapters.openhands.adapter import OpenHands

__all__ = ["OpenHands"]
