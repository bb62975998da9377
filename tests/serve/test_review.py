"""recollect review: what was found is decided with one key each."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from tests.builders.homes import claude_log
from tests.builders.work import Work

FOUND = ("Build before testing", "Never push to main", "`npm test` fails: no network")


@pytest.fixture
def waiting(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A project with three candidates; their references, in the order of the queue."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    work = Work(1, cwd=str(folder)).ask("please fix the checkout total").run("npm test", "ok")
    claude_log(home, work.done("Fixed.").talk)
    with Memory.open() as memory:
        memory.import_logs()
        (session,) = memory.sessions()
        for place, text in enumerate(FOUND):
            note = memory.notes.add(text, by="agent")
            memory._shared.store().db.execute(
                "update notes set sessions = ?, author = ? where ref = ?",
                (3 - place, "agent" if place else "pattern", note.ref),
            )
            memory._shared.store().db.execute(
                "insert into note_evidence select notes.id, sessions.id, 1 from notes, sessions"
                " where notes.ref = ? and sessions.ref = ?",
                (note.ref, session.id),
            )
        yield [note.ref for note in memory.notes.search(status="candidate")][::-1]


class _Terminal(io.StringIO):
    """Somebody who types, and sees what is asked."""

    def isatty(self) -> bool:
        return True


def press(monkeypatch: pytest.MonkeyPatch, *keys: str) -> str:
    """What a person sees who presses these keys, each as a line of its own."""
    screen = _Terminal()
    monkeypatch.setattr("sys.stdin", _Terminal("".join(f"{key}\n" for key in keys)))
    monkeypatch.setattr("sys.stderr", screen)

    main(["review"])

    return screen.getvalue()


def statuses(waiting: list[str]) -> list[str]:
    with Memory.open() as memory:
        return [memory.notes.get(ref).status for ref in waiting]


def test_each_is_decided_with_one_key(waiting: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one comes by itself, and what was decided is summed up."""
    seen = press(monkeypatch, "a", "r", "s")

    assert statuses(waiting) == ["active", "rejected", "candidate"]
    assert f"✓ {waiting[0]} accepted" in seen
    assert f"✗ {waiting[1]} rejected" in seen
    assert seen.endswith("Done. 1 accepted, 1 rejected. 1 left: recollect review\n")


def test_the_evidence_is_in_view(waiting: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can decide without knowing where it comes from."""
    seen = press(monkeypatch, "q")

    assert "1 of 3" in seen
    assert "pattern, seen in 3 sessions" in seen
    assert "#1  “please fix the checkout total”" in seen
    assert statuses(waiting) == ["candidate"] * 3


def test_a_decision_can_be_taken_back(waiting: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is pressed sooner than it is thought about; the same note is asked about again."""
    press(monkeypatch, "r", "u", "a", "q")

    assert statuses(waiting) == ["active", "candidate", "candidate"]


def test_a_person_can_say_it_better(waiting: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The new words are theirs."""
    press(monkeypatch, "e", "Run `make` before `make test`", "q")

    with Memory.open() as memory:
        (note,) = memory.notes.search(author="person")
        assert (note.text, note.status, note.replaces) == (
            "Run `make` before `make test`",
            "active",
            waiting[0],
        )


def test_a_key_that_means_nothing_changes_nothing(
    waiting: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same is asked again."""
    press(monkeypatch, "x", "7", "q")

    assert statuses(waiting) == ["candidate"] * 3


def test_without_a_terminal_it_is_listed(
    waiting: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A program decides by `memory accept`, and is never kept waiting."""
    assert main(["review"]) == 0
    listed = capsys.readouterr().out
    assert main(["review", "--json", "--min-frequency", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [text for text in FOUND if text in listed] == list(FOUND)
    assert [row["text"] for row in rows] == list(FOUND[:2])
    assert main(["review", "--author", "pattern", "--limit", "1"]) == 0
    assert FOUND[1] not in capsys.readouterr().out


def test_what_is_accepted_may_be_published(
    waiting: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else is: a file that colleagues read holds what a person stands for."""
    press(monkeypatch, "a", "r", "s")

    with Memory.open() as memory:
        (row,) = memory.publish.update()

    assert row.refs == [waiting[0]]


def test_what_several_agents_show_is_marked_and_comes_first(
    waiting: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It is about the project, and not about an agent's ways."""
    with Memory.open() as memory:
        db = memory._shared.store().db
        db.execute(
            """
            insert into sessions (ref, agent, native_id, project)
            select 'codex:x', 'codex', 'x', project from sessions limit 1
            """
        )
        db.execute("insert into turns (session, ordinal, key) select max(id), 1, 'k' from sessions")
        db.execute(
            """
            insert into note_evidence
            select notes.id, (select max(id) from sessions), 1 from notes where ref = ?
            """,
            (waiting[2],),
        )

    assert main(["review"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith(f"[claude-code + codex]  {waiting[2]}")


def test_nothing_to_review_says_so(waiting: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """With the exit code of a search that finds nothing."""
    assert main(["review", "--min-frequency", "9"]) == 1
    assert capsys.readouterr().err == "Nothing to review here. Everywhere: --all\n"


def test_what_two_sessions_show_waits_after_an_import(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody has to ask for it to be looked for."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    for number, name in enumerate(("till", "cart"), 1):
        work = Work(number, cwd=str(folder)).ask(f"show me the {name}")
        work.run(f"bd show {name}", "Error: Database out of sync with JSONL", code=1)
        claude_log(home, work.run(f"bd show {name} --allow-stale", "ok").done("There.").talk)
    with Memory.open() as memory:
        memory.import_logs()
        memory.jobs.work()

    assert main(["review", "--author", "pattern"]) == 0
    assert "→ `bd show cart --allow-stale` works" in capsys.readouterr().out
