"""A store with something to ask about, and servers over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders.talks import SHOP, Said, Talks
from tests.serve.mcp.clients import Pipes

ERROR = "ModuleNotFoundError: No module named 'stripe'"


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    """Two projects: in the shop an error was met and overcome, in the
    blog something was read on the web.
    """
    made = Talks(tmp_path_factory.mktemp("told"))
    made.tell(
        "a",
        Said(
            "why does the webhook signature check fail?",
            command="pytest -q hooks",
            output=ERROR,
            ok=False,
        ),
        Said(
            "install what is missing",
            command="pip install stripe",
            output="Successfully installed stripe",
        ),
        Said(
            "run the hooks again",
            command="pytest -q hooks",
            reply="The signature check passes now.",
        ),
        Said("round the prices up", edited=f"{SHOP}/prices.py", reply="Prices are rounded up."),
    )
    made.tell(
        "b", "write a post about tulips", "and about daffodils", project="/home/ada/blog", day=1
    )
    yield made.embed()
    made.close()


@pytest.fixture
def store(told: Talks, tmp_path: Path) -> Path:
    """A copy that a test may write to."""
    path = tmp_path / "copy.db"
    told.memory.store.backup(path)
    return path


Start = Callable[..., Pipes]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts servers, and ends those that a test leaves running."""
    started: list[Pipes] = []

    def start(*options: str, **where: Any) -> Pipes:
        started.append(Pipes(*options, **where))
        return started[-1]

    yield start
    for one in started:
        one.kill()
