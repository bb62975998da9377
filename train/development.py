"""How well the two sides of the development pairs find each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

GROUPS = {
    "code": ("pydoc", "rsdoc", "jsdoc", "test", "err", "ident"),
    "docs": ("sec", "head", "mdcode", "cbody", "sent"),
    "commands": ("cmd",),
    "chat": ("persona", "chat"),
    "made": ("ask", "askt"),
}
LEAST, MOST, QUESTIONS = 150, 2000, 500


class Development:
    """For each kind a set of up to 2,000 distinct answers, of which the first 500 are asked for."""

    def __init__(self, kinds: np.ndarray, answer_hash: np.ndarray, device: str) -> None:
        self._sets: dict[str, list[Tensor]] = {}
        for group, of_group in GROUPS.items():
            for kind in of_group:
                texts = np.flatnonzero(kinds == kind)
                if len(texts) < LEAST:
                    continue
                _, first = np.unique(answer_hash[texts], return_index=True)
                chosen = texts[np.sort(first)]
                np.random.default_rng(0).shuffle(chosen)
                self._sets.setdefault(group, []).append(torch.from_numpy(chosen[:MOST]).to(device))

    @torch.no_grad()
    def score(self, encode: Callable[[Tensor], tuple[Tensor, Tensor]]) -> dict[str, float]:
        """The mean reciprocal rank of the right answer in each group.

        `encode` gives both sides of some texts.
        """
        return {
            group: float(np.mean([_ranked(*encode(texts)) for texts in sets]))
            for group, sets in self._sets.items()
        }


def _ranked(asked: Tensor, answer: Tensor) -> float:
    scores = normalize(asked[:QUESTIONS].float(), dim=1) @ normalize(answer.float(), dim=1).T
    ranks = (scores > scores.diagonal()[:, None]).sum(1) + 1
    return (1 / ranks.float()).mean().item()
