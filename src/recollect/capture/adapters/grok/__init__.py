"""Grok: xAI's Grok Build, and the grok-cli of the community that shares its folder."""

from __future__ import annotations

from recollect.capture.adapters.grok.adapter import Grok

__all__ = ["Grok"]
