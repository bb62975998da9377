"""A small encoder that really encodes: words that two texts share bring their vectors together."""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class WordEncoder:
    """Each word adds its own fixed direction.

    The same name and size always give the same vectors.
    """

    def __init__(self, name: str = "words", dimensions: int = 64) -> None:
        self.name, self.dimensions = name, dimensions
        self.texts: list[str] = []

    def encode_query(self, text: str) -> array[float]:
        return array("f", self._vector(text).tolist())

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimensions, np.float32)
        for word in re.findall(r"[a-z]+", text.lower()):
            seed = zlib.crc32(f"{self.name} {word}".encode())
            vector += np.random.default_rng(seed).standard_normal(self.dimensions, np.float32)
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector
