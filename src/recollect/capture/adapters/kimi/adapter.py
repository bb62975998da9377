"""Kimi CLI and Kimi Code, its successor: both append to wire logs,
in layouts and shapes of their own.

What we rely on, and how we know, is written down in docs/formats/kimi.md. The
parts: `cli` reads the logs of the one, `code` those of the other,
`messages` the messages for the model that both may keep, and
`beside` knows what lies beside a log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from recollect.capture.adapters.kimi import beside, cli, code
from recollect.capture.adapters.kimi.messages import MESSAGES, Context, ContextState
from recollect.capture.logs.appended import read_appended, resumed
from recollect.capture.logs.folders import listed
from recollect.capture.logs.lines import first_objects, head_of
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
        for folder in listed(sessions).folders:
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
        if kind == "context" and os.path.basename(path) == beside.CONTEXT:
            wire = os.path.join(os.path.dirname(path), beside.WIRE)
            path = wire if os.path.isfile(wire) else path
        return None if kind is None else _code_source(path) if kind == "code" else _cli_source(path)

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint."""
        path = source.path
        match _kind_of(head_of(path)) or _kind_by_place(path):
            case "code":
                position, state = resumed(since, code.State)
                session, facts = beside.told_by_code(path)
                old = facts.get("parent") if beside.is_taken_over(path) else None
                return read_appended(
                    source, position, code.RECORDS, code.Wire(path, session, facts, state, old=old)
                )
            case "context":
                position, context = resumed(since, ContextState)
                return read_appended(
                    source, position, MESSAGES, Context(path, *beside.told_by_cli(path), context)
                )
        position, known = resumed(since, cli.State)
        wire = cli.Wire(
            path, *beside.told_by_cli(path), known, source.companions, beside.model_of_agent(path)
        )
        return read_appended(source, position, cli.RECORDS, wire)


def _cli_source(path: str) -> Source:
    return Source("kimi", path, companions=beside.beside_cli(path))


def _code_source(path: str) -> Source:
    # What Kimi CLI told of a session that was taken over is better, if it is still there.
    return Source(
        "kimi",
        path,
        companions=beside.beside_code(path),
        rank=1 if beside.is_taken_over(path) else 0,
    )


def _logs_of_cli(folder: str) -> Iterator[str]:
    files, sessions = listed(folder)
    for session in sessions:
        held, inner = listed(session)
        wire, context = os.path.join(session, beside.WIRE), os.path.join(session, beside.CONTEXT)
        if wire in held or context in held:
            yield wire if wire in held else context
        if os.path.join(session, beside.SUBAGENTS) in inner:
            yield from _wires_below(os.path.join(session, beside.SUBAGENTS))
    # The first versions had no folder for a session, and nothing but its context.
    yield from (path for path in files if path.endswith(".jsonl"))


def _logs_of_code(folder: str) -> Iterator[str]:
    for session in listed(folder).folders:
        yield from _wires_below(os.path.join(session, beside.AGENTS))


def _wires_below(agents: str) -> Iterator[str]:
    for agent in listed(agents).folders:
        wire = os.path.join(agent, beside.WIRE)
        if wire in listed(agent).files:
            yield wire


def _kind_of(head: bytes) -> Kind | None:
    """What a file is, by its first lines; several fields must agree."""
    found = first_objects(head, 8)
    first = found[0] if found else {}
    if first.get("type") == "metadata" and text_of(first.get("protocol_version")):
        return "code" if "created_at" in first else "cli"
    if "timestamp" in first and {"type", "payload"} <= fields_of(first.get("message")).keys():
        return "cli"
    marked = any(
        role in _MARKS and _MARKS[role] in line
        for line in found
        if (role := text_of(line.get("role")))
    )
    return "context" if marked and all(text_of(line.get("role")) for line in found) else None


def _kind_by_place(path: str) -> Kind:
    """What a file should be whose beginning is damaged."""
    if beside.session_folder(path):
        return "code"
    return "cli" if os.path.basename(path) == beside.WIRE else "context"
