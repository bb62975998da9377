"""Goose: all sessions in one SQLite file; before that, a file of JSON lines each."""

from __future__ import annotations

from recollect.capture.adapters.goose.adapter import Goose

__all__ = ["Goose"]
