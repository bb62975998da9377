"""Writes the model file that the package carries.

    python train/pack.py NOLAM.npz words.txt OUT.bin [--dimensions 128]
    python train/pack.py OLD.bin OUT.bin

The one packs a freshly trained table, the other a file in the first layout (RCSTAT01).

The second layout (RCSTAT02, described in src/recollect/embed/static.py) keeps
the words sorted, so that a new process finds one by halving the mapped file
instead of reading forty thousand of them into a dictionary.
"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

OLD_MAGIC, MAGIC = b"RCSTAT01", b"RCSTAT02"
ALIGNMENT = 64


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="OLD.bin OUT.bin, or TABLE.npz words.txt OUT.bin",
    )
    parser.add_argument(
        "--dimensions", type=int, help="keep only the first so many numbers of each row"
    )
    args = parser.parse_args()

    if len(args.files) == 2:
        words, scales, rows = read_old(args.files[0])
    elif len(args.files) == 3:
        table = np.load(args.files[0])
        words = args.files[1].read_text(encoding="utf-8").split("\n")
        scales, rows = table["s"], table["q"]
    else:
        parser.error("give OLD.bin OUT.bin, or TABLE.npz words.txt OUT.bin")
    if args.dimensions:
        scales, rows = shorten(scales, rows, args.dimensions)
    write(args.files[-1], words, scales, rows)
    print(
        f"{args.files[-1]}: {len(words)} words, {len(rows) - len(words)} buckets, {rows.shape[1]} "
        "dimensions"
    )


def read_old(path: Path) -> tuple[list[str], NDArray[np.float32], NDArray[np.int8]]:
    """Words, scales and rows of a file in the first layout: the words joined by
    newlines, in the order of the rows.
    """
    data = path.read_bytes()
    magic, dimensions, word_count, buckets, word_bytes = struct.unpack_from("<8s4I", data)
    if magic != OLD_MAGIC:
        raise SystemExit(f"{path} begins with {magic!r}, not with {OLD_MAGIC!r}")
    count = word_count + buckets
    words = data[24 : 24 + word_bytes].decode().split("\n")
    scales_at = _aligned(24 + word_bytes)
    rows_at = _aligned(scales_at + 4 * count)
    scales = np.frombuffer(data, "<f4", count, scales_at)
    rows = np.frombuffer(data, np.int8, count * dimensions, rows_at).reshape(count, dimensions)
    return words, scales, rows


def quantise(table: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """A scale for each row, and the row in units of it: the largest number of a row becomes 127."""
    scales = np.maximum(np.abs(table).max(axis=1) / 127, 1e-8).astype(np.float32)
    return scales, np.rint(table / scales[:, None]).astype(np.int8)


def shorten(
    scales: NDArray[np.float32], rows: NDArray[np.int8], dimensions: int
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """The nested table of fewer dimensions, with scales of its own."""
    return quantise(rows[:, :dimensions].astype(np.float32) * scales[:, None])


def write(
    path: Path, words: list[str], scales: NDArray[np.float32], rows: NDArray[np.int8]
) -> None:
    """A file in the second layout.

    The words and their rows are sorted, the buckets stay where they are.
    """
    encoded = [word.encode() for word in words]
    if (
        len(set(encoded)) != len(encoded)
        or len(rows) != len(scales)
        or any(b"\n" in word for word in encoded)
    ):
        raise SystemExit("the words are not distinct lines, or there is not one scale for each row")
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    rank = np.concatenate([np.array(order, np.int64), np.arange(len(words), len(rows))])
    starts = np.cumsum([0, *(len(encoded[i]) + 1 for i in order)])
    listing = b"".join(encoded[i] + b"\n" for i in order)
    sections = [
        struct.pack(
            "<8s4I", MAGIC, rows.shape[1], len(words), len(rows) - len(words), len(listing)
        ),
        starts.astype("<u4").tobytes(),
        listing,
        scales[rank].astype("<f4").tobytes(),
        rows[rank].tobytes(),
    ]
    with path.open("wb") as file:
        for section in sections:
            file.write(section)
            file.write(bytes(-len(section) % ALIGNMENT))


def _aligned(position: int) -> int:
    return position + -position % ALIGNMENT


if __name__ == "__main__":
    main()
