"""In CI a test is skipped, or tried again, only where that is expected."""

from __future__ import annotations

import pytest

from tests.suite import skips

TESTS = """
    import pytest

    tries = []

    def test_fine(): ...

    @pytest.mark.skip(reason="claude is not in /opt")
    def test_claude(): ...

    @pytest.mark.flaky(reruns=1)
    def test_shaky():
        tries.append(1)
        assert len(tries) > 1
"""
NAMED = """
# Agents.
test_it.py::test_claude  skip   claude is not in *
test_it.py::test_shaky   rerun  a busy machine
"""


@pytest.fixture(autouse=True)
def tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tests: one passes, one is skipped, one is tried again. In CI."""
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile(test_it=TESTS)


def run(pytester: pytest.Pytester, expected: str, *options: str) -> pytest.RunResult:
    """Run them with a list of what is expected."""
    pytester.path.joinpath("expected.txt").write_text(expected)
    plugins = ("-p", "tests.suite.tiers", "-p", "tests.suite.skips")
    return pytester.runpytest_subprocess(*plugins, "--expected-skips=expected.txt", *options)


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_what_is_named_may_happen(pytester: pytest.Pytester, workers: str) -> None:
    done = run(pytester, NAMED, workers)

    done.assert_outcomes(passed=2, skipped=1)
    assert done.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_what_is_not_named_fails_the_run(pytester: pytest.Pytester, workers: str) -> None:
    """Without npm no agent was tried, and the run was green."""
    done = run(pytester, "", workers)

    done.assert_outcomes(passed=2, skipped=1)
    done.stdout.fnmatch_lines(
        [
            "FAILED: expected-skips.txt does not name",
            "  test_it.py::test_claude skip claude is not in /opt",
            "  test_it.py::test_shaky rerun*",
        ]
    )
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_elsewhere_it_is_only_printed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI")

    done = run(pytester, "")

    done.stdout.fnmatch_lines(["In CI this would fail: expected-skips.txt does not name"])
    assert done.ret == pytest.ExitCode.OK


def test_a_skip_for_another_reason_is_not_the_one_that_is_named(pytester: pytest.Pytester) -> None:
    done = run(pytester, NAMED.replace("claude is not in *", "only root can become claude"))

    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_a_module_that_is_skipped_as_a_whole_is_named_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="import pytest; pytest.importorskip('nonexistent', reason='no wheels')"
    )

    named = run(pytester, "test_it.py* skip no wheels", "--write-plan=plan")
    not_named = run(pytester, "")

    assert named.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not_named.ret == pytest.ExitCode.TESTS_FAILED


def test_an_entry_without_a_test_is_an_error(pytester: pytest.Pytester) -> None:
    """The test was renamed; its entry would excuse another one some day."""
    done = run(pytester, NAMED + "test_it.py::test_gone skip why not\n", "--write-plan=plan")

    done.stderr.fnmatch_lines(["*expected-skips.txt names no test: test_it.py::test_gone"])
    assert done.ret == pytest.ExitCode.USAGE_ERROR


def test_a_run_of_some_tests_does_not_miss_the_others(pytester: pytest.Pytester) -> None:
    assert run(pytester, NAMED, "-k", "fine").ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "line", ["test_it.py::test_claude", "test_it.py::test_claude skip", "a b c"]
)
def test_a_line_without_its_three_parts_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="line 2 is not"):
        skips.read(f"# Why\n{line}\n")


def test_brackets_stand_for_themselves() -> None:
    """The ids of tests with parameters are full of them."""
    assert skips.matches("test_it.py::test[*]", "test_it.py::test[1-a]")
    assert not skips.matches("test_it.py::test[1]", "test_it.py::test1")
