"""Turns and tool calls as the verbs see them: rows of the store, without its dialect."""

from __future__ import annotations

from recollect.model.search import Place

# What a row keeps of a command or of the paths of a patch; the body has all of it.
TARGET_CHARACTERS = 2_000
MOST_FILES = 8


class Scene(Place):
    """A turn's place with what was asked there, and the folder that its session began in."""

    __slots__ = ("cwd", "prompt")

    def __init__(
        self, turn: int, session: int, session_ref: str, agent: str, ordinal: int, at: int | None,
        project: str | None,
        origin: str, live: int, key: str, prompt: str, cwd: str | None,
    ) -> None:  # fmt: skip
        super().__init__(turn, session, session_ref, agent, ordinal, at, project, origin, live, key)
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
    """A tool call: its place in the turn, what it was about, and how it went."""

    __slots__ = ("exit_code", "kind", "name", "ok", "ordinal", "target", "turn")

    def __init__(
        self,
        turn: int,
        ordinal: int,
        name: str,
        kind: str,
        target: str | None,
        ok: int | None,
        exit_code: int | None,
    ) -> None:
        self.turn, self.ordinal, self.name, self.kind, self.target = (
            turn,
            ordinal,
            name,
            kind,
            target,
        )
        self.ok, self.exit_code = None if ok is None else bool(ok), exit_code

    @property
    def cut(self) -> bool:
        """Whether the target may go on in the turn's body."""
        return self.target is not None and (
            len(self.target) >= TARGET_CHARACTERS or self.target.count(", ") >= MOST_FILES - 1
        )
