"""What prompts cost: the figures that stand at the end of each.

They are those of one prompt, not sums over the session, and the last word on
a prompt counts. Two things must not be counted twice. A fork repeats its
parent's bills: those from before it was made are the parent's. And a prompt's
bill includes what the sub-agents spent that it started and that ended before
it did; their own sessions tell the same figures, so they are taken off here.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from recollect.capture.adapters.grok.records import UPDATES, GrokLines
from recollect.capture.logs.values import Fields, count_of, fields_of, money_of, text_of
from recollect.model.logs import Usage

TICKS_PER_USD = 1e10


class _BilledTokens(Struct, gc=False):
    """Tokens as they are written: `input` with what was read from and written to the cache."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    ticks: int = 0

    def take_off(self, part: _BilledTokens) -> None:
        """Take away what somebody else tells."""
        for name in _BilledTokens.__struct_fields__:
            setattr(self, name, max(0, getattr(self, name) - getattr(part, name)))


class GrokBill(Struct):
    """What one prompt cost, by model; the model is empty when it is not told."""

    prompt: str
    at: int | None
    models: dict[str, _BilledTokens]
    calls: int = 0
    api_ms: int = 0
    # Some of it is missing: what there is of a price is not the price.
    partial: bool = False

    def usages(self, session: str, turn: str) -> Iterator[Usage]:
        """One model at a time, in our own terms."""
        # A sub-agent's own id: who its parent is may be learned later.
        own = session.rpartition("/")[2]
        for model, told in self.models.items():
            key = "/".join(filter(None, (own, self.prompt, model)))
            usage = Usage(
                session=session,
                turn=turn,
                key=key,
                model=model or None,
                at=self.at,
                input=max(0, told.input - told.cache_read - told.cache_write),
                cache_read=told.cache_read,
                cache_write=told.cache_write,
                output=told.output,
                reasoning=told.reasoning,
                cost_usd=None if self.partial else money_of(told.ticks / TICKS_PER_USD),
            )
            if usage.input or usage.cache_read or usage.cache_write or usage.output:
                yield usage


def bill_of(prompt: object, usage: object, at: int | None) -> GrokBill:
    """The bill in a `turn_completed`; one without figures has no models."""
    told = fields_of(usage)
    rows = {model: fields_of(row) for model, row in fields_of(told.get("modelUsage")).items()}
    partial = any(row.get("costIsPartial") is True for row in (told, *rows.values()))
    models = {model: _figures(row) for model, row in (rows or ({"": told} if told else {})).items()}
    return GrokBill(
        text_of(prompt) or "",
        at,
        models,
        count_of(told.get("modelCalls")),
        count_of(told.get("apiDurationMs")),
        partial or told.get("usageIsIncomplete") is True,
    )


def _figures(row: Fields) -> _BilledTokens:
    return _BilledTokens(
        count_of(row.get("inputTokens")),
        count_of(row.get("cachedReadTokens")),
        count_of(row.get("cacheCreationTokens")),
        count_of(row.get("outputTokens")),
        count_of(row.get("reasoningTokens")),
        count_of(row.get("costUsdTicks")),
    )


def bills_in(path: str) -> list[GrokBill]:
    """The bills in the updates of a sub-agent.

    What else there is to say of its log is said where it is read.
    """
    bills: dict[str, GrokBill] = {}
    for line in GrokLines().of(path, UPDATES):
        told = line.notification
        if told.update.kind == "turn_completed":
            bill = bill_of(told.update.prompt_id, told.update.usage, line.at(fields_of(told.meta)))
            bills[bill.prompt] = bill
    return list(bills.values())


def included(bill: GrokBill, since: int | None, bills: list[GrokBill]) -> list[GrokBill]:
    """Those of a sub-agent's bills that its parent's bill includes, if it began at `since`."""
    if since is None or bill.at is None:
        return []
    return [part for part in bills if part.at is not None and since <= part.at <= bill.at]


def take_off(bill: GrokBill, part: GrokBill) -> None:
    """Leave in a bill what nobody tells but itself."""
    for model, figures in part.models.items():
        if model in bill.models:
            bill.models[model].take_off(figures)
