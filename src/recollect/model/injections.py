"""What agents were told unasked, and what came of it.

Field names are what `--json` prints; docs/json.md promises them.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

# What the session did with it: acted on it, could have and did not, or nobody can say.
Use = Literal["used", "unused", "unknown"]


class InjectionLine(Struct, kw_only=True):
    """One note or turn that was told. `text` is None once it was forgotten."""

    ref: str
    use: Use = "unknown"
    text: str | None = None


class Injection(Struct, kw_only=True):
    """One time that an agent was told something.

    `face` is hook or mcp, `event` the agent's own name for the event, or the tool. `lines` are
    in the order in which they were told; their texts are only there when one is asked for.
    """

    id: str
    at: str | None
    face: str
    event: str
    agent: str | None
    session: str | None
    project: str | None
    folder: str | None
    tokens: int
    lines: list[InjectionLine] = field(default_factory=list)
    looked_at: str | None = None


class Share(Struct, kw_only=True):
    """How many of how many, with the interval that the true share lies in 19 times out of 20.

    Without a share there is not enough data for one.
    """

    count: int
    of: int
    share: float | None = None
    low: float | None = None
    high: float | None = None


class Effect(Struct, kw_only=True):
    """What telling a note came to: how often it was told, used and not used, and what people
    and agents said of it.

    For a note about a command that fails, `before` and `after` say in how many of the sessions
    of its project the command failed, before it was first told and after it was told;
    `change` by how much that share changed, with its interval, where there is enough data.
    """

    ref: str
    text: str
    since: str | None
    told: int = 0
    sessions: int = 0
    used: int = 0
    unused: int = 0
    unknown: int = 0
    helpful: int = 0
    harmful: int = 0
    before: Share | None = None
    after: Share | None = None
    change: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    verdict: str = ""


# What is said to have harmed so many times more often than it helped is not told any more.
HARMFUL_MARGIN = 3


def is_harmful(helpful: int, harmful: int) -> bool:
    """Whether something did more harm than good, by a margin that chance does not explain."""
    return harmful - helpful >= HARMFUL_MARGIN
