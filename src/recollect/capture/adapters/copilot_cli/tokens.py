"""What a session has used, out of two kinds of figures that overlap.

Each message says how many tokens were written for it; in the newest versions
each call says everything, in a record of its own. When the CLI ends it tells
for each model what was used in all, which has those figures in it once more.
So a shutdown is worth what it says beyond what was said before it.

When a session is resumed the figures began at zero again for most of 2026, and
are carried over now. What was said settles it: figures that were carried over
are at least those of the last shutdown and what was written since.
"""

from __future__ import annotations

from msgspec import Struct, field

from recollect.capture.adapters.copilot_cli.records import id_of
from recollect.capture.logs.values import Fields, count_of, fields_of

# In the order of the model's fields: input, cache_read, cache_write, output, reasoning.
UsageCounts = list[int]
_OUTPUT = 3
# A hostile log may name a new model in every line, and all of them are remembered.
_MOST_MODELS = 20


class CopilotTotals(Struct):
    """What was counted so far: since the last shutdown, and by that shutdown."""

    # Whether calls have records of their own; then nothing else counts until the shutdown.
    recorded: bool = False
    said: dict[str, UsageCounts] = field(default_factory=dict)
    told: dict[str, UsageCounts] = field(default_factory=dict)
    premium_requests: float = 0.0
    nano_aiu: float = 0.0

    def add(self, model: str, counts: UsageCounts) -> None:
        """One model call that the log told of."""
        if model not in self.said and len(self.said) >= _MOST_MODELS:
            model = ""
        known = self.said.setdefault(model, [0] * 5)
        self.said[model] = [one + other for one, other in zip(known, counts, strict=True)]

    def close(self, shutdown: Fields) -> dict[str, UsageCounts]:
        """What a shutdown tells, by model, that no message told before it."""
        told = _told(shutdown)
        carried = self._is_carried(told)
        self._bill(shutdown, carried)
        if not told:
            return {}
        spent = told
        if carried:
            spent = {model: _less(counts, self.told.get(model)) for model, counts in told.items()}
        rest = {model: [0] * 5 for model in spent}
        for number in range(5):
            # Over all models: the log does not always know which model wrote a message.
            left = sum(counts[number] for counts in spent.values())
            left -= sum(counts[number] for counts in self.said.values())
            for model, counts in spent.items():
                rest[model][number] = min(max(left, 0), _less(counts, self.said.get(model))[number])
                left -= rest[model][number]
        self.said, self.told, self.recorded = {}, told, False
        return rest

    def _is_carried(self, told: dict[str, UsageCounts]) -> bool:
        if not told:
            return True
        if not all(_covers(told.get(model), counts) for model, counts in self.told.items()):
            return False
        said = sum(counts[_OUTPUT] for counts in self.said.values())
        return _written(told) >= _written(self.told) + said if self.told else True

    def _bill(self, shutdown: Fields, carried: bool) -> None:
        requests = amount_of(shutdown.get("totalPremiumRequests"))
        if carried:
            self.premium_requests = max(self.premium_requests, requests)
        else:
            self.premium_requests += requests
        self.nano_aiu = max(self.nano_aiu, amount_of(shutdown.get("totalNanoAiu")))

    def checkpoint(self, noted: Fields) -> None:
        """What was billed so far, noted now and then in case the session does not end well."""
        self.premium_requests = max(
            self.premium_requests, amount_of(noted.get("totalPremiumRequests"))
        )
        self.nano_aiu = max(self.nano_aiu, amount_of(noted.get("totalNanoAiu")))

    def bill(self) -> dict[str, float]:
        """What is paid for, in Copilot's own units."""
        amounts = {"premium_requests": round(self.premium_requests, 6), "nano_aiu": self.nano_aiu}
        paid = {name: amount for name, amount in amounts.items() if amount}
        return {name: int(n) if n == int(n) else n for name, n in paid.items()}


def counts_of(usage: Fields) -> UsageCounts:
    """A usage object; its input has both sorts of cached tokens in it."""
    cache_read = count_of(usage.get("cacheReadTokens"))
    cache_write = count_of(usage.get("cacheWriteTokens"))
    uncached = max(0, count_of(usage.get("inputTokens")) - cache_read - cache_write)
    return [
        uncached,
        cache_read,
        cache_write,
        count_of(usage.get("outputTokens")),
        count_of(usage.get("reasoningTokens")),
    ]


def amount_of(value: object) -> float:
    """A number of requests or units; 0 when it is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e18:
        return float(value)
    return 0.0


def _told(shutdown: Fields) -> dict[str, UsageCounts]:
    found = {}
    for model, metric in list(fields_of(shutdown.get("modelMetrics")).items())[:_MOST_MODELS]:
        counts = counts_of(fields_of(fields_of(metric).get("usage")))
        if any(counts):
            found[id_of(model) or ""] = counts
    return found


def _covers(counts: UsageCounts | None, others: UsageCounts) -> bool:
    if counts is None:
        return False
    return all(one >= other for one, other in zip(counts, others, strict=True))


def _less(counts: UsageCounts, others: UsageCounts | None) -> UsageCounts:
    return [max(0, one - other) for one, other in zip(counts, others or [0] * 5, strict=True)]


def _written(told: dict[str, UsageCounts]) -> int:
    return sum(counts[_OUTPUT] for counts in told.values())
