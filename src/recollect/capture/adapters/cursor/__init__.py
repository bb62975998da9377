"""Cursor: one chat in up to three places, under one id."""

from __future__ import annotations

from recollect.capture.adapters.cursor.adapter import Cursor

__all__ = ["Cursor"]
