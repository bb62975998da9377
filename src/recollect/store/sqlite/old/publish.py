"""What was told and helped."""

from __future__ import annotations

from recollect.store.sqlite.old.base import Base


class Publish(Base):
    """What helped."""

    def standing(self) -> dict[str, tuple[int, int]]:
        """How often each note helped and harmed, as far as anything is known of it."""
        from recollect.store.sqlite.old.sql import measured

        return measured.standing(self.db)
