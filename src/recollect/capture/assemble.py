"""Items in file order become batches: turns with their events, results joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.model.batch import Batch, TurnPart
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Liveness,
    Problem,
    SessionFacts,
    ToolResult,
    TurnFacts,
    Usage,
)

_SESSION_FIELDS = tuple(
    name
    for name in SessionFacts.__struct_fields__
    if name not in ("session", "cwd", "git_remote", "meta")
)
_TURN_FIELDS = tuple(
    name for name in TurnFacts.__struct_fields__ if name not in ("session", "turn", "telemetry")
)
_COUNTED = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")


def assemble(items: Iterable[Item]) -> Iterator[Batch]:
    """One batch for each checkpoint; what comes after the last one is not kept."""
    batch = Batch()
    calls: dict[tuple[str, str], Event] = {}
    part: TurnPart | None = None
    for item in items:
        if isinstance(item, Event):
            # Nearly always the turn of the event before.
            if part is None or part.facts.turn != item.turn or part.facts.session != item.session:
                part = _part(batch, item)
            part.events.append(item)
            if item.call:
                calls[item.session, item.call] = item
        elif isinstance(item, ToolResult):
            call = calls.get((item.session, item.call))
            if call is None:
                _part(batch, item).late.append(item)
            else:
                _join(call, item)
        elif isinstance(item, Checkpoint):
            batch.checkpoint = item
            yield batch
            batch, calls, part = Batch(), {}, None
        else:
            _learn(batch, item)


def _part(batch: Batch, item: Event | ToolResult | TurnFacts) -> TurnPart:
    key = (item.session, item.turn)
    part = batch.turns.get(key)
    if part is None:
        part = batch.turns[key] = TurnPart(TurnFacts(session=item.session, turn=item.turn))
    return part


def _join(call: Event, result: ToolResult) -> None:
    if result.output is not None:
        call.output = result.output
    if result.ok is not None:
        call.ok = result.ok
    if result.exit_code is not None:
        call.exit_code = result.exit_code
    if result.duration_ms is not None:
        call.duration_ms = result.duration_ms


def _learn(batch: Batch, item: Item) -> None:
    if isinstance(item, TurnFacts):
        facts = _part(batch, item).facts
        for name in _TURN_FIELDS:
            value = getattr(item, name)
            if value is not None:
                setattr(facts, name, value)
        if item.telemetry:
            facts.telemetry = {**(facts.telemetry or {}), **item.telemetry}
    elif isinstance(item, Usage):
        known = batch.usages.get(item.key)
        if known is None:
            batch.usages[item.key] = item
        else:
            for name in _COUNTED:
                setattr(known, name, max(getattr(known, name), getattr(item, name)))
            known.model = item.model or known.model
            known.cost_usd = max(filter(None, (known.cost_usd, item.cost_usd)), default=None)
    elif isinstance(item, SessionFacts):
        known_facts = batch.sessions.get(item.session)
        if known_facts is None:
            batch.sessions[item.session] = item
            return
        for name in _SESSION_FIELDS:
            value = getattr(item, name)
            if value is not None:
                setattr(known_facts, name, value)
        # Where it began; what it went on to, the turns and the calls say.
        known_facts.cwd = known_facts.cwd or item.cwd
        known_facts.git_remote = known_facts.git_remote or item.git_remote
        if item.meta:
            known_facts.meta = {**(known_facts.meta or {}), **item.meta}
    elif isinstance(item, Liveness):
        batch.live[item.session, item.turn] = item.live
    elif isinstance(item, Problem):
        batch.problems.append(item)
