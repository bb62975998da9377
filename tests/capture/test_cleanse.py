"""Whatever a log holds goes into the store in one way, and no secret goes along."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from recollect.capture.cleanse import clean_source
from recollect.capture.logs.folders import files_in
from recollect.memory import Memory
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Liveness,
    Problem,
    SessionFacts,
    Source,
    ToolResult,
    TurnFacts,
    Usage,
)
from recollect.redact import Redactor
from recollect.settings import Settings

# Of a shape that is nowhere else, so that it is a secret wherever it stands.
SECRET = "ghp_" + "A7xQ2mN9vK4rT8wZ1bY6cD3fG5hJ0pL2s4uE"


class Leaky:
    """An agent that has a secret in every field there is."""

    agent = "leaky"
    name = "Leaky"
    version = 1
    endings = (".log",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        return [os.path.join(home, ".leaky")]

    def sources(self, root: str) -> Iterator[Source]:
        for folder, _, _ in os.walk(root):
            for path in files_in(folder, ".log"):
                yield Source(self.agent, path)

    def find_source(self, path: str, head: bytes) -> Source | None:
        return None

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        yield from everything(source.path)
        yield Checkpoint(os.path.getsize(source.path), msgspec.msgpack.encode([SECRET]))


def everything(path: str) -> Iterator[Item]:
    """One item of each sort, every text of it with the secret inside."""
    session, turn = f"s-{SECRET}", f"t-{SECRET}"
    for kind in (SessionFacts, TurnFacts, Event, ToolResult, Usage, Liveness, Problem):
        filled: dict[str, Any] = {}
        for field in msgspec.structs.fields(kind):
            types = msgspec.inspect.type_info(field.type)
            inner = types.types if isinstance(types, msgspec.inspect.UnionType) else [types]
            if any(isinstance(one, msgspec.inspect.StrType) for one in inner):
                filled[field.name] = f"{field.name} {SECRET}"
            elif any(isinstance(one, msgspec.inspect.DictType) for one in inner):
                filled[field.name] = {f"key {SECRET}": [f"value {SECRET}"], SECRET: {SECRET: 1}}
        named = {"session": session, "turn": turn, "call": f"c-{SECRET}", "key": f"k-{SECRET}"}
        filled |= {name: value for name, value in named.items() if name in filled}
        if kind is SessionFacts:
            # A copy is not stored at all.
            filled["copy_of"] = None
        if kind is Event:
            for what in ("prompt", "reply", "reasoning", "compaction", "error", "abort"):
                yield Event(**{**filled, "kind": what})
            filled |= {"kind": "tool_call", "tool_kind": "shell"}
            filled["input"] = {SECRET: SECRET, "command": [f"echo {SECRET}"]}
        if kind is Liveness:
            filled["live"] = True
        if kind is Problem:
            filled |= {"path": path, "kind": "unknown"}
        yield kind(**filled)
        if kind is TurnFacts:
            yield kind(**{**filled, "turn": f"other {turn}"})


@pytest.fixture
def leaky(home: Path) -> Iterator[Memory]:
    log = home / ".leaky" / f"folder-{SECRET}" / f"{SECRET}.log"
    log.parent.mkdir(parents=True)
    log.write_text("anything")
    own = home / ".recollect"
    settings = Settings(str(own), str(own / "recollect.db"), {})
    with Memory(settings, adapters={"leaky": Leaky()}) as mind:
        yield mind


def test_no_column_of_any_table_has_a_secret_of_a_log(leaky: Memory, home: Path) -> None:
    """Names of tools, records, sessions and folders are as much a log's words as prompts."""
    report = leaky.import_logs()
    leaky.jobs.work()
    leaky.engines.write_jobs(str(home / "jobs"))

    assert (report.imported, report.sessions, report.failed) == (1, 1, 0)
    assert leaking(leaky) == []
    assert SECRET not in msgspec.json.encode(list(leaky.store.export())).decode()
    files = [*(home / "jobs").rglob("*"), *(home / ".recollect").rglob("*")]
    assert [path for path in files if SECRET in path.name] == []
    assert [path for path in files if path.is_file() and SECRET.encode() in path.read_bytes()] == []


def test_a_log_with_a_secret_in_its_path_is_read_once(leaky: Memory) -> None:
    """It is known again by the name that it is stored by."""
    leaky.import_logs()

    again = leaky.import_logs()

    assert (again.discovered, again.unchanged, again.imported) == (1, 1, 0)


@pytest.mark.parametrize("key", range(8))
def test_a_name_has_one_tag_for_one_secret(key: int) -> None:
    """A name is also read from each of its joints on, and a tag has joints itself.

    The digits of a tag are another store's by chance, so some of them would look like a secret.
    """
    redactor = Redactor(str(key).encode(), engine="python")

    clean = clean_source(Source("codex", "/home/ada/password=Kp7mnPz91xQ/a-b.jsonl"), redactor)

    assert clean.path.count("[REDACTED:") == 1
    assert clean_source(clean, redactor) == clean


def leaking(mind: Memory) -> list[str]:
    """The columns in which the secret stands, packed or not."""
    db = mind._shared.store().db
    tables = db.rows("select name from sqlite_schema where type = 'table' order by name")
    found = []
    for (table,) in tables:
        for row in db.rows(f'select * from "{table}"'):
            for number, value in enumerate(row):
                if any(SECRET in text for text in readings(value)):
                    found.append(f"{table}.{number} {str(value)[:150]}")
    return found


def readings(value: object) -> Iterator[str]:
    """A value as text: as it is, unpacked, and without its compression."""
    if isinstance(value, str):
        yield value
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
        for opened in (value, value[1:]):
            try:
                yield zstandard.decompress(opened, 1 << 24).decode("utf-8", "replace")
            except zstandard.ZstdError:
                continue


def test_the_test_can_see_a_secret_that_was_left(home: Path, leaky: Memory) -> None:
    """Without redaction it stands in all of these."""
    own = home / ".bare"
    settings = Settings(str(own), str(own / "recollect.db"), {"redact.enabled": False})
    with Memory(settings, adapters={"leaky": Leaky()}) as mind:
        mind.import_logs()

        tables = {name.partition(".")[0] for name in leaking(mind)}

    assert {
        "sessions", "turns", "bodies", "tool_calls", "usage", "sources", "problems", "projects",
    } <= tables  # fmt: skip
