"""Crush: a database in each project, with a row for every message."""

from __future__ import annotations

from recollect.capture.adapters.crush.adapter import Crush

__all__ = ["Crush"]
