"""Lines that hooks tell, as the store hands them out and takes them in.

On the path of a hook: nothing is imported.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class HookLine:
    """What a hook tells in one line; `refs` are the notes or turns in it, separated by spaces."""

    __slots__ = ("at", "line", "refs")

    def __init__(self, refs: str, line: str, at: int | None) -> None:
        self.refs, self.line, self.at = refs, line, at


class PromptLine(HookLine):
    """A line that prompts call up: what is known of its turn, whose session that is, and how often
    each word stands where in it; the numbers are those of `recall.hooks.facts`.
    """

    __slots__ = ("facts", "session", "words")

    def __init__(
        self, refs: str, line: str, at: int | None, words: Mapping[str, int], facts: int,
        session: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(refs, line, at)
        self.words, self.facts, self.session = words, facts, session


class Reminder(HookLine):
    """What works instead of a command of this shape, or after an error of it.

    With a `folder` it is about what is run there alone.
    """

    __slots__ = ("folder", "shape")

    def __init__(self, shape: str, folder: str, refs: str, line: str, at: int | None) -> None:
        super().__init__(refs, line, at)
        self.shape, self.folder = shape, folder
