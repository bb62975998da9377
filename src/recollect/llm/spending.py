"""What a run may spend: tokens and dollars, held before a request is sent and settled after it.

A request is refused before it is made, never cut off in between. Held is a
high guess, so several requests at a time stay below the cap together. What
was sent and never answered is counted as guessed: the service may bill it.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from recollect.errors import EngineUnavailable, SpendingLimit

if TYPE_CHECKING:
    from recollect.settings import Settings

# English has about four bytes to a token, code and other languages
# fewer; fewer bytes make a higher guess.
BYTES_PER_TOKEN = 3


class Reservation(NamedTuple):
    """What is set aside for one request."""

    input_tokens: int
    output_tokens: int


class Spending:
    """The tokens and dollars of one run; may be asked from several threads."""

    def __init__(self, settings: Settings, address: str) -> None:
        self._model, self._address = settings.text("llm.model"), address
        self._most_tokens = settings.number("llm.max_tokens_per_run")
        self._most_usd = settings.amount("llm.max_cost_usd")
        self._own_prices: tuple[float, float] | None = None
        if settings.says("llm.input_usd") and settings.says("llm.output_usd"):
            self._own_prices = settings.amount("llm.input_usd"), settings.amount("llm.output_usd")
        self._lock = Lock()
        self._held_tokens, self._held_usd = 0, 0.0
        self.tokens = 0
        self.cost_usd: float | None = self.price(0, 0)
        if self.cost_usd is None and settings.says("llm.max_cost_usd") and self._most_usd > 0:
            raise EngineUnavailable(
                f"llm.max_cost_usd is set, but the price of {self._model} at {address} is unknown.",
                hint="Set llm.input_usd and llm.output_usd; or set llm.max_cost_usd to 0, "
                "and llm.max_tokens_per_run limits the run.",
            )

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars for so many tokens, or None when nobody can say."""
        if self._own_prices is not None:
            return (input_tokens * self._own_prices[0] + output_tokens * self._own_prices[1]) / 1e6
        from genai_prices import Usage, calc_price

        try:
            # By its address: what a model costs elsewhere is not what it costs here.
            usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
            return float(
                calc_price(usage, model_ref=self._model, provider_api_url=self._address).total_price
            )
        except (LookupError, ValueError):
            return None

    def hold(self, input_bytes: int, output_tokens: int) -> Reservation:
        """Set aside what a request may take.

        Raises SpendingLimit when that is more than is left.
        """
        held = Reservation(input_bytes // BYTES_PER_TOKEN + 1, output_tokens)
        with self._lock:
            tokens = self.tokens + self._held_tokens + sum(held)
            if 0 < self._most_tokens < tokens:
                raise SpendingLimit(
                    f"The next request could bring this run to {tokens} tokens; "
                    f"llm.max_tokens_per_run is {self._most_tokens}.",
                    hint="What is done so far is kept. Run it again to go on, or raise the limit.",
                )
            usd = self.price(*held) or 0.0
            if 0 < self._most_usd < (self.cost_usd or 0.0) + self._held_usd + usd:
                raise SpendingLimit(
                    f"The next request could bring this run over {self._most_usd} dollars "
                    "(llm.max_cost_usd).",
                    hint="What is done so far is kept. Run it again to go on, or raise the limit.",
                )
            self._held_tokens += sum(held)
            self._held_usd += usd
        return held

    def settle(
        self, held: Reservation, input_tokens: int | None = None, output_tokens: int | None = None
    ) -> tuple[int, float | None]:
        """Count what a request took, as guessed where nobody said.

        Returns its tokens and dollars.
        """
        spent = (
            held.input_tokens if input_tokens is None else input_tokens,
            held.output_tokens if output_tokens is None else output_tokens,
        )
        usd = self.price(*spent)
        with self._lock:
            self._release(held)
            self.tokens += sum(spent)
            if usd is not None:
                self.cost_usd = (self.cost_usd or 0.0) + usd
        return sum(spent), usd

    def release(self, held: Reservation) -> None:
        """A request was refused: it took nothing."""
        with self._lock:
            self._release(held)

    def _release(self, held: Reservation) -> None:
        self._held_tokens -= sum(held)
        self._held_usd -= self.price(*held) or 0.0
