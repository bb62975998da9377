"""Vectors in a process that stays: MCP, web, watch.

Such a process keeps the 1-bit blocks in memory and, once there are enough
vectors to be worth it, an index of faiss over them. That is a graph in which a
search visits some hundred vectors instead of all (HNSW). Over many vectors it
takes minutes to make, and where all are equally far from each other it leads
nowhere; then it is a scan over codes of four bits for four dimensions (PQ),
the nearest of which are compared again.
The index is made or brought up to date by a thread of its own; meanwhile, and
without faiss, the blocks answer. Turns that are newer than the index are looked
at one by one.

The index is also kept in a file beside the store, so that the next process
need not make it again. The file is a cache: it is believed only if it carries
the store's own stamp and its checksum, and it is deleted when something is
forgotten, because it is made of it. Scores never come from here: whoever asks
gets turns to look at, and takes their cosines from the store.
"""

from __future__ import annotations

import logging
import os
import struct
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect import platforms
from recollect.errors import RecollectError
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.nearest import scan
from recollect.store.sqlite.vectors import State, find_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recollect.store.sqlite.nearest import Block

log = logging.getLogger(__name__)

# Below this, comparing all 1-bit codes takes no longer than an index does.
SMALLEST_INDEX = 10_000
# So many turns that the index does not know are looked at besides; beyond, it is brought up to date.
MOST_NEWER = 256
# An index does not let go of what was replaced; with more than this share of it, it is made anew.
MOST_REPLACED = 0.3

# A graph: links of a vector, and how far its making looks around for them.
# Measured on 45,000 pieces of code and documentation: with 16 links a search has
# to look farther for the same recall and takes as long; 32 gain nothing.
LARGEST_GRAPH = 200_000
LINKS, BUILD_EFFORT = 24, 200
# The graph compares whole bytes, the fastest way it has. The numbers of a unit
# vector lie around 1 / sqrt(dimensions); this many steps for that leave room up to seven times as much.
STEPS = 18.75

# How much a search has to look at depends on the vectors: chats lie apart, pieces
# of code lie close together. A new index is asked for the neighbours of points
# halfway between its own vectors, which are harder to find than those of a
# question, as its own vectors are easier; the least effort that finds this share
# of them is kept. For real questions that came to 0.98.
# A graph that needs more than these is slower than a scan.
GRAPH_EFFORTS = (16, 24, 32, 48, 64, 96)
SCAN_EFFORTS = (10, 20, 40, 80)
RECALL = 0.935
ASKED_POINTS = 200

TRAINING_ROWS = 20_000
CHUNK_ROWS = 8_192

_HEAD = struct.Struct("<8sqqqQ")
_MAGIC = b"RCINDEX1"


class Index:
    """An index of faiss with the turns its vectors belong to; not changed once it is in use."""

    def __init__(self, index: Any, turns: NDArray[np.int64], state: State) -> None:
        self.index, self.turns, self.state = index, turns, state

    def nearest(self, vector: Sequence[float], wanted: int) -> list[int]:
        """Turns with a vector among the `wanted` nearest, as far as the index can tell."""
        # Of the calling thread: starting more would take longer than the search.
        _faiss().omp_set_num_threads(1)
        asked = np.asarray(vector, np.float32).reshape(1, -1)
        asked = _prepared(self.index, asked / np.linalg.norm(asked))
        _, found = self.index.search(asked, min(wanted, self.index.ntotal))
        return list(dict.fromkeys(self.turns[found[0][found[0] >= 0]].tolist()))

    def extended(self, db: Database, state: State, stop: threading.Event) -> Index | None:
        """This index with what is newer in the store; None when making it anew is better, or it was told to stop."""
        newer = "from vectors where version > ?"
        sizes = "select coalesce(sum(length(codes)), 0) "
        added = db.value(sizes + newer, (self.state.version,)) // state.dimensions
        rows = db.value(sizes + "from vectors") // state.dimensions
        if self.index.ntotal + added > (1 + MOST_REPLACED) * rows:
            return None
        found = db.execute(f"select turn, codes {newer}", (self.state.version,))
        return _filled(_faiss().clone_index(self.index), self.turns, found, state, stop)

    def save(self, path: str) -> None:
        """Write the index to its file, all or nothing."""
        import xxhash

        payload = self._name() + self.turns.tobytes() + _faiss().serialize_index(self.index).tobytes()
        head = _HEAD.pack(_MAGIC, self.state.generation, self.state.version, len(self.turns), xxhash.xxh3_64_intdigest(payload))
        partial = path + ".partial"
        platforms.private_file(partial)
        with open(partial, "wb") as file:
            file.write(head + payload)
        os.replace(partial, path)

    def _name(self) -> bytes:
        name = self.state.encoder.encode()
        return len(name).to_bytes(4, "little") + name


