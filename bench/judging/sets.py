"""What a labelled set is: things that were said, and questions with the turns that answer them.

Each set is read by a module of its own, whose `load` gives a `LabelledSet`.
Published sets are talks; they become stores through an adapter for talks
(`stores.Talk`), so that they pass through capture like any agent's log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

Part = Literal["dev", "test"]
PARTS: tuple[Part, ...] = ("dev", "test")
TALK = "talk"


@dataclass(frozen=True)
class Question:
    """Something to find, with the references of the turns and the
    ids of the sessions that hold it.
    """

    id: str
    part: Part
    kind: str
    text: str
    evidence: frozenset[str]
    sessions: frozenset[str]
    project: str | None = None


class Said(msgspec.Struct):
    """One turn of a talk."""

    prompt: str
    reply: str = ""


class TalkSession(msgspec.Struct):
    """One session of a talk; `at` is in milliseconds UTC, None when the set does not date it."""

    id: str
    at: int | None
    turns: list[Said]


@dataclass(frozen=True)
class Collection:
    """What is searched together: the logs of one store, and the questions asked of it.

    `write_logs` puts the logs into a folder and returns the path to import.
    """

    name: str
    questions: list[Question]
    write_logs: Callable[[Path], Path]


@dataclass(frozen=True)
class LabelledSet:
    """Collections, read as they are needed, and how many questions or
    labels of which sort were left out.

    The counts are complete when the last collection has been taken. `digest`
    changes when anything does that the stores are made from.
    """

    name: str
    digest: str
    collections: Iterable[Collection]
    left_out: Counter[str] = field(default_factory=Counter)


def turn_ref(session: str, ordinal: int) -> str:
    """The reference that a turn of a talk gets in the store; turns count from 1."""
    return f"{session_id(session)}#{ordinal}"


def session_id(session: str) -> str:
    """The id that a session of a talk gets in the store."""
    return f"{TALK}:{session}"


def session_of(ref: str) -> str:
    """The id of the session that a turn belongs to."""
    return ref.rpartition("#")[0]


def part_by_hash(name: str) -> Part:
    """A third of all names is for development, the same third wherever it is asked."""
    return "dev" if int(sha256(name.encode()).hexdigest()[:8], 16) % 3 == 0 else "test"


def read_time(text: str, *shapes: str) -> int | None:
    """A written time in milliseconds, taken as UTC; None when it has none of these shapes."""
    for shape in shapes:
        try:
            return int(datetime.strptime(text, shape).replace(tzinfo=UTC).timestamp() * 1000)
        except ValueError:
            continue
    return None


def talk(sessions: list[TalkSession]) -> Callable[[Path], Path]:
    """What writes these sessions as a log, one line each."""

    def write_logs(folder: Path) -> Path:
        path = folder / "talk.jsonl"
        path.write_bytes(b"".join(msgspec.json.encode(session) + b"\n" for session in sessions))
        return path

    return write_logs


def digest_of(paths: Iterable[Path]) -> str:
    """A short name for what is in these files, and in all files below those that are folders."""
    found = sha256()
    for path in paths:
        files = (
            sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        )
        for file in files:
            if "__pycache__" not in file.parts:
                found.update(f"{file.name}\0{file.stat().st_size}\0".encode())
                found.update(file.read_bytes())
    return found.hexdigest()[:16]
