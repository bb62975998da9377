"""Every test is in one tier."""

from __future__ import annotations

import json

import pytest

from tests.suite.tiers import BY_FOLDER, TESTS, TIERS, tier_of


@pytest.mark.parametrize(
    ("file", "tier"),
    [
        ("test_git.py", "unit"),
        ("serve/test_cli.py", "unit"),
        ("store/test_search.py", "store"),
        ("real/deeper/test_logs.py", "agents"),
        ("serve/web/test_pages.py", "faces"),
    ],
)
def test_the_folder_says_the_tier(file: str, tier: str) -> None:
    assert tier_of(TESTS / file, []) == tier


def test_a_marker_says_more_than_the_folder() -> None:
    assert tier_of(TESTS / "capture" / "test_kill.py", ["parametrize", "store"]) == "store"


def test_two_tiers_are_an_error(pytester: pytest.Pytester) -> None:
    """It would be run twice and nobody would know whose budget it uses up."""
    pytester.makepyfile(
        """
        import pytest

        pytestmark = pytest.mark.store

        @pytest.mark.agents
        def test_it(): ...
        """
    )

    done = pytester.runpytest_subprocess("-p", "tests.suite.tiers")

    done.stderr.fnmatch_lines(["*::test_it is in agents and store: name one tier"])
    assert done.ret == pytest.ExitCode.USAGE_ERROR


def test_the_tier_chooses_the_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.store
        def test_kill(): ...

        def test_other(): ...
        """
    )
    plan = pytester.path / "plan.json"

    done = pytester.runpytest_subprocess(
        "-p", "tests.suite.tiers", "-m", "store", f"--write-plan={plan}"
    )

    done.assert_outcomes(passed=1, deselected=1)
    (kill,), (other,) = (json.loads(plan.read_text())[tier] for tier in ("store", "unit"))
    assert kill.endswith("::test_kill")
    assert other.endswith("::test_other")


def test_a_run_says_how_its_random_samples_are_had_again(pytester: pytest.Pytester) -> None:
    """Also with workers: all of them use the same seed."""
    pytester.makepyfile(
        """
        from hypothesis import core

        def test_seed():
            assert core.global_force_seed == 4711
        """
    )

    done = pytester.runpytest_subprocess("-p", "tests.suite.tiers", "-n1", "--hypothesis-seed=4711")

    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["random samples: --hypothesis-seed=4711"])


def test_no_folder_is_in_two_tiers() -> None:
    folders = [folder for tier in TIERS for folder in tier.folders]

    assert len(folders) == len(BY_FOLDER)
