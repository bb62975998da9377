"""SpecStory: sessions of other agents as Markdown, one file each, kept in the project.

An export repeats what an agent's own log tells, with less in it. It is of use
where that log is gone, or never was here: people commit these files.
What we rely on is written down in docs/formats/specstory.md.
"""

from __future__ import annotations

from recollect.capture.adapters.specstory.adapter import SpecStory

__all__ = ["SpecStory"]
