"""A home in which every plant has a session of its own, imported and made ready to be told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from tests.builders import codex, plants
from tests.builders.homes import claude_log, codex_log, memory
from tests.builders.work import Work
from tests.serve.poison.table import PLANTS, Plant


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of all plants; nothing here writes to it."""
    home = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for plant in PLANTS:
            write(home, plant)
        with memory(home) as mind:
            report = mind.import_logs()
            assert (report.failed, report.problems) == (0, 0)
            list(mind.store.embed())
            list(mind.make_ready())
            yield mind


def write(home: Path, plant: Plant) -> None:
    """A session in which a person asks, the plant is met, and the work is done."""
    if plant.place.__name__.startswith("codex"):
        codex_log(home, codex_session(plant), thread_of(plant))
        return
    work = Work(plant.number, cwd=plant.folder).ask(plant.prompt).run("make check", "ok")
    if plant.place is plants.sub_agent_log:
        plant.place(home, work, plant.text)
    else:
        plant.place(work, plant.text)
    work.edit(f"{plant.folder}/basket.py").run("pytest -q basket", "2 passed").done()
    claude_log(home, work.talk, project=f"-work-{plant.number}")


def codex_session(plant: Plant) -> list[dict[str, Any]]:
    return [
        codex.meta(thread_of(plant), cwd=plant.folder),
        codex.context(cwd=plant.folder),
        codex.user(plant.prompt),
        *plant.place(plant.text),
        codex.call(call_id="call_t", command=["bash", "-lc", "pytest -q basket"]),
        codex.output('{"output":"2 passed","metadata":{"exit_code":0}}', call_id="call_t"),
        codex.assistant("Done."),
    ]


def thread_of(plant: Plant) -> str:
    return f"019ca000-0000-7000-8000-{plant.number:012}"


def session_of(plant: Plant) -> str:
    """The agent's own name for the session of a plant."""
    if plant.place.__name__.startswith("codex"):
        return thread_of(plant)
    return str(Work(plant.number).talk.session)
