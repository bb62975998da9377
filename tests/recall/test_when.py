"""Times that queries name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.when import MONTHS, OPENINGS, WEEKDAYS, TimeSpan, find_span, read_span


def moment(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


NOW = moment("2026-05-04T10:00")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("what did we do in March", TimeSpan(None, 3, None)),
        ("the outage of may", TimeSpan(None, 5, None)),
        ("last december", TimeSpan(None, 12, None)),
        ("on 3 May 2026", TimeSpan(2026, 5, 3)),
        ("on May 3rd, 2026", TimeSpan(2026, 5, 3)),
        ("the 21st of march", TimeSpan(None, 3, None)),
        ("march 21st", TimeSpan(None, 3, 21)),
        ("May 2025", TimeSpan(2025, 5, None)),
        ("2026-05-03", TimeSpan(2026, 5, 3)),
        ("the deploy of 2026/05/03.", TimeSpan(2026, 5, 3)),
        ("2026-05", TimeSpan(2026, 5, None)),
        ("2026-05-99", TimeSpan(2026, 5, None)),
        ("what broke yesterday?", TimeSpan(2026, 5, 3)),
        ("today's build", TimeSpan(2026, 5, 4)),
        ("in March or in April", TimeSpan(None, 3, None)),
        ("last week in webshop", TimeSpan(2026, 4, 27, days=7)),
        ("this week", TimeSpan(2026, 5, 4, days=7)),
        ("last month", TimeSpan(2026, 4, None)),
        ("last year", TimeSpan(2025, 1, 1, days=365)),
        ("the last 3 days", TimeSpan(2026, 5, 2, days=3)),
        ("the past two weeks", TimeSpan(2026, 4, 21, days=14)),
        ("3 days ago", TimeSpan(2026, 5, 1)),
        ("a week ago", TimeSpan(2026, 4, 27, days=7)),
        ("what broke on Monday", TimeSpan(2026, 4, 27)),
        ("since friday", TimeSpan(2026, 5, 1)),
        ("was habe ich gestern gemacht", TimeSpan(2026, 5, 3)),
        ("¿qué hice ayer?", TimeSpan(2026, 5, 3)),
        ("昨天做了什么", TimeSpan(2026, 5, 3)),
        ("先週何をした", TimeSpan(2026, 4, 27, days=7)),
        ("어제 뭐 했어", TimeSpan(2026, 5, 3)),
    ],
)
def test_a_time_is_recognised(text: str, span: TimeSpan) -> None:
    """As people write it, and the first one if there are several."""
    assert find_span(text, NOW) == span


@pytest.mark.parametrize(
    "text",
    [
        "", "the test may fail", "this may fail", "it may be slow", "march through the list", "may",
        "March", "port 2026",
        "monday.com", "the last test", "this build", "0 days ago", "a week", "gesterns",
        "2026 requests", "2026-13-01", "1850-05-03", "20260503", "in 2026 at 10", "augustus",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    """Prompts are full of "may"; the turns of May must not rise for it."""
    assert find_span(text, NOW) is None


@pytest.mark.parametrize(
    ("span", "at", "nearness"),
    [
        (TimeSpan(2026, 5, 3), "2026-05-03T00:00", 1.0),
        (TimeSpan(2026, 5, 3), "2026-05-03T23:59", 1.0),
        (TimeSpan(2026, 5, 3), "2026-05-02T23:59", 0.0),
        (TimeSpan(2026, 5, 3), "2026-05-04T00:00", 0.5),
        (TimeSpan(2026, 5, 3), "2026-05-09T00:00", 0.25),
        (TimeSpan(2026, 5, 3), "2026-05-14T00:00", 0.0),
        (TimeSpan(2026, 5, 3), "2025-05-03T12:00", 0.0),
        (TimeSpan(None, 5, 3), "2025-05-03T12:00", 1.0),
        (TimeSpan(2026, 12, None), "2026-12-31T23:00", 1.0),
        (TimeSpan(2026, 12, None), "2027-01-06T00:00", 0.25),
        (TimeSpan(None, 12, None), "2027-01-06T00:00", 0.25),
        (TimeSpan(2026, 2, 30), "2026-02-28T12:00", 0.0),
    ],
)
def test_inside_counts_fully_and_soon_after_a_little(
    span: TimeSpan, at: str, nearness: float
) -> None:
    """What was done on Friday may be told on Monday; what came before cannot be it."""
    assert span.nearness(moment(at)) == pytest.approx(nearness)


def test_a_turn_without_a_time_is_near_none() -> None:
    """Some logs have no times."""
    assert TimeSpan(2026, 5, 3).nearness(None) == 0.0


PIECES = st.sampled_from(
    [
        *MONTHS,
        *OPENINGS,
        *WEEKDAYS,
        "week",
        "days",
        "ago",
        "999",
        "昨天",
        "0001",
        "9999",
        "2026",
        "31",
        "00",
        "3rd",
        "th",
        "yesterday",
        "٣",
        "0001" + "0" * 30,
    ]
)


@given(
    st.lists(PIECES | st.text(max_size=4), max_size=6).map(" ".join),
    st.integers(-(1 << 62), 1 << 62) | st.integers(0, NOW),
)
def test_no_text_and_no_time_can_break_it(text: str, at: int) -> None:
    """People paste anything, and logs claim any time."""
    span = find_span(text, NOW)

    assert span is None or 0.0 <= span.nearness(at) <= 1.0


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("what broke yesterday in the login", "what broke in the login"),
        ("Last week in webshop", "in webshop"),
        ("what did we do on Monday?", "what did we do"),
        ("我昨天做了什么", "我 做了什么"),
        ("the deploy of 2026-05-03", "the deploy of 2026-05-03"),
    ],
)
def test_words_that_say_a_time_are_taken_out(text: str, rest: str) -> None:
    """No log says "yesterday" of the day it was written; a written date it may have."""
    assert read_span(text, NOW)[1] == rest


@pytest.mark.parametrize(
    ("span", "dates"),
    [
        (TimeSpan(2026, 5, 3), ("2026-05-03", "2026-05-03")),
        (TimeSpan(2026, 4, 27, days=7), ("2026-04-27", "2026-05-03")),
        (TimeSpan(2026, 12, None), ("2026-12-01", "2026-12-31")),
        (TimeSpan(2026, 2, None), ("2026-02-01", "2026-02-28")),
        (TimeSpan(None, 5, 3), None),
        (TimeSpan(2026, 2, 30), None),
    ],
)
def test_a_span_has_a_first_and_a_last_day(span: TimeSpan, dates: tuple[str, str] | None) -> None:
    """As the filters since: and until: take them."""
    assert span.dates() == dates


@given(st.integers(1971, 2200), st.integers(1, 12), st.integers(1, 28), st.integers(0, 86_399_999))
def test_every_way_to_write_a_day_means_it(year: int, month: int, day: int, offset: int) -> None:
    """And all of the day is inside."""
    at = moment(f"{year}-{month:02}-{day:02}") + offset
    texts = [
        f"{year}-{month:02}-{day:02}",
        f"on {day} {MONTHS[month - 1]} {year}",
        f"{MONTHS[month - 1].title()} {day}, {year}",
    ]
    spans = [span for span in (find_span(text, NOW) for text in texts) if span]

    assert spans == [TimeSpan(year, month, day)] * (3 if 1900 <= year < 2100 else 2)
    assert {span.nearness(at) for span in spans} == {1.0}
