"""The searches of a memory that a person keeps."""

from __future__ import annotations

from recollect.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.memory.collaborators import Collaborators

MOST_SAVED, MOST_CHARACTERS = 30, 500


class MemorySearches:
    """Keep a query, and let it go."""

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def all(self) -> list[str]:
        """What is kept, the last kept first."""
        return self.shared.store().saved_searches.all()

    def save(self, text: str) -> None:
        """Keep a query as it was typed, without secrets."""
        wanted = " ".join(text.split())
        if not wanted or len(wanted) > MOST_CHARACTERS:
            raise UsageError("Nothing to keep.", hint="Type a query first, of at most 500 letters.")
        own = self.shared.redact(wanted)
        kept = [own, *(one for one in self.all() if one != own)]
        self.shared.ensure_store().saved_searches.replace(kept[:MOST_SAVED])

    def forget(self, text: str) -> None:
        """Let a query go; one that is not kept is fine too."""
        kept = [one for one in self.all() if one != text]
        self.shared.ensure_store().saved_searches.replace(kept)
