"""Prompts are weighed as they were given, and judged by weights that never saw their repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import telling
from recollect.recall.hooks import chances
from recollect.recall.hooks.prompts import LIKELY
from tests.builders.homes import chat

WEBHOOK = "why does the webhook signature check fail in staging"


def laid_out(logs: Path, repository: str, number: int, hour: int, prompt: str) -> str:
    """A session of one turn in the logs of a repository, begun at an hour; its reference."""
    talk = chat(number, cwd=f"/home/ada/{repository}")
    talk.second = 3600 * hour
    talk.user(prompt)
    talk.reply("The header was trimmed before the body was signed. " * 5)
    folder = logs / f"ada+{repository}" / "claude" / "projects" / f"-home-ada-{repository}"
    folder.mkdir(parents=True, exist_ok=True)
    talk.write(folder / f"{talk.session}.jsonl")
    return f"claude-code:{talk.session}"


def test_a_prompt_is_weighed_with_what_had_ended_by_then_in_its_repository(tmp_path: Path) -> None:
    """Neither with itself nor with what came later or is of others; those only say what is rare."""
    logs, home = tmp_path / "logs", tmp_path / "home"
    first = laid_out(logs, "shop", 1, 0, f"{WEBHOOK} behind the proxy?")
    laid_out(logs, "orchard", 2, 1, f"{WEBHOOK} in the orchard?")
    again = laid_out(logs, "shop", 3, 2, f"{WEBHOOK} after the upgrade?")
    last = laid_out(logs, "shop", 4, 3, f"/review {WEBHOOK}?")
    rows = [
        {"id": session, "session": session, "turn": 1, "at": f"2026-01-01T{hour}:30:00.000Z",
         "helpful": [{"ref": f"{first}#1"}]}
        for hour, session in (("08", first), ("10", again), ("11", last))
    ]  # fmt: skip

    asked = telling.weighed(home, logs, rows)

    assert [(one.repository, one.refs, one.helpful.tolist(), one.silent) for one in asked] == [
        ("ada+shop", [], [], False),
        ("ada+shop", [f"{first}#1"], [True], False),
        ("ada+shop", [f"{again}#1", f"{first}#1"], [False, True], True),
    ]
    assert [one.features.shape for one in asked] == [(n, len(chances.WEIGHTS)) for n in range(3)]


def prompt(repository: str, *strong: float, helps: int | None = 0) -> telling.Prompt:
    """A prompt with lines that differ in the first of what decides."""
    features = np.zeros((len(strong), len(chances.WEIGHTS)))
    features[:, 0] = strong
    helpful = np.arange(len(strong)) == (-1 if helps is None else helps)
    row = {"helpful": [] if helps is None else [{"ref": str(helps)}]}
    refs = [str(number) for number in range(len(strong))]
    return telling.Prompt(row, "", repository, refs, features, helpful, silent=False)


def test_a_repository_is_judged_by_weights_and_a_threshold_of_the_others() -> None:
    """In two what stands out helps, in the third what does not; nobody there could know."""
    usual = [prompt(name, 5, 0) for name in ("shop", "orchard") for _ in range(60)]
    odd = [prompt("attic", 5, 0, helps=1) for _ in range(10)]

    scores, thresholds = telling.left_out([*usual, *odd])

    assert scores[-1][0] > 0.8 > 0.2 > scores[-1][1]
    # Of the shop's others a seventh is odd: what stands out is less sure there.
    assert 0.5 < scores[0][0] < scores[-1][0]
    # In the attic it speaks, and is wrong; elsewhere it is as sure as it needs to be.
    assert thresholds[0] < scores[0][0]
    assert thresholds[0] < thresholds[-1] < scores[-1][0]


def test_figures_count_packs_lines_and_silence() -> None:
    """Each row as it stands in the table."""
    asked = [prompt("shop", 5, 4), prompt("shop", 5, 0, helps=1), prompt("shop", 3, helps=None),
             prompt("shop", 1, helps=None), prompt("shop", 1)]  # fmt: skip
    scores = [np.array(one) for one in ([0.9, 0.6], [0.8, 0.1], [0.5], [0.3], [0.2])]

    row = telling.figures("now", asked, scores, [LIKELY] * len(asked))

    # One of three packs is right; of four lines in them one; one of two is left alone; one of
    # three is helped.
    assert row == "| now | 3/5 | 0.33 | 0.25 | 0.50 | 0.33 |"
    assert telling.reliable(asked, scores) == [
        (0.2, 1.0, 1), (0.3, 0.0, 1), (0.5, 0.0, 1), (pytest.approx(0.85), 0.5, 2),
    ]  # fmt: skip
