"""An agent that rewrites its documents: the smallest adapter of a source that is not appended to.

A document is a list of sessions, each with an id, turns and what else a test is
about. `<name>.lesser.json` is a place that is believed less; beside `<name>.json`
there may be `<name>.title`, a companion.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.capture.logs.dialogue import Dialogue
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_bytes
from recollect.capture.logs.folders import files_in
from recollect.capture.logs.lines import UnreadableSource
from recollect.model.logs import Checkpoint, Item, Problem, Source


class Notebook:
    """Reads notebooks under `~/.notebook`."""

    name = "Notebook"
    version = 1
    endings = (".json",)

    def __init__(self, agent: str = "notebook") -> None:
        self.agent = agent
        self.reads: list[Checkpoint | None] = []

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        return [os.path.join(home, f".{self.agent}")]

    own_roots = roots

    def sources(self, root: str) -> Iterator[Source]:
        for path in files_in(root, ".json"):
            yield self._source(path)

    def in_project(self, folder: str) -> Iterator[Source]:
        path = os.path.join(folder, f"{self.agent}.json")
        if os.path.isfile(path):
            yield self._source(path)

    def _source(self, path: str) -> Source:
        title = path.removesuffix(".json") + ".title"
        return Source(
            self.agent, path, (title,), appended=False, rank=int(path.endswith(".lesser.json"))
        )

    def find_source(self, path: str, head: bytes) -> Source | None:
        return self._source(path) if head.startswith(b'[{"session":') else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        self.reads.append(since)
        try:
            data = read_bytes(source.path)
            sessions = parse_json(data, list[dict[str, Any]])
        except (UnreadableSource, BrokenDocument) as error:
            yield Problem(path=source.path, kind="bad_record", reason=str(error))
            yield Checkpoint(0)
            return
        title = Path(source.companions[0])
        if since is not None and since.position == len(data):
            sessions = []  # It was the companion that changed, and we remember this document.
        for session in sessions:
            talk = Dialogue(session["session"])
            given = title.read_text() if title.exists() else session.get("title")
            talk.facts(
                copy_of=session.get("copy_of"),
                title=given,
                cwd=session.get("cwd"),
                whole=session.get("whole"),
            )
            for key, prompt, *replies in session["turns"]:
                talk.prompt(key, prompt)
                for reply in replies:
                    talk.say("reply", reply)
            for cost in session.get("costs", ()):
                talk.usage(f"{session['session']}/cost", model="quill-2", input=10, cost_usd=cost)
            for key in session.get("undone", ()):
                talk.undo(key)
            yield from talk.drain()
        # A state says that it can go on from there.
        remembers = since is not None or any(session.get("remembers") for session in sessions)
        yield Checkpoint(len(data), bytes([144]) if remembers else b"")


def notebook(path: Path, *sessions: dict[str, Any]) -> Path:
    """Write a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sessions, separators=(",", ":")))
    return path
