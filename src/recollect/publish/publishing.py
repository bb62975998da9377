"""Brings a project's own files up to date with what was accepted:
proposed as a diff, written when asked to.

All files are read, and whoever must be asked is asked, before the first one
is written. What is about to be written is noted down first, so that a
process that dies in between leaves nothing that a later one would take
for somebody's edit.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from recollect.errors import FileRefused, NotFound, StoreBusy
from recollect.model.injections import is_harmful
from recollect.model.notes import Note
from recollect.model.publications import (
    Block,
    Decide,
    Decision,
    Publication,
    Target,
)
from recollect.publish import block, content, files, targets

if TYPE_CHECKING:
    from recollect.model.leases import Lease
    from recollect.store import Store

PATIENCE_SECONDS = 20.0
_HEAD = re.compile(r"(?:---\r?\n.*?\n---)?", re.DOTALL)


class _Change(NamedTuple):
    """A file with what it holds, what it shall hold, and what is to be noted down about it."""

    row: Publication
    before: str | None
    after: str | None
    block: Block | None


def refuse(row: Publication) -> Decision:
    """What is decided when nobody can be asked."""
    raise FileRefused(
        f"{row.path} was changed by hand between the markers.",
        hint="Add --overwrite to replace it, or --keep to leave the file alone. To keep a "
        "line: recollect memory add",
    )


def publish(
    store: Store,
    folder: str,
    project: str | None,
    names: Sequence[str],
    redact: Callable[[str], str],
    *,
    apply: bool = False,
    undo: bool = False,
    decide: Decide = refuse,
    agent_targets: Sequence[Target] = (),
) -> list[Publication]:
    """What is, or would be, done to each file of a project; `undo` takes out everything of ours.

    `agent_targets` are the files that single agents read.
    """
    known = targets.all_targets(agent_targets)
    planning = _Planning(store, files.root(folder), project, redact, known, undo=undo)
    if not apply:
        return [change.row for change in planning.changes(names, None)]
    with _Turn(store, planning.folder) as lease:
        changes = list(planning.changes(names, decide))
        for change in changes:
            _write(store, lease, change, planning.number)
    return [change.row for change in changes]


class _Planning:
    """What is to be said in a project, worked out once for all of its files."""

    def __init__(
        self,
        store: Store,
        folder: str,
        project: str | None,
        redact: Callable[[str], str],
        known: dict[str, Target],
        *,
        undo: bool,
    ) -> None:
        self.store, self.folder, self.redact, self.undo = store, folder, redact, undo
        self.known = known
        self.name = project or folder
        self.number = store.projects.number(project) if project is not None else None

    def changes(self, names: Sequence[str], decide: Decide | None) -> Iterator[_Change]:
        """Each file in turn; without `decide`, one that was changed by hand is only said to be."""
        self.written = self.store.publications.blocks(self.folder)
        if self.number is None and not self.written:
            raise NotFound(
                "Nothing is known about this folder yet.",
                hint="Try: recollect import. Or name the folder of the project with --project.",
            )
        notes = [] if self.undo or self.number is None else self._notes()
        judged = self.store.injections.all_feedback()
        harmful = {ref for ref, counts in judged.items() if is_harmful(*counts)}
        chosen = {targets.path_of(target, self.name): target for target in self._chosen(names)}
        links = {path: to for path in chosen if (to := files.is_link(self.folder, path)) in chosen}
        for path, target in chosen.items():
            if path in links:
                yield self._covered(target, path, f"a link to {links[path]}")
            else:
                change = self._change(
                    target,
                    path,
                    notes,
                    harmful,
                    imported=target.instead in chosen.keys() - links.keys(),
                )
                yield self._settled(change, decide)
        for path, old in self.written.items():
            # Its name was made of another name of the project. What a file is to an
            # agent that nobody told us about, we cannot know: it stays until it is undone.
            if path not in chosen and (not names if self.undo else old.target in self.known):
                yield self._settled(self._emptied(old), decide)

    def _notes(self) -> list[Note]:
        """What a person typed or accepted about this project.

        What holds everywhere is the person's own business, and what rules overheard is no
        acceptance, whatever its trust.
        """
        active = self.store.notes.search(project=self.name, statuses=("active",))
        return [
            note
            for note in active
            if note.project is not None
            and note.trust == "user"
            and note.decided_at is not None
            and note.stale is None
        ]

    def _chosen(self, names: Sequence[str]) -> list[Target]:
        """Those that are named, and those that are published to already, so
        that nothing stays that should go.
        """
        in_use = [one.target for one in self.written.values() if one.target in self.known]
        if self.undo:
            return targets.chosen(names or in_use, self.known)
        wanted = [*names, *in_use] or [targets.DEFAULT]
        for target in targets.chosen(wanted, self.known):
            other = target.instead
            if (
                other is not None
                and files.exists(self.folder, other)
                and files.is_link(self.folder, other) is None
            ):
                wanted.append(other)
        return targets.chosen(wanted, self.known)

    def _change(
        self,
        target: Target,
        path: str,
        notes: list[Note],
        harmful: set[str],
        *,
        imported: bool,
    ) -> _Change:
        before = files.read(self.folder, path)
        head = targets.head_of(target, self.name)
        rest = block.removed(before, path) if before is not None else head
        made = content.compose(
            notes,
            harmful,
            self.redact,
            line_end=block.line_end(rest),
            procedures=target.is_skill,
        )
        note = ""
        if imported and made.text:
            said_by_others = _imports(rest, target.import_line)
            made = content.Content("" if said_by_others else target.import_line, [], [])
            note = f"has {target.instead} read" + (" already" if said_by_others else "")
        return self._replaced(target.name, path, before, made, head=head, note=note)

    def _emptied(self, old: Block) -> _Change:
        return self._replaced(
            old.target, old.path, files.read(self.folder, old.path), content.Content("", [], [])
        )

    def _replaced(
        self,
        target: str,
        path: str,
        before: str | None,
        made: content.Content,
        *,
        head: str = "",
        note: str = "",
    ) -> _Change:
        """A file as it is, and as it would be with this between our markers."""
        old, found = self.written.get(path), block.find(before or "", path)
        was_made = old.made if old is not None else before is None
        row = Publication(
            folder=self.folder,
            path=path,
            target=target,
            state="unchanged",
            refs=made.refs,
            left_out=made.left_out,
            note=note,
        )
        if made.text:
            after: str | None = block.put(head if before is None else before, made.text, path)
            row.state = "new" if found is None else "changed"
            kept = Block(path, target, _hash(made.text), tuple(made.refs), was_made)
        else:
            after, kept = before if found is None else block.removed(before or "", path), None
            if was_made and found is not None and _is_only_head(after or ""):
                after = None
            row.state = "covered" if note and found is None else "removed"
        if after == before:
            row.state = "covered" if row.state == "covered" else "unchanged"
        elif found is not None and not self.store.publications.has_written(_hash(found.text)):
            row.state = "edited"
        row.diff = _diff(path, before, after)
        return _Change(row, before, after, kept)

    def _covered(self, target: Target, path: str, note: str) -> _Change:
        row = Publication(
            folder=self.folder, path=path, target=target.name, state="covered", note=note
        )
        return _Change(row, None, None, None)

    def _settled(self, change: _Change, decide: Decide | None) -> _Change:
        """A change as it is made after a person was asked, if one has to be."""
        row = change.row
        if row.state != "edited" or decide is None:
            return change
        if decide(row) == "keep":
            row.state = "kept"
            return change._replace(after=change.before)
        row.state = "changed" if change.block is not None else "removed"
        return change


class _Turn:
    """Only one process at a time writes the files of a folder; others wait, for a while."""

    def __init__(self, store: Store, folder: str) -> None:
        self.store, self.folder = store, folder

    def __enter__(self) -> Lease:
        end = time.monotonic() + PATIENCE_SECONDS
        while (lease := self.store.publications.take(self.folder)) is None:
            if time.monotonic() > end:
                raise StoreBusy(self.store.path, PATIENCE_SECONDS)
            time.sleep(0.05)
        self.lease = lease
        return lease

    def __exit__(self, *_: object) -> None:
        self.store.leases.release(self.lease)


def _write(store: Store, lease: Lease, change: _Change, project: int | None) -> None:
    row, old = change.row, store.publications.blocks(change.row.folder).get(change.row.path)
    if row.state in ("kept", "covered") and change.before == change.after:
        if row.state == "covered" and old is not None:
            store.publications.drop(lease, row.folder, row.path)
        return
    if change.block is not None:
        store.publications.save(lease, row.folder, change.block, project)
        try:
            if change.after != change.before:
                files.replace(row.folder, row.path, change.before, change.after)
        except Exception:
            # Nothing was written, so what was written before is what stands there.
            if old is not None:
                store.publications.save(lease, row.folder, old, project)
            else:
                store.publications.drop(lease, row.folder, row.path)
            raise
    else:
        if change.after != change.before:
            files.replace(row.folder, row.path, change.before, change.after)
        if old is not None:
            store.publications.drop(lease, row.folder, row.path)
    row.written = change.after != change.before


def _is_only_head(rest: str) -> bool:
    """Whether nothing is left of a file of ours but what it
    began with: front matter, or nothing.
    """
    return _HEAD.fullmatch(rest.strip()) is not None


def _imports(file: str, line: str) -> bool:
    """Whether a file has another one read, in the place where we would say so."""
    return any(one.strip() in (line, f"@./{line[1:]}") for one in file.splitlines())


def _hash(text: str) -> str:
    return sha256(text.removesuffix("\n").encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _diff(path: str, before: str | None, after: str | None) -> str:
    """What changes in a file, for a person: how lines end is not
    shown, because it does not change.
    """
    old, new = (_shown(text) for text in (before, after))
    names = (
        "/dev/null" if before is None else f"a/{path}",
        "/dev/null" if after is None else f"b/{path}",
    )
    return "".join(unified_diff(old, new, *names))


def _shown(text: str | None) -> list[str]:
    lines = (text or "").replace("\r\n", "\n").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
