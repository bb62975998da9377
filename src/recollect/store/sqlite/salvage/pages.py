"""Reads the pages of an SQLite file that SQLite itself refuses, and changes nothing.

SQLite reaches a row through the pages above it, so one bad page in the middle
hides thousands of good rows; and it opens nothing whose first page is bad. Here
the trees are walked as far as they are sound, and the leaves that nothing leads
to any more are found by looking at every page.

The file format: https://sqlite.org/fileformat2.html
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

MAGIC = b"SQLite format 3\0"
USUAL_PAGE_SIZES = (4096, 8192)
INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE = 2, 5, 10, 13
# Deeper than any tree of this format can be.
MOST_LEVELS = 40

Value = int | float | str | bytes | None


class PartialText(str):
    """A text of which some characters are lost; each shows as a replacement character."""

    __slots__ = ()


class Unreadable(Exception):
    """A page, cell or record that makes no sense."""


class Cell(NamedTuple):
    """One row as found: in an index, or a table without rowids, `rowid` is None."""

    page: int
    rowid: int | None
    values: list[Value]


class PageTree:
    """What walking one tree gave: its rows so far, and how much of it could not be read."""

    def __init__(self) -> None:
        self.bad_pages = 0
        self.bad_cells = 0
        self.visited: set[int] = set()

    @property
    def sound(self) -> bool:
        """Whether every row of this tree was reached."""
        return not self.bad_pages and not self.bad_cells


class PageFile:
    """The pages of a file, each in its newest committed version."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self.header = file.read(100)
            self.size_bytes = os.fstat(file.fileno()).st_size
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115
        self.has_header = self.header[:16] == MAGIC
        self.page_size = self._page_size()
        self.newer: dict[int, bytes] = {}
        wal_pages = self._read_log(path + "-wal")
        first = self.newer.get(1)
        if first is not None:
            self.header, self.has_header = first[:100], first[:16] == MAGIC
        reserved = self.header[20] if self.has_header and self.header[20] <= 64 else 0
        self.usable = self.page_size - reserved
        self.count = max(-(-self.size_bytes // self.page_size), wal_pages)
        self.seen: set[int] = set()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> PageFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _page_size(self) -> int:
        """What the header says if the file looks like it.

        Else the usual size that it looks most like.
        """
        said = int.from_bytes(self.header[16:18], "big")
        said = 65536 if said == 1 else said
        sizes = list(USUAL_PAGE_SIZES)
        if said >= 512 and said & (said - 1) == 0:
            sizes.append(said)
        looks = {size: self._share_of_pages(size) for size in sizes}
        best = max(looks.values())
        if said in looks and 2 * looks[said] >= best:
            return said
        # Every second page is a page as well, so that the smallest good answer is the right one.
        return next(size for size in sorted(looks) if 4 * looks[size] >= 3 * best)

    def _share_of_pages(self, size: int) -> float:
        """How many of the places where a page of this size would
        begin have the first bytes of one.
        """
        good = places = 0
        for at in range(size, min(self.size_bytes, 512 * size), size):
            self._file.seek(at)
            first = self._file.read(8).ljust(8, b"\0")
            cells, content = int.from_bytes(first[3:5], "big"), int.from_bytes(first[5:7], "big")
            kinds = (INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE)
            places += 1
            good += (
                first[0] in kinds and cells * 2 <= size and 8 <= content <= size and first[7] <= 60
            )
        return good / max(1, places)

    @property
    def user_version(self) -> int | None:
        """The schema version in the header, if there is a header."""
        return int.from_bytes(self.header[60:64], "big") if self.has_header else None

    def page(self, number: int) -> bytes:
        """A page; one that is cut off is filled up with zeros."""
        if not 1 <= number <= self.count:
            raise Unreadable(f"no page {number}")
        newer = self.newer.get(number)
        if newer is not None:
            return newer
        self._file.seek((number - 1) * self.page_size)
        try:
            data = self._file.read(self.page_size)
        except OSError as error:
            raise Unreadable(str(error)) from error
        return data.ljust(self.page_size, b"\0")

    # The write-ahead log

    def _read_log(self, path: str) -> int:
        """Take over the pages of committed transactions; says how many pages the last one left."""
        try:
            with open(path, "rb") as file:
                log = file.read()
        except OSError:
            return 0
        magic = int.from_bytes(log[:4], "big")
        if (
            len(log) < 32
            or magic & ~1 != 0x377F0682
            or int.from_bytes(log[8:12], "big") != self.page_size
        ):
            return 0
        order = ">" if magic & 1 else "<"
        sums = _checksum(log[:24], order, (0, 0))
        waiting: dict[int, bytes] = {}
        pages = 0
        step = 24 + self.page_size
        for at in range(32, len(log) - step + 1, step):
            number, commit, salt_1, salt_2, sum_1, sum_2 = struct.unpack(">6I", log[at : at + 24])
            if struct.pack(">2I", salt_1, salt_2) != log[16:24]:
                break
            sums = _checksum(log[at : at + 8], order, sums)
            sums = _checksum(log[at + 24 : at + step], order, sums)
            if sums != (sum_1, sum_2):
                break
            waiting[number] = log[at + 24 : at + step]
            if commit:
                self.newer.update(waiting)
                waiting, pages = {}, commit
        return pages

    # Trees

    def walk(self, root: int, tree: PageTree, *, index: bool) -> Iterator[Cell]:
        """The rows below a root page, as far as the way to them is sound."""
        yield from self._walk(root, tree, index, 0)

    def _walk(self, number: int, tree: PageTree, index: bool, level: int) -> Iterator[Cell]:
        interior, leaf = (INTERIOR_INDEX, LEAF_INDEX) if index else (INTERIOR_TABLE, LEAF_TABLE)
        try:
            page = self.page(number)
            kind = page[_start(number)]
            if number in tree.visited or level > MOST_LEVELS or kind not in (interior, leaf):
                raise Unreadable(f"page {number} is no part of this tree")
            places = self._places(number, page)
        except Unreadable:
            tree.bad_pages += 1
            return
        tree.visited.add(number)
        self.seen.add(number)
        for at in places:
            if kind == interior:
                yield from self._walk(
                    int.from_bytes(page[at : at + 4], "big"), tree, index, level + 1
                )
            if kind != INTERIOR_TABLE:
                try:
                    yield self._cell(number, page, at, kind)
                except Unreadable:
                    tree.bad_cells += 1
        if kind == interior:
            right = _start(number) + 8
            yield from self._walk(
                int.from_bytes(page[right : right + 4], "big"), tree, index, level + 1
            )

    def stray(self, *, index: bool) -> Iterator[list[Cell]]:
        """The rows of each page that nothing we walked leads to, and that is not free."""
        kinds = (LEAF_INDEX, INTERIOR_INDEX) if index else (LEAF_TABLE,)
        unused = self._free_pages()
        for number in range(1, self.count + 1):
            if number in self.seen or number in unused:
                continue
            try:
                page = self.page(number)
                kind = page[_start(number)]
                places = self._places(number, page) if kind in kinds else []
            except Unreadable:
                continue
            cells = []
            for at in places:
                try:
                    cells.append(self._cell(number, page, at, kind))
                except Unreadable:
                    continue
            if cells:
                yield cells

    def _free_pages(self) -> set[int]:
        """The pages that hold nothing any more, as far as the list of them can be followed."""
        unused: set[int] = set()
        trunk = int.from_bytes(self.header[32:36], "big") if self.has_header else 0
        while trunk and trunk not in unused:
            try:
                page = self.page(trunk)
            except Unreadable:
                break
            unused.add(trunk)
            count = min(int.from_bytes(page[4:8], "big"), self.usable // 4 - 2)
            leaves = struct.unpack(f">{count}I", page[8 : 8 + 4 * count])
            if any(not 1 <= leaf <= self.count for leaf in leaves):
                break
            unused.update(leaves)
            trunk = int.from_bytes(page[:4], "big")
        return unused - self.seen

    def _places(self, number: int, page: bytes) -> list[int]:
        """Where in a page its cells begin."""
        start = _start(number)
        interior = page[start] in (INTERIOR_INDEX, INTERIOR_TABLE)
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        first = start + (12 if interior else 8)
        end = first + 2 * count
        if end > self.usable:
            raise Unreadable(f"page {number} has too many cells")
        places = struct.unpack(f">{count}H", page[first:end])
        # One pointer out of bounds costs its cell; a page where most are is something else.
        sound = [at for at in places if end <= at < self.usable]
        if 2 * len(sound) < count:
            raise Unreadable(f"page {number} is not made of cells")
        return sound

    def _cell(self, number: int, page: bytes, at: int, kind: int) -> Cell:
        if kind == INTERIOR_INDEX:
            at += 4
        size, at = _varint(page, at)
        rowid = None
        if kind == LEAF_TABLE:
            rowid, at = _varint(page, at)
            rowid = rowid - (1 << 64) if rowid >= 1 << 63 else rowid
        return Cell(number, rowid, _record(self._payload(page, at, size, table=kind == LEAF_TABLE)))

    def _payload(self, page: bytes, at: int, size: int, *, table: bool) -> bytes:
        usable = self.usable
        if size > self.count * usable:
            raise Unreadable("a row larger than the file")
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if size <= most:
            if at + size > usable:
                raise Unreadable("a row that leaves its page")
            return page[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        if at + local + 4 > usable:
            raise Unreadable("a row that leaves its page")
        pieces, missing = [page[at : at + local]], size - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while missing > 0:
            more = self.page(following)
            pieces.append(more[4 : 4 + min(missing, usable - 4)])
            missing -= usable - 4
            following = int.from_bytes(more[:4], "big")
        return b"".join(pieces)


def _start(number: int) -> int:
    return 100 if number == 1 else 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(9):
        if at >= len(data):
            raise Unreadable("a number that leaves its page")
        byte = data[at]
        at += 1
        if place == 8:
            return value << 8 | byte, at
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value, at


_FIXED_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8}


def _record(payload: bytes) -> list[Value]:
    header, at = _varint(payload, 0)
    if header > len(payload) or header > 100_000:
        raise Unreadable("a row whose description is longer than it")
    body, values = header, list[Value]()
    while at < header:
        kind, at = _varint(payload, at)
        size = (kind - 12) // 2 if kind >= 12 else _FIXED_BYTES.get(kind, 0)
        data = payload[body : body + size]
        body += size
        if len(data) < size:
            raise Unreadable("a row shorter than its description")
        values.append(_value(kind, data))
    if not values or body != len(payload):
        raise Unreadable("a row that does not add up")
    return values


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind <= 6:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        return float(struct.unpack(">d", data)[0])
    if kind in (8, 9):
        return kind - 8
    if kind < 12:
        raise Unreadable("a value of a kind that does not exist")
    if kind % 2 == 0:
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        return PartialText(data.decode("utf-8", "replace"))


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for place in range(0, len(words), 2):
        one = (one + words[place] + two) & 0xFFFFFFFF
        two = (two + words[place + 1] + one) & 0xFFFFFFFF
    return one, two
