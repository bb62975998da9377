"""What is made of sessions and told to agents, as it was before it is made anew.

Everything behind `memory.old` is rebuilt as notes with one life cycle. Until
then it stands here as it stood, and nothing new is added to it.
"""

from __future__ import annotations

from recollect.memory.old.notes import Notes


class OldMemory(Notes):
    """Notes."""