def load_index(path: str, state: State) -> Index | None:
    """The index in a file, if it is sound and of this very store."""
    import xxhash

    try:
        with open(path, "rb") as file:
            data = memoryview(file.read())
    except OSError:
        return None
    if len(data) < _HEAD.size + 4:
        return None
    magic, generation, version, count, checksum = _HEAD.unpack_from(data)
    payload = data[_HEAD.size :]
    if magic != _MAGIC or generation != state.generation or version > state.version:
        return None
    if xxhash.xxh3_64_intdigest(payload) != checksum:
        return None
    end = 4 + int.from_bytes(payload[:4], "little")
    if bytes(payload[4:end]) != state.encoder.encode():
        return None
    turns = np.frombuffer(payload[end : end + 8 * count], np.int64)
    index = _faiss().deserialize_index(np.frombuffer(payload[end + 8 * count :], np.uint8))
    return Index(index, turns, State(state.encoder, state.dimensions, generation, version))


def build_index(db: Database, state: State, stop: threading.Event) -> Index | None:
    """An index over all vectors; None when it was told to stop."""
    rows = db.value("select sum(length(codes)) from vectors") // state.dimensions
    if rows <= LARGEST_GRAPH or state.dimensions % 4:
        made = _made(_new_graph(state.dimensions), db, state, stop)
        if made is None or _tune(made.index) or state.dimensions % 4:
            return made
    made = _made(_new_scan(state.dimensions), db, state, stop)
    if made is not None:
        _tune(made.index)
    return made


def _new_graph(dimensions: int) -> Any:
    faiss = _faiss()
    index = faiss.IndexHNSWSQ(dimensions, faiss.ScalarQuantizer.QT_8bit_direct, LINKS, faiss.METRIC_L2)
    index.hnsw.efConstruction = BUILD_EFFORT
    return index


def _new_scan(dimensions: int) -> Any:
    faiss = _faiss()
    return faiss.index_factory(dimensions, f"PQ{dimensions // 4}x4fs,Refine(SQ8)", faiss.METRIC_INNER_PRODUCT)


def _made(index: Any, db: Database, state: State, stop: threading.Event) -> Index | None:
    """An empty index with every vector of the store in it."""
    every = 1 + db.value("select count(*) from vectors") // TRAINING_ROWS
    sample = db.rows("select codes from vectors where turn % ? = 0", (every,)) or db.rows("select codes from vectors limit 1")
    index.train(_prepared(index, _unit_vectors([codes for (codes,) in sample], state.dimensions)))
    return _filled(index, np.empty(0, np.int64), db.execute("select turn, codes from vectors order by turn"), state, stop)


def _tune(index: Any) -> bool:
    """Set how much a search looks at; says whether that is enough."""
    faiss = _faiss()
    graph = hasattr(index, "hnsw")
    everything = faiss.downcast_index(index.storage if graph else index.refine_index)
    chosen = np.random.default_rng(0).integers(index.ntotal, size=2 * ASKED_POINTS)
    one, other = np.split(np.stack([everything.reconstruct(int(number)) for number in chosen]) - (128 if graph else 0), 2)
    points = one + other
    asked = _prepared(index, points / np.linalg.norm(points, axis=1, keepdims=True))
    wanted = min(10, index.ntotal)
    _, nearest = everything.search(asked, wanted)
    for effort in GRAPH_EFFORTS if graph else SCAN_EFFORTS:
        if graph:
            index.hnsw.efSearch = effort
        else:
            index.k_factor = effort
        _, found = index.search(asked, wanted)
        shared = sum(len(np.intersect1d(*both)) for both in zip(nearest, found, strict=True))
        if shared >= RECALL * nearest.size:
            return True
    return False


