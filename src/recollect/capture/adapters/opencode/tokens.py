"""What OpenCode's token figures mean, which changed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recollect.capture.adapters.opencode.records import OpenCodeCache, OpenCodeTokens
from recollect.capture.logs.values import count_of

# 4 April 2026 (1.3.16): from then on `output` is without the reasoning, before that with it.
_WITHOUT_REASONING = 1_775_347_200_000


class _StepTokens(NamedTuple):
    """Tokens as a `Usage` counts them."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0


def spent(steps: Sequence[object], at: int | None) -> _StepTokens:
    """What the steps of a message used together; a figure that is none counts for nothing."""
    used = [_step(step, at) for step in steps if isinstance(step, OpenCodeTokens)]
    return used[0] if len(used) == 1 else _StepTokens(*map(sum, zip(*used, strict=True)))


def _step(tokens: OpenCodeTokens, at: int | None) -> _StepTokens:
    """One step's figures; `input` is without the cache in all versions."""
    cache = tokens.cache if isinstance(tokens.cache, OpenCodeCache) else OpenCodeCache()
    counted = _StepTokens(
        *map(count_of, (tokens.input, cache.read, cache.write, tokens.output, tokens.reasoning))
    )
    if counted.reasoning and _is_apart(counted, count_of(tokens.total), at):
        return counted._replace(output=counted.output + counted.reasoning)
    return counted


def _is_apart(counted: _StepTokens, total: int, at: int | None) -> bool:
    """Whether reasoning is not part of the output: the total tells, where there is one."""
    if counted.reasoning > counted.output:
        return True
    if total:
        return total >= sum(counted)
    return at is not None and at >= _WITHOUT_REASONING
