"""What people want for good is told, what they want now is not, whatever their language is."""

from __future__ import annotations

from recollect.distill import finders, ranking
from tests.builders.records import session, turn
from tests.distill.finders.statements import LASTING, OF_THE_MOMENT

# Some say it in words that a moment's wish has too.
FEWEST_TOLD, MOST_OF_THE_MOMENT = 0.9, 0.05


def told(prompt: str) -> list[str]:
    """The sure lines of a project where a person said this once, without where it was left."""
    sessions = [session(turn("Please look at the failing build of the shop."), turn(prompt))]
    memory = ranking.remember(finders.find(sessions), sessions)
    lines = memory.lines[: memory.sure]
    return [line.candidate.text for line in lines if line.candidate.section != "left_off"]


def test_a_wish_that_lasts_is_told_the_first_time_in_any_language() -> None:
    """Whoever has to say it again in the next session has no memory that helps."""
    missed = [
        prompt for prompt, words in LASTING if not any(words in text for text in told(prompt))
    ]

    assert len(missed) <= (1 - FEWEST_TOLD) * len(LASTING), missed


def test_what_is_wanted_now_is_not_told_later() -> None:
    """The next session would do it again."""
    wrong = [prompt for prompt in OF_THE_MOMENT if told(prompt)]

    assert len(wrong) <= MOST_OF_THE_MOMENT * len(OF_THE_MOMENT), wrong


def test_a_sentence_that_begins_like_code_is_no_code() -> None:
    """Many type without capitals, and "from" and "default" begin lines of code too."""
    assert told("from now on let me run the migrations")
    assert told("default to async code in the services layer")
    assert not told("from decimal import Decimal\nlet never = 3;\nimport always from 'x'")
