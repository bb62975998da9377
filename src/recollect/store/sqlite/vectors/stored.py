"""The vectors of turns: which encoder made them, which are still to
be made, writing and removing them.

There is one encoder at a time. When another one takes over, the vectors of the
former go in the transaction that records its name, and every turn is queued:
vectors of two encoders never meet. Whatever changes vectors changes their
blocks in the same transaction.

`generation` is a random number that is another one whenever vectors were taken
away, `version` counts what was added: a process that keeps vectors in memory
asks for both and knows what to do.

Searching reads the state from here: nothing heavy is imported.
"""

from __future__ import annotations

import os
from array import array
from math import hypot, isfinite

from recollect.errors import StoreError
from recollect.store.codes import bit_code, bit_width, numbers_in, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from recollect.model.calls import Call, PlainEvent
    from recollect.store.bodies import Row
    from recollect.store.sqlite.database import Database

TURNS_IN_BLOCK = 512
_STATE = ("vectors_encoder", "vectors_dimensions", "vectors_generation", "vectors_version")


class VectorState:
    """Which encoder made the vectors, and how often they changed."""

    __slots__ = ("dimensions", "encoder", "generation", "version")

    def __init__(self, encoder: str, dimensions: int, generation: int, version: int) -> None:
        self.encoder, self.dimensions = encoder, dimensions
        self.generation, self.version = generation, version


# What they have in common

# The mean of so many vectors is the mean of all, near enough, until
# there are so many times as many.
_MEAN_OF = 5_000
_MEAN_GROWTH = 1.2
_SAMPLE_OF = 200


# What is to do


class QueuedTurn:
    """A turn that waits for its vectors: its mark in the queue, and what happened in it."""

    __slots__ = ("events", "mark", "turn")

    def __init__(self, turn: int, mark: int, events: list[Call | PlainEvent]) -> None:
        self.turn, self.mark, self.events = turn, mark, events


class TurnVectors:
    """What was made of such a turn: the int8 codes of its pieces, and the words in them."""

    __slots__ = ("codes", "mark", "turn", "words")

    def __init__(self, turn: int, mark: int, codes: list[bytes], words: bytes) -> None:
        self.turn, self.mark, self.codes, self.words = turn, mark, codes, words


def _readable(parts: list[bytes]) -> list[Row]:
    """The events of a turn.

    Parts that are damaged are left out, and `doctor --verify` names them.
    """
    from recollect.store import bodies

    try:
        return bodies.joined(parts)
    except bodies.Damaged:
        return bodies.joined([part for part in parts if bodies.find_rows(part) is not None])


# Writing


def _new_generation() -> int:
    return int.from_bytes(os.urandom(7), "big")


def _entries(turns: bytes, codes: bytes, width: int) -> dict[int, bytes]:
    """The codes of a block by the place of their turn in it; none when it is damaged."""
    entries: dict[int, bytes] = {}
    if not is_sound(turns, codes, width):
        return entries
    for at, place in enumerate(places(turns)):
        entries[place] = entries.get(place, b"") + codes[at * width : (at + 1) * width]
    return entries


