"""Tokens of OpenHands: running totals, and records of single calls where there are some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypedDict

from msgspec import Struct

from recollect.capture.logs.values import count_of, fields_of, money_of, objects_of, text_of


class _UsageCounts(TypedDict):
    """The counts of a `Usage`."""

    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int


class OpenHandsTokens(Struct, frozen=True):
    """Token counts as OpenHands writes them down: a prompt is with what came from the cache."""

    prompt: int = 0
    completion: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def without(self, other: OpenHandsTokens) -> OpenHandsTokens:
        """What is here and not there."""
        pairs = zip(self.all(), other.all(), strict=True)
        return OpenHandsTokens(*(max(0, mine - theirs) for mine, theirs in pairs))

    def plus(self, other: OpenHandsTokens) -> OpenHandsTokens:
        """Both together."""
        pairs = zip(self.all(), other.all(), strict=True)
        return OpenHandsTokens(*(mine + theirs for mine, theirs in pairs))

    def is_less_than(self, other: OpenHandsTokens) -> bool:
        """Whether a running total fell: then it began again."""
        return self.prompt < other.prompt or self.completion < other.completion

    def all(self) -> tuple[int, int, int, int, int]:
        """The five counts."""
        return self.prompt, self.completion, self.cache_read, self.cache_write, self.reasoning

    def tokens(self) -> _UsageCounts:
        """The fields of a `Usage`.

        Where the cache is more than the prompt, it was told apart from it.
        """
        cached = self.cache_read + self.cache_write
        return {
            "input": self.prompt - cached if cached <= self.prompt else self.prompt,
            "cache_read": self.cache_read,
            "cache_write": self.cache_write,
            "output": max(self.completion, self.reasoning),
            "reasoning": self.reasoning,
        }


class OpenHandsResponse(NamedTuple):
    """What one call of a model took; without a response's id, what is left of a total."""

    response: str
    model: str | None
    figures: OpenHandsTokens
    cost_usd: float | None


def figures_of(usage: object) -> OpenHandsTokens:
    """Counts out of a `TokenUsage`, or out of a provider's `usage`."""
    told = fields_of(usage)
    prompt_details = fields_of(told.get("prompt_tokens_details"))
    completion_details = fields_of(told.get("completion_tokens_details"))
    return OpenHandsTokens(
        count_of(told.get("prompt_tokens")),
        count_of(told.get("completion_tokens")),
        count_of(
            told.get("cache_read_tokens")
            or told.get("cache_read_input_tokens")
            or prompt_details.get("cached_tokens")
        ),
        count_of(told.get("cache_write_tokens") or told.get("cache_creation_input_tokens")),
        count_of(told.get("reasoning_tokens") or completion_details.get("reasoning_tokens")),
    )


def calls_in(stats: object) -> Iterator[tuple[str, OpenHandsResponse]]:
    """The calls that a conversation's statistics tell of, each with the purpose it was for.

    They list single calls next to the total; a snapshot of them has the total
    alone. What the list does not explain comes last, without an id.
    """
    for purpose, metrics in fields_of(fields_of(stats).get("usage_to_metrics")).items():
        told = fields_of(metrics)
        model = text_of(told.get("model_name"))
        usages, costs = objects_of(told.get("token_usages")), objects_of(told.get("costs"))
        paid = [money_of(cost.get("cost")) for cost in costs]
        if len(paid) != len(usages):
            paid = [None] * len(usages)
        listed = OpenHandsTokens()
        for usage, cost in zip(usages, paid, strict=True):
            response = text_of(usage.get("response_id"))
            if response:
                figures = figures_of(usage)
                listed = listed.plus(figures)
                yield (
                    purpose,
                    OpenHandsResponse(
                        response, text_of(usage.get("model")) or model, figures, cost
                    ),
                )
        total = fields_of(told.get("accumulated_token_usage"))
        rest = figures_of(total).without(listed)
        cost = money_of(told.get("accumulated_cost")) if not listed.prompt else None
        yield purpose, OpenHandsResponse("", text_of(total.get("model")) or model, rest, cost)


class OpenHandsTotals(Struct):
    """The running totals of version 0, as of the last event that told them."""

    figures: OpenHandsTokens = OpenHandsTokens()
    cost_usd: float = 0.0

    def rise(self, metrics: object) -> tuple[OpenHandsTokens, float | None] | None:
        """What was added since the last time; None when an event has no totals."""
        told = fields_of(metrics)
        total = figures_of(told.get("accumulated_token_usage"))
        if not any(total.all()):
            return None
        paid = money_of(told.get("accumulated_cost")) or 0.0
        if total.is_less_than(self.figures):
            self.figures, self.cost_usd = OpenHandsTokens(), 0.0
        risen, cost = total.without(self.figures), paid - self.cost_usd
        self.figures, self.cost_usd = total, paid
        return risen, money_of(cost)


def response_of(metadata: object) -> tuple[str | None, str | None, Any]:
    """The id, the model and the usage of the response that a call of version 0 came from."""
    response = fields_of(fields_of(metadata).get("model_response"))
    return text_of(response.get("id")), text_of(response.get("model")), response.get("usage")
