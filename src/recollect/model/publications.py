"""What was written into a project's own files, and what became of it.

Field names are what `--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from msgspec import Struct, field


class Target(NamedTuple):
    """A file below a project's folder; `{skill}` in its path is the name of the skill.

    A new one begins with `head`, and ours is what follows. Where the file
    `instead` is there, that one gets the block, and this one a line that has it
    read. What is not `usual` is published to when it is asked for by name.
    """

    name: str
    path: str
    head: str = ""
    instead: str | None = None
    import_line: str = ""
    is_skill: bool = False
    usual: bool = True


# `edited` has been changed by hand since we wrote it, and `kept` stays so because a person
# wants it to; `covered` needs no block of its own.
PublishedState = Literal["new", "changed", "unchanged", "removed", "edited", "kept", "covered"]


class Publication(Struct, kw_only=True):
    """One file that is published to: what is, or would be, done to it.

    `refs` are the patterns and notes in it; `left_out` those that
    there was no room for. `written` says that it was done.
    """

    folder: str
    path: str
    target: str
    state: PublishedState
    refs: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    diff: str = ""
    written: bool = False
    note: str = ""


# What to do with a block that was changed by hand, and who says so.
Decision = Literal["keep", "overwrite"]
Decide = Callable[[Publication], Decision]


class Share(Struct, kw_only=True):
    """How many of how many, with the interval that the true share lies in 19 times out of 20."""

    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


class Amount(Struct, kw_only=True):
    """The typical amount over so many tasks (geometric mean), with its interval."""

    of: int
    typical: float | None = None
    low: float | None = None
    high: float | None = None


class Side(Struct, kw_only=True):
    """Before or after: in how many sessions it was seen, and how the
    tasks went that have to do with it.
    """

    sessions: Share
    success: Share
    tokens: Amount
    seconds: Amount


class Measured(Struct, kw_only=True):
    """What became of a pattern or a note since `since`, when it was published or else accepted.

    What is None there is not enough data for; `enough` says whether before and
    after can be compared at all, `change` by how much the share of sessions
    in which it was seen changed, in points, with its interval.
    """

    ref: str
    kind: str
    text: str
    status: str
    since: str | None
    wanted: Literal["fewer", "more"] | None
    offered: int = 0
    offered_sessions: int = 0
    opened: int = 0
    cited: int = 0
    came_back: int = 0
    helpful: int = 0
    harmful: int = 0
    before: Side | None = None
    after: Side | None = None
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    enough: bool = False
    verdict: str = ""
    retire: bool = False


# A lesson that is said to have harmed so many times more often than it helped is not told any more.
HARMFUL_MARGIN = 3


def is_harmful(helpful: int, harmful: int) -> bool:
    """Whether something did more harm than good, by a margin that chance does not explain."""
    return harmful - helpful >= HARMFUL_MARGIN
