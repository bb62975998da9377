"""What accepted lines would change in the files of projects that agents read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from recollect.errors import RecollectError, UsageError
from recollect.model.publications import DUE, Decision, Publication
from recollect.serve.agents import publish_targets
from recollect.serve.web.app import Form, PageRequest
from recollect.serve.web.views.memory import back_to

if TYPE_CHECKING:
    from recollect.memory import Memory

MOST_FOLDERS = 20


def waiting(memory: Memory) -> list[dict[str, Any]]:
    """Each folder that is published to and whose files are not what they would be."""
    found = []
    for folder in memory.publish.folders()[:MOST_FOLDERS]:
        if not os.path.isdir(folder):
            continue
        try:
            rows = _due(memory, folder)
        except RecollectError as error:
            found.append({"folder": folder, "files": [], "fault": error})
            continue
        if rows:
            files = [{"row": row, "lines": list(_lines(row.diff))} for row in rows]
            edited = sum(row.state == "edited" for row in rows)
            found.append(
                {"folder": folder, "files": files, "fault": None, "shown": _mark(rows),
                 "edited": edited}
            )  # fmt: skip
    return found


def apply(asked: PageRequest) -> str:
    """Write what was shown, and nothing else."""
    folder, memory = asked.form.get("folder", ""), asked.memory
    if folder not in memory.publish.folders():
        raise UsageError(
            "Nothing is published in that folder.", hint="Try: recollect publish --apply"
        )
    if _mark(_due(memory, folder)) != asked.form.get("shown"):
        raise UsageError(
            "What would be written is not what you saw any more.", hint="Load the page again."
        )
    # Two buttons, for what was changed by hand between our markers.
    chosen: Decision = "overwrite" if asked.form.get("edited") == "overwrite" else "keep"
    rows = memory.publish.update(
        folder=folder, apply=True, decide=lambda _: chosen, agent_targets=publish_targets()
    )
    written = [row.path for row in rows if row.written]
    return back_to(asked, f"Written: {', '.join(written)}." if written else "Left alone.", None)


def _due(memory: Memory, folder: str) -> list[Publication]:
    rows = memory.publish.update(folder=folder, agent_targets=publish_targets())
    return [row for row in rows if row.state in DUE]


def _mark(rows: list[Publication]) -> str:
    """The same for the same changes."""
    shown = "".join(row.diff for row in rows)
    return sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _lines(diff: str) -> Iterator[tuple[str, str]]:
    """The lines of a diff without the names of the files."""
    for line in diff.splitlines()[2:]:
        sign = line[0] if line[:1] in ("+", "-", "@") else " "
        yield sign, "" if sign == "@" else line[1:]


FORMS = (Form("/publish", apply),)
