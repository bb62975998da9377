"""Settings and texts that the tests of all encoders share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.settings import Settings

TEXTS = [
    "the build fails when the parser reads unicode",
    "fix the error in file a/b_c.py",
    "query",
    "it was 42, and then (after a while) it was not!",
]


def chosen(provider: str, model: object, **more: object) -> Settings:
    """Settings that choose an encoder; `more` are further keys of [embed]."""
    keys = {"provider": provider, "model": str(model), **more}
    return Settings(
        "/home/somebody/.recollect",
        "/home/somebody/.recollect/recollect.db",
        {f"embed.{key}": keys[key] for key in keys},
    )


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> list[float]:
    """How alike rows are, pair by pair; both are unit rows."""
    np.testing.assert_allclose(np.linalg.norm(left, axis=1), 1, rtol=1e-5)
    return [float(value) for value in (left * right).sum(axis=1)]
