"""The time that a query names: "in March", "on 3 May 2026", "2026-05-03", "last week".

People remember when something was done, and turns know when they happened. A
query that names a time does not exclude other turns, as `since:` would: what
was done in March may be told in April. It lifts those at that time, and a
little those soon after. Words such as "last week" are never looked for: what
was said last week does not say so. In several languages these are known.

On the path of a cold search: nothing heavy is imported before a time is named.
"""

from __future__ import annotations

DAY_MS = 86_400_000
# What happened is still talked about so many days later.
SLACK_DAYS = 10
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# "may" and "march" are no months without a number or one of these before
# them; "this may fail" names no time.
OPENINGS = ("in", "of", "since", "during", "early", "late", "mid", "last")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# "monday" alone may be a product; a day has one of these before it.
DAY_OPENINGS = ("on", "last", "since", "this")
_SPACELESS = "昨今上这本先어오지이"
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7}
_NUMBERS = {
    "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "few": 3,
}  # fmt: skip
# What other languages say, in words that are known here.
_MEANING = {
    "gestern": "yesterday", "heute": "today", "letzte woche": "last week",
    "diese woche": "this week", "letzten monat": "last month",
    "ayer": "yesterday", "semana pasada": "last week", "mes pasado": "last month",
    "aujourd'hui": "today", "semaine dernière": "last week", "mois dernier": "last month",
    "hôm qua": "yesterday", "hôm nay": "today", "tuần trước": "last week",
    "昨天": "yesterday", "今天": "today", "上周": "last week", "上个星期": "last week",
    "这周": "this week", "本周": "this week", "上个月": "last month",
    "昨日": "yesterday", "今日": "today", "先週": "last week", "今週": "this week",
    "先月": "last month",
    "어제": "yesterday", "오늘": "today", "지난주": "last week", "이번 주": "this week",
    "지난달": "last month",
}  # fmt: skip