def block(entries: dict[int, bytes], width: int) -> tuple[bytes, bytes]:
    """The two columns of a block, from the codes by the place of their turn in it."""
    ordered = sorted(entries)
    turns = stored("H", [place for place in ordered for _ in range(len(entries[place]) // width)])
    return turns, b"".join(entries[place] for place in ordered)


def places(turns: bytes) -> array[int]:
    """Which turns of its block the codes belong to, counted from the first."""
    return numbers_in("H", turns)


def is_sound(turns: bytes, codes: bytes, width: int) -> bool:
    """Whether a block has a turn for each of its codes.

    One that has not finds nothing, and `recollect doctor` names it.
    """
    return len(turns) % 2 == 0 and len(turns) // 2 * width == len(codes)


def whole(dimensions: int) -> str:
    """The condition that a row of `vectors` has the shape it was written with.

    Whoever compares vectors asks for it.
    """
    return (
        f"typeof(codes) = 'blob' and length(codes) > 0 and length(codes) % {dimensions:d} = 0"
        " and typeof(words) = 'blob' and length(words) % 2 = 0"
    )


class Vectors:
    """The vectors of turns: what waits for one, what is stored."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def state(self) -> VectorState | None:
        """The state of the vectors.

        None when nothing was ever embedded, or nobody can tell by what.
        """
        found: dict[str, Any] = dict(
            self.db.rows(
                "select name, value from store_info where name between 'vectors_' and 'vectors_~'"
            )
        )
        # A damaged name may stand beside the right ones.
        if not set(_STATE) <= set(found) or not all(
            isinstance(found[name], int) for name in _STATE[1:]
        ):
            return None
        state = VectorState(*(found[name] for name in _STATE))
        return state if state.dimensions > 0 else None

    def encoder(self) -> str | None:
        """The name of the encoder that the stored vectors come from.

        None when nothing is embedded.
        """
        state = self.state()
        return state.encoder if state else None

    def mean(self) -> array[float] | None:
        """The direction that all vectors share, of length one.

        None when it was not worked out yet.
        """
        value = self.db.value("select value from store_info where name = 'mean_vector'")
        found = numbers_in("f", value) if isinstance(value, bytes) and len(value) % 4 == 0 else None
        return found if found and isfinite(sum(found)) else None

    def save_mean(self) -> None:
        """Work out the shared direction from vectors all over the store, unless
        it was and these hardly grew since.
        """
        import numpy as np

        with self.db.transaction():
            state = self.state()
            count = int(self.db.value("select count(*) from vectors"))
            known = self.db.value("select value from store_info where name = 'mean_vector_of'")
            # A mean that moves would move every score a little, and the pages of an answer apart.
            if state is None or (
                self.mean() is not None and known is not None and count < _MEAN_GROWTH * known
            ):
                return
            self._save_sample(count, state.dimensions)
            every = 1 + count // _MEAN_OF
            rows = self.db.rows(
                f"select codes from vectors where turn % ? = 0 and {whole(state.dimensions)}",
                (every,),
            )
            if not rows:
                return
            numbers = (
                np.frombuffer(b"".join(codes for (codes,) in rows), np.int8)
                .reshape(-1, state.dimensions)
                .astype(np.float32)
            )
            numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
            shared = numbers.mean(axis=0)
            length = float(np.linalg.norm(shared))
            if length:
                value = (shared / length).astype("<f4").tobytes()
                self.db.many(
                    "insert or replace into store_info values (?, ?)",
                    [("mean_vector", value), ("mean_vector_of", count)],
                )

    def _save_sample(self, count: int, dimensions: int) -> None:
        """Keep some turns' vectors apart, all over the store: what a query is compared
        with to know what is near.
        """
        every = 1 + count // _SAMPLE_OF
        rows = [
            codes
            for (codes,) in self.db.rows(
                f"select codes from vectors where turn % ? = 0 and {whole(dimensions)}", (every,)
            )
        ]
        counts = bytes(min(255, len(codes) // dimensions) for codes in rows)
        self.db.many(
            "insert or replace into store_info values (?, ?)",
            [("sample_codes", b"".join(rows)), ("sample_counts", counts)],
        )

    def sample(self) -> tuple[bytes, bytes]:
        """The int8 codes of some turns' pieces, and how many pieces each of the turns has."""
        found: dict[str, Any] = dict(
            self.db.rows("select name, value from store_info where name glob 'sample_*'")
        )
        codes, counts = found.get("sample_codes"), found.get("sample_counts")
        return (
            (codes, counts)
            if isinstance(codes, bytes) and isinstance(counts, bytes)
            else (b"", b"")
        )

    def count(self) -> int:
        """How many turns are embedded."""
        return int(self.db.value("select count(*) from vectors"))

    def waiting(self) -> int:
        """How many turns have no vectors yet, or older ones than their body."""
        return int(self.db.value("select count(*) from unembedded"))

    def is_waiting(self) -> bool:
        """Whether any turn has no vector yet."""
        return self.db.value("select 1 from unembedded limit 1") is not None

    def use_encoder(self, encoder: str, dimensions: int, *, again: bool = False) -> None:
        """Make sure that all vectors are this encoder's; with `again` they are all made anew."""
        with self.db.transaction():
            known = self.state()
            ours = known is not None and (known.encoder, known.dimensions) == (encoder, dimensions)
            if again or not ours:
                self.drop()
                values = (encoder, dimensions, _new_generation(), 0)
                rows = zip(_STATE, values, strict=True)
                self.db.many("insert into store_info values (?, ?)", rows)

    def drop(self) -> None:
        """As if nothing had ever been embedded, in the caller's
        transaction: every turn is queued.
        """
        for table in ("vectors", "vector_blocks", "unembedded"):
            self.db.execute(f"delete from {table}")
        self.db.many(
            "delete from store_info where name = ?",
            [
                (name,)
                for name in (
                    *_STATE,
                    "mean_vector",
                    "mean_vector_of",
                    "sample_codes",
                    "sample_counts",
                )
            ],
        )
        self.db.execute(
            "insert into unembedded select turn, random() from (select distinct turn from bodies)"
        )

    def next_waiting(self, limit: int) -> list[QueuedTurn]:
        """Turns that wait, newest first."""
        from recollect.store.events import events_in

        waiting: dict[tuple[int, int], list[bytes]] = {}
        for turn, mark, events in self.db.rows(
            """
            select queue.turn, queue.mark, bodies.events
              from (select turn, mark from unembedded order by turn desc limit ?) queue
              left join bodies on bodies.turn = queue.turn
             order by queue.turn desc, bodies.part
            """,
            (limit,),
        ):
            waiting.setdefault((turn, mark), []).extend([] if events is None else [events])
        return [
            QueuedTurn(turn, mark, events_in(turn, _readable(parts)))
            for (turn, mark), parts in waiting.items()
        ]

    def save(self, encoder: str, encoded: list[TurnVectors]) -> int:
        """Keep what was made of some turns, and say of how many.

        A turn that was queued again meanwhile is left to the next round, and one
        that is gone stays gone.
        """
        with self.db.transaction():
            state = self.state()
            if state is None or state.encoder != encoder:
                raise StoreError(
                    f"The vectors of {self.db.path} now belong to "
                    f"{state.encoder if state else 'no encoder'}, not to {encoder}.",
                    hint="Another recollect embeds with other settings. Choose one encoder "
                    "and run `recollect jobs run embed`.",
                )
            current = []
            for one in encoded:
                self.db.execute(
                    "delete from unembedded where turn = ? and mark = ?", (one.turn, one.mark)
                )
                if self.db.connection.changes() and self.db.value(
                    "select 1 from turns where id = ?", (one.turn,)
                ):
                    current.append(one)
            version = state.version + 1
            self.db.many(
                "delete from vectors where turn = ?",
                [(one.turn,) for one in current if not one.codes],
            )
            self.db.many(
                "insert or replace into vectors values (?, ?, ?, ?)",
                [
                    (one.turn, version, b"".join(one.codes), one.words)
                    for one in current
                    if one.codes
                ],
            )
            self._write_blocks(
                {one.turn: b"".join(map(bit_code, one.codes)) for one in current},
                state.dimensions,
            )
            self.db.execute(
                "update store_info set value = ? where name = 'vectors_version'", (version,)
            )
        return len(current)

    def of_turn(self, session: str, ordinal: int) -> list[array[float]]:
        """The vectors of a turn, one for each piece, brought back to the length of 1."""
        state = self.state()
        codes = self.db.value(
            """
            select codes from vectors
              join turns on turns.id = vectors.turn
              join sessions on sessions.id = turns.session
             where sessions.ref = ? and turns.ordinal = ?
            """,
            (session, ordinal),
        )
        if state is None or not isinstance(codes, bytes) or len(codes) % state.dimensions:
            return []
        numbers, wide = array("b", codes), state.dimensions
        pieces = [numbers[at : at + wide] for at in range(0, len(numbers), wide)]
        return [array("f", [one / (hypot(*piece) or 1.0) for one in piece]) for piece in pieces]

    def remove(self, turns: Iterable[int]) -> None:
        """Take away the vectors of turns, in the caller's transaction,
        because their text has to go.
        """
        state, gone = self.state(), list(turns)
        self.db.many("delete from unembedded where turn = ?", [(turn,) for turn in gone])
        if state is not None:
            self.db.many("delete from vectors where turn = ?", [(turn,) for turn in gone])
            self._write_blocks(dict.fromkeys(gone, b""), state.dimensions)
            # It is made of them too; `save_mean` works it out again from what is left.
            self.db.execute(
                "delete from store_info where name = 'mean_vector' or name glob 'sample_*'"
            )
            self.db.execute(
                "update store_info set value = ? where name = 'vectors_generation'",
                (_new_generation(),),
            )

    def _write_blocks(self, changed: dict[int, bytes], dimensions: int) -> None:
        """Put the 1-bit codes of some turns in the place of those they had.

        None takes a turn out.
        """
        blocks: dict[int, dict[int, bytes]] = {}
        for turn, codes in changed.items():
            blocks.setdefault(turn // TURNS_IN_BLOCK, {})[turn % TURNS_IN_BLOCK] = codes
        width = bit_width(dimensions)
        for number, codes_of in blocks.items():
            row = self.db.row("select turns, codes from vector_blocks where number = ?", (number,))
            entries = _entries(row[0], row[1], width) if row else {}
            entries.update(codes_of)
            self.db.execute(
                "insert or replace into vector_blocks values (?, ?, ?)",
                (number, *block(entries, width)),
            )

    def torn(self) -> list[int]:
        """The turns whose row is not whole: a search passes them over."""
        state = self.state()
        sound = whole(state.dimensions) if state else "0"
        sql = f"select turn from vectors where not ({sound}) order by turn"
        return [turn for (turn,) in self.db.rows(sql)]

    def disagreeing(self) -> list[int]:
        """The numbers of the blocks that do not say what the vectors in them say."""
        state = self.state()
        width, size = (bit_width(state.dimensions), state.dimensions) if state else (1, 1)
        made: dict[int, dict[int, bytes]] = {}
        for turn, codes in self.db.rows(f"select turn, codes from vectors where {whole(size)}"):
            bits = b"".join(bit_code(codes[at : at + size]) for at in range(0, len(codes), size))
            made.setdefault(turn // TURNS_IN_BLOCK, {})[turn % TURNS_IN_BLOCK] = bits
        expected = {number: block(entries, width) for number, entries in made.items()}
        # A block whose turns are all gone stays, and is empty.
        blocks = self.db.rows("select number, turns, codes from vector_blocks")
        found = {number: (turns, codes) for number, turns, codes in blocks if turns}
        return sorted(
            number
            for number in expected.keys() | found.keys()
            if expected.get(number) != found.get(number)
        )
