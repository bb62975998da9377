"""Finds and recognises aider's histories."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from recollect.capture.adapters.aider.reader import AiderReader, AiderState
from recollect.capture.logs.folders import files_in, name_in_text
from recollect.capture.logs.lines import UnreadableSource, blocks
from recollect.capture.logs.readers import resume
from recollect.model.logs import Checkpoint, Item, Problem, Source

_HISTORY = ".aider.chat.history.md"
# What a history that was moved by hand may be called.
_MOVED = re.compile(r"\.?aider[\w.-]*history[\w.-]*\.md$")
_HEADER = re.compile(rb"^# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$", re.MULTILINE)
_AIDERS_LINE = re.compile(rb"^(?:####|>) .*  \r?$", re.MULTILINE)


class Aider:
    """Aider's histories, in the folders that it was used in."""

    agent = "aider"
    name = "Aider"
    version = 2
    endings = (".md",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The file that the history was moved to; aider has no place of its own."""
        moved = environ.get("AIDER_CHAT_HISTORY_FILE", "")
        return [moved] if os.path.isabs(moved) else []

    own_roots = roots

    def sources(self, root: str) -> Iterator[Source]:
        """The history that was moved, or those in a folder."""
        if os.path.isfile(root):
            yield Source(self.agent, root)
        for path in files_in(root, *self.endings):
            if _MOVED.match(os.path.basename(path)):
                yield Source(self.agent, path)

    def in_project(self, folder: str) -> Iterator[Source]:
        """The history of a project."""
        path = os.path.join(folder, _HISTORY)
        if os.path.isfile(path):
            yield Source(self.agent, path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file in which a session begins, with aider's name or lines that end as aider's."""
        # A chat about aider quotes such lines, and begins otherwise.
        if head.lstrip().startswith(b"<!--") or not _HEADER.search(head):
            return None
        named = _MOVED.match(os.path.basename(path))
        return Source(self.agent, path) if named or _AIDERS_LINE.search(head) else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What was appended since."""
        position, state = resume(since, AiderState)
        folder, name = os.path.split(source.path)
        # A history with another name was moved here from where the work was done.
        cwd = folder if name == _HISTORY else None
        reader = AiderReader(_place(folder), cwd, position, state)
        begun = False
        try:
            for block in blocks(source.path, position):
                if isinstance(block, Problem):
                    yield block
                    continue
                if begun:
                    yield reader.checkpoint()
                begun, at = True, block.start
                for line in block.data.removesuffix(b"\n").split(b"\n"):
                    reader.take(line.decode("utf-8", "replace").removesuffix("\r"), at)
                    at += len(line) + 1
                yield from reader.drain()
        except UnreadableSource as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            if not begun:
                yield since or Checkpoint(0)
                return
        yield from reader.finish()
        if begun and not reader.state.began and not reader.dialogue.state.turn:
            yield Problem(path=source.path, kind="bad_record", reason="it has no session")
        yield reader.checkpoint()


def _place(folder: str) -> str:
    """The folder's name, as a part of a session's id."""
    return re.sub(r"[^\w.-]+", "-", name_in_text(folder)).strip("-") or "root"
