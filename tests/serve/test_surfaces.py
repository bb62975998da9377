"""The same on every surface: what one project remembers is offered in no other, and
one correction ends a fact everywhere.
"""

from __future__ import annotations

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

# Said by nobody but in one project.
MARK = "zanzibar"
RULE = f"Always build {MARK} with make before you commit."
ASKED = f"why does the {MARK} webhook fail in staging?"
FAILED = f"pytest -q {MARK}"
ERROR = f"ModuleNotFoundError: No module named '{MARK}'"

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
    work.ask(ASKED).run(FAILED, "bash: pytest: command not found", code=127).run(
        f"uv run {FAILED}", "3 passed"
    )
    work.ask(f"load {MARK}").run("python load.py", ERROR, code=1).run(
        f"uv add {MARK}", "added"
    ).run("python load.py", "loaded")
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


def memory_file(home: Path, folder: Path) -> str:
    """Empty when there is nothing to say, and so no file."""
    with memory(home) as mind:
        path = Path(mind.old.memory_folder(str(folder))) / "MEMORY.md"
    return path.read_text() if path.exists() else ""


def notes_file(home: Path, folder: Path) -> str:
    path = home / f"{folder.name}.md"
    with memory(home) as mind:
        mind.old.write_notes(path, folder=str(folder))
    return path.read_text() if path.exists() else ""


SURFACES: dict[str, Surface] = {
    "notes": lambda home, folder: asked(
        home, lambda mind: mind.old.notes(folder=str(folder), status="active")
    ),
    "notes in a file": notes_file,
    "pack": lambda home, folder: rows(
        home,
        "select text, refs from packs join projects on projects.id = project where key = ?",
        folder,
    ),
    "tellings": lambda home, folder: rows(
        home,
        "select line, ref from tellings left join projects on projects.id = project where key is "
        "null or key = ?",
        folder,
    ),
    "recall at the start": lambda home, folder: asked(
        home, lambda mind: mind.recall(folder=str(folder))
    ),
    "hook at the start": lambda home, folder: str(
        told(home, "SessionStart", cwd=str(folder), source="startup")
    ),
    "MEMORY.md": memory_file,
}
# Those that answer a question.
ASKING: dict[str, Surface] = {
    "reminders": lambda home, folder: rows(
        home,
        "select line, refs from reminders join projects on projects.id = project where key = ?",
        folder,
    ),
    "recall": lambda home, folder: asked(home, lambda mind: mind.recall(ASKED, folder=str(folder))),
    "recall over MCP": lambda home, folder: mcp_recall(home, folder, ASKED),
    "hook at a prompt": lambda home, folder: str(
        told(home, "UserPromptSubmit", cwd=str(folder), prompt=ASKED)
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
        mind.old.remember(f"{MARK} needs the database", project=str(shop), by="person")
        list(mind.make_ready())
        list(mind.digest_new())

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
    assert "Use tabs" in notes_file(home, shop)

    with memory(home) as mind:
        mind.old.reject_note("note:1")
        list(mind.make_ready())

    assert {
        name: "Use tabs" in surface(home, shop) for name, surface in SURFACES.items()
    } == dict.fromkeys(SURFACES, False)
