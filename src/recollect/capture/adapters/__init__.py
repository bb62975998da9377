"""One file, or package, per log format, behind one protocol.

A new format is a new file here, one row in `BUILT_IN`, a golden folder and a
page in docs/formats; no other file changes. The modules of a package have the
same names for every agent; CONTRIBUTING says what is in which.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from recollect.errors import UsageError, choice_of
from recollect.model.logs import Checkpoint, Item, Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "BUILT_IN",
    "Adapter",
    "CleaningAdapter",
    "ProjectAdapter",
    "agents",
    "find_adapters",
    "get_adapter",
]


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
    # How the names of its files end, such as ".jsonl".
    endings: tuple[str, ...]

    def roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """The folders this agent keeps its logs in, whether or not they exist.

        Single files where it has no folder.

        `environ` is empty for a home that is not the user's own: variables
        that move a root say nothing about somebody else's.
        """

    def sources(self, root: str) -> Iterator[Source]:
        """The logs under a root, whether or not we have seen them before.

        This runs on every import, over thousands of files, to find out that
        nothing changed: it lists folders, and opens and stats nothing. The
        root may also be any folder that a person points at: there, only what
        lies in this agent's own layout is named; the rest is found one file
        at a time by `find_source`.
        """

    def find_source(self, path: str, head: bytes) -> Source | None:
        """The source that a file is, or is part of, told by its name and first bytes.

        None when it is not ours.

        It is asked about files with one of our `endings` that somebody points
        at. Look-alikes exist: several fields must agree, not one key.
        """

    def read(self, source: Source, since: Checkpoint | None) -> Iterator[Item]:
        """What is new since a checkpoint, each batch closed by the next one.

        The store commits a checkpoint together with the rows before it, so
        a run that stops anywhere continues without loss or repetition. The
        last item is always a checkpoint.
        """


@runtime_checkable
class ProjectAdapter(Protocol):
    """An adapter of an agent that leaves logs in the folders it works in: no root leads there."""

    def in_project(self, folder: str) -> Iterator[Source]:
        """The logs in a folder that somebody worked in.

        This runs on every import, for every such folder.
        """

    def own_roots(self, home: str, environ: Mapping[str, str]) -> list[str]:
        """Those of its roots that lie in no project, so that no repository can fill them."""


@runtime_checkable
class CleaningAdapter(Protocol):
    """An adapter of an agent that deletes its own logs after some time."""

    def kept_days(self, root: str) -> int | None:
        """After how many days without a change the agent deletes the logs under a root.

        None: never, or nobody can tell.
        """


BUILT_IN = {
    "claude-code": ("claude_code", "ClaudeCode"),
    "codex": ("codex", "Codex"),
    "grok": ("grok", "Grok"),
    "cursor": ("cursor", "Cursor"),
    "copilot-cli": ("copilot_cli", "CopilotCli"),
    "opencode": ("opencode", "OpenCode"),
    "gemini-cli": ("gemini_cli", "GeminiCli"),
    "vscode-copilot-chat": ("vscode_copilot_chat", "VscodeCopilotChat"),
    "cline-roo": ("cline_roo", "ClineRoo"),
    "antigravity": ("antigravity", "Antigravity"),
    "pi": ("pi", "Pi"),
    "kimi": ("kimi", "Kimi"),
    "aider": ("aider", "Aider"),
    "qwen-code": ("qwen_code", "QwenCode"),
    "goose": ("goose", "Goose"),
    "amp": ("amp", "Amp"),
    "droid": ("droid", "Droid"),
    "crush": ("crush", "Crush"),
    "continue": ("continue_dev", "ContinueDev"),
    "openhands": ("openhands", "OpenHands"),
    "specstory": ("specstory", "SpecStory"),
}
# Where other packages say which adapters they bring: the agent's id, and a
# class or function that makes the adapter.
ENTRY_POINTS = "recollect.adapters"

log = logging.getLogger(__name__)


def agents() -> list[str]:
    """The ids of all agents whose logs can be read, those of other packages last."""
    return [*BUILT_IN, *sorted(_plugged_in().keys() - BUILT_IN.keys())]


def get_adapter(agent: str) -> Adapter:
    """The adapter of one agent id."""
    if agent in BUILT_IN:
        module, name = BUILT_IN[agent]
        adapter: Adapter = getattr(import_module(f"{__name__}.{module}"), name)()
        return adapter
    point = _plugged_in().get(agent)
    if point is None:
        raise UsageError(f'There is no agent "{agent}".', hint=choice_of(agents(), agent))
    return _load(point)


def find_adapters() -> list[Adapter]:
    """Every adapter there is.

    One of another package that cannot be had is left out, and said so.
    """
    found = [get_adapter(agent) for agent in BUILT_IN]
    for agent in agents()[len(found) :]:
        try:
            found.append(get_adapter(agent))
        except UsageError as error:
            log.warning("an adapter was left out", extra={"agent": agent, "fault": str(error)})
    return found


def _load(point: EntryPoint) -> Adapter:
    package = point.dist.name if point.dist else point.value
    try:
        adapter: Adapter = point.load()()
        lacking = [name for name in _NEEDED if not hasattr(adapter, name)]
    except Exception as error:
        raise UsageError(
            f"The adapter {point.name} of {package} cannot be loaded: "
            f"{type(error).__name__}: {error}.",
            hint=f"Upgrade or uninstall {package}.",
        ) from error
    if lacking or adapter.agent != point.name:
        fault = f"has no {', '.join(lacking)}" if lacking else f"calls itself {adapter.agent}"
        raise UsageError(
            f"The adapter {point.name} of {package} {fault}.",
            hint=f"Upgrade or uninstall {package}.",
        )
    return adapter


_NEEDED = ("agent", "name", "version", "endings", "roots", "sources", "find_source", "read")


def _plugged_in() -> dict[str, EntryPoint]:
    # Late: it takes longer to load than most commands take in all.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
