"""The labelled episodes and what is measured on them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from bench import outcome
from bench.sets.outcome import make
from recollect.distill.outcomes.outcome import Verdict
from recollect.model.digests import Evidence, Outcome

EPISODES = make.episodes()


def test_every_episode_has_a_number_of_its_own() -> None:
    """It is how a wrong outcome is found again."""
    assert [episode.number for episode in EPISODES] == list(range(1, len(EPISODES) + 1))


@pytest.mark.parametrize("part", get_args(make.Part))
def test_each_part_has_every_outcome_of_both_agents(part: make.Part) -> None:
    """A figure that is made of two episodes says nothing."""
    episodes = [episode for episode in EPISODES if episode.part == part]

    assert len(episodes) >= 60
    assert set(Counter(episode.outcome for episode in episodes)) == set(get_args(Outcome))
    assert min(Counter(episode.agent for episode in episodes).values()) >= len(episodes) * 0.4


def test_every_episode_is_played_as_a_log_with_its_turns(tmp_path: Path) -> None:
    """One that is lost on the way would count as none, and the figures would be of others."""
    found = make.build(tmp_path)

    assert sorted(episode.number for episode in found.values()) == [
        episode.number for episode in EPISODES
    ]
    assert {ref.partition(":")[0] for ref in found} == {"claude-code", "codex"}


def test_a_line_that_is_none_is_refused() -> None:
    """A typing error would quietly change what happened."""
    with pytest.raises(ValueError, match="not a line of an episode: hello"):
        make._episode("# 1 codex fail: x\n> do it\nhello")
    with pytest.raises(ValueError, match="not the head of an episode"):
        make._episode("# one\n> do it")


def test_outcomes_are_as_right_as_the_documentation_says() -> None:
    """Labels that are wrong teach the wrong things."""
    judged = list(outcome.outcomes())
    report = outcome.figures(judged)

    assert len(judged) == len(EPISODES)
    assert report["precision"]["fail"] >= 0.9
    # A green test at the end is labelled uncertain there, and called a success here.
    assert report["precision"]["success"] >= 0.8
    assert report["uncertain"] <= 0.4
    assert report["fail_succeeded"] == 0
    unseen = outcome.figures([one for one in judged if one.episode.part == "test"])
    assert unseen["precision"]["fail"] >= 0.9
    assert unseen["precision"]["success"] >= 0.7


def test_figures_count_what_was_given_against_what_is_true() -> None:
    """The tables are made of these."""
    one, two = (episode for episode in EPISODES[:2])
    spoken = Evidence(kind="admitted", ref="codex:s#1")
    judged = [
        outcome.Judged(one, Verdict(one.outcome, 0.9, [spoken, spoken])),
        outcome.Judged(two, Verdict(one.outcome, 0.9, [spoken])),
    ]

    report = outcome.figures(judged)

    assert (one.outcome, two.outcome) == ("success", "uncertain")
    assert report["right"] == 0.5
    assert report["confusion"]["success"] == {
        "success": 1,
        "partial": 0,
        "fail": 0,
        "uncertain": 1,
        "abandoned": 0,
    }
    assert report["precision"] == {
        "success": 0.5,
        "partial": None,
        "fail": None,
        "uncertain": None,
        "abandoned": None,
    }
    assert report["evidence"] == {"admitted": {"episodes": 2, "right": 0.5}}
    assert report["agents"][one.agent]["right"] == 1.0


def test_the_script_prints_tables_and_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """It is run by hand, and read."""
    assert outcome.main(["--part", "dev", "--wrong"]) == 0

    shown = capsys.readouterr().out

    assert shown.startswith("# own dev\n\n| given \\ true | success |")
    assert "| evidence | episodes | right |" in shown
    assert "| claude-code | " in shown
    assert "was called" in shown
