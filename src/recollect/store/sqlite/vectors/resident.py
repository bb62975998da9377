"""Vectors in a process that stays: MCP, web, watch.

Such a process keeps the 1-bit blocks in memory and, once there are enough
vectors to be worth it, an index over them: codes of four bits for four
dimensions (PQ), all of which faiss scans far faster than it could multiply the
vectors, and the int8 codes, which then tell the nearest of those apart. A graph
(HNSW) took longer and found less, took twenty times as long to make, and led
nowhere where all vectors are equally far from each other.
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

from recollect.errors import RecollectError
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.vectors.scan import scan
from recollect.store.sqlite.vectors.stored import Vectors, VectorState
from recollect.system import platforms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recollect.store.sqlite.vectors.scan import Block

log = logging.getLogger(__name__)

# Below this, comparing all 1-bit codes takes no longer than an index does.
SMALLEST_INDEX = 10_000
# So many turns that the index does not know are looked at besides;
# beyond, it is brought up to date.
MOST_NEWER = 256
# An index does not let go of what was replaced; with more than this share of it, it is made anew.
MOST_REPLACED = 0.3

# So many dimensions share a code of four bits, the only width that is scanned fast.
# Eight scan faster, but then so many have to be looked at closely that it takes longer.
DIMENSIONS_IN_CODE = 4
# So many vectors are scanned side by side: a seventh faster than the 32 that faiss
# takes of itself, and more gain nothing.
VECTORS_IN_BLOCK = 128
# So many of the nearest codes are looked at closely for ten vectors, and so many for each
# one more. Chosen with the default encoder on 45,000 pieces each of Python's library, of
# Rust and TypeScript and of installed packages: that found 0.98 to 0.99 of the ten nearest
# to questions that had no part in choosing.
LOOKED_AT, LOOKED_AT_FOR_MORE = 150, 5
# Among more vectors than this more look as near, and the number grows with the root of
# theirs. That is a compromise: among 86,000 of random words, the hardest there are, ten
# found 0.97, and thirty 0.98 of the ten nearest.
LOOKED_AT_AMONG = 45_000

TRAINING_ROWS = 20_000
CHUNK_ROWS = 8_192

_HEAD = struct.Struct("<8sqqqQ")
_MAGIC = b"RCINDEX2"


class Index:
    """The codes of vectors with the turns they belong to; not changed once it is in use.

    The sieve is an index of faiss over the short codes.
    """

    def __init__(
        self, sieve: Any, codes: NDArray[np.int8], turns: NDArray[np.int64], state: VectorState
    ) -> None:
        self.sieve, self.codes, self.turns, self.state = sieve, codes, turns, state
        self._lengths = np.sqrt(np.einsum("ij,ij->i", codes, codes, dtype=np.float32))
        self._looked_at = LOOKED_AT * max(1.0, len(turns) / LOOKED_AT_AMONG) ** 0.5

    def nearest(self, vector: Sequence[float], wanted: int) -> list[int]:
        """Turns with a vector among the `wanted` nearest, as far as the index can tell."""
        faiss = _faiss()
        # Of the calling thread: starting more would take longer than the search.
        faiss.omp_set_num_threads(1)
        count = min(
            int(self._looked_at) + LOOKED_AT_FOR_MORE * max(0, wanted - 10), len(self.turns)
        )
        asked = np.asarray(vector, np.float32)
        padded, told, found = _padded(asked), np.empty(count, np.float32), np.empty(count, np.int64)
        # What faiss offers for arrays takes longer to look at them than this.
        self.sieve.search_c(
            1, faiss.swig_ptr(padded), count, faiss.swig_ptr(told), faiss.swig_ptr(found)
        )
        if wanted < count:
            near = self.codes.take(found, 0).astype(np.float32) @ asked / self._lengths.take(found)
            found = found[near.argpartition(count - wanted)[count - wanted :]]
        return list(dict.fromkeys(self.turns.take(found).tolist()))

    def extended(self, db: Database, state: VectorState, stop: threading.Event) -> Index | None:
        """This index with what is newer in the store.

        None when making it anew is better, or it was told to stop.
        """
        newer = "from vectors where version > ?"
        sizes = "select coalesce(sum(length(codes)), 0) "
        added = db.value(sizes + newer, (self.state.version,)) // state.dimensions
        rows = db.value(sizes + "from vectors") // state.dimensions
        if len(self.turns) + added > (1 + MOST_REPLACED) * rows:
            return None
        found = db.each(f"select turn, codes {newer}", (self.state.version,))
        return _filled(_faiss().clone_index(self.sieve), self.codes, self.turns, found, state, stop)

    def save(self, path: str) -> None:
        """Write the index to its file, all or nothing."""
        import xxhash

        parts = (self.turns, self.codes, _faiss().serialize_index(self.sieve))
        payload = self._name() + b"".join(part.tobytes() for part in parts)
        head = _HEAD.pack(
            _MAGIC,
            self.state.generation,
            self.state.version,
            len(self.turns),
            xxhash.xxh3_64_intdigest(payload),
        )
        with platforms.PartialFile(path) as partial, open(partial, "wb") as file:
            file.write(head + payload)

    def _name(self) -> bytes:
        name = self.state.encoder.encode()
        return len(name).to_bytes(4, "little") + name


def load_index(path: str, state: VectorState) -> Index | None:
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
    middle = end + 8 * count
    last = middle + state.dimensions * count
    turns = np.frombuffer(payload[end:middle], np.int64)
    codes = np.frombuffer(payload[middle:last], np.int8).reshape(count, state.dimensions)
    sieve = _faiss().deserialize_index(np.frombuffer(payload[last:], np.uint8))
    return Index(
        sieve, codes, turns, VectorState(state.encoder, state.dimensions, generation, version)
    )


def build_index(db: Database, state: VectorState, stop: threading.Event) -> Index | None:
    """An index over all vectors; None when it was told to stop."""
    faiss = _faiss()
    faiss.omp_set_num_threads(1)
    every = 1 + db.value("select count(*) from vectors") // TRAINING_ROWS
    sample = db.rows("select codes from vectors where turn % ? = 0", (every,)) or db.rows(
        "select codes from vectors limit 1"
    )
    units = _units(_matrix([codes for (codes,) in sample], state.dimensions))
    width = units.shape[1]
    sieve = faiss.IndexPQFastScan(
        width, width // DIMENSIONS_IN_CODE, 4, faiss.METRIC_INNER_PRODUCT, VECTORS_IN_BLOCK
    )
    sieve.train(units)
    nothing = np.empty((0, state.dimensions), np.int8), np.empty(0, np.int64)
    return _filled(
        sieve, *nothing, db.execute("select turn, codes from vectors order by turn"), state, stop
    )


def _filled(
    sieve: Any,
    codes: NDArray[np.int8],
    turns: NDArray[np.int64],
    rows: Iterator[tuple[int, bytes]],
    state: VectorState,
    stop: threading.Event,
) -> Index | None:
    """An index with more vectors in it, a chunk at a time."""
    _faiss().omp_set_num_threads(1)
    all_codes, all_turns = [codes], [turns]
    for chunk in _chunks(rows):
        if stop.is_set():
            return None
        matrix = _matrix([codes for _, codes in chunk], state.dimensions)
        sieve.add(_units(matrix))
        all_codes.append(matrix)
        counts = [len(codes) // state.dimensions for _, codes in chunk]
        all_turns.append(np.repeat(np.array([turn for turn, _ in chunk], np.int64), counts))
    return Index(sieve, np.concatenate(all_codes), np.concatenate(all_turns), state)


def _chunks(rows: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    from itertools import islice

    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield chunk


def _matrix(codes: list[bytes], dimensions: int) -> NDArray[np.int8]:
    return np.frombuffer(b"".join(codes), np.int8).reshape(-1, dimensions)


def _units(matrix: NDArray[np.int8]) -> NDArray[np.float32]:
    """Vectors of length one, as the sieve wants them."""
    numbers = matrix.astype(np.float32)
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return _padded(numbers)


def _padded(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """With zeros up to where the last code is full."""
    missing = -numbers.shape[-1] % DIMENSIONS_IN_CODE
    return np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, missing)]) if missing else numbers


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

    def blocks(self, db: Database, state: VectorState) -> list[Block]:
        """Every 1-bit code, as the store has them now."""
        if self._blocks_of != (state.generation, state.version):
            self._blocks = db.rows("select number, turns, codes from vector_blocks order by number")
            self._blocks_of = (state.generation, state.version)
        return self._blocks

    def nearest(
        self,
        db: Database,
        state: VectorState,
        vector: Sequence[float],
        code: bytes,
        wanted: int,
        scanned: int,
    ) -> list[int]:
        """Turns worth a closer look: `wanted` from the index, or `scanned`
        from the blocks while there is none.
        """
        index = self.index
        if index is not None and index.state.generation == state.generation:
            newer: list[int] = []
            if index.state.version != state.version:
                sql = "select turn from vectors where version > ? limit ?"
                newer = [turn for (turn,) in db.rows(sql, (index.state.version, MOST_NEWER + 1))]
            if len(newer) <= MOST_NEWER:
                return list(dict.fromkeys(index.nearest(vector, wanted) + newer))
        blocks = self.blocks(db, state)
        if (
            self.path != ":memory:"
            and sum(len(turns) for _, turns, _ in blocks) // 2 >= self.smallest_index
        ):
            self._refresh(state)
        return scan(blocks, code, scanned)

    def _refresh(self, state: VectorState) -> None:
        """Have the index made in the background, once for each state of the store."""
        stamp = (state.generation, state.version)
        if (
            self._tried != stamp
            and (self._thread is None or not self._thread.is_alive())
            and not self._stop.is_set()
        ):
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
            log.warning("the vector index could not be built", extra={"fault": str(error)})

    def _make_from(self, db: Database) -> None:
        # One snapshot, however long it takes.
        db.execute("begin")
        state = Vectors(db).state()
        if state is None:
            return
        known = self.index or load_index(self.file, state)
        if known is not None and known.state.generation == state.generation:
            made = (
                known
                if known.state.version == state.version
                else known.extended(db, state, self._stop)
            )
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
            now = Vectors(db).state()
            if now is None or now.generation != state.generation:
                os.unlink(self.file)
