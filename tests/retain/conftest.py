"""The small store of the store's own tests."""

from __future__ import annotations

from tests.store.conftest import filled

__all__ = ["filled"]
