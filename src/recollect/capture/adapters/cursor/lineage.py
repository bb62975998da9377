"""Whose chat it is: a person's, or a sub-agent's that works for another chat."""

from __future__ import annotations

from typing import Any, NamedTuple

from recollect.capture.logs.values import fields_of, first_text, text_of
from recollect.model.logs import Author


class Lineage(NamedTuple):
    """A chat's session and, for a sub-agent's, the session it works for."""

    session: str
    parent: str | None = None

    @property
    def author(self) -> Author:
        """Who asks: a sub-agent is asked by the agent."""
        return "human" if self.parent is None else "agent"


def lineage(name: str, info: Any) -> Lineage:
    """The lineage of a chat from its `subagentInfo`.

    The two places that have one name its fields differently.
    """
    told = fields_of(info)
    parent = text_of(told.get("parentComposerId")) or text_of(told.get("parentAgentId"))
    if parent is None or parent == name:
        return Lineage(name)
    root = first_text(told.get("rootParentComposerId"), told.get("rootParentAgentId")) or parent
    return Lineage(f"{root}/{name}", parent if parent == root else f"{root}/{parent}")
