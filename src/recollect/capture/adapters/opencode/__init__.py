"""OpenCode: a database since February 2026, and a JSON file for every message before that.

The old files were copied into the database once, and are still there. Both
stores are read, by `database` and `files`: whoever came late to the database has
sessions that are only in files. Of a session that is in both, the database is
believed. What we rely on is written down in docs/formats/opencode.md.
"""

from __future__ import annotations

from recollect.capture.adapters.opencode.adapter import OpenCode

__all__ = ["OpenCode"]
