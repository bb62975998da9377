"""Memories of work that a test describes."""

from __future__ import annotations

from tests.recall.conftest import remember

__all__ = ["remember"]
