"""What a model call cost, and when nobody can say."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.capture.prices import Prices, Rates, table_rates
from recollect.model.logs import Usage
from tests.builders.claude_code import tokens
from tests.builders.homes import chat, claude_log, everything, memory, small_talk


class Remembered:
    """Rates kept in a dictionary, as a store keeps them in a table."""

    def __init__(self) -> None:
        self.rates: dict[tuple[str, str, str], str | None] = {}

    def find_rates(self, model: str, day: str, version: str) -> tuple[bool, str | None]:
        return (model, day, version) in self.rates, self.rates.get((model, day, version))

    def save_rates(self, model: str, day: str, version: str, prices: str | None) -> None:
        self.rates[model, day, version] = prices


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)


def usage(model: str | None, day: str | None = "2026-01-01", **tokens: int) -> Usage:
    return Usage(session="s", turn="t", key="k", model=model, at=ms(day) if day else None, **tokens)


def test_a_known_model_is_priced_by_every_kind_of_token() -> None:
    """Opus 4.5: 5, 0.5, 6.25 and 25 dollars a million; 10 to keep what is cached for an hour."""
    prices = Prices(Remembered())
    million = 1_000_000

    costs = [
        prices.cost(usage("claude-opus-4-5", **{kind: million}))
        for kind in ("input", "cache_read", "cache_write", "output")
    ]
    for_an_hour = prices.cost(
        usage("claude-opus-4-5", cache_write=million, cache_write_1h=million // 2)
    )
    together = prices.cost(
        usage("claude-opus-4-5", input=1000, cache_read=2000, cache_write=100, output=50)
    )

    assert costs == pytest.approx([5.0, 0.5, 6.25, 25.0])
    assert for_an_hour == pytest.approx((6.25 + 10.0) / 2)
    assert together == pytest.approx((1000 * 5 + 2000 * 0.5 + 100 * 6.25 + 50 * 25) / 1e6)


def test_reasoning_is_part_of_the_output_and_not_billed_twice() -> None:
    prices = Prices(Remembered())

    assert prices.cost(usage("gpt-5", output=100, reasoning=90)) == prices.cost(
        usage("gpt-5", output=100)
    )


@pytest.mark.parametrize(
    "model",
    [
        "made-up-model-9",
        "",
        "<synthetic>",
        "llama-3.3-70b-versatile",
        "deepseek/deepseek-chat",
        "openai/gpt-oss-120b",
        "qwen/qwen3-coder",
        "qwen3-coder",
        "gpt-oss-120b",
        "deepseek-r1:14b",
        "deepseek-r1-distill-llama-70b",
        "qwen3-235b-a22b",
        "accounts/fireworks/models/glm-4p6",
        "\0",
        "a" * 5000,
    ],
)
def test_a_model_that_is_not_in_the_table_has_no_price(model: str) -> None:
    """Nor has one that third parties serve: what they asked for is not in the log."""
    assert Prices(Remembered()).cost(usage(model, input=1000, output=1000)) is None


@pytest.mark.parametrize(
    ("model", "read", "written"),
    [
        ("deepseek-v3.2", 0.2288, 0.3432),
        ("glm-4.6", 0.6, 2.2),
        ("GLM-5", 1.0, 3.2),
        ("GLM-5-Turbo", 0.69, 3.034),
        ("MiniMax-M2", 0.3, 1.2),
        ("kimi-k2.7-code", 0.95, 4.0),
        ("moonshot-ai/kimi-k2.7-code", 0.95, 4.0),
        ("qwen3-coder-plus", 0.65, 3.25),
        ("mistral-large-latest", 2.0, 6.0),
        ("grok-code-fast-1", 0.2, 1.5),
        ("x-ai/grok-code-fast-1", 0.2, 1.5),
        ("anthropic/claude-opus-4.5", 5.0, 25.0),
        ("command-a-03-2025", 2.5, 10.0),
        ("sonar-pro", 3.0, 15.0),
        ("codex-mini-latest", 1.5, 6.0),
        ("gpt-5.1-codex-mini", 0.25, 2.0),
    ],
)
def test_a_maker_that_sells_its_own_model_has_its_price(
    model: str, read: float, written: float
) -> None:
    """What GLM costs in China is asked only of a model that is sold nowhere else."""
    prices = Prices(Remembered())

    assert prices.cost(usage(model, input=1_000_000)) == pytest.approx(read)
    assert prices.cost(usage(model, output=1_000_000)) == pytest.approx(written)


def test_a_price_for_certain_hours_is_the_price_of_those_hours() -> None:
    """In 2025 DeepSeek asked half as much from 16:30 to 0:30."""
    remembered = Remembered()
    times = ("2025-06-01T16:29", "2025-06-01T16:30", "2025-06-02T00:29", "2025-06-02T00:30")
    by_day, by_night = 0.27, 0.135

    for _ in range(2):
        prices = Prices(remembered)
        costs = [prices.cost(usage("deepseek-chat", time, input=1_000_000)) for time in times]
        assert costs == pytest.approx([by_day, by_night, by_night, by_day])


def test_without_model_or_time_there_is_no_price() -> None:
    prices = Prices(Remembered())

    assert prices.cost(usage(None, input=1000)) is None
    assert prices.cost(usage("claude-opus-4-5", None, input=1000)) is None


def test_a_time_that_cannot_be_has_no_price() -> None:
    moment = Usage(session="s", turn="t", key="k", model="claude-opus-4-5", at=-62_135_700_000_000)

    assert Prices(Remembered()).cost(moment) is None


def test_a_long_prompt_is_billed_wholly_at_its_step() -> None:
    """Some models ask for more above 200,000 tokens, cached ones included."""
    rates = Rates(
        input=[(0, 1.0), (200_000, 2.0)],
        cache_read=[(0, 0.1), (200_000, 0.2)],
        cache_write=[(0, 1.5)],
        cache_write_1h=[(0, 2.0)],
        output=[(0, 10.0), (200_000, 15.0)],
    )

    at_most = usage("m", input=100_000, cache_read=100_000, output=10)
    above = usage("m", input=100_001, cache_read=100_000, output=10)

    assert rates.cost(at_most) == pytest.approx((100_000 * 1.0 + 100_000 * 0.1 + 10 * 10.0) / 1e6)
    assert rates.cost(above) == pytest.approx((100_001 * 2.0 + 100_000 * 0.2 + 10 * 15.0) / 1e6)


def test_a_tiered_model_of_the_table_has_its_steps() -> None:
    found, _ = table_rates("gemini-2.5-pro", datetime(2026, 1, 1, tzinfo=UTC))

    assert found is not None
    assert [start for start, _ in found.input] == [0, 200_000]
    assert found.input[1][1] > found.input[0][1] > 0


def test_prices_are_those_of_the_day() -> None:
    """o3 became cheaper by four fifths in June 2025."""
    prices = Prices(Remembered())

    before = prices.cost(usage("o3", "2025-05-01", input=1_000_000))
    after = prices.cost(usage("o3", "2025-07-01", input=1_000_000))

    assert (before, after) == (pytest.approx(10.0), pytest.approx(2.0))


def test_a_model_is_asked_for_once_and_one_whose_price_changed_once_a_day() -> None:
    """Most prices never changed: those are remembered for every day at once."""
    remembered = Remembered()

    for day in ("2025-05-01", "2025-05-02", "2025-07-01"):
        for _ in range(2):
            prices = Prices(remembered)
            for model in ("claude-opus-4-5", "made-up-model-9", "o3"):
                prices.cost(usage(model, day, input=1))

    assert sorted((model, day) for model, day, _ in remembered.rates) == [
        ("claude-opus-4-5", ""),
        ("made-up-model-9", ""),
        ("o3", "2025-05-01"),
        ("o3", "2025-05-02"),
        ("o3", "2025-07-01"),
    ]


def test_an_answer_is_remembered_as_it_was_given() -> None:
    remembered = Remembered()
    call = usage("claude-opus-4-5", input=1234, cache_read=99, cache_write=7, output=56)

    first = Prices(remembered).cost(call)
    second = Prices(remembered).cost(call)

    assert first == second
    assert Prices(remembered).cost(usage("made-up-model-9", input=1)) is None
    assert Prices(remembered).cost(usage("made-up-model-9", input=1)) is None


# In the store -------------------------------------------------------------------


def test_an_unknown_cost_is_null_and_never_nought(home: Path) -> None:
    """A sum that leaves a call out says so; a session that holds one has no cost."""
    talk = chat(1)
    talk.user("what is it worth")
    talk.reply("a known price")
    claude_log(home, talk)
    other = chat(2)
    other.user("and that")
    other.reply("a known price")
    other.reply("an unknown one", model="made-up-model-9")
    claude_log(home, other)
    nothing = chat(3)
    nothing.user("nobody answers")
    claude_log(home, nothing)

    with memory(home) as mind:
        mind.import_logs()
        found = everything(mind)
        (row,) = mind.stats("all")

    costs = {
        ref[-1]: (detail.cost_usd, [turn.cost_usd for turn in detail.turn_list])
        for ref, detail in found.items()
    }
    known = (4 * 5 + 2000 * 0.5 + 100 * 6.25 + 50 * 25) / 1e6
    assert costs == {
        "1": (pytest.approx(known), [pytest.approx(known)]),
        "2": (None, [None]),
        "3": (None, [None]),
    }
    assert (row.cost_usd, row.unpriced_calls, row.model_calls) == (pytest.approx(2 * known), 1, 3)


def test_a_session_tells_what_it_cached_for_an_hour_and_pays_for_it(home: Path) -> None:
    talk = chat(1)
    talk.user("what is it worth")
    split = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 90}
    talk.reply("a known price", usage=tokens(cache_creation=split))
    claude_log(home, talk)

    with memory(home) as mind:
        mind.import_logs()
        (detail,) = everything(mind).values()
        (row,) = mind.stats("all")

    cost = (4 * 5 + 2000 * 0.5 + 10 * 6.25 + 90 * 10 + 50 * 25) / 1e6
    assert (detail.tokens.cache_write, detail.tokens.cache_write_1h) == (100, 90)
    assert row.tokens == detail.tokens
    assert detail.cost_usd == row.cost_usd == round(cost, 6)


def test_the_price_table_is_not_loaded_for_a_model_that_is_known(home: Path) -> None:
    """It takes longer to load than most imports take."""
    script = """
import sys
from recollect.memory import Memory
from recollect.settings import Settings
home = sys.argv[1]
with Memory(Settings(home, home + "/prices.db", {"redact.enabled": False})) as memory:
    memory.import_logs([home])
print("genai_prices" in sys.modules)
"""
    loaded = []
    for number in (1, 2):
        claude_log(home, small_talk(number))
        command = [sys.executable, "-c", script, str(home)]
        loaded.append(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        )

    assert loaded == ["True", "False"]
