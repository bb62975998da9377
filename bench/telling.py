"""Does what is told at a prompt help: `python bench/telling.py --logs LOGS --prompts FILE`.

LOGS holds a folder of logs for each repository. FILE holds a JSON object a line, a prompt that a
person gave next: `id`, `session`, `turn`, `at`, and `helpful`, the turns (`ref`) that would have
saved the agent work. For each prompt the lines of its project that had ended by then are weighed
by the code that hooks run, with the words of all other repositories around them. The weights are
fitted again without each repository in turn, and everything printed is of repositories that the
weights have not seen; so is the threshold of the first row, which is found without it once more.
"""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.plots import reliability  # noqa: E402
from recollect import Memory  # noqa: E402
from recollect.recall.hooks import chances, prompts  # noqa: E402
from recollect.recall.hooks.facts import unpacked  # noqa: E402
from recollect.recall.hooks.lines import FEWEST_COPIED, first_words  # noqa: E402
from recollect.recall.hooks.words import LEAST_WORDS, MOST_CHARACTERS, words_in  # noqa: E402

Numbers = NDArray[np.float64]

# How strongly weights are pulled towards zero, in prompts; and what share of the packs shall
# hold a helpful turn when a threshold is looked for.
PULL, AIM, FEWEST = 30.0, 0.7, 8
BINS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0)


@dataclass
class Turn:
    """A prompt line of the whole store."""

    ref: str
    repository: str
    project: int
    session: int | None
    facts: int
    at: int
    ended: str
    first: str
    words: dict[str, int] = field(default_factory=dict)


@dataclass
class Prompt:
    """A prompt with what decides about each line that it may call up."""

    row: dict[str, Any]
    text: str
    repository: str
    refs: list[str]
    features: Numbers
    helpful: NDArray[np.bool_]
    silent: bool


def main() -> int:
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--picture", type=Path, help="write the reliability plot here, as SVG")
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.prompts.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory(prefix="recollect-telling-") as home:
        asked = weighed(Path(home), args.logs, rows)
    scores, thresholds = left_out(asked)
    print("weights from all: " + ", ".join(f"{name} {value:.3f}" for name, value in fitted(asked)))
    print(f"\n| {' | '.join(FIGURES)} |\n|---|---|---|---|---|---|")
    print(figures("threshold left out too", asked, scores, thresholds))
    print(figures("threshold of hooks", asked, scores, [prompts.LIKELY] * len(asked)))
    table = reliable(asked, scores)
    print("\n| likely | packs | helped |\n|---|---|---|")
    for said, came, count in table:
        print(f"| {said:.2f} | {count} | {came:.2f} |")
    if args.picture:
        args.picture.write_text(reliability(table, x="predicted", y="held a helpful turn"))
    return 0


def weighed(home: Path, logs: Path, rows: list[dict[str, Any]]) -> list[Prompt]:
    """Every prompt with its lines, as they were when it was given."""
    with Memory.open(environ={"RECOLLECT_HOME": str(home)}) as memory:
        memory.import_logs([str(path) for path in sorted(logs.iterdir()) if path.is_dir()])
        for _ in memory.make_ready():
            pass
        db = memory._shared.store().db
        projects = dict(
            db.rows(
                "select sessions.ref, coalesce(merged_into, projects.id) from sessions "
                "join projects on projects.id = project"
            )
        )
        turns = lines_of(db, logs)
        homes = {
            ref: Path(path).relative_to(logs.resolve()).parts[0]
            for ref, path in db.rows(
                "select sessions.ref, path from sessions join sources on sources.id = source"
            )
        }
        texts = {row["id"]: memory.show(f"{row['session']}#{row['turn']}").prompt for row in rows}  # type: ignore[union-attr]
    everywhere = Counter(word for turn in turns for word in turn.words)
    return [
        weigh(row, texts[row["id"]], homes[row["session"]], projects[row["session"]], turns,
              everywhere)
        for row in rows if row["session"] in homes
    ]  # fmt: skip


