"""What a person or a rule wants to be remembered."""

from __future__ import annotations

import os

from recollect.memory.old.base import OldBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.model.old_notes import OldNote


class Notes(OldBase):
    """Remember, list, judge and forget notes."""

    def remember(
        self,
        text: str,
        *,
        category: str = "project",
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        by: str = "agent",
        confidence: float | None = None,
    ) -> OldNote:
        """Keep a fact about a project, that of `folder` or of the current one.

        A person may say that it holds everywhere.

        What a person says counts at once. What an agent says is a candidate,
        until a person accepts it or is found to have said the same. A fact
        that is known already is confirmed; look at the `status` of the answer,
        because one that a person rejected stays so when an agent repeats it.
        """
        from recollect.capture.projects import ProjectFinder
        from recollect.distill.notes import note as notes
        from recollect.model.batch import ProjectIdentity

        kind, author = notes.category_of(category), notes.author_of(by, everywhere=everywhere)
        sure = notes.confidence_of(confidence, author)
        place = (
            None
            if everywhere
            else ProjectFinder().identify(os.path.abspath(folder or os.getcwd()), None)
        )
        if project is not None:
            # Known already, so that of which kind it is makes no difference.
            place = ProjectIdentity(self.projects.get(project), "directory")
        store = self.shared.ensure_store()
        note = store.old.keep_note(
            self._plain(text), category=kind, project=place, author=author, confidence=sure
        )
        return self._told_at_once(note) if author == "person" else note

    def notes(
        self,
        *,
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        status: str | Sequence[str] | None = None,
        category: str | None = None,
        limit: int | None = None,
    ) -> list[OldNote]:
        """Notes that hold in a project or in that of a folder, that hold `everywhere`,
        or all of them; the last seen first.
        """
        from recollect.distill.notes.note import category_of, statuses_of

        store = self.shared.store()
        own = None if folder is None else self.projects.of(folder)
        if project is not None:
            own = self.projects.get(project)
        return store.old.list_notes(
            project=own, everywhere=everywhere or (folder is not None and own is None),
            statuses=statuses_of(status),
            category=None if category is None else category_of(category), limit=limit,
        )  # fmt: skip

    def write_notes(
        self,
        path: str | os.PathLike[str],
        *,
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        status: str | Sequence[str] | None = ("candidate", "active"),
        category: str | None = None,
    ) -> bool:
        """Bring the section of notes in a Markdown file up to date; False when nothing was new.

        What only an agent or a model said is left out, until a person accepts it.
        """
        from recollect.distill.notes import notes_file

        def found(wanted: str | Sequence[str] | None) -> list[OldNote]:
            return self.notes(
                project=project,
                folder=folder,
                everywhere=everywhere,
                status=wanted,
                category=category,
            )

        standing = [note for note in found(status) if note.status in ("candidate", "active")]
        told = [
            note
            for note in standing
            if note.status == "active" or note.trust in ("user", "tool-verified")
        ]
        return notes_file.write(os.fspath(path), told, retired=found(("rejected", "superseded")))

    def note(self, ref: str) -> OldNote:
        """One note, by its reference."""
        return self.shared.store().old.get_note(ref)

    def accept_note(self, ref: str) -> OldNote:
        """A person says that a note is right: from now on it counts."""
        return self._told_at_once(self.shared.store().old.accept_note(ref))

    def reject_note(self, ref: str) -> OldNote:
        """A person says that a note is wrong: it is not told any more, and
        stays rejected when an agent repeats it.
        """
        note = self.shared.store().old.reject_note(ref)
        return self._told_at_once(note)

    def edit_note(self, ref: str, text: str) -> OldNote:
        """A person says it better.

        The answer is the new note, which takes the place of the old one.
        """
        note = self.shared.store().old.edit_note(ref, self._plain(text))
        return self._told_at_once(note)

    def forget_note(self, ref: str) -> OldNote:
        """Remove a note for good, with the versions that it took the place of.

        The answer is what it was.
        """
        return self._told_at_once(self.shared.store().forgetting.old_note(ref))

    def _told_at_once(self, note: OldNote) -> OldNote:
        """Make ready what hooks tell of a note's project, or of all: whoever decides about
        a note sees it in the next session, and no job has to run before.
        """
        from contextlib import suppress

        from recollect.errors import StoreError
        from recollect.recall.hooks.lines import make_ready

        store = self.shared.store()
        project = None if note.project is None else store.projects.find([note.project])
        # The note is stored; when the rest cannot be made now, a job makes it.
        with suppress(StoreError):
            for _ in make_ready(store, self.shared.settings, only=project):
                pass
        return note

    def corroborate_notes(self) -> int:
        """Look for the calls that gave candidates, and for a person saying the same.

        Returns how many now count.
        """
        from recollect.distill.corroborate import corroborate

        return corroborate(self.shared.store())

    def _plain(self, text: str) -> str:
        """One line of text without secrets."""
        from recollect.distill.notes.note import one_line, plain

        line = one_line(text)
        return plain(
            self.shared.redact(line) if self.shared.settings.flag("redact.enabled") else line
        )
