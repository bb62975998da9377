"""Every test belongs to one tier, and every tier has a budget.

The folder of a test says its tier; without a word it is `unit`. A test that
does not fit its folder carries the tier as a marker (`@pytest.mark.store`),
which then counts instead of the folder. More than one such marker is an error.

This is a plugin of pytest, loaded by `tests/conftest.py`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest


class Tier(NamedTuple):
    """Tests that are run together, and how long they may take on two quiet cores."""

    name: str
    budget_seconds: int
    what: str
    folders: tuple[str, ...] = ()
    workers: int = 2


TIERS = (
    Tier("unit", 360, "everything that no other tier names"),
    Tier("store", 300, "the store; what is killed halfway; what is fuzzed for long", ("store",)),
    Tier("agents", 180, "the agents' own programs, installed from npm", ("real",)),
    Tier("faces", 300, "browser and terminal", ("serve/web", "serve/tui")),
    Tier("hubs", 240, "PostgreSQL and libSQL", ("share/postgres", "share/libsql")),
    Tier("wheel", 60, "the wheel, installed in a clean environment", ("wheel",), workers=0),
)
BY_NAME = {tier.name: tier for tier in TIERS}
BY_FOLDER = {folder: tier.name for tier in TIERS for folder in tier.folders}
TESTS = Path(__file__).parents[1]


def tier_of(path: Path, markers: Iterable[str]) -> str:
    """The tier of a test in this file that carries these markers; ValueError for two."""
    named = sorted({name for name in markers if name in BY_NAME})
    if len(named) > 1:
        raise ValueError(f"is in {' and '.join(named)}: name one tier")
    if named:
        return named[0]
    folder = path.parent.relative_to(TESTS) if path.is_relative_to(TESTS) else Path()
    for above in (folder, *folder.parents):
        if above.as_posix() in BY_FOLDER:
            return BY_FOLDER[above.as_posix()]
    return "unit"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-plan", type=Path, metavar="FILE", help="write the tests of each tier to a file"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Make the tiers known, and choose the seed that Hypothesis uses in all of this run.

    xdist hands the option on to its workers, so that one number repeats them all.
    """
    for tier in TIERS:
        config.addinivalue_line("markers", f"{tier.name}: {tier.what}")
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(random.randrange(2**32))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seed = terminalreporter.config.option.hypothesis_seed
    terminalreporter.write_line(f"random samples: --hypothesis-seed={seed}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each test the marker of its tier, before `-m` chooses among them."""
    wrong = []
    plan: dict[str, list[str]] = {}
    for item in items:
        try:
            tier = tier_of(item.path, (marker.name for marker in item.iter_markers()))
        except ValueError as error:
            wrong.append(f"{item.nodeid} {error}")
            continue
        item.add_marker(tier)
        plan.setdefault(tier, []).append(item.nodeid)
    if wrong:
        raise pytest.UsageError("\n".join(wrong))
    if config.option.write_plan:
        config.option.write_plan.write_text(json.dumps(plan))
