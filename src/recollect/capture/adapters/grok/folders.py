"""Where the sessions of Grok Build are:
`sessions/<group>/<session>/`, and who of them started whom.

A group is a working directory, percent-encoded, or a shortened name with the
directory in a file `.cwd`. Sub-agents are sessions like others, anywhere in the
tree; their parent has a folder `subagents/<session>` for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from recollect.capture.adapters.grok.session import (
    CHAT_FILE,
    EVENTS_FILE,
    PROMPTS_FOLDER,
    SIGNALS_FILE,
    SUMMARY_FILE,
    UPDATES_FILE,
)
from recollect.capture.adapters.grok.summary import LINK
from recollect.capture.logs.folders import Listing, list_folder
from recollect.model.logs import Source

_READ = (SUMMARY_FILE, UPDATES_FILE, CHAT_FILE, EVENTS_FILE, SIGNALS_FILE)
_SUBAGENTS = "subagents"
_MOST_LINKS = 8

# Session folders with what is in them.
Sessions = dict[str, Listing]


class Tree:
    """Sessions that may have started one another, told by the names of folders alone."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._by_name = {os.path.basename(folder): folder for folder in sessions}
        self._started = {
            folder: _started_in(folder, listing) for folder, listing in sessions.items()
        }
        self._links = {
            os.path.basename(link): link for links in self._started.values() for link in links
        }

    def sources(self) -> Iterator[Source]:
        """Each session, with all that is read to tell it."""
        for folder in self._sessions:
            yield self.source(folder)

    def source(self, folder: str) -> Source:
        """A session with its files, what its parents keep of it, and its sub-agents' updates."""
        files, folders = self._sessions[folder]
        own = [path for path in files if os.path.basename(path) in _READ]
        own += [path for path in folders if os.path.basename(path) == PROMPTS_FOLDER]
        links = [os.path.join(link, LINK) for link in self._above(os.path.basename(folder))]
        children = filter(
            None, (self._by_name.get(os.path.basename(link)) for link in self._started[folder])
        )
        updates = [
            path
            for child in children
            for path in self._sessions[child].files
            if os.path.basename(path) == UPDATES_FILE
        ]
        return Source("grok", folder, (*own, *links, *updates), appended=False)

    def _above(self, session: str) -> Iterator[str]:
        for _ in range(_MOST_LINKS):
            link = self._links.get(session)
            if link is None:
                return
            yield link
            session = os.path.basename(os.path.dirname(os.path.dirname(link)))


def _started_in(folder: str, listing: Listing) -> list[str]:
    """The folders that a session keeps about its sub-agents."""
    inside = os.path.join(folder, _SUBAGENTS)
    return list_folder(inside).folders if inside in listing.folders else []


def sessions_in(root: str) -> Sessions:
    """The session folders under a root: a home, its `sessions`, a group or a session."""
    listing = list_folder(root)
    if _is_session(listing, in_group=is_group(os.path.dirname(root))):
        return {root: listing}
    inside = os.path.join(root, "sessions")
    groups = list_folder(inside).folders if inside in listing.folders else [root, *listing.folders]
    return {folder: files for group in groups for folder, files in _sessions_of(group)}


def _sessions_of(group: str) -> Iterator[tuple[str, Listing]]:
    files, folders = list_folder(group)
    ours = _is_group(group, files)
    for folder in folders:
        listing = list_folder(folder)
        if _is_session(listing, in_group=ours):
            yield folder, listing


def is_group(folder: str) -> bool:
    """Whether a folder is one that Grok keeps the sessions of a working directory in."""
    return _is_group(folder, list_folder(folder).files)


def _is_group(folder: str, files: list[str]) -> bool:
    return "%" in os.path.basename(folder) or os.path.join(folder, ".cwd") in files


def _is_session(listing: Listing, *, in_group: bool) -> bool:
    """Other programs have a summary.json too, so alone it counts only where a session would be."""
    names = {os.path.basename(path) for path in listing.files}
    talks, summed = bool(names & {UPDATES_FILE, CHAT_FILE}), SUMMARY_FILE in names
    return talks or summed if in_group else talks and summed
