"""Where each shell command ran: `go test ./...` is only true in its folder.

The call itself may say it, the log at this point, or the turn; a `cd` that the
line begins with goes on from there. Where nothing is said, nothing is kept.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Callable

from recollect.model.batch import Batch
from recollect.model.logs import Event
from recollect.reading.shell import below, is_absolute, pieces
from recollect.reading.shell_edits import is_patch, patched_files

# What changes the folder in a command: taking each one apart to see would be slow.
_MOVES = re.compile(r"\b(?:cd|chdir|pushd|sl|(?:set|push)-location)\s", re.IGNORECASE)
# What agents call the folder among a command's arguments.
_NAMES = (
    "workdir", "cwd", "working_directory", "workingDirectory", "Cwd", "working_dir", "workingDir",
    "directory", "dir_path", "dir",
)  # fmt: skip


def place(batch: Batch, told_before: Callable[[str], str | None]) -> None:
    """Give the shell calls of a batch the folders they ran in.

    A log that is read on from where it stopped does not say again where its
    session began: `told_before` is asked then.
    """
    for (session, _), part in batch.turns.items():
        facts = batch.sessions.get(session)
        began = part.facts.cwd or (facts.cwd if facts else None) or told_before(session)
        for event in part.events:
            if event.kind != "tool_call" or event.tool_kind != "shell":
                continue
            if event.target and is_patch(event.target):
                # Given to the shell tool or not, a patch is an edit.
                event.tool_kind = "edit"
                event.target = ", ".join(patched_files(event.target)) or event.target
            else:
                event.folder = folder_of(event, event.folder or began)


def folder_of(event: Event, began: str | None) -> str | None:
    """Where a command ran, of which the log says that it began in a folder, if it does."""
    named = _named(event.input)
    folder = below(began, named) if named else began
    line = pieces(event.target) if event.target and _MOVES.search(event.target) else ()
    if line and line[0].folder != "":
        moved = line[0].folder
        if moved is None or not (folder or is_absolute(moved)):
            return None
        folder = below(folder, moved)
    return _tidy(folder) if folder else None


def _named(given: object) -> str | None:
    if isinstance(given, dict):
        for name in _NAMES:
            value = given.get(name)
            if isinstance(value, str) and value:
                return value
    return None


def _tidy(folder: str) -> str:
    """A folder without `..` and a slash at its end."""
    if folder.startswith("/"):
        return posixpath.normpath(folder) if "/." in folder else folder.rstrip("/") or folder
    windows = is_absolute(folder)
    return ntpath.normpath(folder) if windows and ".." in folder else folder.rstrip("/\\")
