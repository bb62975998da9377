"""The turns nearest to a vector.

The 1-bit codes of all turns say which may be near; the int8 codes of those
say how near they are. Filters come first: what does not pass is never scored,
and when little passes all of it is scored exactly.

On the path of a cold search: neither numpy nor anything else heavy is imported.
"""

from __future__ import annotations

from itertools import islice

from recollect.errors import UsageError
from recollect.store.codes import cosines, int8_code
from recollect.store.sqlite.search.chosen import turns_in
from recollect.store.sqlite.vectors.scan import scan
from recollect.store.sqlite.vectors.stored import Vectors, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recollect.model.search import Scope
    from recollect.store.sqlite.database import Database
    from recollect.store.sqlite.search.filters import Condition
    from recollect.store.sqlite.vectors.resident import Resident
    from recollect.store.sqlite.vectors.stored import VectorState

    Block = tuple[int, bytes, bytes]

# Up to so many turns are scored without looking at their 1-bit codes first.
FEW_TURNS = 2_000
# So many of the nearest 1-bit codes are looked at closely.
CANDIDATES = 500
# SQLite takes longer to understand a longer list than to answer a second one.
IDS_IN_LIST = 500
# How near turns are on average and how much that varies, for a store that has too few to tell.
LEAST_SAMPLE, USUAL, LEAST_DEVIATION = 20, (0.1, 0.1), 0.02


class Snapshot:
    """Everything read inside belongs together, whatever others write meanwhile."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def __enter__(self) -> None:
        self.db.execute("savepoint looking")

    def __exit__(self, *_: object) -> None:
        self.db.execute("release looking")


def _checked(state: VectorState | None, vector: Sequence[float]) -> bytes | None:
    """The int8 code of a vector, or None when there is nothing to compare it with."""
    if state is None:
        return None
    if len(vector) != state.dimensions:
        raise UsageError(
            f"The vector has {len(vector)} numbers; the stored ones have {state.dimensions}.",
            hint=f"Make it with the encoder {state.encoder}, or embed again with yours: "
            "recollect jobs run embed",
        )
    try:
        code = int8_code(vector)
    except ValueError:
        raise UsageError(
            "The vector contains values that are not numbers.",
            hint="The encoder failed. Pass finite values.",
        ) from None
    return code if any(code) else None


class Nearest:
    """The turns nearest to a vector."""

    def __init__(self, db: Database, resident: Resident | None = None) -> None:
        self.db, self.resident = db, resident

    def search(
        self, vector: Sequence[float], scope: Scope, *, limit: int
    ) -> list[tuple[int, float]]:
        """The turns in scope that are nearest to a vector, each with its cosine, nearest first."""
        with Snapshot(self.db):
            state = Vectors(self.db).state()
            code = _checked(state, vector)
            if state is None or code is None or limit < 1:
                return []
            condition = turns_in(scope)
            passing = None if condition[0] == "1" else self._passing(condition)
            wanted = max(CANDIDATES, 4 * limit)
            turns: Iterable[int]
            if passing is not None and len(passing) <= FEW_TURNS:
                turns = passing
            elif self.resident is None:
                turns = scan(
                    self.db.rows("select number, turns, codes from vector_blocks order by number"),
                    code,
                    wanted,
                    passing,
                )
            elif passing is not None:
                turns = scan(self.resident.blocks(self.db, state), code, wanted, passing)
            else:
                # A turn may be found by several of its pieces.
                turns = self.resident.nearest(self.db, state, vector, code, 2 * limit + 10, wanted)
            scored = [(turn, cosine) for turn, (cosine, _) in self._compared(code, turns).items()]
        return sorted(scored, key=lambda item: (-item[1], item[0]))[:limit]

    def background(self, vector: Sequence[float]) -> tuple[float, float]:
        """How near the turns of this store are to a vector, whatever they say:
        the mean and the standard deviation of the cosines of some of them.
        """
        vectors = Vectors(self.db)
        code = _checked(vectors.state(), vector)
        codes, counts = vectors.sample()
        if code is None or sum(counts) * len(code) != len(codes) or len(counts) < LEAST_SAMPLE:
            return USUAL
        told = iter(cosines(code, codes))
        best = [max(islice(told, count)) for count in counts]
        mean = sum(best) / len(best)
        spread = sum((one - mean) ** 2 for one in best) / len(best)
        return mean, max(LEAST_DEVIATION, spread**0.5)

    def compare(
        self, vector: Sequence[float], turns: Iterable[int]
    ) -> dict[int, tuple[float, bytes]]:
        """The cosine of each of these turns that has vectors, and its words as
        rows of the static model's table.
        """
        with Snapshot(self.db):
            code = _checked(Vectors(self.db).state(), vector)
            return {} if code is None else self._compared(code, turns)

    def _passing(self, scope: Condition) -> list[int]:
        clause, values = scope
        sql = f"""
            select turns.id from turns join sessions on sessions.id = turns.session where {clause}
        """
        return [turn for (turn,) in self.db.rows(sql, values)]

    def _compared(self, code: bytes, turns: Iterable[int]) -> dict[int, tuple[float, bytes]]:
        """The best cosine of each turn's pieces, and the turn's words."""
        found: list[tuple[int, bytes, bytes]] = []
        rest, sound = iter(turns), whole(len(code))
        while some := list(islice(rest, IDS_IN_LIST)):
            numbers = ", ".join(map(str, some))
            found += self.db.rows(
                f"select turn, codes, words from vectors where turn in ({numbers}) and {sound}"
            )
        told = iter(cosines(code, b"".join(codes for _, codes, _ in found)))
        width = len(code)
        return {
            turn: (max(islice(told, len(codes) // width)), words) for turn, codes, words in found
        }
