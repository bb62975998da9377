"""Whether what was told was used: told by what the session did afterwards, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.recall.hooks.use import NoteNames, things_in, use_of
from recollect.store.sqlite.injections import SessionAction
from tests.builders.homes import claude_log
from tests.builders.hooks import SHOP, told
from tests.builders.work import Remember, Work


def ran(command: str, *, ok: bool | None = True) -> SessionAction:
    return SessionAction("shell", command, ok, 0)


def edited(path: str) -> SessionAction:
    return SessionAction("edit", path, True, 0)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Checks: `uv run pytest -q`, `make lint`", NoteNames(("uv run pytest -q", "make lint"))),
        (
            "`npm tset` fails: unknown command → `npm test` works",
            NoteNames(("npm test",), (), ("npm tset",)),
        ),
        (
            "`pytest` is not installed here (command not found); use `uv run pytest`",
            NoteNames(("uv run pytest",), (), ("pytest",)),
        ),
        ("Prices are in `src/money.py`", NoteNames((), ("src/money.py",))),
        ("Answer in British English", NoteNames()),
    ],
)
def test_a_note_names_what_can_be_acted_on(text: str, names: NoteNames) -> None:
    """Commands, files, and commands that fail."""
    assert things_in(text) == names


@pytest.mark.parametrize(
    ("text", "done", "use"),
    [
        ("Run tests: `make test`", [ran("cd shop && make test | tail")], "used"),
        ("Run tests: `make test`", [ran("ls")], "unused"),
        ("Prices are in `src/money.py`", [edited("/home/ada/shop/src/money.py")], "used"),
        ("Prices are in `src/money.py`", [edited("/home/ada/shop/src/tax.py")], "unused"),
        ("`npm tset` fails: no → `npm test` works", [ran("npm tset", ok=False)], "unused"),
        ("`npm tset` fails: no → `npm test` works", [ran("npm test")], "used"),
        ("`npm tset` fails: no → `npm test` works", [ran("ls")], "unknown"),
        ("Answer in British English", [ran("make test")], "unknown"),
    ],
)
def test_use_is_what_was_done_afterwards(text: str, done: list[SessionAction], use: str) -> None:
    """A failing command that was not run shows nothing: perhaps nobody wanted to."""
    assert use_of(things_in(text), done) == use


def test_what_a_session_was_told_is_looked_at_when_it_is_quiet(
    home: Path, remember: Remember
) -> None:
    """By what it did after that, not before; and again when more of it was read."""
    mind = remember(Work(1).ask("are the tests of the shop green?").run("make test", "3 passed"))
    note = mind.notes.add("Run tests: `make test`", folder=SHOP)
    list(mind.make_ready())
    work = Work(2).ask("round the prices of the shop").run("ls", "basket.py")
    told(home, "SessionStart", session_id=work.talk.session)
    claude_log(home, work.talk, project="-work-2")
    mind.import_logs()
    db = mind._shared.store().db
    db.execute("update injections set at = (select started_at from sessions where id = 2)")
    before = uses(mind)

    claude_log(home, work.ask("and check it").run("make test", "3 passed").talk, project="-work-2")
    mind.import_logs()
    db.execute("update injections set looked_at = 0")

    assert before[note.ref] == "unused"
    assert uses(mind)[note.ref] == "used"
    (effect,) = mind.injections.effect(ref=note.ref)
    assert (effect.told, effect.used, effect.unused) == (1, 1, 0)


def uses(mind: Memory) -> dict[str, str]:
    (told_once,) = mind.injections.list()
    return {line.ref: line.use for line in told_once.lines}
