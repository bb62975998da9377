"""Goose: all sessions in one SQLite file; before that, a file of JSON lines each.

The two stores have a module each, `database` and `files`; their messages are the
same. What we rely on, and the versions we saw it in, is written down in
docs/formats/goose.md.
"""

from __future__ import annotations

from recollect.capture.adapters.goose.adapter import Goose

__all__ = ["Goose"]
