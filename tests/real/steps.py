"""What the stub's model does, step by step.

A test writes the model's side of a conversation as a list of steps. The stub
takes one for each request, so a call is followed by whatever the agent sends
back, and that by the next step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Say:
    """The model answers, and the turn is over."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls one tool and waits for what comes back."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Refuse:
    """The service refuses the request, with a status and words of its own."""

    status: int
    words: str


Step = Say | Call | Refuse
