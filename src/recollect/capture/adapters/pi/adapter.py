"""Finds and recognises the sessions of Pi and its descendants."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.pi.reader import FILE_NAME, PiReader, PiState
from recollect.capture.adapters.pi.turns import ENTRIES
from recollect.capture.logs.folders import files_in, list_folder
from recollect.capture.logs.lines import first_objects
from recollect.capture.logs.readers import read_appended, resume
from recollect.capture.logs.values import (
    text_of,
)
from recollect.model.logs import Checkpoint, Item, Source


class Pi:
    """Reads the sessions of Pi, and of those that were made from it."""

    agent = "pi"
    name = "Pi"
    version = 1
    endings = (".jsonl",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`PI_CODING_AGENT_DIR` in place of `~/.pi/agent`, and the folders of the descendants.

        The sessions alone, where that can be: beside them are keys, programs and packages.
        """
        moved = environ.get("PI_CODING_AGENT_DIR")
        own = os.path.join(home, moved[2:]) if moved and moved.startswith("~/") else moved
        return [
            os.path.join(own or os.path.join(home, ".pi", "agent"), "sessions"),
            os.path.join(home, ".omp", "agent", "sessions"),
            os.path.join(home, ".openclaw", "agents"),
        ]

    def sources(self, root: str) -> Iterator[Source]:
        """`sessions/<folder>/<time>_<id>.jsonl`.

        OpenClaw has a folder for each agent and names files by id alone.
        """
        root = os.path.abspath(root)
        name = os.path.basename(root)
        sessions = root if name == "sessions" else os.path.join(root, "sessions")
        agents = root if name == "agents" else os.path.join(root, "agents")
        for folder in list_folder(sessions).folders:
            for path in files_in(folder, ".jsonl"):
                if FILE_NAME.match(os.path.basename(path)):
                    yield Source(self.agent, path)
        for folder in list_folder(agents).folders:
            for path in files_in(os.path.join(folder, "sessions"), ".jsonl"):
                yield Source(self.agent, path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file that begins with the header of a session, perhaps after its title."""
        found = first_objects(head, 2)
        if found and found[0].get("type") == "title":
            found = found[1:]
        header = found[0] if found else {}
        told = all(text_of(header.get(name)) for name in ("id", "timestamp", "cwd"))
        return Source(self.agent, path) if header.get("type") == "session" and told else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint."""
        position, state = resume(since, PiState)
        return read_appended(source, position, ENTRIES, PiReader(source.path, state))
