"""The store's side of notes, and of what hooks tell."""

from __future__ import annotations

from recollect.store.sqlite.old.base import Base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.model.batch import ProjectIdentity
    from recollect.model.old_notes import Category, NoteAuthor, OldNote
    from recollect.store.notes import Extraction, Learned, Sought


class Notes(Base):
    """Notes."""

    # Notes

    def keep_note(
        self,
        text: str,
        *,
        category: Category,
        project: ProjectIdentity | None,
        author: NoteAuthor,
        confidence: float,
    ) -> OldNote:
        """Keep a note, or confirm the one that says the same.

        Without a project it holds everywhere.
        """
        from recollect.store.sqlite.old.sql import notes

        return notes.keep(
            self.db, text, category=category, project=project, author=author, confidence=confidence
        )

    def list_notes(
        self,
        *,
        project: str | None = None,
        everywhere: bool = False,
        statuses: Sequence[str] = (),
        category: str | None = None,
        limit: int | None = None,
    ) -> list[OldNote]:
        """Notes that hold in a project, that hold everywhere, or all of them.

        The last one seen first.
        """
        from recollect.store.sqlite.old.sql import notes

        return notes.list_notes(
            self.db,
            project=project,
            everywhere=everywhere,
            statuses=statuses,
            category=category,
            limit=limit,
        )

    def get_note(self, ref: str) -> OldNote:
        """One note."""
        from recollect.store.sqlite.old.sql import notes

        return notes.get_note(self.db, notes.number_of(ref))

    def accept_note(self, ref: str) -> OldNote:
        """A person says that a note is right."""
        from recollect.store.sqlite.old.sql import notes

        return notes.accept(self.db, notes.number_of(ref))

    def reject_note(self, ref: str) -> OldNote:
        """A person says that a note is wrong."""
        from recollect.store.sqlite.old.sql import notes

        return notes.reject(self.db, notes.number_of(ref))

    def edit_note(self, ref: str, text: str) -> OldNote:
        """The note that takes the place of another one."""
        from recollect.store.sqlite.old.sql import notes

        return notes.edit(self.db, notes.number_of(ref), text)

    def sought_origins(self) -> list[Sought]:
        """Each time that an agent gave a note, where the call has not been found in its log yet."""
        from recollect.store.sqlite.old.sql import origins

        return origins.sought(self.db)

    def turns_remembering(self, at: int) -> list[int]:
        """The turns that ran at a time and called a tool to remember something."""
        from recollect.store.sqlite.old.sql import origins

        return origins.turns_remembering(self.db, at)

    def typed_turns(self, turn: int) -> list[int]:
        """The turns of a session up to this one in which a person spoke, the newest first."""
        from recollect.store.sqlite.old.sql import origins

        return origins.typed_turns(self.db, turn)

    def save_origin(self, sought: Sought, turn: int, *, said: bool) -> bool:
        """Keep where a note was given and whether a person `said` the same.

        True when that makes it count.
        """
        from recollect.store.sqlite.old.sql import origins

        return origins.save(self.db, sought, turn, said=said)

    def find_extraction(self, session: int, *, by: NoteAuthor = "rules") -> Extraction | None:
        """How far notes have been taken from a session."""
        from recollect.store.sqlite.old.sql import extractions

        return extractions.find(self.db, session, by=by)

    def save_extraction(
        self,
        session: int,
        state: Extraction,
        *,
        waits_until: int | None = None,
        by: NoteAuthor = "rules",
    ) -> None:
        """Keep how far notes have been taken; with a time, it is to be tried again then."""
        from recollect.store.sqlite.old.sql import extractions

        extractions.save(self.db, session, state, waits_until=waits_until, by=by)

    def waiting_extractions(self) -> list[tuple[int, str]]:
        """Sessions from which notes are to be taken once they are quiet: number and reference."""
        from recollect.store.sqlite.old.sql import extractions

        return extractions.waiting(self.db)

    def is_with_a_person(self, session: int) -> bool:
        """Whether a person talked to the agent in a session, and wants it remembered."""
        from recollect.store.sqlite.old.sql import extractions

        return extractions.is_with_a_person(self.db, session)

    def learn_note(self, project: str, fact: Learned) -> OldNote:
        """Keep what was found in a session of a project, or confirm the note that says so."""
        from recollect.store.sqlite.old.sql import extractions

        return extractions.learn(self.db, project, fact)
