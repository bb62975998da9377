"""Secrets leave a stretch before it reaches the store."""

from __future__ import annotations

from recollect.redact.values_in import RedactsMany, Slots
from recollect.store.stretch import Stretch

_FACT_FIELDS = ("cwd", "title", "git_branch", "git_remote")


def cleanse(stretch: Stretch, redactor: RedactsMany) -> None:
    """Replace every secret in everything that a stretch says."""
    slots = Slots()
    for part in stretch.turns.values():
        for event in part.events:
            if event.text:
                slots.add(event, "text", event.text)
            if event.kind == "tool_call":
                if event.output:
                    slots.add(event, "output", event.output)
                if event.target:
                    slots.add(event, "target", event.target)
                if event.input:
                    slots.add_value(event, "input", event.input)
        for result in part.late:
            if result.output:
                slots.add(result, "output", result.output)
        if part.facts.telemetry:
            slots.add_value(part.facts, "telemetry", part.facts.telemetry)
    for facts in stretch.sessions.values():
        for name in _FACT_FIELDS:
            value = getattr(facts, name)
            if value:
                slots.add(facts, name, value)
        if facts.meta:
            slots.add_value(facts, "meta", facts.meta)
    slots.replace(redactor)
