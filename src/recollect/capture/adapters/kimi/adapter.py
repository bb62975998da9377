"""Finds and recognises the logs of both Kimis."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from recollect.capture.adapters.kimi.cli import CLI_RECORDS, KimiCliReader, KimiCliState
from recollect.capture.adapters.kimi.code import CODE_RECORDS, KimiCodeReader, KimiCodeState
from recollect.capture.adapters.kimi.reader import MESSAGES, KimiContextReader, KimiContextState
from recollect.capture.adapters.kimi.session import (
    AGENTS,
    CONTEXT,
    SUBAGENTS,
    WIRE,
    companions_of_cli,
    companions_of_code,
    facts_of_cli,
    facts_of_code,
    is_taken_over,
    model_of_agent,
    session_folder,
)
from recollect.capture.logs.folders import list_folder
from recollect.capture.logs.lines import first_objects, read_head
from recollect.capture.logs.readers import read_appended, resume
from recollect.capture.logs.values import fields_of, text_of
from recollect.model.logs import Checkpoint, Item, Source

Kind = Literal["cli", "code", "context"]

# The folder of a working directory: the hash of its path, after the name of
# the machine if it is a remote one.
_cli_folder = re.compile(r"^(?:.+_)?[0-9a-f]{32}$")
_code_folder = re.compile(r"^wd_.+_[0-9a-f]{12}$")
_MARKS = {"_system_prompt": "content", "_checkpoint": "id", "_usage": "token_count"}


class Kimi:
    """Reads the sessions under `~/.kimi` and `~/.kimi-code`."""

    agent = "kimi"
    name = "Kimi"
    version = 1
    endings = (".jsonl",)

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """`KIMI_SHARE_DIR` moves the one, `KIMI_CODE_HOME` the other."""
        homes = [
            environ.get("KIMI_SHARE_DIR") or os.path.join(home, ".kimi"),
            environ.get("KIMI_CODE_HOME") or os.path.join(home, ".kimi-code"),
        ]
        return [os.path.join(folder, "sessions") for folder in homes]

    def sources(self, root: str) -> Iterator[Source]:
        """The logs of both, which have folders of different names for the working directories."""
        root = os.path.abspath(root)
        sessions = root if os.path.basename(root) == "sessions" else os.path.join(root, "sessions")
        for folder in list_folder(sessions).folders:
            name = os.path.basename(folder)
            if _code_folder.match(name):
                yield from map(_code_source, _logs_of_code(folder))
            elif _cli_folder.match(name):
                yield from map(_cli_source, _logs_of_cli(folder))

    def find_source(self, path: str, head: bytes) -> Source | None:
        """A log by how it begins.

        A context is part of the session whose wire log lies beside it.
        """
        kind = _kind_of(head)
        if kind == "context" and os.path.basename(path) == CONTEXT:
            wire = os.path.join(os.path.dirname(path), WIRE)
            path = wire if os.path.isfile(wire) else path
        return None if kind is None else _code_source(path) if kind == "code" else _cli_source(path)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint."""
        path = source.path
        match _kind_of(read_head(path)) or _kind_by_place(path):
            case "code":
                position, code_state = resume(since, KimiCodeState)
                named, facts = facts_of_code(path)
                old = facts.get("parent") if is_taken_over(path) else None
                code_reader = KimiCodeReader(path, named, facts, code_state, old=old)
                return read_appended(source, position, CODE_RECORDS, code_reader)
            case "context":
                position, context = resume(since, KimiContextState)
                context_reader = KimiContextReader(path, *facts_of_cli(path), context)
                return read_appended(source, position, MESSAGES, context_reader)
        position, cli_state = resume(since, KimiCliState)
        named, facts = facts_of_cli(path)
        model = model_of_agent(path)
        cli_reader = KimiCliReader(path, named, facts, cli_state, source.companions, model)
        return read_appended(source, position, CLI_RECORDS, cli_reader)


def _cli_source(path: str) -> Source:
    return Source("kimi", path, companions=companions_of_cli(path))


def _code_source(path: str) -> Source:
    # What Kimi CLI told of a session that was taken over is better, if it is still there.
    rank = 1 if is_taken_over(path) else 0
    return Source("kimi", path, companions=companions_of_code(path), rank=rank)


def _logs_of_cli(folder: str) -> Iterator[str]:
    files, sessions = list_folder(folder)
    for session in sessions:
        held, inner = list_folder(session)
        wire, context = os.path.join(session, WIRE), os.path.join(session, CONTEXT)
        if wire in held or context in held:
            yield wire if wire in held else context
        if os.path.join(session, SUBAGENTS) in inner:
            yield from _wires_below(os.path.join(session, SUBAGENTS))
    # The first versions had no folder for a session, and nothing but its context.
    yield from (path for path in files if path.endswith(".jsonl"))


def _logs_of_code(folder: str) -> Iterator[str]:
    for session in list_folder(folder).folders:
        yield from _wires_below(os.path.join(session, AGENTS))


def _wires_below(agents: str) -> Iterator[str]:
    for agent in list_folder(agents).folders:
        wire = os.path.join(agent, WIRE)
        if wire in list_folder(agent).files:
            yield wire


def _kind_of(head: bytes) -> Kind | None:
    """What a file is, by its first lines; several fields must agree."""
    found = first_objects(head, 8)
    first = found[0] if found else {}
    if first.get("type") == "metadata" and text_of(first.get("protocol_version")):
        return "code" if "created_at" in first else "cli"
    if "timestamp" in first and {"type", "payload"} <= fields_of(first.get("message")).keys():
        return "cli"
    roles = [text_of(line.get("role")) for line in found]
    marks = [_MARKS.get(role or "") for role in roles]
    marked = any(mark is not None and mark in line for mark, line in zip(marks, found, strict=True))
    return "context" if marked and all(roles) else None


def _kind_by_place(path: str) -> Kind:
    """What a file should be whose beginning is damaged."""
    if session_folder(path):
        return "code"
    return "cli" if os.path.basename(path) == WIRE else "context"
