"""Goose: all sessions in one SQLite file; before that, a file of JSON lines each.

What we rely on, and the versions we saw it in, is written down in
docs/formats/goose.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from recollect.capture.adapters.goose.database import Database, Marks
from recollect.capture.adapters.goose.talk import Talk
from recollect.capture.logs.appended import resumed
from recollect.capture.logs.folders import files_in, name_in_text
from recollect.capture.logs.lines import Unreadable, blocks, records
from recollect.capture.logs.oddities import Oddities
from recollect.capture.logs.rows import MAGIC, beside, opened, tables_in
from recollect.capture.logs.values import count_of, decoded, fields_of, moment_of, text_of
from recollect.model import Author, Checkpoint, Item, Origin, Problem, Source, TurnFacts

_DATABASE = "sessions.db"
_LEGACY_NAME = re.compile(r"\d{8}_\d{6}\.jsonl$")
# Enough to be worth a commit, little enough to be held in memory.
_STRETCH_BYTES = 8 << 20
# Names that goose gives a session before it has one.
_NAMELESS = {"", "CLI Session", "ACP Session", "New Chat", "New chat", "New session", "New Session"}
_ORIGINS: dict[str, Origin] = {"scheduled": "headless", "hidden": "headless", "sub_agent": "subagent"}
_AUTHORS: dict[str, Author] = {"scheduled": "system", "sub_agent": "agent"}


class Line(msgspec.Struct):
    """A line of a legacy file: the first is about the session, each other one is a message."""

    working_dir: Any = None
    description: Any = None
    created_at: Any = None
    schedule_id: Any = None
    total_tokens: Any = None
    input_tokens: Any = None
    output_tokens: Any = None
    accumulated_total_tokens: Any = None
    accumulated_input_tokens: Any = None
    accumulated_output_tokens: Any = None
    role: Any = None
    created: Any = None
    content: msgspec.Raw = msgspec.Raw(b"")
    metadata: msgspec.Raw = msgspec.Raw(b"")


_LINES = msgspec.json.Decoder(Line)


class Goose:
    """Goose's sessions in its data folder."""

    agent = "goose"
    name = "Goose"
    version = 1
    endings = (".db", ".jsonl")

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The `sessions` folder of goose's data, on every system: a home may be a copy from another one."""
        if moved := environ.get("GOOSE_PATH_ROOT"):
            return [os.path.join(moved, "data", "sessions")]
        data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
        roaming = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
        return [os.path.join(data, "goose", "sessions"), os.path.join(roaming, "Block", "goose", "data", "sessions")]

    def sources(self, root: str) -> Iterator[Source]:
        """The database, and the files of the time before it, in a `sessions` folder or the data folder around it."""
        folder = root if os.path.basename(root) == "sessions" else os.path.join(root, "sessions")
        files = list(files_in(folder, *self.endings))
        database = os.path.join(folder, _DATABASE)
        if database in files:
            yield self._database(database)
        # Sessions could be given any name; in a folder that only looks like goose's it must be a time.
        ours = database in files or os.path.basename(os.path.dirname(folder)) == "goose"
        for path in files:
            if path.endswith(".jsonl") and (ours or _LEGACY_NAME.search(path)):
                yield self._legacy(path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        """The source that a database is, told by its tables, or a file of lines, told by its first two."""
        if head.startswith(MAGIC):
            tables = tables_in(path)
            ours = {"content_json", "created_timestamp"} <= tables.get("messages", frozenset()) and {
                "working_dir",
                "accumulated_total_tokens",
            } <= tables.get("sessions", frozenset())
            return self._database(path) if ours else None
        return self._legacy(path) if path.endswith(".jsonl") and _is_legacy(head) else None

    def _database(self, path: str) -> Source:
        return Source(self.agent, path, companions=beside(path), appended=False)

    def _legacy(self, path: str) -> Source:
        # Its first line is written again with each message.
        return Source(self.agent, path, appended=False, rank=1)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """The sessions of a database that changed, whole; or all of a legacy file."""
        if source.path.endswith(".jsonl"):
            yield from _read_legacy(source)
        else:
            yield from _read_database(source, since)


# The database ---------------------------------------------------------------------


def _read_database(source: Source, since: Checkpoint | None) -> Iterator[Item]:
    start, known = resumed(since, Marks)
    marks, oddities, position, stretch = known or Marks(), Oddities(), start, 0
    try:
        with opened(source.path) as rows:
            database = Database(rows)
            marks, changed = database.changed(marks)
            for one in changed:
                if stretch >= _STRETCH_BYTES:
                    yield Checkpoint(position, msgspec.msgpack.encode(marks))
                    stretch = 0
                facts, messages = database.session(one.session), database.messages(one.session)
                size = sum(len(message[1]) for message in messages if isinstance(message[1], (str, bytes)))
                stretch, position = stretch + size, position + size
                if facts is not None:
                    yield from _session(one.session, facts, messages, oddities)
                marks.done = one
            marks = marks.through()
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
        if marks.done is None:
            yield since or Checkpoint(0)
            return
    yield from oddities.problems(source.path)
    yield Checkpoint(position, msgspec.msgpack.encode(marks))


def _session(session: str, facts: dict[str, Any], messages: list[tuple[Any, ...]], oddities: Oddities) -> list[Item]:
    kind = text_of(facts["session_type"]) or "user"
    config = fields_of(decoded(facts["model_config_json"]))
    model = text_of(config.get("model_name"))
    name = text_of(facts["name"]) or text_of(facts["description"]) or ""
    talk = Talk(session, _AUTHORS.get(kind, "human"), oddities)
    meta = {
        "session_type": kind,
        "provider": text_of(facts["provider_name"]),
        "model": model,
        "mode": text_of(facts["goose_mode"]),
        "schedule_id": text_of(facts["schedule_id"]),
    }
    talk.dialogue.facts(
        origin=_ORIGINS.get(kind, "interactive"),
        cwd=text_of(facts["working_dir"]),
        title=None if name in _NAMELESS else name,
        started_at=moment_of(facts["created_at"]),
        meta={key: value for key, value in meta.items() if value},
    )
    for role, content, created, metadata in messages:
        if isinstance(content, (str, bytes)):
            talk.take(role, content, created, metadata)
        else:
            oddities.bad("a message without content")
    _count(talk, facts, model)
    return talk.dialogue.drain()


def _count(talk: Talk, facts: Mapping[str, Any], model: str | None) -> None:
    """The tokens of the whole session, which is all that goose keeps; those of its last call where that is all there is.

    They stand with the first turn: the last one changes while a session goes on.
    """
    given, answered = count_of(facts["accumulated_input_tokens"]), count_of(facts["accumulated_output_tokens"])
    if not given and not answered:
        given, answered = count_of(facts["input_tokens"]), count_of(facts["output_tokens"])
    began = next((item for item in talk.dialogue.items if isinstance(item, TurnFacts)), None)
    if began is not None:
        session = talk.dialogue.session
        talk.dialogue.usage(session, model=model, at=began.at, input=given, output=answered, turn=began.turn)


# The time before the database -----------------------------------------------------


def _read_legacy(source: Source) -> Iterator[Item]:
    session = name_in_text(source.path).removesuffix(".jsonl")
    oddities, position = Oddities(), 0
    talk = Talk(session, "human", oddities)
    about: Line | None = None
    try:
        for block in blocks(source.path):
            if isinstance(block, Problem):
                yield block
                continue
            for line in records(source.path, block, _LINES):
                if isinstance(line, Problem):
                    yield line
                elif line.role is not None:
                    talk.take(line.role, bytes(line.content), line.created, bytes(line.metadata))
                elif about is None:
                    about = line
                    _introduce(talk, line)
                else:
                    oddities.unknown("line", "that is no message")
            position = block.end
    except Unreadable as reason:
        yield Problem(path=source.path, kind="unreadable", reason=str(reason))
    if about is not None:
        _count(talk, msgspec.structs.asdict(about), None)
    yield from talk.dialogue.drain()
    yield from oddities.problems(source.path)
    yield Checkpoint(position)


def _introduce(talk: Talk, about: Line) -> None:
    talk.dialogue.facts(
        origin="headless" if about.schedule_id else "interactive",
        cwd=text_of(about.working_dir),
        title=text_of(about.description),
        started_at=moment_of(about.created_at),
    )


def _is_legacy(head: bytes) -> bool:
    """Whether a file begins with a line about a session and one that is a message of goose's."""
    first, _, rest = head.partition(b"\n")
    try:
        about, message = _LINES.decode(first), _LINES.decode(rest.partition(b"\n")[0])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    known = b'"working_dir"' in first or b'"message_count"' in first
    return (
        known
        and about.role is None
        and isinstance(about.description, str)
        and message.role in ("user", "assistant")
        and isinstance(message.created, int)
        and bytes(message.content).startswith(b"[")
    )
