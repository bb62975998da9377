"""Codex: token counts, each model call once.

The same total is written again whenever the rate limits are refreshed, and a
total may start over when a session is resumed. So a call is counted when the
total changes, and by what `last_token_usage` says, not by the difference.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from msgspec import Struct

from recollect.capture.logs.values import Fields

# As logged: input (which includes both kinds of cache), cached, written to the
# cache, output (which includes reasoning), reasoning.
# More than this is no count, and would not fit a table.
MANY = 1 << 53
Counts = tuple[int, int, int, int, int]

NOTHING: Counts = (0, 0, 0, 0, 0)

_figures = itemgetter(
    "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"
)


class CodexModelCall(Struct, gc=False):
    """A model call that has not been counted yet, and a mark that tells it from the others.

    `carried` says that the total held more than this call when the file began.
    """

    spent: Counts
    mark: str
    carried: bool


class CodexTotals(Struct, array_like=True):
    """The running total of one file."""

    total: Counts | None = None
    last: Counts | None = None
    resets: int = 0
    count: int = 0

    def advance(self, payload: Fields) -> CodexModelCall | None:
        """The call that a token_count adds, or None when it repeats an earlier one."""
        info = payload.get("info")
        if type(info) is dict:
            total = _counts(info.get("total_token_usage"))
            last = _counts(info.get("last_token_usage"))
        else:
            # Before 0.31 the totals stood in the record itself.
            total, last = _counts(payload) if "input_tokens" in payload else None, None
        before = self.total
        if total is None:
            return None if last is None else self._without_total(last)
        if total == before:
            return None
        self.total = total
        if before is not None and (total[0] < before[0] or total[3] < before[3]):
            self.resets += 1
            spent = last or total
        else:
            spent = last or _difference(total, before)
        if spent == NOTHING:
            return None
        mark = f"{self.resets}:{total[0]}:{total[3]}:{spent[0]}:{spent[3]}"
        return CodexModelCall(spent, mark, before is None and total != spent)

    def _without_total(self, last: Counts) -> CodexModelCall | None:
        if self.last == last or last == NOTHING:
            return None
        self.last = last
        self.count += 1
        return CodexModelCall(last, f"n{self.count}:{last[0]}:{last[3]}", carried=False)


def _counts(usage: Any) -> Counts | None:
    try:
        given, cached, output, reasoning = _figures(usage)
        written = usage.get("cache_write_input_tokens", 0)
        # All at once: only integers can be joined by bits, and the joint is
        # negative, or too large, when one of them is.
        if 0 <= given | cached | written | output | reasoning < MANY:
            return given, cached, written, output, reasoning
    except (KeyError, TypeError):
        pass
    return _mended(usage) if isinstance(usage, dict) else None


def _mended(usage: Fields) -> Counts:
    """What of the counts is sound; the rest is nothing."""
    return (
        _count(usage.get("input_tokens")),
        _count(usage.get("cached_input_tokens")),
        _count(usage.get("cache_write_input_tokens")),
        _count(usage.get("output_tokens")),
        _count(usage.get("reasoning_output_tokens")),
    )


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < MANY else 0


def _difference(total: Counts, before: Counts | None) -> Counts:
    if before is None:
        return total
    return (
        max(0, total[0] - before[0]),
        max(0, total[1] - before[1]),
        max(0, total[2] - before[2]),
        max(0, total[3] - before[3]),
        max(0, total[4] - before[4]),
    )
