"""Finds and recognises SpecStory's exports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import takewhile

from recollect.capture.adapters.specstory.reader import FOLDER, HISTORY, SpecStoryReader
from recollect.capture.adapters.specstory.records import GENERATED, ROLE, SESSION, head_in, messages
from recollect.capture.logs.documents import read_text
from recollect.capture.logs.folders import files_in
from recollect.capture.logs.lines import UnreadableSource
from recollect.model.logs import Checkpoint, Item, Problem, Source

_ENDING = ".md"
# More than any conversation; an export is held in memory a few times over.
_MOST_BYTES = 64 << 20


class SpecStory:
    """SpecStory's exports, in the folders of projects."""

    agent = "specstory"
    name = "SpecStory"
    version = 2
    endings = (_ENDING,)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """None: exports are with the projects they tell of."""
        return []

    own_roots = roots

    def sources(self, root: str) -> Iterator[Source]:
        """The exports of a project, or of one of the two folders that they are in."""
        parent, name = os.path.split(root.rstrip(os.sep))
        if name == HISTORY and os.path.basename(parent) == FOLDER:
            yield from self._in(root)
        elif name == FOLDER:
            yield from self._in(os.path.join(root, HISTORY))
        else:
            yield from self.in_project(root)

    def in_project(self, folder: str) -> Iterator[Source]:
        """The exports of a project."""
        yield from self._in(os.path.join(folder, FOLDER, HISTORY))

    def _in(self, folder: str) -> Iterator[Source]:
        for path in files_in(folder, _ENDING):
            yield self._source(path)

    def _source(self, path: str) -> Source:
        return Source(self.agent, path, appended=False)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A file with a comment of SpecStory's and a message.

        The oldest have no comment, but their place.
        """
        lines = head.decode("utf-8", "replace").split("\n")
        # The comments come first, but for a title.
        marks = ("<!--", "#")
        top = list(takewhile(lambda line: not line.strip() or line.startswith(marks), lines))
        generated, session = (any(map(mark.match, top)) for mark in (GENERATED, SESSION))
        spoken = any(map(ROLE.match, lines))
        in_place = os.path.dirname(path).endswith(os.path.join(FOLDER, HISTORY))
        ours = (generated and (session or spoken)) or (spoken and (session or in_place))
        return self._source(path) if ours else None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole export."""
        try:
            text = read_text(source.path, _MOST_BYTES)
        except UnreadableSource as reason:
            yield Problem(path=source.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        lines = text.replace("\r\n", "\n").split("\n")
        head = head_in(lines)
        reader = SpecStoryReader(source.path, head)
        for message in messages(lines):
            reader.take(message)
        if not reader.begun and head.session is None:
            unknown = "not an export of SpecStory that we know"
            yield Problem(path=source.path, kind="bad_record", reason=unknown)
        yield from reader.items()
        yield Checkpoint(len(text.encode("utf-8", "replace")))
