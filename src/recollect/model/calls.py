"""What happened in a turn, as the store returns it and every stage reads it.

On the path of a cold search: nothing is imported.
"""

from __future__ import annotations

from recollect.model.search import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    # Nothing is known of a call whose end no log tells, or whose line hides it: that is no pass.
    Ending: TypeAlias = Literal["passed", "failed", "unknown"]

# What a row keeps of a command or of the paths of a patch; the body has all of it.
TARGET_CHARACTERS = 2_000
MOST_FILES = 8


def stored_ending(ending: Ending) -> bool | None:
    """An ending as rows and bodies keep it."""
    return None if ending == "unknown" else ending == "passed"


def read_ending(stored: object) -> Ending:
    """An ending as rows and bodies keep it, in words."""
    return "unknown" if stored is None else "passed" if stored else "failed"


def exited_well(ok: bool | None, exit_code: int | None) -> bool | None:
    """How a line ended: it may have exited with 0 and nobody knows how what it hides ended."""
    return True if ok is None and exit_code == 0 else ok


class Scene(Place):
    """A turn's place with what was asked there, and the folder that its session began in."""

    __slots__ = ("cwd", "prompt")

    def __init__(
        self, turn: int, session: int, session_ref: str, agent: str, ordinal: int, at: int | None,
        project: str | None,
        origin: str, live: int, key: str, author: str, external: int, prompt: str, cwd: str | None,
    ) -> None:  # fmt: skip
        super().__init__(
            turn, session, session_ref, agent, ordinal, at, project, origin, live, key,
            author, external,
        )  # fmt: skip
        self.prompt, self.cwd = prompt, cwd

    @property
    def subagent(self) -> bool:
        """Whether another session had it done."""
        return self.origin == "subagent"

    @property
    def copy_of(self) -> tuple[object, ...]:
        """Equal for a turn and its copies in forks, which share its native key and its prompt."""
        return (self.agent, self.key, self.prompt) if self.prompt else (self.turn,)


class Call:
    """One tool call with what came of it.

    `turn` and `ordinal` say where it is: the number of its turn in the store
    and its place among the calls of that turn. `target` is the command of a
    shell, the files of an edit, or what else it was about; `ok` is None when
    nothing is known, which is no pass. A list that the store's tables give has
    neither `input` nor `output`, and long targets cut: `store.calls.whole`
    reads the rest.
    """

    __slots__ = (
        "duration_ms", "exit_code", "folder", "input", "kind", "name", "ok", "ordinal",
        "output", "target", "turn",
    )  # fmt: skip

    def __init__(
        self, turn: int, ordinal: int, name: str, kind: str, target: str, ok: bool | None,
        exit_code: int | None = None, folder: str | None = None,
        output: str = "", input: object = None, duration_ms: int | None = None,
    ) -> None:  # fmt: skip
        self.turn, self.ordinal = turn, ordinal
        self.name, self.kind, self.target, self.folder = name, kind, target, folder
        self.ok, self.exit_code, self.output, self.input = ok, exit_code, output, input
        self.duration_ms = duration_ms

    @property
    def ending(self) -> Ending:
        """How it ended, as `reading.endings` decided when it was imported."""
        return read_ending(self.ok)

    @property
    def passed(self) -> bool:
        """Whether it is known to have passed."""
        return self.ok is True

    @property
    def failed(self) -> bool:
        """Whether it is known to have failed; what has not, may not have passed either."""
        return self.ok is False

    @property
    def exited_well(self) -> bool | None:
        """How its line ended, of which more may be known than of all the commands in it."""
        return exited_well(self.ok, self.exit_code)

    @property
    def cut(self) -> bool:
        """Whether a target from the tables may go on in the turn's body."""
        return len(self.target) >= TARGET_CHARACTERS or self.target.count(", ") >= MOST_FILES - 1


class PlainEvent:
    """What happened in a turn besides calls: a prompt, a reply, an error of the agent itself, …

    The kinds are those of `model.logs`, and `digest` for what only a digest
    tells of a turn whose events were let go.
    """

    __slots__ = ("kind", "text", "turn")

    def __init__(self, turn: int, kind: str, text: str) -> None:
        self.turn, self.kind, self.text = turn, kind, text
