"""The tokens in SpecStory's exports: there are none."""

from __future__ import annotations

from pathlib import Path

from recollect.model.sessions import Tokens


def tokens(folder: Path) -> Tokens:
    """An export says what was said, not what it took."""
    return Tokens()
