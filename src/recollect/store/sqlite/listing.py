"""Pages of rows, newest first, that stay where they are while new rows come in.

A cursor names the last row that was shown, by its time and its id.
"""

from __future__ import annotations

from recollect.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.store.sqlite.search.filters import Condition

# Rows without a time come last.
NO_TIME = -(10**15)


def order(time: str, number: str) -> str:
    """How a list is sorted by these two columns."""
    return f"coalesce({time}, {NO_TIME}) desc, {number} desc"


def beyond(cursor: str | None, time: str, number: str) -> Condition:
    """A condition: the rows after those that were shown."""
    if cursor is None:
        return "1", []
    at, dot, last = cursor.partition(".")
    shown = at.removeprefix("-")
    # SQLite takes no number of more than 18 digits.
    if not dot or not all(part.isdecimal() and len(part) <= 16 for part in (shown, last)):
        raise UsageError(
            f'"{cursor[:50]}" is not a cursor.', hint="Use the one that the last page ended with."
        )
    return f"(coalesce({time}, {NO_TIME}), {number}) < (?, ?)", [int(at), int(last)]


def cursor_of(time: int | None, number: int) -> str:
    """What asks for the rows after this one."""
    return f"{NO_TIME if time is None else time}.{number}"
