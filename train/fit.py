"""Trains the table.

    python -m train.fit CACHE OUT.npz [--device cuda]

Before: a word's row is the teacher's vector of the word, turned so that its
first numbers say most; the row's length falls with how common the word is. A
bucket is the mean of the words that are spelled with it.

First the sums learn to point where the teacher's vectors of whole texts point.
Then both sides of a pair learn to find each other among thousands of others;
in every second epoch the others are neighbours by the teacher's vectors, which
makes them hard to tell apart. The first loss stays on at a lower weight, so
that words which the pairs do not show keep their meaning. All losses are taken
at 256, 128 and 64 numbers. Writes the table as int8 rows `q` and scales `s`.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, embedding_bag, normalize

from recollect.embed.tokens import grams
from train.development import Development
from train.pack import quantise

LENGTHS = (256, 128, 64)
LENGTH_WEIGHTS = (1.0, 0.6, 0.4)
CLUSTERS = 400
# How often a pair of a kind comes in an epoch; the others come once.
REPEATED = {"persona": 4, "chat": 2, "cmd": 3, "cmdp": 3, "pydoc": 2}
EXCLUDED = -1e4


@dataclass(frozen=True)
class Recipe:
    """What the released model was trained with."""

    distil_steps: int = 1500
    distil_batch: int = 6144
    epochs: int = 8
    batch: int = 4096
    rate: float = 2e-3
    temperature: float = 0.05
    anchor: float = 0.3  # the weight of the first loss during the second stage
    anchor_batch: int = 2048
    token_dropout: float = 0.1
    least_agreement: float = 0.1  # pairs that the teacher finds less alike are left out


@dataclass(frozen=True)
class Side:
    """One side of all pairs, or the plain sentences: their rows, and the teacher's vectors."""

    rows: Tensor
    weights: Tensor
    starts: Tensor
    taught: Tensor

    def sums(self, table: Tensor, texts: Tensor, dropout: float = 0.0) -> Tensor:
        """The vectors of some texts, not yet of length one."""
        begin = self.starts[texts]
        counts = self.starts[texts + 1] - begin
        offsets = torch.cumsum(counts, 0) - counts
        places = torch.arange(int(counts.sum()), device=counts.device) + torch.repeat_interleave(
            begin - offsets, counts
        )
        weights = self.weights[places]
        if dropout:
            weights = weights * (torch.rand_like(weights) > dropout)
        return embedding_bag(
            self.rows[places], table, offsets, mode="sum", per_sample_weights=weights
        )

    def __len__(self) -> int:
        return len(self.starts) - 1


class Table:
    """What is learned: a direction for each row and, apart from it, the logarithm of its length."""

    def __init__(self, directions: Tensor, lengths: Tensor) -> None:
        self.directions = directions.requires_grad_()
        self.lengths = lengths.requires_grad_()

    def value(self) -> Tensor:
        return self.directions * self.lengths.exp()[:, None]

    def optimiser(self, rate: float) -> torch.optim.Adam:
        groups = [
            {"params": [self.directions], "lr": rate},
            {"params": [self.lengths], "lr": 5 * rate},
        ]
        return torch.optim.Adam(groups, betas=(0.9, 0.99))