def lines_of(db: Any, logs: Path) -> list[Turn]:
    """The prompt lines of a store that are turns, each with its words."""
    ends: dict[str, str] = {}
    sessions: dict[int, tuple[str, str]] = {}
    for number, path, ended in db.rows(
        "select sessions.id, path, strftime('%Y-%m-%dT%H:%M:%fZ', "
        "coalesce(ended_at, started_at) / 1000.0, 'unixepoch') "
        "from sessions join sources on sources.id = source"
    ):
        sessions[number] = (Path(path).relative_to(logs.resolve()).parts[0], path)
        ends[path] = max(ends.get(path, ""), ended or "~")
    found = {}
    for project, place, session, ref, facts, at, prompt in db.rows(
        "select p.project, place, p.session, ref, facts, at, turns.prompt from prompt_lines p "
        "join turns on turns.session = p.session "
        "and turns.ordinal = substr(ref, instr(ref, '#') + 1) where p.session is not null"
    ):
        repository, path = sessions[session]
        found[project, place] = Turn(
            ref, repository, project, session, facts, at or 0, ends[path], first_words(prompt)
        )
    for project, word, postings in db.rows("select project, word, lines from prompt_words"):
        for posting in memoryview(postings).cast("I").tolist():
            if turn := found.get((project, posting >> 16)):
                turn.words[word] = posting & 0xFFFF
    return list(found.values())


def weigh(
    row: dict[str, Any], text: str, repository: str, project: int, turns: list[Turn],
    everywhere: Counter[str],
) -> Prompt:  # fmt: skip
    """A prompt and the lines of its project, as they were when it was given."""
    later = [one for one in turns if one.repository == repository and not one.ended < row["at"]]
    words = list(dict.fromkeys(words_in(text[:MOST_CHARACTERS])))
    counts = {word: everywhere[word] - sum(word in one.words for one in later) for word in words}
    here = [one for one in turns if one.project == project and one.ended < row["at"]]
    here.sort(key=lambda one: one.at)
    copies = Counter(one.first for one in here if len(one.first) > FEWEST_COPIED)
    known = {}
    for place, one in enumerate(here):
        facts = unpacked(one.facts)
        facts.copies = max(0, copies[one.first] - 1)
        known[place] = (facts.packed(), one.session)
    asked = chances.PromptWords(words, counts, len(turns) - len(later))
    found = {
        word: [place << 16 | one.words[word] for place, one in enumerate(here) if word in one.words]
        for word in asked.weights
    }
    lines = chances.weigh(asked, known, found)
    silent = prompts.is_command(text) or prompts.is_form(lines.values(), asked)
    deciding = {} if len(words) < LEAST_WORDS else chances.features(asked, known, lines)
    places = sorted(deciding, reverse=True)
    good = {one["ref"] for one in row["helpful"]}
    return Prompt(
        row, text, repository, [here[place].ref for place in places],
        np.array([deciding[place] for place in places]).reshape(-1, len(chances.WEIGHTS)),
        np.array([here[place].ref in good for place in places], bool), silent,
    )  # fmt: skip


# Fitting

Model = tuple[Numbers, float]


def fit(some: Iterable[Prompt]) -> Model:
    """Weights and bias that make the lines of some prompts likeliest, by Newton's steps."""
    given = list(some)
    rows = np.vstack([one.features for one in given])
    helps = np.concatenate([one.helpful for one in given]).astype(float)
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    table = np.hstack([(rows - middle) / spread, np.ones((len(rows), 1))])
    pull = np.full(table.shape[1], PULL)
    pull[-1] = 1e-3

    def loss(weights: Numbers) -> float:
        sums = table @ weights
        return float((np.logaddexp(0, sums) - helps * sums).sum() + (pull * weights**2).sum() / 2)

    weights = np.zeros(table.shape[1])
    weights[-1] = np.log(helps.mean() / (1 - helps.mean()))
    before = loss(weights)
    for _ in range(50):
        likely = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (helps - likely) - pull * weights
        bend = (table * (likely * (1 - likely))[:, None]).T @ table + np.diag(pull)
        step = np.linalg.solve(bend, slope)
        while loss(weights + step) > before and np.abs(step).max() > 1e-9:
            step /= 2
        weights += step
        if before - (before := loss(weights)) < 1e-7:
            break
    found = weights[:-1] / spread
    return found, float(weights[-1] - found @ middle)


