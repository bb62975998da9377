"""A question as a vector, compared with what is stored.

On the path of a cold search: nothing heavy is imported.
"""

from __future__ import annotations

from array import array
from operator import mul

from recollect.errors import EncoderUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from recollect.embed import Encoder
    from recollect.store import Store


class RedactingEncoder:
    """An encoder that lives on another machine: what is sent there is redacted first.

    What comes from the store already was; a question is what somebody just typed.
    """

    def __init__(self, encoder: Encoder, redact: Callable[[str], str]) -> None:
        self._encoder, self._redact = encoder, redact
        self.name, self.dimensions = encoder.name, encoder.dimensions

    def encode_query(self, text: str) -> array[float]:
        """The vector of a question without its secrets."""
        return self._encoder.encode_query(self._redact(text))

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text of the store."""
        return self._encoder.encode_documents(texts)


NOTHING_STORED = "Nothing is imported yet. Try: recollect import"


class Meaning:
    """The vector of a text, or the reason why there is none.

    `unembedded` turns cannot be compared with it.
    """

    __slots__ = ("unembedded", "vector", "why_not")

    def __init__(self, store: Store, encoder: Callable[[], Encoder], text: str) -> None:
        self.vector: array[float] | None = None
        self.why_not = ""
        self.unembedded = store.vectors.waiting()
        made_by = store.vectors.encoder()
        if made_by is None and not self.unembedded:
            self.why_not = NOTHING_STORED
            return
        if made_by is None:
            self.why_not = (
                "No turn is embedded yet. It happens in the background after an import; to "
                "do it now: recollect jobs run embed"
            )
            return
        try:
            chosen = encoder()
            if chosen.name == made_by:
                self.vector = without_mean(chosen.encode_query(text), store.vectors.mean())
            else:
                self.why_not = (
                    f"The stored vectors are from {made_by}, not {chosen.name}. To make them "
                    "again: recollect jobs run embed"
                )
        except EncoderUnavailable as error:
            self.why_not = f"{error} {error.hint}"

    @classmethod
    def none(cls) -> Meaning:
        """Nobody asked for it."""
        made = cls.__new__(cls)
        made.vector, made.why_not, made.unembedded = None, "", 0
        return made


def without_mean(vector: array[float], mean: array[float] | None) -> array[float] | None:
    """What sets a vector apart from all that is stored; None when that is nothing.

    All turns of a store have something in common, such as two people's names
    or one framework, and a query that mentions it would be near to all of
    them. Without that part R@10 on conversations is 0.01 higher.
    """
    if mean is not None and len(mean) == len(vector):
        shared = sum(map(mul, vector, mean))
        vector = array(
            "f", [number - shared * common for number, common in zip(vector, mean, strict=True)]
        )
    return vector if any(vector) else None
