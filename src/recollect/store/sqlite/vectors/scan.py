"""The turns whose 1-bit codes are nearest to a vector's, from blocks of such codes.

On the path of a cold search: neither numpy nor anything else heavy is imported.
"""

from __future__ import annotations

from recollect.store.codes import bit_code, bit_distances, nearest
from recollect.store.sqlite.vectors.stored import TURNS_IN_BLOCK, is_sound, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Block = tuple[int, bytes, bytes]


def scan(
    blocks: Iterable[Block], code: bytes, wanted: int, passing: list[int] | None = None
) -> list[int]:
    """Turns whose 1-bit codes are among the `wanted` nearest to that of an int8 code."""
    bits, starts, distances = bit_code(code), [], []
    for number, turns, codes in blocks:
        if not is_sound(turns, codes, len(bits)):
            continue
        starts.append((number * TURNS_IN_BLOCK, turns))
        distances.append(bit_distances(bits, codes))
    mask = None if passing is None else _mask(passing, starts)
    if mask is not None:
        distances = [
            _masked(start, turns, found, mask)
            for (start, turns), found in zip(starts, distances, strict=True)
        ]
    chosen = nearest(b"".join(distances), wanted)
    found: dict[int, None] = {}
    at, end = 0, 0
    for start, turns in starts:
        first, end = end, end + len(turns) // 2
        if at < len(chosen) and chosen[at] < end:
            place_of = places(turns)
            while at < len(chosen) and chosen[at] < end:
                found[start + place_of[chosen[at] - first]] = None
                at += 1
    return [turn for turn in found if mask is None or not mask[turn]]


def _mask(passing: list[int], starts: list[tuple[int, bytes]]) -> bytearray:
    """A byte for each turn, which is 0 where it passes and the largest one where it does not."""
    end = max([1 + max(passing, default=0)] + [start + TURNS_IN_BLOCK for start, _ in starts])
    mask = bytearray(b"\xff" * end)
    for turn in passing:
        mask[turn] = 0
    return mask


def _masked(start: int, turns: bytes, distances: bytes, mask: bytearray) -> bytes:
    """Distances with the largest byte in the place of each code whose turn does not pass."""
    own = mask[start : start + TURNS_IN_BLOCK]
    hidden = int.from_bytes(bytes(map(own.__getitem__, places(turns))), "big")
    # Every byte at once, as the digits of one long number.
    return (int.from_bytes(distances, "big") | hidden).to_bytes(len(distances), "big")
