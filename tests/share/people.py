"""People who share: each has a store, the project of a repository, and the password of a login."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from recollect import Memory
from recollect.model.notes import Note
from recollect.share.link import JoinLink
from recollect.system.places import tidy

PROJECT = "github.com/acme/shop"


def clone(folder: Path, remote: str = PROJECT) -> Path:
    """A folder that git takes for a clone of a remote."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://{remote}.git\n')
    return folder


class Person:
    """One store on one device, and whose it is."""

    def __init__(self, name: str, folder: Path, server_password: str) -> None:
        self.name, self.folder = name, folder
        self.project = clone(folder / "shop")
        self.environ = {"PGPASSWORD": server_password}
        self.memory = Memory.open(folder / "recollect.db", environ=self.environ)

    def founds(self, url: str, team: str = "acme") -> Self:
        link = self.memory.team.found(url, name=team, member=self.name)
        return self._has(link)

    def joins(self, link: JoinLink) -> Self:
        self.memory.team.join(link.text())
        return self._has(link)

    def _has(self, link: JoinLink) -> Self:
        self.link = link
        self.environ["RECOLLECT_TEAM_PASSWORD"] = link.secret
        return self

    def says(self, text: str, **how: str) -> Note:
        return self.memory.notes.add(text, folder=tidy(str(self.project)), **how)  # type: ignore[arg-type]

    def shares(self, what: str = "notes") -> Self:
        self.memory.team.share(what, project=str(self.project))
        return self

    def syncs(self) -> Self:
        self.memory.team.sync()
        return self

    def knows(self, status: str | None = None) -> list[tuple[str, str | None, str]]:
        """The notes of others: text, by whom, and what is thought of it."""
        found = self.memory.notes.search(author="member", status=status)
        return sorted((note.text, note.by, note.status) for note in found)

    def accepts(self, words: str) -> Self:
        [note] = self.memory.notes.search(words, project=PROJECT)
        self.memory.notes.accept(note.ref)
        return self

    def rejects(self, words: str) -> Self:
        [note] = self.memory.notes.search(words, project=PROJECT)
        self.memory.notes.reject(note.ref)
        return self

    def told(self) -> str:
        """What an agent is told when it starts in the project."""
        found = self.memory.remember(folder=str(self.project))
        return found.pack if found else ""
