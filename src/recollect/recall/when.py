"""The time that a query names: "in March", "on 3 May 2026", "2026-05-03", "yesterday".

People remember when something was done, and turns know when they happened. A
query that names a time does not exclude other turns, as `since:` would: what
was done in March may be told in April. It lifts those at that time, and a
little those soon after.

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


class TimeSpan:
    """A stretch of time, in milliseconds.

    The end is not part of it. Without a year it comes back every year.
    """

    __slots__ = ("day", "month", "year")

    def __init__(self, year: int | None, month: int, day: int | None) -> None:
        self.year, self.month, self.day = year, month, day

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeSpan) and (self.year, self.month, self.day) == (
            other.year,
            other.month,
            other.day,
        )

    def __repr__(self) -> str:
        return f"TimeSpan({self.year}, {self.month}, {self.day})"

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
        end = after.timestamp() * 1000 + DAY_MS * bool(self.day)
        if start.timestamp() * 1000 <= at < end:
            return 1.0
        late_days = (at - end) / DAY_MS
        return 0.5 * (1 - late_days / SLACK_DAYS) if 0 <= late_days < SLACK_DAYS else 0.0


def find_span(text: str, now: int) -> TimeSpan | None:
    """The first time that a text names, or None."""
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    for place, word in enumerate(words):
        if word in MONTHS:
            found = _month(words, place)
        elif word == "yesterday" or word == "today":
            found = _day_of(now - DAY_MS * (word == "yesterday"))
        elif len(word) == 4 and word.isdecimal() and word[:2] in ("19", "20"):
            found = _iso(words, place)
        else:
            found = None
        if found is not None:
            return found
    return None


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
