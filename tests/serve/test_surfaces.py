"""The same on every surface: what one project remembers is offered in no other, and
one correction ends a fact everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.memory import Memory
from tests.builders.homes import claude_log, memory
from tests.builders.hooks import passed_command, told
from tests.builders.work import Work
from tests.serve.mcp.direct_client import DirectClient

pytest.importorskip("mcp", reason="the MCP server needs the extra of that name")

from recollect.serve.mcp.resources import Resources
from recollect.serve.memory_thread import MemoryThread

# Said by nobody but in one project.
MARK = "zanzibar"
RULE = f"Always build {MARK} with make before you commit."
ASKED = f"why does the {MARK} webhook fail in staging?"
AGAIN = f"the {MARK} webhook fails in staging once more: ruff check passed, make {MARK} is built"
FAILED = f"ruff check --fxi {MARK}"
ERROR = "error: unexpected argument '--fxi' found"

Surface = Callable[[Path, Path], str]


def spoken(number: int, folder: Path, *said: str) -> Work:
    """A conversation long enough for notes, in a folder, each some minutes after the one before."""
    work = Work(number, cwd=str(folder))
    work.talk.second = 600 * number
    for one in said:
        work.ask(one).done("Noted.")
    for part in range(10):
        work.ask(f"go on with part {part}").done("Done.")
    return work


def full(number: int, folder: Path) -> Work:
    """One with something of every kind that can be told."""
    work = spoken(number, folder, RULE)
    work.ask(ASKED).run(FAILED, ERROR, code=2).run(f"ruff check --fix {MARK}", "All checks passed!")
    work.edit(f"{folder}/{MARK}.py").run(f"make {MARK}", "built")
    return work.done(f"{MARK} is loaded.")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two projects."""
    shop, blog = tmp_path / "shop", tmp_path / "blog"
    shop.mkdir()
    blog.mkdir()
    monkeypatch.chdir(blog)
    return shop, blog


def ready(home: Path, *works: Work) -> None:
    """Import conversations, and make everything ready that can be told of them."""
    for work in works:
        claude_log(home, work.talk, project=f"-work-{work.number}")
    with memory(home) as mind:
        mind.import_logs()
        list(mind.digest_new())
        list(mind.make_ready())


def asked(home: Path, ask: Callable[[Memory], Any]) -> str:
    with memory(home) as mind:
        return msgspec.json.encode(ask(mind)).decode()


def rows(home: Path, sql: str, folder: Path) -> str:
    return asked(home, lambda mind: mind._shared.store().db.rows(sql, (str(folder),)))


def mcp_recall(home: Path, folder: Path, prompt: str) -> str:
    client = DirectClient(home / ".recollect" / "recollect.db")
    try:
        return str(client.call("recall", prompt=prompt, project=str(folder)))
    finally:
        client.memory.close()


def mcp_memory(home: Path, folder: Path) -> str:
    """What MCP gives for a project."""
    with memory(home) as mind:
        thread = MemoryThread(mind)
        try:
            return asyncio.run(Resources(thread).project(str(folder)))
        finally:
            thread.close()


SURFACES: dict[str, Surface] = {
    "notes": lambda home, folder: asked(
        home, lambda mind: mind.notes.search(folder=str(folder), status="active").rows
    ),
    "memory": lambda home, folder: asked(home, lambda mind: mind.remember(folder=str(folder))),
    "pack": lambda home, folder: rows(
        home,
        "select text, refs, long from packs join projects on projects.id = project where key = ?",
        folder,
    ),
    "prompt lines": lambda home, folder: rows(
        home,
        "select line, ref from prompt_lines left join projects on projects.id = project "
        "where key is null or key = ?",
        folder,
    ),
    "recall at the start": lambda home, folder: asked(
        home, lambda mind: mind.recall(folder=str(folder))
    ),
    "hook at the start": lambda home, folder: str(
        told(home, "SessionStart", cwd=str(folder), source="startup")
    ),
    "hook after a compaction": lambda home, folder: str(
        told(home, "SessionStart", cwd=str(folder), source="compact")
    ),
    "memory over MCP": mcp_memory,
}
# Those that answer a question.
ASKING: dict[str, Surface] = {
    "reminders": lambda home, folder: rows(
        home,
        "select line, refs from reminders join projects on projects.id = project where key = ?",
        folder,
    ),
    "recall": lambda home, folder: asked(home, lambda mind: mind.recall(AGAIN, folder=str(folder))),
    "recall over MCP": lambda home, folder: mcp_recall(home, folder, AGAIN),
    "hook at a prompt": lambda home, folder: str(
        told(home, "UserPromptSubmit", cwd=str(folder), prompt=AGAIN)
    ),
    "hook before a command": lambda home, folder: str(
        told(home, "PreToolUse", passed_command(FAILED, cwd=str(folder)))
    ),
}


def test_memories_of_one_project_are_offered_in_no_other(
    home: Path, folders: tuple[Path, Path]
) -> None:
    """What a customer's project taught must not turn up in
    another customer's: 0, on every surface.
    """
    shop, blog = folders
    ready(home, full(1, shop), full(2, shop), spoken(3, blog, "Never post on Fridays."))
    with memory(home) as mind:
        mind.notes.add(f"{MARK} needs the database", project=str(shop))
        list(mind.make_ready())

    own = {name: MARK in surface(home, shop) for name, surface in {**SURFACES, **ASKING}.items()}
    elsewhere = {
        name: MARK in surface(home, blog) for name, surface in {**SURFACES, **ASKING}.items()
    }

    assert own == dict.fromkeys(own, True)
    assert elsewhere == dict.fromkeys(elsewhere, False)


TABS, SPACES = (
    "Use tabs instead of spaces in all zanzibar files.",
    "Use spaces instead of tabs in all zanzibar files.",
)


def test_one_correction_retires_a_fact_on_every_surface(
    home: Path, folders: tuple[Path, Path]
) -> None:
    """Whoever changed their mind must not be answered with what they
    said before, wherever that is read.
    """
    shop, _ = folders
    ready(home, spoken(1, shop, TABS), spoken(2, shop, TABS))
    before = {name: "Use tabs" in surface(home, shop) for name, surface in SURFACES.items()}

    ready(home, spoken(3, shop, SPACES))
    corrected = {name: "Use tabs" in surface(home, shop) for name, surface in SURFACES.items()}
    ready(home, spoken(4, shop, SPACES))
    after = {name: "Use spaces" in surface(home, shop) for name, surface in SURFACES.items()}

    assert before == dict.fromkeys(SURFACES, True)
    assert corrected == dict.fromkeys(SURFACES, False)
    assert after == dict.fromkeys(SURFACES, True)


def test_a_rejected_note_is_told_nowhere(home: Path, folders: tuple[Path, Path]) -> None:
    """A person's word is enough, at once."""
    shop, _ = folders
    ready(home, spoken(1, shop, TABS), spoken(2, shop, TABS))
    with memory(home) as mind:
        (note,) = [note for note in mind.notes.search().rows if "Use tabs" in note.text]

        mind.notes.reject(note.ref)

    assert {
        name: "Use tabs" in surface(home, shop) for name, surface in SURFACES.items()
    } == dict.fromkeys(SURFACES, False)
