"""Memories of work that a test describes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from recollect.memory import Memory
from tests.builders.homes import claude_log, memory
from tests.builders.talks import Talks
from tests.builders.work import Remember, Work


@pytest.fixture
def remember(home: Path) -> Iterator[Remember]:
    """Makes a memory of some pieces of work."""
    with ExitStack() as stack:

        def make(*works: Work) -> Memory:
            for work in works:
                claude_log(home, work.talk, project=f"-work-{work.number}")
            mind = stack.enter_context(memory(home))
            mind.import_logs()
            return mind

        yield make


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Talks]:
    """An empty store with a memory over it."""
    made = Talks(tmp_path)
    yield made
    made.close()
