"""Processes that record and are killed, forked, or just end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from recollect.errors import NotFound, UnknownEpisode
from recollect.memory import Memory
from recollect.model.episodes import Context, Ending, Step
from recollect.settings import Settings

WRITER = """
import os, signal, sys
from recollect.model.episodes import Step
from recollect.memory import Memory
from recollect.settings import Settings

home, ending = sys.argv[1:]
memory = Memory(Settings(home, home + "/recollect.db", {"redact.enabled": False}))
number = 0
while True:
    refs = []
    for _ in range(5):
        number += 1
        ref = memory.episodes.start(f"task {number}")
        for step in range(number % 7):
            memory.episodes.log(ref, Step("bash", f"step {step}"))
        memory.episodes.complete(ref, "success")
        refs.append(ref)
    if ending == "exit":
        memory.episodes.start("never completed")
        break
    memory.episodes.flush()
    print(*refs, flush=True)
    if ending == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def start(home: Path, ending: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(home), ending]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stored(home: Path) -> dict[str, tuple[str, int]]:
    """Every attempt in the store: its task and how many steps it has."""
    with Memory(Settings(str(home), str(home / "recollect.db"), {})) as memory:
        store = memory._shared.store()
        found = store.episodes.find(store.episodes.numbers())
    return {one.ref: (one.task, len(one.steps)) for one in found.values()}


def is_whole(task: str, steps: int) -> bool:
    return steps == int(task.removeprefix("task ")) % 7


def test_what_was_flushed_survives_a_kill(tmp_path: Path) -> None:
    """That is what flush is for."""
    process = start(tmp_path, "kill")
    said, _ = process.communicate(timeout=60)

    kept = stored(tmp_path)

    assert process.returncode == -signal.SIGKILL
    assert set(said.split()) == set(kept)
    assert all(is_whole(task, steps) for task, steps in kept.values())


@pytest.mark.store
def test_a_kill_at_any_moment_leaves_whole_attempts_only(tmp_path: Path) -> None:
    """Whatever was said to be flushed is there.

    Of the rest, each is there with all its steps or not at all.
    """
    chance = random.Random(6)
    for run in range(8):
        home = tmp_path / f"{run}"
        home.mkdir()
        process = start(home, "never")
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        said = first + process.communicate()[0]
        # The last line may have been cut off.
        flushed = {
            ref
            for line in said.splitlines(keepends=True)
            if line.endswith("\n")
            for ref in line.split()
        }

        kept = stored(home)

        assert flushed <= set(kept)
        assert all(is_whole(task, steps) for task, steps in kept.values())


def test_a_program_that_just_ends_loses_nothing(tmp_path: Path) -> None:
    """Neither flushed nor closed: what was completed is written at the
    end, and what was not is abandoned.
    """
    process = start(tmp_path, "exit")
    _, complaint = process.communicate(timeout=60)

    kept = stored(tmp_path)

    assert (process.returncode, complaint) == (0, "")
    assert sorted(task for task, _ in kept.values()) == [
        "never completed",
        *(f"task {number}" for number in range(1, 6)),
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_begins_with_nothing_and_spoils_nothing(tmp_path: Path) -> None:
    """What the parent has begun and queued is the parent's; the child records on its own."""
    memory = Memory(
        Settings(str(tmp_path), str(tmp_path / "recollect.db"), {"redact.enabled": False})
    )
    memory.episodes.complete(memory.episodes.start("written before"), "success")
    memory.episodes.flush()
    memory.episodes.retrieve("written before")
    open_ref = memory.episodes.start("the parent's")
    memory.episodes.log(open_ref, Step("bash", "ls"))
    memory.episodes.complete(memory.episodes.start("queued by the parent"), "success")

    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                memory.episodes.complete(open_ref, "fail")
            except UnknownEpisode:
                memory.episodes.complete(memory.episodes.start("the child's"), "success")
                memory.episodes.flush()
                code = (
                    0
                    if [hit.episode.task for hit in memory.episodes.retrieve("the child's")]
                    else 2
                )
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    memory.episodes.complete(open_ref, "success")
    memory.close()

    assert os.waitstatus_to_exitcode(status) == 0
    assert sorted(task for task, _ in stored(tmp_path).values()) == [
        "queued by the parent", "the child's", "the parent's", "written before",
    ]  # fmt: skip


def test_secrets_are_gone_before_there_is_a_row(tmp_path: Path) -> None:
    """Wherever one is: in the task, a tag, a step, the result.

    No file of the store ever holds it.
    """
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    with Memory(Settings(str(tmp_path), str(tmp_path / "recollect.db"), {})) as memory:
        ref = memory.episodes.start(
            f"use {secret}", Context(tags=(f"t {secret}",), project=f"/home/{secret}")
        )
        memory.episodes.log(ref, Step("bash", f"login {secret}", observation=f"said {secret}"))
        memory.episodes.complete(ref, Ending("fail", result=f"r {secret}", error=f"e {secret}"))
        memory.episodes.flush()
        found = memory.episodes.get(ref)
        files = [path.read_bytes() for path in tmp_path.glob("recollect.db*")]

    assert len(files) >= 2
    assert not any(secret.encode() in content for content in files)
    assert "[REDACTED:github-pat:" in found.task
    assert found.steps[0].action.startswith("login [REDACTED:")


def test_the_store_is_open_before_the_first_attempt_ends(tmp_path: Path) -> None:
    """So that the first one is written as soon as the others: opening takes
    longer than the 50 ms that are promised.
    """
    settings = Settings(str(tmp_path), str(tmp_path / "recollect.db"), {"redact.enabled": False})
    with Memory(settings) as memory:
        memory.episodes.start("the first one")
        memory.episodes.flush()
    with Memory(settings) as memory:
        memory.episodes.start("the second one")
        opened = memory.episodes._recorder._writer._own  # type: ignore[union-attr]
        for thread in threading.enumerate():
            if thread.name == "episodes-ready":
                thread.join()

        assert opened._store is not None


def test_nothing_is_stored_before_something_is_recorded(tmp_path: Path) -> None:
    """Asking for earlier attempts makes no store, and finds none."""
    with Memory(Settings(str(tmp_path), str(tmp_path / "recollect.db"), {})) as memory:
        found = memory.episodes.retrieve("round the tax")
        told = memory.episodes.flush()

        with pytest.raises(NotFound):
            memory.episodes.get("episode:x")

    assert (found, told.kept) == ([], 0)
    assert not (tmp_path / "recollect.db").exists()
