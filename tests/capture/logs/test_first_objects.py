"""What a format is known by: the first lines of a file, of
which only the first bytes are at hand.
"""

from __future__ import annotations

import pytest

from recollect.capture.logs.lines import first_objects


@pytest.mark.parametrize(
    ("head", "most", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n{"c":3}\n', 1, [{"a": 1}]),
        (b'{"a":1}\n{"b":2}\n{"c":3}\n', 2, [{"a": 1}, {"b": 2}]),
        (b'\n  {"a":1}', 3, [{"a": 1}]),
        (b'{"a":1}\n[1]\n{"b":2}', 3, [{"a": 1}, {"b": 2}]),
        (b'{"a":1}\n{"b":', 3, [{"a": 1}]),
        (b"\xff\x00", 3, []),
        (b'{"a":' * 20_000, 1, []),
        (b"", 3, []),
    ],
    ids=["one", "two", "blank lines", "other values", "cut off", "binary", "deep", "empty"],
)
def test_the_first_objects_are_those_that_are_whole(
    head: bytes, most: int, expected: list[dict[str, int]]
) -> None:
    """A line that is cut off, or no JSON, ends them."""
    assert first_objects(head, most) == expected