class TimeSpan:
    """A stretch of time in whole days: so many days from one on, a month, or a day of it.

    Without a year it comes back every year.
    """

    __slots__ = ("day", "days", "month", "year")

    def __init__(self, year: int | None, month: int, day: int | None, *, days: int = 1) -> None:
        self.year, self.month, self.day, self.days = year, month, day, days

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeSpan) and self._values() == other._values()

    def __repr__(self) -> str:
        return f"TimeSpan({self.year}, {self.month}, {self.day}, days={self.days})"

    def _values(self) -> tuple[int | None, ...]:
        return self.year, self.month, self.day, self.days

    def dates(self) -> tuple[str, str] | None:
        """Its first and its last day as ISO dates; None for one that comes back."""
        from datetime import date, timedelta

        if self.year is None:
            return None
        try:
            first = date(self.year, self.month, self.day or 1)
            after = first + timedelta(days=self.days if self.day else 31)
            last = (after if self.day else after.replace(day=1)) - timedelta(days=1)
        except (ValueError, OverflowError):
            return None
        return first.isoformat(), last.isoformat()

    def nearness(self, at: int | None) -> float:
        """1 for a moment inside, falling from a half to 0 in the days after."""
        if at is None:
            return 0.0
        from datetime import UTC, datetime

        try:
            this_year = datetime.fromtimestamp(at / 1000, UTC).year
        except (ValueError, OverflowError, OSError):
            # A log may claim any time.
            return 0.0
        years = (self.year,) if self.year else (this_year, this_year - 1)
        return max(self._nearness(at, year) for year in years)

    def _nearness(self, at: int, year: int) -> float:
        from datetime import UTC, datetime

        try:
            start = datetime(year, self.month, self.day or 1, tzinfo=UTC)
            after = (
                start
                if self.day
                else datetime(year + self.month // 12, self.month % 12 + 1, 1, tzinfo=UTC)
            )
        except ValueError:
            return 0.0
        end = after.timestamp() * 1000 + DAY_MS * self.days * bool(self.day)
        if start.timestamp() * 1000 <= at < end:
            return 1.0
        late_days = (at - end) / DAY_MS
        return 0.5 * (1 - late_days / SLACK_DAYS) if 0 <= late_days < SLACK_DAYS else 0.0


def find_span(text: str, now: int) -> TimeSpan | None:
    """The first time that a text names, or None."""
    return read_span(text, now)[0]


def read_span(text: str, now: int) -> tuple[TimeSpan | None, str]:
    """The first time that a text names, and the text without the words that say
    it as seen from now; a written date stays in the text, because logs have it too.
    """
    words = _known(text).split()
    plain = ["".join(char if char.isalnum() else " " for char in word).split() for word in words]
    firsts = [word[0] if word else "" for word in plain]
    for place, first in enumerate(firsts):
        found, used = _relative(first, firsts, place, now)
        if found is not None:
            return found, " ".join(words[: place - (used < 0)] + words[place + abs(used) :])
    flat = [word for found in plain for word in found]
    for place, word in enumerate(flat):
        span = None
        if word in MONTHS:
            span = _month(flat, place)
        elif len(word) == 4 and word.isdecimal() and word[:2] in ("19", "20"):
            span = _iso(flat, place)
        if span is not None:
            return span, text
    return None, text


def _known(text: str) -> str:
    """A text in small letters, with what other languages call a time in words known here."""
    lowered = text.lower()
    for said, meant in _MEANING.items():
        place = lowered.find(said)
        end = place + len(said)
        if (
            place >= 0
            and (
                said[0] in _SPACELESS
                # Where words have spaces, a part of one is no time.
                or not (lowered[place - 1 : place].isalnum() or lowered[end : end + 1].isalnum())
            )
        ):
            lowered = f"{lowered[:place]} {meant} {lowered[end:]}"
    return lowered


def _relative(word: str, words: list[str], place: int, now: int) -> tuple[TimeSpan | None, int]:
    """A time as seen from now, and how many words say it; less than nothing with one before."""
    from_here = (*words[place + 1 : place + 3], "", "")
    if word in ("yesterday", "today"):
        return _days(now, int(word == "yesterday"), 1), 1
    if word in ("last", "past", "this", "previous"):
        if from_here[0] in ("week", "month", "year"):
            return _calendar(now, from_here[0], last=word != "this"), 2
        count = _number(from_here[0])
        if word != "this" and count and from_here[1] in _UNITS:
            many = min(count * _UNITS[from_here[1]], 3_660)
            return _days(now, many - 1, many), 3
    count = _number(word)
    if count and from_here[0] in _UNITS and from_here[1] == "ago":
        unit = _UNITS[from_here[0]]
        return _days(now, min(count * unit, 3_660), unit), 3
    if word in WEEKDAYS and place and words[place - 1] in DAY_OPENINGS:
        from datetime import UTC, datetime

        today = datetime.fromtimestamp(now / 1000, UTC).weekday()
        return _days(now, (today - WEEKDAYS.index(word) - 1) % 7 + 1, 1), -1
    return None, 0


def _number(word: str) -> int:
    return (
        int(word)
        if word.isascii() and word.isdecimal() and len(word) < 4
        else _NUMBERS.get(word, 0)
    )


def _days(now: int, ago: int, days: int) -> TimeSpan:
    """So many days from one on."""
    found = _day_of(now - DAY_MS * ago)
    found.days = days
    return found


def _calendar(now: int, unit: str, *, last: bool) -> TimeSpan:
    """This week, month or year, or the one before."""
    from datetime import UTC, datetime

    today = datetime.fromtimestamp(now / 1000, UTC)
    if unit == "week":
        return _days(now, today.weekday() + 7 * last, 7)
    if unit == "month":
        month = today.month - last
        return TimeSpan(today.year - (month == 0), month or 12, None)
    year = today.year - last
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return TimeSpan(year, 1, 1, days=365 + leap)


def _month(words: list[str], place: int) -> TimeSpan | None:
    """A month by its name, with the day on either side and the year after it."""
    day = year = None
    for near in words[max(place - 1, 0) : place] + words[place + 1 : place + 2]:
        number = near.rstrip("stndrh") if near[:1].isdecimal() else ""
        if number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= 31:
            day = int(number)
    for after in words[place + 1 : place + 3]:
        if len(after) == 4 and after.isdecimal():
            year = int(after)
    if day is None and year is None and (not place or words[place - 1] not in OPENINGS):
        return None
    return TimeSpan(year, MONTHS.index(words[place]) + 1, day)


def _iso(words: list[str], place: int) -> TimeSpan | None:
    """2026-05-03, or the month alone as 2026-05."""
    month, day = (
        int(word) if word.isdecimal() and len(word) == 2 else 0
        for word in (*words[place + 1 : place + 3], "", "")[:2]
    )
    if not 1 <= month <= 12:
        return None
    return TimeSpan(int(words[place]), month, day if 1 <= day <= 31 else None)


def _day_of(at: int) -> TimeSpan:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(at / 1000, UTC)
    return TimeSpan(moment.year, moment.month, moment.day)