def _filled(
    index: Any, turns: NDArray[np.int64], rows: Iterator[tuple[int, bytes]], state: State, stop: threading.Event
) -> Index | None:
    """An index with more vectors in it, a chunk at a time."""
    _faiss().omp_set_num_threads(1)
    known = [turns]
    for chunk in _chunks(rows):
        if stop.is_set():
            return None
        index.add(_prepared(index, _unit_vectors([codes for _, codes in chunk], state.dimensions)))
        counts = [len(codes) // state.dimensions for _, codes in chunk]
        known.append(np.repeat(np.array([turn for turn, _ in chunk], np.int64), counts))
    return Index(index, np.concatenate(known), state)


def _chunks(rows: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    from itertools import islice

    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield chunk


def _unit_vectors(codes: list[bytes], dimensions: int) -> NDArray[np.float32]:
    numbers = np.frombuffer(b"".join(codes), np.int8).reshape(-1, dimensions).astype(np.float32)
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return numbers


def _prepared(index: Any, units: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors as an index wants them: a graph holds bytes."""
    if not hasattr(index, "hnsw"):
        return units
    steps: NDArray[np.float32] = np.rint(units * np.float32(STEPS * index.d**0.5)) + np.float32(128)
    return steps.clip(0, 255)


def _faiss() -> Any:
    import faiss

    return faiss


class Resident:
    """What a process that stays keeps of a store's vectors."""

    def __init__(self, path: str, *, smallest_index: int = SMALLEST_INDEX) -> None:
        self.path, self.file, self.smallest_index = path, f"{path}-vectors", smallest_index
        self.index: Index | None = None
        self._blocks: list[Block] = []
        self._blocks_of: tuple[int, int] | None = None
        self._tried: tuple[int, int] | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def close(self) -> None:
        """End the thread, if there is one; may be called twice."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Until the index is as good as it gets for now."""
        if self._thread is not None:
            self._thread.join()

    def blocks(self, db: Database, state: State) -> list[Block]:
        """Every 1-bit code, as the store has them now."""
        if self._blocks_of != (state.generation, state.version):
            self._blocks = db.rows("select number, turns, codes from vector_blocks order by number")
            self._blocks_of = (state.generation, state.version)
        return self._blocks

    def nearest(self, db: Database, state: State, vector: Sequence[float], code: bytes, wanted: int, scanned: int) -> list[int]:
        """Turns worth a closer look: `wanted` from the index, or `scanned` from the blocks while there is none."""
        index = self.index
        if index is not None and index.state.generation == state.generation:
            newer: list[int] = []
            if index.state.version != state.version:
                sql = "select turn from vectors where version > ? limit ?"
                newer = [turn for (turn,) in db.rows(sql, (index.state.version, MOST_NEWER + 1))]
            if len(newer) <= MOST_NEWER:
                return list(dict.fromkeys(index.nearest(vector, wanted) + newer))
        blocks = self.blocks(db, state)
        if self.path != ":memory:" and sum(len(turns) for _, turns, _ in blocks) // 2 >= self.smallest_index:
            self._refresh(state)
        return scan(blocks, code, scanned)

    def _refresh(self, state: State) -> None:
        """Have the index made in the background, once for each state of the store."""
        stamp = (state.generation, state.version)
        if self._tried != stamp and (self._thread is None or not self._thread.is_alive()) and not self._stop.is_set():
            self._tried = stamp
            self._thread = threading.Thread(target=self._make, name="vectors", daemon=True)
            self._thread.start()

    def _make(self) -> None:
        try:
            db = Database(self.path, create=False)
            try:
                self._make_from(db)
            finally:
                db.close()
        except ImportError:
            log.info("faiss is not installed; vectors are searched without it")
        except (RecollectError, RuntimeError, OSError) as error:
            log.warning("the index of vectors could not be made", extra={"fault": str(error)})

    def _make_from(self, db: Database) -> None:
        # One snapshot, however long it takes.
        db.execute("begin")
        state = find_state(db)
        if state is None:
            return
        known = self.index or load_index(self.file, state)
        if known is not None and known.state.generation == state.generation:
            made = known if known.state.version == state.version else known.extended(db, state, self._stop)
        else:
            made = None
        made = made or build_index(db, state, self._stop)
        db.execute("commit")
        if made is None:
            return
        self.index = made
        if made is not known or not os.path.exists(self.file):
            made.save(self.file)
            # Something may have been forgotten while we wrote.
            now = find_state(db)
            if now is None or now.generation != state.generation:
                os.unlink(self.file)
