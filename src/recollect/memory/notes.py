"""The notes of a memory: what is remembered, by whom, and what people make of it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TypeVar, get_args

from recollect.model.notes import Author, Section, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.memory.collaborators import Collaborators
    from recollect.memory.projects import MemoryProjects
    from recollect.model.answers import Listing
    from recollect.model.notes import Note, NoteChange
    from recollect.model.sessions import Turn
    from recollect.store.sqlite.notes import Notes

Name = TypeVar("Name", bound=str)


class MemoryNotes:
    """Add, list, judge and forget notes.

    Whoever decides about a note sees it in the next session: the memories that hold it are
    arranged anew at once, and no job has to run before.
    """

    def __init__(self, shared: Collaborators) -> None:
        self.shared = shared

    def add(
        self,
        text: str,
        *,
        category: str = "project",
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        section: Section | None = None,
        by: str = "person",
    ) -> Note:
        """Keep a fact about a project, that of `folder` or of the current one.

        A person may say that it holds everywhere. What a person says counts at once. What an
        agent says is a candidate, until a person accepts it or is found to have said the same.
        A fact that is known already is confirmed; look at the `status` of the answer, because
        one that a person rejected stays so when an agent repeats it.
        """
        from recollect.distill.plain import category_of
        from recollect.errors import UsageError

        if by not in ("person", "agent"):
            raise UsageError(f"{by[:50]} cannot say this.", hint="A person or an agent can.")
        if everywhere and by != "person":
            raise UsageError(
                "Only a person can make a note hold everywhere.",
                hint="Remember it for this project. A person's way: "
                "recollect memory add --everywhere",
            )
        kind, line = category_of(category), self._line(text)
        store = self.shared.ensure_store()
        author: Author = "person" if by == "person" else "agent"
        note = store.notes.add(
            line, project=None if everywhere else self.place(project, folder), category=kind,
            section=section, author=author,
        )  # fmt: skip
        return self._told_at_once(note) if author == "person" else note

    def search(
        self,
        text: str | None = None,
        *,
        project: str | None = None,
        folder: str | None = None,
        everywhere: bool = False,
        status: str | Sequence[str] | None = None,
        author: str | Sequence[str] | None = None,
        category: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Listing[Note]:
        """Notes that hold in a project or in that of a folder, that hold `everywhere`, or all
        of them; the last one said first. `text` are words that all have to occur.
        """
        from recollect.distill.plain import category_of

        own = None if folder is None else self._projects.of(folder)
        if project is not None:
            own = self._projects.get(project)
        return self.shared.store().notes.search(
            project=own, everywhere=everywhere or (folder is not None and own is None),
            statuses=_chosen(status, get_args(Status), "status"),
            authors=_chosen(author, get_args(Author), "author"),
            category=None if category is None else category_of(category), text=text,
            limit=limit, cursor=cursor,
        )  # fmt: skip

    def get(self, ref: str) -> Note:
        """One note, by its reference or the first four characters of it."""
        return self.shared.store().notes.get(ref)

    def of_session(self, ref: str) -> list[Note]:
        """What is remembered from a session: told, or waiting for a decision."""
        store = self.shared.store()
        return store.notes.of_session(store.sessions.resolve(ref)[0])

    def count_told(self, project: str) -> int:
        """How many lines the agents in a project are told at their start, as it is now."""
        ready = self.shared.store().hook_lines.pack(project)
        return sum(line[:2] == "- " for line in ready.text.splitlines()) if ready else 0

    def evidence(self, note: Note, limit: int) -> list[Turn]:
        """The turns that a note rests on, the newest first; none that is gone or damaged."""
        from recollect.errors import RecollectError

        store, found = self.shared.store(), []
        for ref in note.turns[:limit]:
            session, _, ordinal = ref.rpartition("#")
            with suppress(RecollectError):
                found.append(store.turns.get(session, int(ordinal)))
        return found

    def accept(self, ref: str, *, why: str = "") -> Note:
        """A person says that a note is right: from now on it counts.

        What a team mate corrected with it holds no more.
        """
        note = self._notes.accept(ref, why=self._why(why))
        for corrected in self.shared.store().team.corrected(note.ref):
            if self._notes.get(corrected).status == "active":
                self._notes.retire(corrected, why=f"corrected by {note.ref}")
        return self._told_at_once(note)

    def reject(self, ref: str, *, why: str = "") -> Note:
        """A person says that a note is wrong: it is not told any more, and does not come back."""
        return self._told_at_once(self._notes.reject(ref, why=self._why(why)))

    def retire(self, ref: str, *, why: str = "") -> Note:
        """A person says that a note was right, and holds no more."""
        return self._told_at_once(self._notes.retire(ref, why=self._why(why)))

    def edit(self, ref: str, text: str) -> Note:
        """A person says it better: the answer is the new note, which takes the place of the old."""
        return self._told_at_once(self._notes.edit(ref, self._line(text)))

    def merge(self, ref: str, into: str) -> Note:
        """Two notes say the same: the second one stays, with what both rest on."""
        return self.edit(ref, self.get(into).text)

    def pin(self, ref: str) -> Note:
        """Tell a note before all that are not pinned."""
        return self._told_at_once(self._notes.pin(ref))

    def unpin(self, ref: str) -> Note:
        """Tell it in its own place again."""
        return self._told_at_once(self._notes.unpin(ref))

    def undo(self, ref: str) -> Note | None:
        """Take back the last thing that a person did to a note.

        None when that was to write it: then it is gone.
        """
        before = self._notes.get(ref)
        after = self._notes.undo(before.ref)
        self._told_at_once(after or before)
        return after

    def history(self, ref: str) -> list[NoteChange]:
        """What people did to a note, the oldest first."""
        return self.shared.store().notes.history(ref)

    def forget(self, ref: str) -> Note:
        """Remove a note for good, with the versions that it took the place of.

        The answer is what it was.
        """
        store = self.shared.store()
        return self._told_at_once(store.forgetting.note(store.notes.get(ref).ref))

    @property
    def _notes(self) -> Notes:
        return self.shared.store().notes

    @property
    def _projects(self) -> MemoryProjects:
        from recollect.memory.projects import MemoryProjects

        return MemoryProjects(self.shared)

    def place(self, project: str | None, folder: str | None) -> str:
        """The key of the project that is meant, which may be new."""
        if project is not None:
            return self._projects.get(project)
        from recollect.capture.projects import ProjectFinder

        store = self.shared.ensure_store()
        place = ProjectFinder().identify(os.path.abspath(folder or os.getcwd()), None)
        assert place is not None
        with store.transaction():
            number = store.projects.ensure(place)
        return store.projects.key(number)

    def _line(self, text: str) -> str:
        """One line of text without secrets."""
        from recollect.distill.plain import one_line, plain

        return plain(self.shared.redact_strictly(one_line(text)))

    def _why(self, why: str) -> str:
        from recollect.distill.plain import one_line

        return self.shared.redact_strictly(one_line(why)) if why else ""

    def _told_at_once(self, note: Note) -> Note:
        """Put the memories that may tell a note in order again, and what hooks tell of them."""
        from recollect.errors import NotFound

        store = self.shared.store()
        self.arrange(store.notes.remembered() if note.project is None else [note.project])
        with suppress(NotFound):
            return store.notes.get(note.ref)
        return note

    def arrange(self, projects: Sequence[str]) -> None:
        """Put the memories of these projects in order again, and what hooks tell of them.

        What cannot be made now is made by a job.
        """
        from recollect.distill.remember import arrange_notes
        from recollect.errors import NotFound, StoreError
        from recollect.recall.hooks.lines import make_ready

        store = self.shared.store()
        with suppress(StoreError, NotFound):
            for key in projects:
                arrange_notes(store, key)
                store.hook_lines.outdate(store.projects.number(key))
                for _ in make_ready(store, self.shared.settings, only=key):
                    pass


def _chosen(given: str | Sequence[str] | None, known: tuple[Name, ...], what: str) -> list[Name]:
    """The names that somebody asks for; none of them means any."""
    from recollect.errors import UsageError

    names = [given] if isinstance(given, str) else given or []
    for name in names:
        if name not in known:
            raise UsageError(
                f'There is no {what} "{name[:50]}".', hint=f"Choose {', '.join(known)}."
            )
    return [name for name in known if name in names]
