"""What a model call cost, from a dated table of prices.

The table (genai-prices) is large and slow to load, and asking it for each of
fifty thousand calls would cost more than reading the logs. So it is asked once
per model and day for the prices themselves, the store remembers the answer,
and the arithmetic is done here. A model that is not in the table has no cost:
unknown, never zero.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

import msgspec

from recollect.model.logs import Usage

# A model is priced only where its maker sells it: what a third party asks for
# serving somebody's weights is not in the log, so that cost is unknown.
_MAKERS = {"anthropic", "openai", "google", "x-ai"}
_FIELDS = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")


class Rates(msgspec.Struct):
    """Dollars per million tokens, each as steps of (from this many input tokens on, price)."""

    input: list[tuple[int, float]]
    cache_read: list[tuple[int, float]]
    cache_write: list[tuple[int, float]]
    output: list[tuple[int, float]]

    def cost(self, usage: Usage) -> float:
        """Dollars for one call; a long prompt is billed wholly at its step's price."""
        whole = usage.input + usage.cache_read + usage.cache_write
        return (
            usage.input * _step(self.input, whole)
            + usage.cache_read * _step(self.cache_read, whole)
            + usage.cache_write * _step(self.cache_write, whole)
            + usage.output * _step(self.output, whole)
        ) / 1e6


def _step(steps: list[tuple[int, float]], tokens: int) -> float:
    price = steps[0][1]
    for start, value in steps[1:]:
        if tokens > start:
            price = value
    return price


class RateStore(Protocol):
    """Where rates are remembered between runs."""

    def find_rates(self, model: str, day: str, version: str) -> tuple[bool, str | None]:
        """Whether the answer is known, and the rates as JSON (None: not in the table)."""

    def save_rates(self, model: str, day: str, version: str, prices: str | None) -> None:
        """Remember an answer."""


@cache
def table_version() -> str:
    """The version of the table; finding it takes as long as importing a small log."""
    return version("genai-prices")


class Prices:
    """Costs of model calls, with the answers of a run kept at hand."""

    def __init__(self, remembered: RateStore) -> None:
        self._remembered = remembered
        self._version = table_version()
        self._rates: dict[tuple[str, int], Rates | None] = {}

    def cost(self, usage: Usage) -> float | None:
        """What a call cost in dollars, or None when nobody can say."""
        if usage.model is None or usage.at is None:
            return None
        key = (usage.model, usage.at // 86_400_000)
        if key not in self._rates:
            self._rates[key] = self._look_up(usage.model, usage.at)
        rates = self._rates[key]
        return None if rates is None else rates.cost(usage)

    def _look_up(self, model: str, at: int) -> Rates | None:
        try:
            moment = datetime.fromtimestamp(at / 1000, UTC)
        except (OverflowError, ValueError, OSError):
            return None  # No calendar has that day, and no price list either.
        # Most prices never changed: those are remembered for every day at once.
        for day in ("", moment.date().isoformat()):
            known, prices = self._remembered.find_rates(model, day, self._version)
            if known:
                return msgspec.json.decode(prices, type=Rates) if prices else None
        rates, dated = table_rates(model, moment)
        text = msgspec.json.encode(rates).decode() if rates else None
        self._remembered.save_rates(
            model, moment.date().isoformat() if dated else "", self._version, text
        )
        return rates


def table_rates(model: str, moment: datetime) -> tuple[Rates | None, bool]:
    """The table's prices for a model at a moment (None: not in it), and
    whether they depend on the moment.
    """
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    try:
        found = calc_price(
            Tokens(input_tokens=1, output_tokens=1), model_ref=model, genai_request_timestamp=moment
        )
    except (LookupError, ValueError):
        return None, False
    dated = isinstance(found.model.prices, list)
    price = found.model_price
    read, cached, written, output = (_steps(getattr(price, name, None)) for name in _FIELDS)
    if found.provider.id not in _MAKERS or not read or not output:
        return None, dated
    return Rates(read, cached or read, written or read, output), dated


def _steps(price: Any) -> list[tuple[int, float]]:
    if price is None:
        return []
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return [(0, float(price))]
    return [(0, float(price.base)), *((int(tier.start), float(tier.price)) for tier in tiers)]
