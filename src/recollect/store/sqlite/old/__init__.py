"""What is made of sessions and told to agents, as it was before it is made anew.

Everything behind `store.old` is rebuilt as notes with one life cycle. Until
then it stands here as it stood, and nothing new is added to it.
"""

from __future__ import annotations

from recollect.store.sqlite.old.notes import Notes


class OldStore(Notes):
    """Notes."""
