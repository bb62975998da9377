"""What a model call cost, from a dated table of prices.

The table (genai-prices) is large and slow to load, and asking it for each of
fifty thousand calls would cost more than reading the logs. So it is asked once
per model and day for the prices themselves, the store remembers the answer,
and the arithmetic is done here. A model that is not in the table has no cost:
unknown, never zero.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import msgspec

from recollect.model.logs import Usage

# A model is priced only where its maker sells it: what a third party asks for
# serving somebody's weights is not in the log, so that cost is unknown.
_MAKERS = {
    "anthropic", "openai", "google", "x-ai", "deepseek", "moonshotai", "minimax", "mistral",
    "cohere", "cursor", "meta", "zai", "zhipuai",
}  # fmt: skip
# Where the names of a maker's models do not lead to its list: what they look like,
# which lists have them, the best first, and what stands before the name there.
_LISTS = (
    # GLM is sold in dollars and, to customers in China, in yuan; the log does not tell which.
    (re.compile(r"glm-", re.IGNORECASE), ("zai", "zhipuai"), ""),
    # Nobody but Alibaba has these, and OpenRouter passes on what it asks. The
    # other Qwen models are open weights that anybody may serve.
    (re.compile(r"qwen[\d.]*-(coder-|vl-)?(max|plus|flash|turbo)\b"), ("openrouter",), "qwen/"),
    (re.compile(r"sonar\b"), ("perplexity",), ""),
    (re.compile(r"amazon\.nova-"), ("aws",), ""),
)
# A client may write the maker before the model. Only models that nobody else can
# serve cost the same wherever they are bought, and `moonshot-ai` is the maker itself.
_MAKER_BEFORE = re.compile(r"(anthropic|openai|google|x-ai|moonshot-ai)/")
# Weights that their maker only gives away, and such as a tag says run at home.
_NOT_SOLD = re.compile(r"gpt-oss|-distill|:(latest|cloud|e?\d[\d.x]*[bm])", re.IGNORECASE)
_FIELDS = (
    "input_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok", "output_mtok",
)  # fmt: skip
# Some makers ask less at certain hours; these begin and end at a full or half hour.
_HALF_HOUR_MS = 1_800_000
# For how long an answer of the table holds.
Period = Literal["always", "day", "half hour"]


class Rates(msgspec.Struct):
    """Dollars per million tokens, each as steps of (from this many input tokens on, price)."""

    input: list[tuple[int, float]]
    cache_read: list[tuple[int, float]]
    cache_write: list[tuple[int, float]]
    cache_write_1h: list[tuple[int, float]]
    output: list[tuple[int, float]]

    def cost(self, usage: Usage) -> float:
        """Dollars for one call; a long prompt is billed wholly at its step's price."""
        whole = usage.input + usage.cache_read + usage.cache_write
        return (
            usage.input * _step(self.input, whole)
            + usage.cache_read * _step(self.cache_read, whole)
            + (usage.cache_write - usage.cache_write_1h) * _step(self.cache_write, whole)
            + usage.cache_write_1h * _step(self.cache_write_1h, whole)
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
    """What tells one table from another: its file. To ask for the package's version takes as long
    as importing a small log.
    """
    found = find_spec("genai_prices")
    assert found is not None
    assert found.origin is not None
    table = os.stat(os.path.join(os.path.dirname(found.origin), "data.py"))
    return f"{table.st_size}-{table.st_mtime_ns}"


class Prices:
    """Costs of model calls, with the answers of a run kept at hand."""

    def __init__(self, remembered: RateStore) -> None:
        self._remembered = remembered
        self._version = table_version()
        self._rates: dict[tuple[str, str], Rates | None] = {}
        self._at_any_time: dict[str, Rates | None] = {}

    def cost(self, usage: Usage) -> float | None:
        """What a call cost in dollars, or None when nobody can say."""
        if usage.model is None or usage.at is None:
            return None
        try:
            rates = self._at_any_time[usage.model]
        except KeyError:
            rates = self._look_up(usage.model, usage.at)
        return None if rates is None else rates.cost(usage)

    def _look_up(self, model: str, at: int) -> Rates | None:
        try:
            moment = datetime.fromtimestamp(at // _HALF_HOUR_MS * _HALF_HOUR_MS / 1000, UTC)
        except (OverflowError, ValueError, OSError):
            return None  # No calendar has that day, and no price list either.
        day = moment.date().isoformat()
        # Most prices never changed: those are remembered for every day at once.
        spans: dict[Period, str] = {
            "always": "", "day": day, "half hour": moment.isoformat(timespec="minutes")
        }  # fmt: skip
        for span in spans.values():
            if (model, span) in self._rates:
                return self._rates[model, span]
        for span in spans.values():
            known, prices = self._remembered.find_rates(model, span, self._version)
            if known:
                rates = msgspec.json.decode(prices, type=Rates) if prices else None
                return self._keep(model, span, rates)
        rates, holds = table_rates(model, moment)
        span = spans[holds]
        text = msgspec.json.encode(rates).decode() if rates else None
        self._remembered.save_rates(model, span, self._version, text)
        return self._keep(model, span, rates)

    def _keep(self, model: str, span: str, rates: Rates | None) -> Rates | None:
        self._rates[model, span] = rates
        if not span:
            self._at_any_time[model] = rates
        return rates


def table_rates(model: str, moment: datetime) -> tuple[Rates | None, Period]:
    """The table's prices for a model at a moment (None: not in it), and how long they hold."""
    before = _MAKER_BEFORE.match(model)
    named = model[before.end() :] if before else model
    for name, provider in _sellers(named):
        found = _price(name, provider, moment)
        if found is not None and found.provider.id in (_MAKERS if provider is None else {provider}):
            break
    else:
        return None, "always"
    price = found.model_price
    read, cached, written, written_1h, output = (
        _steps(getattr(price, name, None)) for name in _FIELDS
    )
    if not read or not output:
        return None, _holds(found.model.prices)
    written = written or read
    rates = Rates(read, cached or read, written, written_1h or written, output)
    return rates, _holds(found.model.prices)


def _sellers(model: str) -> Iterator[tuple[str, str | None]]:
    """Names to ask the table for, each with the list it is on (None: as the name tells)."""
    if _NOT_SOLD.search(model):
        return
    for shape, lists, before in _LISTS:
        if shape.match(model):
            for one in lists:
                yield before + model, one
            return
    yield model, None
    # Not all of its names begin with gpt or o1.
    yield model, "openai"


def _price(model: str, provider: str | None, moment: datetime) -> Any:
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    try:
        return calc_price(
            Tokens(input_tokens=1, output_tokens=1),
            model_ref=model,
            provider_id=provider,
            genai_request_timestamp=moment,
        )
    except (LookupError, ValueError):
        return None


def _holds(prices: Any) -> Period:
    if not isinstance(prices, list):
        return "always"
    # A price for certain hours of the day says when these begin.
    hourly = any(hasattr(one.constraint, "start_time") for one in prices)
    return "half hour" if hourly else "day"


def _steps(price: Any) -> list[tuple[int, float]]:
    if price is None:
        return []
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return [(0, float(price))]
    return [(0, float(price.base)), *((int(tier.start), float(tier.price)) for tier in tiers)]
