"""Vectors as bytes: eight bits a dimension to tell the best apart, one bit to find them among all.

An int8 code is the vector divided by its largest number; cosine does not mind
the scale. A 1-bit code says which numbers are above zero, first dimension in
the highest bit. How many bits of two such codes differ is close to the angle
between the vectors, and counting them is the cheapest thing a processor does.

On the path of a cold search: simsimd compares, and numpy is not imported.
Without simsimd plain Python does the same, slower.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

simsimd: Any
try:
    import simsimd
except ImportError:  # A platform without a wheel of it.
    simsimd = None

# An int8 code byte by byte: one for what is above zero, as a digit of a number in base two.
_DIGITS = b"0" + b"1" * 127 + b"0" * 128


def numbers_in(kind: str, stored: bytes) -> array[Any]:
    """Numbers as the store has them, low byte first; `kind` is a type of `array`."""
    found = array(kind, stored)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def stored(kind: str, numbers: Iterable[Any]) -> bytes:
    """Numbers as the store has them."""
    made = array(kind, numbers)
    if sys.byteorder == "big":
        made.byteswap()
    return made.tobytes()


def int8_code(vector: Sequence[float]) -> bytes:
    """A vector as bytes, one signed byte a dimension; zeros stay zeros."""
    largest = max(map(abs, vector), default=0.0)
    scale = 127 / largest if largest else 0.0
    return array("b", [round(number * scale) for number in vector]).tobytes()


def int8_codes(matrix: NDArray[np.float32]) -> NDArray[np.int8]:
    """The same for every row of a matrix."""
    import numpy as np

    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(matrix, largest, out=np.zeros_like(matrix), where=largest > 0)
    codes: NDArray[np.int8] = np.rint(127 * scaled).astype(np.int8)
    return codes


def bit_code(code: bytes) -> bytes:
    """The 1-bit code of an int8 code."""
    width = bit_width(len(code))
    return int(code.translate(_DIGITS).ljust(8 * width, b"0"), 2).to_bytes(width, "big")


def bit_width(dimensions: int) -> int:
    """How many bytes a 1-bit code takes."""
    return (dimensions + 7) // 8


def bit_distances(code: bytes, codes: bytes) -> bytes:
    """How far a 1-bit code is from each of many, a byte each.

    Where more bits could differ than a byte can count, the lowest binary
    digits of the count are left out.
    """
    width = len(code)
    count = len(codes) // width
    # Should all of 256 bits differ, the byte says none; whoever looks closer will see.
    shift = max(0, (8 * width).bit_length() - 9)
    if not count:
        return b""
    if simsimd is None:
        wanted = int.from_bytes(code, "big")
        found = (
            int.from_bytes(codes[at : at + width], "big") for at in range(0, len(codes), width)
        )
        return bytes([((other ^ wanted).bit_count() >> shift) & 255 for other in found])
    one, many = memoryview(code).cast("B", (1, width)), memoryview(codes).cast("B", (count, width))
    told = simsimd.cdist(
        one, many, metric="hamming", dtype="bin8", out_dtype="uint16" if shift else "uint8"
    )
    distances = memoryview(told).tobytes()
    if not shift:
        return distances
    # All counts at once, as the digits of one long number.
    moved = int.from_bytes(distances, sys.byteorder) >> shift
    return moved.to_bytes(len(distances), sys.byteorder)[sys.byteorder == "big" :: 2]


def nearest(distances: bytes, count: int) -> list[int]:
    """Where the `count` smallest of some bytes are, in order of place.

    A few more when the last ones are equal.

    Nothing is sorted: the largest value that is wanted is found by halving,
    and then every byte up to it.
    """

    def how_many(value: int) -> int:
        return len(distances) - len(distances.translate(None, bytes(range(value + 1))))

    farthest = bisect_left(range(255), count, key=how_many)
    marks = distances.translate(bytes([value <= farthest for value in range(256)]))
    places = []
    place = marks.find(1)
    while place >= 0:
        places.append(place)
        place = marks.find(1, place + 1)
    return places


def cosines(code: bytes, codes: bytes) -> list[float]:
    """The cosine of an int8 code with each of many."""
    width = len(code)
    count = len(codes) // width
    if not count:
        return []
    if simsimd is None:
        return _cosines(code, codes)
    one, many = memoryview(code).cast("b", (1, width)), memoryview(codes).cast("b", (count, width))
    told = memoryview(simsimd.cdist(one, many, metric="cosine", dtype="int8")).tobytes()
    return [1.0 - distance for distance in array("d", told)]


def _cosines(code: bytes, codes: bytes) -> list[float]:
    from math import sqrt
    from operator import mul

    width = len(code)
    wanted, numbers = array("b", code), array("b", codes)
    length = sqrt(sum(map(mul, wanted, wanted)))
    found = []
    for at in range(0, len(numbers), width):
        other = numbers[at : at + width]
        both = length * sqrt(sum(map(mul, other, other)))
        found.append(sum(map(mul, wanted, other)) / both if both else 0.0)
    return found
