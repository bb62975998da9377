"""Logs, imported into a memory of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from recollect.capture.adapters import Adapter
from recollect.memory import Memory
from recollect.model.logs import Source
from recollect.model.sessions import SessionDetail
from recollect.settings import Settings


def sources(adapter: Adapter, path: Path) -> list[Source]:
    """The logs of an agent at or below a path, as an import of that path finds them."""
    from recollect.capture import discover

    return [found.source for found in discover.below([adapter], str(path))]


@contextmanager
def imported(adapter: Adapter, path: Path, *, redact: bool = False) -> Iterator[Memory]:
    """A memory of its own, with the logs at a path in it."""
    with TemporaryDirectory(prefix="recollect-") as home:
        environ = {"RECOLLECT_HOME": home, "HOME": home}
        Path(home, "config.toml").write_text(
            f"[redact]\nenabled = {str(redact).lower()}\nenvironment = false\n"
        )
        store = Path(home, "recollect.db")
        store.touch(mode=0o600)
        store.write_bytes(_empty_store())
        settings = Settings.load(environ, store=str(store))
        with Memory(settings, adapters={adapter.agent: adapter}, environ=environ) as mind:
            mind.import_logs([path])
            yield mind


@cache
def _empty_store() -> bytes:
    """A store without anything in it: making its tables takes longer than most imports."""
    with TemporaryDirectory(prefix="recollect-") as folder:
        path = Path(folder, "recollect.db")
        with Memory(Settings.load({"RECOLLECT_HOME": folder}, store=str(path))) as mind:
            mind.import_logs([folder])
        return path.read_bytes()


def everything(adapter: Adapter, path: Path, *, redact: bool = False) -> dict[str, SessionDetail]:
    """All that an import of these logs stores, session by session."""
    with imported(adapter, path, redact=redact) as mind:
        return all_sessions(mind)


def all_sessions(mind: Memory) -> dict[str, SessionDetail]:
    """Every session of a memory, whole."""
    shown = (mind.show(session.id) for session in mind.sessions(limit=None, subagents=True))
    return {session.id: session for session in shown if isinstance(session, SessionDetail)}


def live_turns(told: dict[str, SessionDetail]) -> dict[str, Any]:
    """What is part of the conversations, without what depends on the order of imports.

    That is the numbers of turns, given at first sight, and their projects: a
    folder is one until a later line tells of the repository that it is in.
    """
    shown: dict[str, Any] = {}
    hidden = {"ref": "", "ordinal": 0, "project": None}
    for ref, session in told.items():
        turns = [msgspec.to_builtins(turn) | hidden for turn in session.turn_list if turn.live]
        if turns:
            shown[ref] = session.tokens, sorted(turns, key=repr)
    return shown
