"""What is said is so at once: nobody has to know that there are jobs, or a queue."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.model.episodes import Context
from recollect.serve.hook import respond

FOLDER = "/home/mara/code/webshop"
PROJECT = "github.com/acme/webshop"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """The sample sessions, with everything made ready."""
    with Memory.open(tmp_path / "recollect.db", environ={"HOME": str(tmp_path)}) as made:
        made.import_logs([made.agents.sample_logs()])
        while made.jobs.work():
            pass
        yield made


def told(memory: Memory) -> str:
    """What the next session in the project is told at its start."""
    event = {"session_id": "new", "cwd": FOLDER, "transcript_path": "/none.jsonl"}
    environ = {"HOME": memory.environ["HOME"], "RECOLLECT_STORE": memory.settings.store}
    return respond("claude-code", "SessionStart", json.dumps(event).encode(), environ)


def test_what_a_person_notes_is_told_to_the_next_session(memory: Memory) -> None:
    """They open the next session to see it."""
    note = memory.notes.add("Ask Zoe before a deploy.", project=PROJECT)
    assert "Ask Zoe before a deploy" in told(memory)

    edited = memory.notes.edit(note.ref, "Ask Yann before a deploy.")
    assert "Ask Yann before a deploy" in told(memory)
    assert "Zoe" not in told(memory)

    memory.notes.reject(edited.ref)
    assert "Yann" not in told(memory)


def test_what_a_person_accepts_or_forgets_is_so_in_the_next_session(memory: Memory) -> None:
    """A candidate is told to nobody until then, and what is forgotten to nobody after."""
    note = memory.notes.add("The lighthouse listens on port 7411.", project=PROJECT, by="agent")
    assert "7411" not in told(memory)

    memory.notes.accept(note.ref)
    assert "7411" in told(memory)

    memory.notes.forget(note.ref)
    assert "7411" not in told(memory)


def test_a_note_for_every_project_is_told_at_once_too(memory: Memory) -> None:
    """It changes what is ready for all of them."""
    memory.notes.add("Answer in Welsh.", everywhere=True)

    assert "Answer in Welsh" in told(memory)


def test_a_completed_attempt_is_found_at_once(memory: Memory) -> None:
    """A program that completes one attempt and starts the next asks right away."""
    for number in range(20):
        task = f"mend the lighthouse lamp number {number}"
        episode = memory.episodes.start(task, Context(project=PROJECT))
        memory.episodes.complete(episode, "success")

        assert memory.episodes.retrieve(task)[0].episode.ref == episode
        assert memory.episodes.get(episode).task == task
        assert memory.episodes.all(source="live", limit=1).rows[0].ref == episode

    assert memory.episodes.flush().kept == 20


def test_a_coroutine_finds_what_it_completed(memory: Memory) -> None:
    """The form that docs/episodes.md shows: what waits is given to a thread."""

    async def attempt(number: int) -> bool:
        task = f"paint the harbour wall, side {number}"
        episode = memory.episodes.start(task)
        await asyncio.to_thread(memory.episodes.complete, episode, "success")
        found = await asyncio.to_thread(memory.episodes.retrieve, task)
        return found[0].episode.ref == episode

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*map(attempt, range(8)))

    assert asyncio.run(all_of_them()) == [True] * 8


def test_a_dry_import_says_what_the_import_then_does(tmp_path: Path) -> None:
    """Down to the byte and the turn, also of logs that tell the same session twice,
    and when some of it is stored already.
    """
    with Memory.open(tmp_path / "recollect.db", environ={"HOME": str(tmp_path)}) as memory:
        logs = Path(memory.agents.sample_logs())
        for paths in ([logs / "codex"], [logs, logs / "codex"], [logs]):
            planned = memory.import_logs(paths, dry_run=True)
            told = memory.source_reports
            done = memory.import_logs(paths)

            planned.seconds = done.seconds = 0.0
            assert planned == done
            assert told == memory.source_reports
    assert not list(tmp_path.glob("recollect-*"))


def test_a_dry_retain_says_what_retain_then_does(tmp_path: Path) -> None:
    """Also of sessions that have no digest yet: those get one before their events go."""
    environ = {"HOME": str(tmp_path), "RECOLLECT_HOME": str(tmp_path)}
    limits = {"retain.raw_soft_cap_bytes": 20_000, "retain.raw_hard_cap_bytes": 10_000}
    with Memory.open(tmp_path / "recollect.db", environ=environ, settings=limits) as memory:
        memory.import_logs([memory.agents.sample_logs()])
        *_, planned = memory.store.retain(dry_run=True)
        *_, done = memory.store.retain()

    assert sum(done.evicted.values()) > 0
    assert planned.dry_run
    planned.dry_run = False
    assert planned == done
