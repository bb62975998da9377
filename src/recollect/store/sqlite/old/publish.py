"""The store's side of publishing: what was decided about patterns, where
they stand, and what became of that.
"""

from __future__ import annotations

from recollect.store.sqlite.old.base import Base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.model.leases import Lease
    from recollect.model.patterns import PatternVersion
    from recollect.store.measured import Done, Held, Offer, Seen, Subject
    from recollect.store.published import Block, Lesson


class Publish(Base):
    """Review, publish and measure."""

    # The catalogue of patterns

    def pattern_id(self, ref: str) -> str:
        """The id of the pattern that a reference, or as much of one as is enough, means."""
        from recollect.store.sqlite.old.sql import catalogue

        return catalogue.get_id(self.db, ref)

    def accept_pattern(self, pattern: str, why: str) -> None:
        """A person says that a pattern is right, in the words
        that are proposed if there are any.
        """
        from recollect.store.sqlite.old.sql import catalogue

        catalogue.accept(self.db, pattern, why)

    def reject_pattern(self, pattern: str, why: str) -> None:
        """A person says that a candidate is wrong, or that the words
        proposed for something accepted are.
        """
        from recollect.store.sqlite.old.sql import catalogue

        catalogue.reject(self.db, pattern, why)

    def edit_pattern(self, pattern: str, sentence: str, why: str) -> None:
        """A person says it better, and with that accepts it."""
        from recollect.store.sqlite.old.sql import catalogue

        catalogue.edit(self.db, pattern, sentence, why)

    def retire_pattern(self, pattern: str, why: str) -> None:
        """A person says that something accepted is of no use any more."""
        from recollect.store.sqlite.old.sql import catalogue

        catalogue.retire(self.db, pattern, why)

    def pattern_history(self, pattern: str) -> list[PatternVersion]:
        """Every version of a pattern, the first one first."""
        from recollect.store.sqlite.old.sql import catalogue

        return catalogue.history(self.db, pattern)

    def proposed_words(self) -> dict[str, str]:
        """The words that are proposed for something accepted, by pattern."""
        from recollect.store.sqlite.old.sql import catalogue

        return catalogue.proposed_words(self.db)

    # What is published

    def lessons(self, project: int) -> list[Lesson]:
        """What a person accepted that holds in a project: notes and patterns."""
        from recollect.store.sqlite.old.sql import published

        return [*published.notes_in(self.db, project), *published.patterns_in(self.db, project)]

    def published_blocks(self, folder: str) -> dict[str, Block]:
        """What we wrote into the files of a folder and did not take out again, by path."""
        from recollect.store.sqlite.old.sql import published

        return published.blocks(self.db, folder)

    def published_folders(self) -> list[str]:
        """Every folder in which something of ours is published."""
        from recollect.store.sqlite.old.sql import published

        return published.folders(self.db)

    def was_published(self, hash_: str) -> bool:
        """Whether a block was ever written by us, into whatever file."""
        from recollect.store.sqlite.old.sql import published

        return published.was_written(self.db, hash_)

    def take_publishing(self, folder: str) -> Lease | None:
        """The right to write the files of a folder, for a few seconds.

        None while somebody else has it.
        """
        from recollect.store.sqlite.leases import Leases
        from recollect.store.sqlite.old.sql import published

        return Leases(self.db).take(f"publish:{folder}", seconds=published.LEASE_SECONDS)

    def save_published_block(
        self, lease: Lease, folder: str, block: Block, project: int | None
    ) -> None:
        """Note down what is about to be written into a file."""
        from recollect.store.sqlite.old.sql import published

        published.save_block(self.db, lease, folder, block, project)

    def drop_published_block(self, lease: Lease, folder: str, path: str) -> None:
        """Note down that nothing of ours is in a file any more."""
        from recollect.store.sqlite.old.sql import published

        published.drop_block(self.db, lease, folder, path)

    # What became of it

    def standing(self) -> dict[str, tuple[int, int]]:
        """How often each note and pattern helped and harmed, as far as anything is known of it."""
        from recollect.store.sqlite.old.sql import measured

        return measured.standing(self.db)

    def subjects(self, ref: str | None) -> list[Subject]:
        """What can be measured: one pattern or note, or all that are or were told."""
        from recollect.store.sqlite.old.sql import measured

        return measured.subjects(self.db, ref)

    def offers(self) -> list[Offer]:
        """Everything that was offered or opened and names a pattern or a note, the oldest first."""
        from recollect.store.sqlite.old.sql import measured

        return measured.offers(self.db)

    def came_up_after(self, offered: Sequence[Offer]) -> dict[str, dict[str, bool]]:
        """In which sessions a pattern came up right after it was offered there, and
        whether that went well, by pattern.
        """
        from recollect.store.sqlite.old.sql import measured

        return measured.came_up_after(self.db, offered)

    def naming(self, ref: str) -> list[tuple[str, int | None]]:
        """The sessions in which an agent named a reference, each with when."""
        from recollect.store.sqlite.old.sql import measured

        return measured.naming(self.db, ref)

    def sightings(self, kind: str, signature: str) -> list[Seen]:
        """Where a pattern was seen, the oldest sighting first."""
        from recollect.store.sqlite.old.sql import measured

        return measured.sightings(self.db, kind, signature)

    def sessions_in(self, projects: Sequence[int]) -> list[Held]:
        """The sessions with a person in these projects, the oldest first."""
        from recollect.store.sqlite.old.sql import measured

        return measured.sessions_in(self.db, projects)

    def tasks_of(self, sessions: Iterable[int]) -> list[Done]:
        """The tasks of these sessions, as far as they have a digest."""
        from recollect.store.sqlite.old.sql import measured

        return measured.tasks_of(self.db, sessions)
