"""What the encoders with a model of their own have in common.

A text gets its prefix, goes to the model in a batch, and its vector is cut to
the wanted length and made a unit. Only the middle of that differs: an encoder
here says how a batch of texts becomes rows of numbers, and nothing else.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from array import array
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from recollect.embed.known import find_known, reading
from recollect.errors import EncoderUnavailable, SettingsError
from recollect.settings import KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recollect.embed.known import Known, Reading
    from recollect.settings import Settings

# A model puts marks of its own around a text, and some words must fit between them.
LEAST_CONTEXT = 8
_MEGABYTE = 1 << 20


class BatchedEncoder(ABC):
    """An encoder whose model reads several texts at once.

    See `recollect.embed.Encoder` for what it promises.
    """

    name: str
    dimensions: int

    def __init__(self, settings: Settings, model: str) -> None:
        self._known: Known = find_known(model)
        self._reading: Reading = reading(settings, self._known)
        self._batch = max(settings.number("embed.batch"), 1)
        self._wanted = settings.number("embed.dimensions")
        if self._wanted < 0:
            raise SettingsError(
                "embed.dimensions cannot be negative.", hint="Use 0 to keep vectors whole."
            )

    def encode_query(self, text: str) -> array[float]:
        """The vector of a question; all zeros when nothing is asked."""
        vector = array("f")
        if text.strip():
            vector.frombytes(self._rows([self._reading.query_prefix + text], urgent=True).tobytes())
        else:
            vector.frombytes(bytes(vector.itemsize * self.dimensions))
        return vector

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text, in order; a row of zeros for a text of nothing but white space."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        # Texts of like length go together: a model that reads a batch as
        # one block pads it to the longest.
        worded = sorted(
            (at for at, text in enumerate(texts) if text.strip()), key=lambda at: len(texts[at])
        )
        for start in range(0, len(worded), self._batch):
            part = worded[start : start + self._batch]
            rows[part] = self._rows(
                [self._reading.document_prefix + texts[at] for at in part], urgent=False
            )
        return rows

    def _rows(self, texts: list[str], *, urgent: bool) -> NDArray[np.float32]:
        """Unit rows of the wanted length."""
        # A command line may hold bytes that are no text (lone surrogates), over
        # which tokenizers and JSON stumble.
        whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        cut = self._vectors(whole, urgent=urgent)[:, : self.dimensions]
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        units: NDArray[np.float32] = np.divide(
            cut, lengths, out=np.zeros(cut.shape, np.float32), where=lengths > 0
        )
        return units

    @abstractmethod
    def _vectors(self, texts: list[str], *, urgent: bool) -> NDArray[np.float32]:
        """What the model makes of texts, a row each; `urgent` when a person waits for it."""

    def _wanted_of(self, found: int) -> int:
        """How long vectors shall be, where the model makes `found` numbers."""
        if self._wanted > found:
            raise EncoderUnavailable(
                f"embed.dimensions is {self._wanted}, but the model makes {found} numbers.",
                hint=f"Set embed.dimensions to at most {found}, or to 0 to keep vectors whole.",
            )
        return self._wanted or found

    def _name(self, provider: str, model: str, *, pooling: str = "", context: int = 0) -> str:
        """Provider, model and dimensions, and a hash of how texts are put
        to it unless that is the plain way.
        """
        way = (self._reading.query_prefix, self._reading.document_prefix, pooling, context)
        plain = ("", "", "", KEYS["embed.context"][0] if context else 0)
        name = f"{provider}:{model}:{self.dimensions}"
        return (
            name if way == plain else f"{name}:{xxhash.xxh3_64_hexdigest(repr(way).encode())[:8]}"
        )


def local_path(settings: Settings, provider: str, example: str) -> str:
    """Where the settings say that a model is; it is there."""
    chosen = settings.text("embed.model")
    config = settings.config
    if not chosen:
        raise EncoderUnavailable(
            f"embed.provider is {provider}, but embed.model is not set.",
            hint=f'Set it in {config}, under [embed]: model = "{example}"',
        )
    path = os.path.abspath(os.path.expanduser(chosen))
    if not os.path.exists(path):
        raise EncoderUnavailable(
            f"embed.model: There is no {path}.", hint=f"Correct the path in {config}."
        )
    return path


def thread_count(settings: Settings) -> int:
    """How many threads a model may use.

    Half of the cores, unless the settings say otherwise: these libraries' threads wait for each
    other at every step, so one that must share its core holds up all. On two busy cores llama.cpp
    read 3 to 9 texts a second with two threads, and 28 to 57 with one.
    """
    return max(settings.number("embed.threads"), 0) or max((os.cpu_count() or 1) // 2, 1)


def fingerprint(*paths: str) -> str:
    """A short hash that differs when files do, from their sizes and ends:
    models can be too large to read whole.
    """
    seen = xxhash.xxh3_64()
    for path in paths:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            seen.update(str(size).encode())
            for start in (0, max(size - _MEGABYTE, 0)):
                file.seek(start)
                seen.update(file.read(_MEGABYTE))
    return seen.hexdigest()[:8]
