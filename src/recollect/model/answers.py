"""What the verbs answer: who changed a file, what fixed an error, how a
tool is used, what keeps failing.

Field names are what `--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Literal, TypeVar

from msgspec import Struct, field

from recollect.model.notes import Trust

Confidence = Literal["high", "medium", "low"]
Answered = TypeVar("Answered")


class Answers(Generic[Answered]):
    """Rows, best first, and what should be said about them."""

    __slots__ = ("remarks", "rows")

    def __init__(self, rows: list[Answered], remarks: list[str] | None = None) -> None:
        self.rows, self.remarks = rows, remarks or []

    def __iter__(self) -> Iterator[Answered]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class Listing(Generic[Answered]):
    """A page of rows, how many there are in all, and what asks for the page after it, if any."""

    __slots__ = ("cursor", "rows", "total")

    def __init__(self, rows: list[Answered], *, total: int, cursor: str | None = None) -> None:
        self.rows, self.total, self.cursor = rows, total, cursor

    def __iter__(self) -> Iterator[Answered]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class FileChange(Struct, kw_only=True):
    """A turn that changed a file, and what was asked in it.

    `match` says how the file was recognised: `path` is the very file, `project`
    the same place in another checkout, `suffix` any file whose path ends so.
    """

    ref: str
    session: str
    turn: int
    agent: str
    project: str | None
    at: str | None
    live: bool
    subagent: bool
    external: bool
    file: str
    match: Literal["path", "project", "suffix"]
    prompt: str
    tools: list[str]
    changes: int
    ok: bool | None
    added: int | None
    removed: int | None
    excerpt: str


class ChangedFile(Struct, kw_only=True):
    """A file that was changed lately: when last, and in how many of the turns looked at."""

    file: str
    project: str | None
    at: str | None
    turns: int = 0


class FileLine(Struct, kw_only=True):
    """One line of a file, and the turn that wrote it; None where it was there before any log."""

    text: str
    ref: str | None = None


class FileLines(Struct, kw_only=True):
    """What logs tell of a file's text, as the last turn left it.

    In `pieces`, unless it `is_whole`. `unplaced` edits fit nowhere: somebody had changed
    the file meanwhile.
    """

    pieces: list[list[FileLine]]
    is_whole: bool
    unplaced: int = 0


class FixStep(Struct, kw_only=True):
    """Something done between an error and the run that worked: a command, or an edit of files."""

    ref: str
    kind: Literal["command", "edit"]
    text: str
    ok: bool | None
    exit_code: int | None = None


class Fix(Struct, kw_only=True):
    """An error that was met before, what was done about it, and the run that proves it.

    `proof` is the run that worked: `same` command, or one that is `alike`
    (same program and subcommand). None means that no such run was seen.
    """

    ref: str
    session: str
    turn: int
    agent: str
    project: str | None
    at: str | None
    live: bool
    subagent: bool
    external: bool
    error: str
    match: Literal["exact", "shape", "names", "part", "words"]
    failed: str | None
    exit_code: int | None
    steps: list[FixStep] = field(default_factory=list)
    steps_left_out: int = 0
    proof: FixStep | None = None
    proof_match: Literal["same", "alike"] | None = None
    confidence: Confidence = "low"
    why: str = ""


class Invocation(Struct, kw_only=True):
    """One way in which a tool was used, with how that went.

    `ref` and `external` are those of the example.
    `unclear` counts runs whose outcome the log does not tell: in the middle
    of a pipe or of a longer line, another command's exit code hides theirs.
    """

    tool: str
    shape: str
    ok: int
    failed: int
    unclear: int
    example: str
    ref: str
    external: bool
    agents: list[str]
    projects: list[str]
    first_at: str | None
    last_at: str | None


class Friction(Struct, kw_only=True):
    """An error that came back in several sessions.

    `fixed` counts those of the latest occurrences (`looked_at` of them) after
    which the failed command worked in the same session. `weeks` says how often it was met in
    each week, by its Monday; what has no time in the log is in none.
    """

    shape: str
    count: int
    sessions: int
    agents: list[str]
    projects: list[str]
    first_at: str | None
    last_at: str | None
    example: str
    ref: str
    external: bool
    command: str | None
    fixed: int
    looked_at: int
    weeks: dict[str, int]


class Continuation(Struct, kw_only=True):
    """The command that continues a session in its own agent.

    `words` are the command's arguments, for programs; `command` is the line
    for a shell, with the folder. `warnings` say what may keep it from working.
    """

    session: str
    agent: str
    native_id: str
    cwd: str | None
    command: str
    words: list[str]
    asked: str
    warnings: list[str] = field(default_factory=list)


class Handoff(Struct, kw_only=True):
    """What a session leaves behind, as a prompt with which another agent goes on.

    `command` is the line that starts the agent `to` with it, where we know how.
    """

    session: str
    agent: str
    to: str | None
    project: str | None
    cwd: str | None
    title: str
    tokens: int
    text: str
    command: str | None = None
    warnings: list[str] = field(default_factory=list)


class PackLine(Struct, kw_only=True):
    """One note or turn that an agent is told, and how sure we are that it helps."""

    ref: str
    at: str | None
    project: str | None
    confidence: float
    text: str
    trust: Trust = "tool-verified"


class Pack(Struct, kw_only=True):
    """What an agent is told before it starts.

    Empty when nothing is good enough. `tokens` is estimated.
    """

    lines: list[PackLine] = []
    tokens: int = 0
    text: str = ""


_NAMED = 3


def damage_note(names: list[str]) -> str:
    """What to say about damaged turns that an answer leaves out."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    are = "is damaged and was" if len(names) == 1 else "are damaged and were"
    return (
        f"{', '.join(names[:_NAMED])}{more} {are} left out, in whole or in part. "
        "To save what can be saved: recollect doctor --repair"
    )
