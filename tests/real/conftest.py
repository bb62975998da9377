"""A machine with a project on it, a stub for a model, and whatever agent a test asks for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.agents import AGENTS, Agent
from tests.real.machine import Machine
from tests.real.record import make_project
from tests.real.stub import Stub, listening

# What there is to do in the project: a tool that is not on the path, and one that fails.
SHOPCTL = '#!/bin/sh\necho "12 in stock"\n'
LEDGER = '#!/bin/sh\necho "Error: the blue ledger is locked by the warehouse" >&2\nexit 3\n'


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting an agent takes seconds.

    On a machine that is busy with something else a hook falls silent after 0.9
    seconds, as it should, and an agent goes on without a server that is slow
    to start. So a test that fails here may try again.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture
def stub() -> Iterator[Stub]:
    with listening() as stub:
        yield stub


@contextmanager
def set_up(home: Path) -> Iterator[Machine]:
    """A home without any log, and beside it the folder of a shop to work in."""
    shop = home.with_name("shop")
    make_project(shop)
    for name, script in (("shopctl", SHOPCTL), ("ledger", LEDGER)):
        file = shop / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
    machine = Machine(home, shop)
    yield machine
    # What hooks started goes on by itself; nothing of it may outlive its test.
    machine.wait()
    # Copilot unpacks a hundred megabytes into every home.
    shutil.rmtree(home / ".cache", ignore_errors=True)


@pytest.fixture
def machine(home: Path) -> Iterator[Machine]:
    """A machine of the test's own."""
    with set_up(home) as machine:
        yield machine


@pytest.fixture
def start(machine: Machine, stub: Stub) -> Callable[[str], Agent]:
    """The agent of a name, set up for this machine and for the stub.

    Recollect is not installed in it.
    """
    return lambda name: AGENTS[name](machine.home, stub)
