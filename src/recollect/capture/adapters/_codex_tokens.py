"""Codex: token counts, each model call once.

The same total is written again whenever the rate limits are refreshed, and a
total may start over when a session is resumed. So a call is counted when the
total changes, and by what `last_token_usage` says, not by the difference.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from recollect.capture.adapters._codex_records import Payload, whole


class Spent(NamedTuple):
    """Five counts of a usage object, as logged: input includes both kinds of cache."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    reasoning: int = 0

    def minus(self, other: Spent) -> Spent:
        """What was added since `other`."""
        return Spent(*(max(0, now - before) for now, before in zip(self, other, strict=True)))


class Call(NamedTuple):
    """A model call that has not been counted yet, and a mark that tells it from the others."""

    spent: Spent
    mark: str
    carried: bool


class Meter(Struct, array_like=True):
    """The running total of one file."""

    total: tuple[int, int, int, int, int] | None = None
    last: tuple[int, int, int, int, int] | None = None
    resets: int = 0
    count: int = 0

    def advance(self, payload: Payload) -> Call | None:
        """The call that a token_count adds, or None when it repeats an earlier one."""
        info = payload.info
        if isinstance(info, dict):
            total, last = _spent(info.get("total_token_usage")), _spent(info.get("last_token_usage"))
        else:
            total, last = _flat(payload), None
        if total is None:
            return None if last is None else self._without_total(last)
        if self.total == total:
            return None
        before = None if self.total is None else Spent(*self.total)
        if before is not None and (total.input < before.input or total.output < before.output):
            self.resets += 1
            before = None
        first = self.total is None
        self.total = total
        spent = last or (total if before is None else total.minus(before))
        if not any(spent):
            return None
        mark = f"{self.resets}:{total.input}:{total.output}:{spent.input}:{spent.output}"
        # The first total of a file can only exceed its call when it was carried over.
        return Call(spent, mark, carried=first and total != spent)

    def _without_total(self, last: Spent) -> Call | None:
        if self.last == last or not any(last):
            return None
        self.last = last
        self.count += 1
        return Call(last, f"n{self.count}:{last.input}:{last.output}", carried=False)


def _spent(usage: object) -> Spent | None:
    if not isinstance(usage, dict):
        return None
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    counts = [max(0, whole(usage.get(name)) or 0) for name in (*names, "reasoning_output_tokens")]
    return Spent(*counts)


def _flat(payload: Payload) -> Spent | None:
    if whole(payload.total_tokens) is None and whole(payload.input_tokens) is None:
        return None
    return _spent(
        {
            "input_tokens": payload.input_tokens,
            "cached_input_tokens": payload.cached_input_tokens,
            "output_tokens": payload.output_tokens,
            "reasoning_output_tokens": payload.reasoning_output_tokens,
        }
    )
