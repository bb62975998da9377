"""Which project a session belongs to.

That of the repository, else the folder, in which it began. What its commands
changed into makes no difference. Sub-agents belong where the session does that
started them.

A session that began outside any repository and edited files of exactly one
belongs to that one; one that began where many projects lie (a home, a folder of
repositories, a temporary folder) and edited in several places has no project.
This is known only as a session grows, so it is decided anew from all that is stored of it
whenever something is added, in the same transaction.

Folders are looked at when the log is of this machine. Of others, and of those that
are gone, the log's own words are taken: a remote, a branch (there was a
repository), and the folders that other sessions began in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from recollect.model.batch import ProjectIdentity
from recollect.system import git, places

if TYPE_CHECKING:
    from recollect.model.batch import SessionPlace
    from recollect.store import Store

# A hidden folder of a home holds what agents and programs note down for themselves.
_HIDDEN = "."


class ProjectFinder:
    """Identities of folders, remembered for the length of a run.

    `local` says that the folders are those of this machine.
    """

    def __init__(self, *, local: bool = True) -> None:
        self._local = local
        self._seen: dict[tuple[str | None, ...], ProjectIdentity | None] = {}

    def identify(
        self, cwd: str | None, remote: str | None = None, branch: str | None = None
    ) -> ProjectIdentity | None:
        """Where a session that began so happened; None when its log names no place."""
        try:
            return self._seen[cwd, remote, branch]
        except KeyError:
            found = self._identify(cwd, remote, branch)
            self._seen[cwd, remote, branch] = found
            return found

    def _identify(
        self, cwd: str | None, remote: str | None, branch: str | None
    ) -> ProjectIdentity | None:
        # A folder may be called by bytes that are no text; what is stored is.
        folder = places.tidy(cwd.encode("utf-8", "replace").decode()) if cwd else None
        named = git.normalised(remote) if remote else None
        if folder and self._local:
            found = git.look(folder)
            if found is not None:
                folders = tuple(dict.fromkeys([_text(found.repository), _text(found.top), folder]))
                name = _text(found.remote) if found.remote else named
                if name:
                    return ProjectIdentity(name, "remote", folders, seen=True)
                return ProjectIdentity(folders[0], "repository", folders, seen=True)
            folder = _text(git.settled(folder))
        gathers = bool(folder) and places.gathers(folder or "")
        if named:
            return ProjectIdentity(named, "remote", (folder,) if folder and not gathers else ())
        if not folder:
            return None
        above = () if gathers or not places.is_absolute(folder) else tuple(places.parents(folder))
        if branch and not gathers:
            return ProjectIdentity(folder, "repository", (), above)
        return ProjectIdentity(folder, "directory", (), above, gathers=gathers)


def settle(
    store: Store, touched: Mapping[int, bool], finders: Mapping[bool, ProjectFinder]
) -> None:
    """Give each of these sessions, and the sub-agents it has, the project that it belongs to.

    Inside the transaction that wrote to them. `touched` says of each whether its log is local.
    """
    store.projects.take_doubtful()  # What a transaction that failed left.
    while touched:
        done: set[int] = set()
        for session, local in touched.items():
            family = store.projects.family(session)
            if family and family[0] not in done:
                done.add(family[0])
                store.projects.assign(family, _project(store, family, finders[local]))
        # No repository was found on disk for these when they were read.
        touched = dict.fromkeys(sorted(store.projects.take_doubtful()), False)


def _project(store: Store, family: list[int], finder: ProjectFinder) -> int | None:
    """The project of a session, given with its sub-agents, as far as it is known now."""
    start = store.projects.start(family)
    place = finder.identify(start.cwd, start.git_remote, start.git_branch)
    if place is None:
        return None
    if place.kind != "directory":
        return store.projects.ensure(place)
    known = store.projects.known(place)
    if known is not None and known.kind != "directory":
        return known.id
    edited, elsewhere = _edited(store, family, start, finder)
    if len(edited) == 1 and not elsewhere:
        return store.projects.ensure(edited.popitem()[1])
    if edited and (place.gathers or places.is_temporary(place.key)):
        return None
    return store.projects.ensure(place)


def _edited(
    store: Store, family: list[int], start: SessionPlace, finder: ProjectFinder
) -> tuple[dict[int | str, ProjectIdentity], bool]:
    """The repositories that a session edited files in, by project, and whether it
    edited files outside any, scratch and notes of programs apart.
    """
    found: dict[int | str, ProjectIdentity] = {}
    elsewhere = False
    for folder in set(_folders(store.projects.edited(family), start.cwd)):
        place = finder.identify(folder)
        if place is None:
            continue
        known = store.projects.known(place)
        if place.kind != "directory" or (known is not None and known.kind != "directory"):
            found[place.key if known is None else known.id] = place
        elif not places.is_temporary(folder) and f"/{_HIDDEN}" not in folder.replace("\\", "/"):
            elsewhere = True
    return found, elsewhere


def _folders(edited: Iterable[tuple[str, str | None]], cwd: str | None) -> Iterator[str]:
    """The folders of edited files; those named from a folder are in that, or in the session's."""
    for target, ran_in in edited:
        for path in target.split(", "):
            path, base = path.strip(), ran_in or cwd
            if not places.is_absolute(path):
                if not base or not path or path.startswith("~"):
                    continue
                path = f"{base}/{path}"
            folder = places.parent_of(places.tidy(path))
            if folder is not None:
                yield folder


def _text(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
