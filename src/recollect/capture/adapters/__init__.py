"""One file per log format, behind one protocol.

A new format is a new file here, one row in `BUILT_IN`, a golden folder and a
page in docs/formats; no other file changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Protocol

from recollect.errors import UsageError
from recollect.model import Checkpoint, Item, Source

__all__ = ["BUILT_IN", "Adapter", "get_adapter"]


class Adapter(Protocol):
    """Reads the logs that one coding agent leaves on disk.

    An adapter knows a format and nothing else: not the store, not the
    settings, not the other adapters. It yields what it finds, in file order,
    and never raises over a bad line. Nothing outside the source and its
    companions is read.
    """

    agent: str
    name: str
    # Raised when a reading changes: sources read by an older one are read again.
    version: int

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folders this agent keeps its logs in, whether or not they exist.

        `environ` is empty for a home that is not the user's own: variables
        that move a root say nothing about somebody else's.
        """

    def sources(self, root: str) -> Iterator[Source]:
        """The logs under a root, whether or not we have seen them before.

        This runs on every import, over thousands of files, to find out that
        nothing changed: it lists folders, and opens and stats nothing.
        """

    def recognises(self, path: str, head: bytes) -> bool:
        """Whether a file somebody points at is one of ours, by its name and first bytes.

        Look-alikes exist: several fields must agree, not one key.
        """

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint, each stretch closed by the next one.

        The store commits a checkpoint together with the rows before it, so
        a run that stops anywhere continues without loss or repetition. The
        last item is always a checkpoint.
        """


BUILT_IN = {
    "claude-code": ("claude_code", "ClaudeCode"),
    "codex": ("codex", "Codex"),
}


def get_adapter(agent: str) -> Adapter:
    """The adapter of one agent id."""
    try:
        module, name = BUILT_IN[agent]
    except KeyError:
        raise UsageError(f"no agent is called {agent}", hint=f"known: {', '.join(BUILT_IN)}") from None
    adapter: Adapter = getattr(import_module(f"{__name__}.{module}"), name)()
    return adapter