def fitted(asked: list[Prompt]) -> list[tuple[str, float]]:
    weights, bias = fit(asked)
    return [*zip(chances.WEIGHTS, weights.tolist(), strict=True), ("bias", bias)]


def left_out(asked: list[Prompt]) -> tuple[list[Numbers], list[float]]:
    """How likely each line helps by weights of the other repositories, and from where on to speak
    by what those would have had left out themselves.
    """
    groups: defaultdict[str, list[Prompt]] = defaultdict(list)
    for one in asked:
        groups[one.repository].append(one)
    thresholds, scores = {}, {}
    for name in groups:
        others = [one for one in asked if one.repository != name]
        model = fit(others)
        scores |= {id(one): likely(model, one) for one in groups[name]}
        inner: dict[int, Numbers] = {}
        for other in groups:
            if other != name:
                apart = fit(one for one in others if one.repository != other)
                inner |= {id(one): likely(apart, one) for one in groups[other]}
        thresholds[name] = lowest([(one, inner[id(one)]) for one in others])
    return [scores[id(one)] for one in asked], [thresholds[one.repository] for one in asked]


def likely(model: Model, one: Prompt) -> Numbers:
    weights, bias = model
    return 1 / (1 + np.exp(-(one.features @ weights + bias)))


def told(one: Prompt, scores: Numbers) -> tuple[float, list[int]]:
    """How likely the best line helps, and which lines are told with it."""
    if one.silent or not len(scores):
        return 0.0, []
    order = np.argsort(-scores, kind="stable")[: prompts.MOST_LINES].tolist()
    best = float(scores[order[0]])
    return best, [line for line in order if scores[line] >= prompts.NEARLY * best]


def lowest(given: Sequence[tuple[Prompt, Numbers]]) -> float:
    """The lowest threshold above which so many packs are right as we aim at."""
    packs = sorted(
        ((told(one, scores), one) for one, scores in given), key=lambda pair: -pair[0][0]
    )
    right, threshold = 0, 1.0
    for count, ((best, lines), one) in enumerate(packs, 1):
        right += bool(one.helpful[lines].any())
        if lines and count >= FEWEST and right / count >= AIM:
            threshold = best
    return threshold


# Figures

FIGURES = ("", "spoke", "packs with a helpful turn", "lines that help", "right silence",
           "helped when it could")  # fmt: skip


def figures(
    name: str, asked: list[Prompt], scores: list[Numbers], thresholds: Sequence[float]
) -> str:
    packs = [
        (one, lines)
        for one, score, threshold in zip(asked, scores, thresholds, strict=True)
        for best, lines in [told(one, score)]
        if best >= threshold
    ]
    right = sum(bool(one.helpful[lines].any()) for one, lines in packs)
    shown = [bool(one.helpful[line]) for one, lines in packs for line in lines]
    needless = [one for one in asked if not one.row["helpful"]]
    spoken = sum(not one.row["helpful"] for one, _ in packs)
    cells = [
        f"{len(packs)}/{len(asked)}",
        f"{right / max(1, len(packs)):.2f}",
        f"{sum(shown) / max(1, len(shown)):.2f}",
        f"{1 - spoken / max(1, len(needless)):.2f}",
        f"{right / max(1, len(asked) - len(needless)):.2f}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def reliable(asked: list[Prompt], scores: list[Numbers]) -> list[tuple[float, float, int]]:
    """By how likely the best line was said to help: how often it did, of how many prompts."""
    rows: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for one, score in zip(asked, scores, strict=True):
        best, lines = told(one, score)
        if lines:
            place = next(n for n, end in enumerate(BINS[1:]) if best <= end)
            rows[place].append((best, bool(one.helpful[lines[0]])))
    return [(*np.mean(some, axis=0).tolist(), len(some)) for _, some in sorted(rows.items())]


if __name__ == "__main__":
    sys.exit(main())
