"""Handing a session over: the prompt, and the line that starts the next agent with it."""

from __future__ import annotations

import shlex

from recollect.memory import Memory
from recollect.model.answers import Handoff
from recollect.serve.agents import find_agent, served
from recollect.serve.resume import shell_line
from recollect.system import platforms


def handed_over(
    memory: Memory, ref: str, *, to: str | None = None, budget: int | None = None
) -> Handoff:
    """What a session leaves behind for the agent `to`, with the line that gives it to that one."""
    made = memory.handoff(ref, to=to, budget=budget)
    agent = find_agent(to) if to else None
    if to == made.agent:
        made.warnings.append(
            f"This is a session of {to} itself: recollect resume {made.session} goes on with all "
            "that it knows."
        )
    # PowerShell and cmd have no quotes through which a text of many lines comes whole.
    if agent is not None and agent.start and not platforms.WINDOWS:
        line = shell_line(made.cwd, list(agent.start), windows=False)
        made.command = f'{line} "$(recollect handoff {shlex.quote(made.session)} --to {to})"'
    return made


def takers() -> list[str]:
    """The agents that we know how to start with a prompt."""
    return [name for name, agent in served().items() if agent.start]
