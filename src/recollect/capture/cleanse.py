"""Secrets leave a batch before it reaches the store."""

from __future__ import annotations

import msgspec

from recollect.model.batch import Batch
from recollect.model.logs import Checkpoint
from recollect.redact.values_in import RedactsMany, Slots, redact_value

_SESSION_FIELDS = ("cwd", "title", "git_branch", "git_remote")
_TURN_FIELDS = ("cwd", "git_remote")


def cleanse(batch: Batch, redactor: RedactsMany) -> None:
    """Replace every secret in everything that a batch says."""
    slots = Slots()
    for part in batch.turns.values():
        for event in part.events:
            if event.text:
                slots.add(event, "text", event.text)
            if event.kind == "tool_call":
                if event.output:
                    slots.add(event, "output", event.output)
                for name in ("target", "folder"):
                    if value := getattr(event, name):
                        slots.add(event, name, value)
                if event.input:
                    slots.add_value(event, "input", event.input)
        for result in part.late:
            if result.output:
                slots.add(result, "output", result.output)
        for name in _TURN_FIELDS:
            if value := getattr(part.facts, name):
                slots.add(part.facts, name, value)
        if part.facts.telemetry:
            slots.add_value(part.facts, "telemetry", part.facts.telemetry)
    for facts in batch.sessions.values():
        for name in _SESSION_FIELDS:
            if value := getattr(facts, name):
                slots.add(facts, name, value)
        if facts.meta:
            slots.add_value(facts, "meta", facts.meta)
    reasons = [problem.reason for problem in batch.problems]
    for number, reason in enumerate(reasons):
        slots.add(reasons, number, reason)
    slots.replace(redactor)
    batch.problems = [
        msgspec.structs.replace(problem, reason=reason)
        for problem, reason in zip(batch.problems, reasons, strict=True)
    ]
    batch.checkpoint = _clean_checkpoint(batch.checkpoint, redactor)


def _clean_checkpoint(point: Checkpoint, redactor: RedactsMany) -> Checkpoint:
    """An adapter may remember words of the log, such as a title; those are stored too."""
    text = point.state.decode("utf-8", "replace")
    if redactor.redact_all([text])[0] is text:
        return point
    try:
        return Checkpoint(
            point.position,
            msgspec.msgpack.encode(redact_value(redactor, msgspec.msgpack.decode(point.state))),
        )
    except (msgspec.MsgspecError, UnicodeError):
        # Not readable, so not to be trusted: the source is read from its start next time.
        return Checkpoint(0)
