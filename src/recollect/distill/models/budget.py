"""Texts that are too long, cut in the middle: how something began
and how it ended say most about it.
"""

from __future__ import annotations


def cut(text: str, most_bytes: int, mark: str, *, head: float) -> str:
    """A text of at most so many bytes; too long a one keeps both ends around a mark.

    `head` is the share of what is kept that comes from the beginning. No
    character is cut in two.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= most_bytes:
        return data.decode()
    room = max(most_bytes - len(mark.encode()), 0)
    first = int(room * head)
    start, end = data[:first], data[len(data) - (room - first) :]
    return start.decode("utf-8", "ignore") + mark + end.decode("utf-8", "ignore")
