"""SpecStory: sessions of other agents as Markdown, one file each, kept in the project."""

from __future__ import annotations

from recollect.capture.adapters.specstory.adapter import SpecStory

__all__ = ["SpecStory"]