class Fitting:
    """The training data on the device, and the two stages over it."""

    def __init__(self, cache: Path, recipe: Recipe, device: str) -> None:
        tokens, taught = np.load(cache / "tokens.npz"), np.load(cache / "teacher.npz")
        self.recipe, self.device = recipe, device
        self.words = (cache / "words.txt").read_text(encoding="utf-8").split("\n")
        self.buckets = int(tokens["buckets"])
        self.sides = {
            side: self._side(side, tokens, taught)
            for side in ("asked", "answer", "plain", "dev_asked", "dev_answer")
        }
        self.word_vectors = self._tensor(taught["words"]).float()
        self.document_share = self._tensor(tokens["document_share"]).float()
        self.asked_hash, self.answer_hash = (
            self._tensor(tokens["asked_hash"]),
            self._tensor(tokens["answer_hash"]),
        )
        self.kinds, kind_numbers = np.unique(tokens["kinds"], return_inverse=True)
        self.kind_numbers = torch.from_numpy(kind_numbers)
        self.repeats = torch.tensor([REPEATED.get(str(kind), 1) for kind in self.kinds])[
            self.kind_numbers
        ]
        self.development = Development(tokens["dev_kinds"], tokens["dev_answer_hash"], device)
        self.turn = self._principal_axes()
        self.clusters = self._cluster()

    def run(self) -> Tensor:
        torch.manual_seed(0)
        table = self._first_table()
        self.report("teacher", None)
        self.report("before", table.value().detach())
        self.distil(table)
        self.report("distilled", table.value().detach())
        self.contrast(table)
        return table.value().detach()

    def report(self, stage: str, table: Tensor | None, length: int = LENGTHS[0]) -> None:
        """The mean reciprocal rank on the development part, by group.

        The teacher's own when there is no table.
        """
        asked, answer = self.sides["dev_asked"], self.sides["dev_answer"]
        if table is None:
            scores = self.development.score(
                lambda texts: (asked.taught[texts], answer.taught[texts])
            )
        else:
            scores = self.development.score(
                lambda texts: (
                    asked.sums(table, texts)[:, :length],
                    answer.sums(table, texts)[:, :length],
                )
            )
        print(
            f"{time.process_time():.0f}s",
            stage,
            *(f"{group} {score:.3f}" for group, score in scores.items()),
            flush=True,
        )

    def distil(self, table: Table) -> None:
        optimiser = table.optimiser(self.recipe.rate)
        for step in range(self.recipe.distil_steps):
            self._set_rate(optimiser, step, self.recipe.distil_steps, warm_up=50)
            self._step(optimiser, self._distance(table.value(), self.recipe.distil_batch))

    def contrast(self, table: Table) -> None:
        recipe = self.recipe
        generator = torch.Generator().manual_seed(1)
        optimiser = table.optimiser(recipe.rate)
        step = 0
        for epoch in range(recipe.epochs):
            batches = self._batches(generator, neighbours=epoch % 2 == 1)
            for batch in batches:
                self._set_rate(optimiser, step, len(batches) * recipe.epochs, warm_up=100)
                value = table.value()
                loss = self._confusion(
                    value, batch.to(self.device)
                ) + recipe.anchor * self._distance(value, recipe.anchor_batch)
                self._step(optimiser, loss)
                step += 1
            self.report(f"epoch {epoch + 1}", table.value().detach())

    def _first_table(self) -> Table:
        count = len(self.words)
        directions = torch.zeros(count + self.buckets, LENGTHS[0], device=self.device)
        directions[:count] = normalize(self.word_vectors @ self.turn, dim=1)
        spelled = [
            (count + bucket, row)
            for row, word in enumerate(self.words)
            for bucket in grams(word, self.buckets)
        ]
        buckets, rows = torch.tensor(spelled, device=self.device).T
        directions.index_add_(0, buckets, directions[rows])
        directions /= torch.bincount(buckets, minlength=len(directions)).clamp(min=1)[:, None]
        lengths = torch.zeros(len(directions), device=self.device)
        lengths[:count] = torch.log(0.01 / (0.01 + self.document_share))
        return Table(directions, lengths)

    def _distance(self, table: Tensor, size: int) -> Tensor:
        """How far random texts are from where the teacher puts them,
        and from each other than it says.
        """
        loss = torch.zeros((), device=self.device)
        for side, share in (("asked", 1.0), ("answer", 1.0), ("plain", 0.25)):
            of_side = self.sides[side]
            if not len(of_side):
                continue
            texts = torch.randint(0, len(of_side), (int(size * share),), device=self.device)
            sums, taught = of_side.sums(table, texts), of_side.taught[texts].float()
            goal = taught @ self.turn
            for length in LENGTHS:
                loss = loss + (1 - cosine_similarity(sums[:, :length], goal[:, :length])).mean()
            ours, theirs = normalize(sums[:2048], dim=1), taught[:2048]
            loss = loss + 5 * ((ours @ ours.T - theirs @ theirs.T) ** 2).mean()
        return loss

    def _confusion(self, table: Tensor, texts: Tensor) -> Tensor:
        """How badly the two sides of the pairs in a batch find each other."""
        asked = self.sides["asked"].sums(table, texts, self.recipe.token_dropout)
        answer = self.sides["answer"].sums(table, texts, self.recipe.token_dropout)
        with torch.no_grad():
            same = self.asked_hash[texts][:, None] == self.asked_hash[texts]
            same |= self.answer_hash[texts][:, None] == self.answer_hash[texts]
            same.fill_diagonal_(False)
            agreement = (
                self.sides["asked"].taught[texts].float()
                * self.sides["answer"].taught[texts].float()
            ).sum(1)
            kept = (agreement > self.recipe.least_agreement).float()
            kept /= kept.mean().clamp(min=1e-6)
        loss = torch.zeros((), device=self.device)
        for length, weight in zip(LENGTHS, LENGTH_WEIGHTS, strict=True):
            scores = (
                normalize(asked[:, :length], dim=1)
                @ normalize(answer[:, :length], dim=1).T
                / self.recipe.temperature
            )
            scores = scores.masked_fill(same, EXCLUDED)
            both_ways = scores.log_softmax(1).diagonal() + scores.log_softmax(0).diagonal()
            loss = loss - weight * (both_ways / 2 * kept).mean()
        return loss

    def _batches(self, generator: torch.Generator, *, neighbours: bool) -> Tensor:
        """All pairs, cut so that a batch holds pairs of one kind, or of neighbouring clusters."""
        texts = torch.repeat_interleave(torch.arange(len(self.repeats)), self.repeats)
        texts = texts[torch.randperm(len(texts), generator=generator)]
        shuffled = torch.randperm(CLUSTERS, generator=generator)
        key = shuffled[self.clusters[texts]] if neighbours else self.kind_numbers[texts]
        texts = texts[torch.argsort(key, stable=True)]
        count = len(texts) // self.recipe.batch
        if not count:
            raise SystemExit(
                f"{len(texts)} pairs do not fill one batch of {self.recipe.batch}; give a smaller "
                "--batch"
            )
        batches = texts[: count * self.recipe.batch].view(count, self.recipe.batch)
        return batches[torch.randperm(count, generator=generator)]

    def _set_rate(self, optimiser: torch.optim.Adam, step: int, steps: int, warm_up: int) -> None:
        factor = min(1, step / warm_up) * max(0.0, 0.5 + 0.5 * math.cos(math.pi * step / steps))
        for group, rate in zip(
            optimiser.param_groups, (self.recipe.rate, 5 * self.recipe.rate), strict=True
        ):
            group["lr"] = rate * factor

    def _step(self, optimiser: torch.optim.Adam, loss: Tensor) -> None:
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def _principal_axes(self) -> Tensor:
        """Turns the teacher's vectors so that their first numbers say most."""
        sample = []
        for side, most in (("asked", 150_000), ("answer", 150_000), ("plain", 50_000)):
            taught = self.sides[side].taught
            sample.append(taught[torch.randperm(len(taught), device=self.device)[:most]])
        vectors = torch.cat(sample).float()
        _, axes = torch.linalg.eigh(vectors.T @ vectors / len(vectors))
        return axes.flip(1)[:, : LENGTHS[0]].contiguous()

    def _cluster(self) -> Tensor:
        """The cluster of each pair by the teacher's vector of its
        question (k-means, eight rounds).
        """
        taught = self.sides["asked"].taught.float()
        centres = taught[torch.randperm(len(taught), device=self.device)[:CLUSTERS]]
        for _ in range(8):
            labels = torch.cat([(part @ centres.T).argmax(1) for part in taught.split(100_000)])
            centres = normalize(torch.zeros_like(centres).index_add_(0, labels, taught), dim=1)
        return labels.cpu()

    def _side(self, side: str, tokens: np.lib.npyio.NpzFile, taught: np.lib.npyio.NpzFile) -> Side:
        return Side(
            rows=self._tensor(tokens[f"{side}_rows"]).long(),
            weights=self._tensor(tokens[f"{side}_weights"]),
            starts=self._tensor(tokens[f"{side}_starts"]),
            taught=self._tensor(taught[side]),
        )

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=Recipe.distil_steps, help="of the first stage")
    parser.add_argument("--epochs", type=int, default=Recipe.epochs, help="of the second stage")
    parser.add_argument(
        "--batch", type=int, default=Recipe.batch, help="pairs in a batch of the second stage"
    )
    args = parser.parse_args()

    recipe = Recipe(distil_steps=args.steps, epochs=args.epochs, batch=args.batch)
    fitting = Fitting(args.cache, recipe, args.device)
    table = fitting.run()
    # The mean length of a word's row is one, whatever the training made of it.
    table = table / table[: len(fitting.words)].norm(dim=1).mean()
    scales, rows = quantise(table.cpu().numpy())
    np.savez(args.out, q=rows, s=scales)
    for length in LENGTHS:
        fitting.report(
            f"int8, {length} numbers",
            torch.from_numpy(rows * scales[:, None]).to(args.device),
            length,
        )


if __name__ == "__main__":
    main()
