"""What is made of sessions and told to agents, as it was before it is made anew.

Everything behind `memory.old` is rebuilt as notes with one life cycle. Until
then it stands here as it stood, and nothing new is added to it.
"""

from __future__ import annotations

from recollect.memory.old.told import Told


class OldMemory(Told):
    """Traces, notes, what agents are told."""
