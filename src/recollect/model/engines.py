"""Runs of engines: who wrote a project's memory, when, and what that took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

# A memory was kept; nothing was worth keeping; nobody could answer; the answer was no good.
EngineOutcome = Literal["kept", "nothing", "later", "gave_up"]


class EngineRun(Struct, kw_only=True):
    """One time that an engine was asked about a project.

    `dropped` counts the lines of its answer that were no good.
    """

    project: str | None
    engine: str
    model: str = ""
    outcome: EngineOutcome
    why: str = ""
    prompts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    lines: int = 0
    dropped: int = 0
    at: str | None = None


class Reply(NamedTuple):
    """What a model said, and what that took; dollars are None where nobody knows them.

    `session` is what an agent calls the session in which it answered, where it keeps one.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    session: str = ""

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


class HeadlessAgent(NamedTuple):
    """How the program of an agent answers one question without a person, tools and hooks.

    The question goes to its standard input. `makers` are the agents of the same maker, whose
    sessions it may read. `words` makes the arguments of a model (empty: the agent's own choice)
    and a session's id, `files` is what has to stand in the folder it runs in, and `variables`
    what its environment has to say, of that folder. `read` finds the answer in what it printed;
    an empty text says that there is none.
    """

    agent: str
    program: str
    model: str
    makers: tuple[str, ...]
    words: Callable[[str, str], list[str]]
    read: Callable[[str], Reply]
    files: Mapping[str, str] = {}
    variables: Callable[[str], dict[str, str]] = lambda folder: {}


class EngineTotals(NamedTuple):
    """What several runs took."""

    runs: int
    tokens: int
    cost_usd: float


class EngineFailures(NamedTuple):
    """Runs in a row that kept nothing: how many, and the newest of them.

    `at` is in milliseconds of UTC.
    """

    times: int
    at: int
    outcome: EngineOutcome
    why: str


class EngineAnswer(Struct, kw_only=True):
    """A memory that somebody writes by hand, for a project, and what came of its file.

    `waiting` has no answer yet; `kept` became notes, but for the lines that `reason` names;
    `refused` says why.
    """

    project: str
    path: str
    outcome: Literal["written", "unchanged", "waiting", "kept", "refused"]
    reason: str = ""
    lines: int = 0


class EngineRequest(Struct, kw_only=True):
    """What an engine would be given of a project, and about what that would take."""

    project: str
    engine: str
    model: str
    sessions: int
    prompts: int
    waiting: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    cuts: list[str]
    left_out: dict[str, int]
    text: str
