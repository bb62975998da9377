"""Which tests may be skipped or tried again: those that expected-skips.txt names.

A test that is skipped where nobody expects it looks as green as one that
passed. So in CI a skip or a second try that the file does not name fails the
run; elsewhere it is printed. A line of the file has three parts:

    tests/real/*.py::*   skip   * is not in *; `make test` installs it when npm is there

The tests, as a pattern over their ids; `skip` or `rerun`; the reason. For a
skip the reason is a pattern too, over what pytest was told: a test may not be
skipped for one reason because it is expected for another. In both, `*` stands
for anything and brackets for themselves.

This is a plugin of pytest, loaded by `tests/conftest.py`.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

EXPECTED = Path(__file__).parents[1] / "expected-skips.txt"
KINDS = ("skip", "rerun")


class Expected(NamedTuple):
    """A line of the file: which tests, what may happen to them, and why."""

    tests: str
    kind: str
    reason: str

    def allows(self, other: Expected) -> bool:
        """Whether this is what happened to a test; nobody tells why a test is tried again."""
        return (
            self.kind == other.kind
            and matches(self.tests, other.tests)
            and (self.kind == "rerun" or matches(self.reason, other.reason))
        )


def matches(pattern: str, text: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def read(text: str) -> list[Expected]:
    """The lines of the file; ValueError for one that is not made of three parts."""
    expected = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        tests, _, rest = line.partition(" ")
        kind, _, reason = rest.strip().partition(" ")
        if kind not in KINDS or not reason.strip():
            raise ValueError(f"line {number} is not `tests skip|rerun reason`: {line}")
        expected.append(Expected(tests, kind, reason.strip()))
    return expected


def happened(report: pytest.TestReport | pytest.CollectReport) -> Expected | None:
    """That a test was skipped or is tried again, and why."""
    if report.outcome == "rerun":
        return Expected(report.nodeid, "rerun", "")
    if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        return Expected(report.nodeid, "skip", report.longrepr[2].removeprefix("Skipped: "))
    return None


class Skips:
    """Compares what happens in one run with what is expected."""

    def __init__(self, expected: list[Expected], *, strict: bool) -> None:
        self.expected = expected
        self.strict = strict
        self.surprises: set[Expected] = set()
        self.skipped_modules: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.compare(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module can be skipped as a whole; then none of its tests is collected."""
        if report.skipped:
            self.skipped_modules.add(report.nodeid)
        self.compare(report)

    def compare(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        what = happened(report)
        if what and not any(entry.allows(what) for entry in self.expected):
            self.surprises.add(what)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """An entry without a test is about a test that was renamed or is gone."""
        if not config.option.write_plan:
            return  # Only then are all tests collected.
        known = self.skipped_modules | {item.nodeid for item in items}
        for entry in self.expected:
            if not any(matches(entry.tests, test) for test in known):
                raise pytest.UsageError(f"{EXPECTED.name} names no test: {entry.tests}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        green = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self.surprises and self.strict and session.exitstatus in green:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.surprises:
            return
        what = "FAILED" if self.strict else "In CI this would fail"
        terminalreporter.write_line(f"{what}: {EXPECTED.name} does not name")
        for surprise in sorted(self.surprises):
            terminalreporter.write_line(f"  {surprise.tests} {surprise.kind} {surprise.reason}")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--expected-skips", type=Path, default=EXPECTED, help="instead of tests/expected-skips.txt"
    )


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return  # A worker of xdist; who started it hears of everything.
    path = config.option.expected_skips
    try:
        expected = read(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise pytest.UsageError(f"{path}: {error}") from error
    config.pluginmanager.register(
        Skips(expected, strict=os.environ.get("CI", "") not in ("", "0", "false"))
    )
