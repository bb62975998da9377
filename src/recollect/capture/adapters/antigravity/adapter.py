"""Antigravity, the CLI and the editor: a conversation is spread
over several files that go by its id.

The words are in a transcript of steps, the tokens in a database, and of old
conversations only the papers that the agent wrote are left in plain text. What
we rely on, and how we know, is written down in docs/formats/antigravity.md.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Struct

from recollect.capture.adapters.antigravity.database import Generation, Told, told_by
from recollect.capture.adapters.antigravity.steps import Step, Steps
from recollect.capture.logs.documents import Broken, document, written
from recollect.capture.logs.folders import files_in, listed, name_in_text
from recollect.capture.logs.lines import Unreadable, first_objects
from recollect.capture.logs.replayed import replay_lines
from recollect.capture.logs.rows import MAGIC, beside
from recollect.capture.logs.values import moment_of
from recollect.model.logs import Checkpoint, Item, Problem, Source

_PRODUCTS = ("antigravity-cli", "antigravity")
_BRAIN, _CONVERSATIONS = "brain", "conversations"
_LOGS = os.path.join(".system_generated", "logs")
# The second one is the first with long texts cut short.
_TRANSCRIPTS = ("transcript_full.jsonl", "transcript.jsonl")
_STEP = ("step_index", "source", "type", "status", "created_at")
_TABLES = (b"gen_metadata", b"step_payload")
_PAPERS = "papers"
_PAPER_BYTES = 4 << 20
# A conversation that was known without its words is told anew when they are there.
_PAPERS_ALONE, _DATABASE_ALONE = 1, 2
_LINES = msgspec.json.Decoder(Step)


class PaperMeta(Struct):
    """What is noted beside a paper."""

    updatedAt: Any = None


class Antigravity:
    """Antigravity's conversations under `~/.gemini`."""

    agent = "antigravity"
    name = "Antigravity"
    version = 1
    endings = (".jsonl", ".db", ".md")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """What is kept of conversations; the folders around that are caches and recordings."""
        base = os.path.join(home, ".gemini")
        return [
            os.path.join(base, product, part)
            for product in _PRODUCTS
            for part in (_BRAIN, _CONVERSATIONS)
        ]

    def sources(self, root: str) -> Iterator[Source]:
        """Every conversation once, by the best file there is of it.

        The root may be the folder above, too.
        """
        name = os.path.basename(root)
        above = os.path.dirname(root) if name in (_BRAIN, _CONVERSATIONS) else root
        brain = os.path.join(above, _BRAIN)
        if name != _CONVERSATIONS:
            for folder in listed(brain).folders:
                yield from _conversation(folder)
        if name != _BRAIN:
            for path in files_in(os.path.join(above, _CONVERSATIONS), ".db"):
                if not any(
                    _conversation(os.path.join(brain, os.path.basename(path).removesuffix(".db")))
                ):
                    yield _source(path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """The conversation of a file: steps are told by their fields, databases by
        their tables, papers by their place.
        """
        if path.endswith(".jsonl"):
            first = first_objects(head)
            ours = bool(first) and all(name in first[0] for name in _STEP)
        elif path.endswith(".db"):
            ours = head.startswith(MAGIC) and all(table in head for table in _TABLES)
        else:
            ours = False
        folder = _folder(path)
        whole = (
            next(_conversation(folder), None) if folder and (ours or path.endswith(".md")) else None
        )
        return whole or (_source(path) if ours else None)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The whole conversation, as it is now."""
        conversation = Conversation(source)
        if source.path.endswith(".jsonl"):
            return replay_lines(source, since, _LINES, conversation)
        return conversation.read_without_words(since)


class Conversation:
    """One conversation, gathered from its files."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        files = (source.path, *source.companions)
        self.database = next((path for path in files if path.endswith(".db")), None)
        self.papers = [path for path in files if path.endswith(".md")]
        self.session = _session(source.path)
        self.steps = Steps(self.session)
        self.told = Told()
        if self.database not in (None, source.path):
            self._ask(self.database)
        # Newer versions tell tokens with the steps as well.
        self.steps.is_counted = bool(self.told.generations)

    def take(self, step: Step) -> None:
        """A step of the transcript."""
        self.steps.take(step)

    def items(self) -> list[Item]:
        """Everything; the tokens come when it is known where turns begin.

        A conversation in which nothing was said is none.
        """
        self._tell_tokens()
        dialogue, model = self.steps.dialogue, self.steps.model
        items = dialogue.drain()
        if items:
            cwd = self.told.cwd or self.steps.cwd
            dialogue.facts(
                cwd=cwd, git_branch=self.told.branch, meta={"model": model} if model else None
            )
        return [*dialogue.drain(), *items, *self.steps.odd.problems(self.path)]

    def read_without_words(self, since: Checkpoint | None) -> Iterator[Item]:
        """What there is without a transcript: papers, or tokens alone."""
        try:
            if self.database == self.path:
                self._learn(told_by(self.path, self.session))
        except Unreadable as reason:
            yield Problem(path=self.path, kind="unreadable", reason=str(reason))
            yield since or Checkpoint(0)
            return
        read_bytes = sum(self._tell_paper(paper) for paper in self.papers)
        yield from self.items()
        yield Checkpoint(read_bytes + self.told.read_bytes)

    def _ask(self, database: str) -> None:
        """Ask the database beside the words.

        One that cannot be read costs the tokens and nothing else.
        """
        try:
            self._learn(told_by(database, self.session))
        except Unreadable as reason:
            if os.path.lexists(database):
                self.steps.odd.bad(f"the database beside it cannot be read: {reason}")

    def _learn(self, told: Told) -> None:
        self.told = told
        for _ in range(told.malformed):
            self.steps.odd.bad("a row of the database that is no message")

    def _tell_tokens(self) -> None:
        turns = sorted(self.steps.turns.items())
        for call in self.told.generations:
            turn = self._turn_of(call, turns)
            # The database may be ahead of the transcript: which turn a
            # call belongs to will be seen.
            if turn is not None or not self.path.endswith(".jsonl"):
                self.steps.dialogue.usage(
                    call.key, model=call.model or self.steps.model, at=call.at, input=call.input,
                    cache_read=call.cache_read,
                    output=call.output, reasoning=call.reasoning, turn=turn,
                )  # fmt: skip

    def _turn_of(self, call: Generation, turns: list[tuple[int, str]]) -> str | None:
        """The turn that a model call belongs to: that of its step, the
        first one when its step is not told.
        """
        step = call.step or 0
        if not turns or step > self.steps.last:
            return None
        return turns[max(0, bisect_right(turns, step, key=itemgetter(0)) - 1)][1]

    def _tell_paper(self, path: str) -> int:
        """A plan, a list of tasks or a summary that the agent wrote, in the
        one turn that all of them are in.
        """
        try:
            text = written(path, _PAPER_BYTES)
        except Unreadable as reason:
            self.steps.odd.bad(f"{name_in_text(path)} cannot be read: {reason}")
            return 0
        dialogue = self.steps.dialogue
        if not dialogue.standing.turn:
            dialogue.begin(_PAPERS, author="agent")
        try:
            at = moment_of(
                document(f"{path}.metadata.json", PaperMeta, limit=_PAPER_BYTES).updatedAt
            )
        except (Broken, Unreadable):
            at = None
        dialogue.say("reply", f"{name_in_text(path)}\n\n{text}" if text.strip() else None, at=at)
        return len(text)


def _conversation(folder: str) -> Iterator[Source]:
    """The one source of a conversation's folder: its transcript, else its papers.

    None when it is empty.
    """
    logs = {os.path.basename(path): path for path in listed(os.path.join(folder, _LOGS)).files}
    transcript = next((logs[name] for name in _TRANSCRIPTS if name in logs), None)
    papers = list(files_in(folder, ".md"))
    if transcript:
        yield _source(transcript)
    elif papers:
        notes = [f"{paper}.metadata.json" for paper in papers]
        companions = (*papers, *notes, *_beside(folder))
        yield Source(Antigravity.agent, folder, companions, appended=False, rank=_PAPERS_ALONE)


def _source(path: str) -> Source:
    if path.endswith(".db"):
        return Source(Antigravity.agent, path, beside(path), appended=False, rank=_DATABASE_ALONE)
    folder = _folder(path)
    return Source(Antigravity.agent, path, _beside(folder) if folder else (), appended=False)


def _folder(path: str) -> str | None:
    """The folder of the conversation that a file belongs to; None when it lies elsewhere."""
    folder = os.path.dirname(path)
    if path.endswith(".db"):
        above = os.path.dirname(folder) if os.path.basename(folder) == _CONVERSATIONS else None
        return (
            os.path.join(above, _BRAIN, os.path.basename(path).removesuffix(".db"))
            if above
            else None
        )
    if path.endswith(".jsonl"):
        folder = os.path.dirname(os.path.dirname(folder)) if folder.endswith(_LOGS) else ""
    return folder if os.path.basename(os.path.dirname(folder)) == _BRAIN else None


def _beside(folder: str) -> tuple[str, ...]:
    """The database that belongs to a conversation's folder."""
    path = os.path.join(
        os.path.dirname(os.path.dirname(folder)), _CONVERSATIONS, f"{os.path.basename(folder)}.db"
    )
    return (path, *beside(path))


def _session(path: str) -> str:
    """The id of a conversation: the name of its folder or its database, or that
    of a transcript that lies elsewhere.
    """
    folder = _folder(path) if path.endswith(".jsonl") else None
    return name_in_text(folder or path).removesuffix(".jsonl").removesuffix(".db")
