"""Whether the agents that we are installed in really call us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.model.reports import HealthCheck, Integration
from recollect.serve.install import next_steps
from recollect.serve.output import short_time
from recollect.system.clock import iso

# By agent and event: when it last fired, in milliseconds, and the fault it ended with.
HookRuns = Mapping[tuple[str, str], tuple[int, str | None]]


def findings(integrations: Sequence[Integration], hook_runs: HookRuns | None) -> list[HealthCheck]:
    """A finding for each integration.

    Without `hook_runs` (the store cannot be asked) nothing is said about those.
    """
    return [_finding(one, hook_runs) for one in integrations]


def _finding(one: Integration, hook_runs: HookRuns | None) -> HealthCheck:
    fired = {
        event: when for (agent, event), when in (hook_runs or {}).items() if agent == one.agent
    }
    detail = [_what(one)]
    hint, waits = "", False
    if one.hooks or one.plugin:
        told = [
            _told(event, *when)
            for event, when in sorted(fired.items(), key=lambda item: -item[1][0])
        ]
        detail += told or ([] if hook_runs is None else ["its hooks never ran"])
        if hook_runs is not None and not fired:
            hint, waits = "; ".join(next_steps(one.agent)), True
    if not one.command_exists:
        detail.append(f"the command that it calls is gone: {one.command}")
        scope = "" if one.scope == "user" else " --scope project"
        hint, waits = f"Bring the path up to date: recollect install {one.agent}{scope}", False
    return HealthCheck(
        name=f"connected to {one.agent}", ok=not hint, warning=waits, detail="; ".join(detail),
        hint=hint,
    )  # fmt: skip


def _what(one: Integration) -> str:
    parts = [
        name
        for name, there in (("hooks", one.hooks), ("mcp", one.mcp), ("skill", one.skill))
        if there
    ]
    where = "for you" if one.scope == "user" else "in this project"
    return f"{', '.join([*parts, *([one.plugin] if one.plugin else [])])} {where}"


def _told(event: str, at: int, fault: str | None) -> str:
    return f"{event} last ran {short_time(iso(at))}" + (f" and failed ({fault})" if fault else "")
