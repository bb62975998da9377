"""What is said in a session is told to the next one: from real logs to the memory of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.distill import remember, sessions
from recollect.memory import Memory
from recollect.serve.cli import main
from recollect.settings import Settings
from recollect.system.clock import now_ms
from tests.builders import homes
from tests.builders.claude_code import Conversation

SHOP, FARM = "/home/ada/shop", "/home/ada/farm"


def talk(number: int, *prompts: str, month: int = 1, **envelope: str) -> Conversation:
    """A conversation in which each prompt is answered."""
    made = homes.chat(number, **envelope)
    at = f"2026-{month:02d}-02T10:00:00.000Z"
    for prompt in prompts:
        made.user(prompt, timestamp=at)
        made.reply("Done.", timestamp=at)
    return made


def told(memory: Memory, project: str = SHOP) -> str:
    """The short form of a project's memory."""
    found = memory.remember(project=project)
    return found.pack if found else ""


def as_stored(memory: Memory, project: str = SHOP) -> list[str]:
    """The lines that are told, without making anything anew."""
    return [note.text for note in memory.notes.shared.store().notes.in_memory(project)]


def test_what_a_person_wants_remembered_is_told_that_night(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three turns are enough, and nobody has to do anything but import."""
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    log = homes.claude_log(
        home,
        talk(1, "fix the login form", "remember: we use pnpm, never npm", "and now the tests"),
    )

    assert main(["import", "--wait", str(log)]) == 0
    capsys.readouterr()

    assert main(["memory", "--project", SHOP, "--pack"]) == 0
    assert "we use pnpm, never npm" in capsys.readouterr().out
    with Memory(Settings.load()) as memory:
        assert any("we use pnpm, never npm" in text for text in as_stored(memory))


def test_only_projects_that_changed_are_remembered_anew(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store of a hundred projects does not pay for a session in one of them."""
    homes.claude_log(home, talk(1, "remember: we use pnpm, never npm"))
    homes.claude_log(home, talk(2, "never push to main", cwd=FARM), "-home-ada-farm")
    made: list[str] = []
    whole = remember.remember_project

    def spied(store: object, project: str, redact: object) -> None:
        made.append(project)
        whole(store, project, redact)  # type: ignore[arg-type]

    monkeypatch.setattr(remember, "remember_project", spied)
    with homes.memory(home) as memory:
        memory.import_logs()
        memory.jobs.work(at_once=True)
        assert sorted(made) == [FARM, SHOP]

        made.clear()
        homes.claude_log(home, talk(3, "always run the linter before a commit"))
        memory.import_logs()
        memory.jobs.work(at_once=True)
        memory.jobs.work(at_once=True)

        assert made == [SHOP]


def test_a_memory_that_takes_long_rests_in_between(home: Path) -> None:
    """A session that goes on is imported again and again; nobody waits for its memory then."""
    homes.claude_log(home, talk(1, "remember: we use pnpm, never npm"))
    with homes.memory(home) as memory:
        memory.import_logs()
        memory.jobs.work()
        db = memory.notes.shared.store().db
        db.execute("update memory_blocks set took_ms = 60000")
        homes.claude_log(home, talk(2, "never push to main"))
        memory.import_logs()
        memory.jobs.work()
        assert not any("never push" in text for text in as_stored(memory))
        later = db.value("select not_before from marks where name = 'memories rest'")
        assert later is None or later > now_ms()

        memory.jobs.work(at_once=True)
        assert any("never push" in text for text in as_stored(memory))


def test_the_newer_of_two_statements_wins_everywhere(home: Path) -> None:
    homes.claude_log(home, talk(1, "always use npm here, never pnpm"))
    homes.claude_log(
        home,
        talk(2, "from now on never use npm here, always pnpm", month=2),
    )
    with homes.memory(home) as memory:
        memory.import_logs()

        assert "always pnpm" in told(memory)
        assert "always use npm here" not in told(memory)


def test_what_a_person_wrote_wins_against_what_was_said_before(home: Path) -> None:
    """And is told at once, although nothing was read again."""
    homes.claude_log(home, talk(1, "always use npm in this project"))
    with homes.memory(home) as memory:
        memory.import_logs()
        assert "always use npm" in told(memory)

        memory.notes.add("never use npm in this project", category="preference", project=SHOP)

        assert "never use npm in this project" in as_stored(memory)
        assert not any("always use npm" in text for text in as_stored(memory))
        assert "always use npm" not in told(memory)


def test_what_was_rejected_does_not_come_back_in_nearly_the_same_words(home: Path) -> None:
    homes.claude_log(home, talk(1, "always run the linter before you commit anything"))
    with homes.memory(home) as memory:
        memory.import_logs()
        assert "linter" in told(memory)
        (note,) = memory.notes.search("linter")
        memory.notes.reject(note.ref)
        assert "linter" not in told(memory)

        homes.claude_log(home, talk(2, "please, always run the linter before you commit anything!"))
        memory.import_logs()

        assert "linter" not in told(memory)


def test_what_holds_everywhere_is_told_in_every_project(home: Path) -> None:
    homes.claude_log(home, talk(1, "remember: we use pnpm, never npm"))
    homes.claude_log(home, talk(2, "never push to main", cwd=FARM), "-home-ada-farm")
    with homes.memory(home) as memory:
        memory.import_logs()
        memory.jobs.work(at_once=True)

        memory.notes.add("answer in Welsh", category="preference", everywhere=True)

        for project in (SHOP, FARM):
            assert "answer in Welsh" in as_stored(memory, project)
            assert "answer in Welsh" in told(memory, project)


def test_a_command_whose_script_is_gone_is_kept_and_not_told(home: Path, tmp_path: Path) -> None:
    """It comes back when the file does."""
    folder = tmp_path / "shop"
    folder.mkdir()
    script = folder / "check.sh"
    script.write_text("true\n")
    talk = homes.chat(1, cwd=str(folder))
    for number in range(2):
        talk.user("run the checks")
        talk.call("Bash", {"command": "bash check.sh"}, f"toolu_{number}")
        talk.result(f"toolu_{number}", "ok", {"stdout": "ok", "stderr": "", "interrupted": False})
        talk.reply("Passed.")
    homes.claude_log(home, talk)
    with homes.memory(home) as memory:
        memory.import_logs()
        note = memory.notes.add("Check with `bash check.sh`", folder=str(folder))
        assert "bash check.sh" in told(memory, str(folder))

        script.unlink()
        memory.notes.shared.store().notes.outdate(str(folder))
        assert "bash check.sh" not in told(memory, str(folder))
        assert memory.notes.get(note.ref).stale

        script.write_text("true\n")
        memory.notes.shared.store().notes.outdate(str(folder))
        assert "bash check.sh" in told(memory, str(folder))


def test_of_a_very_long_project_the_newest_sessions_are_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, its memory is made in the same time."""
    monkeypatch.setattr(sessions, "MOST_TURNS", 3)
    for number in range(1, 4):
        homes.claude_log(home, talk(number, "one", "two", month=number))
    with homes.memory(home) as memory:
        memory.import_logs()
        store = memory.notes.shared.store()

        (read,) = sessions.read_sessions(store, SHOP)

        assert read.ref.endswith("3")


def test_a_secret_is_in_no_note(home: Path) -> None:
    """A password that is said as a rule is a secret all the same."""
    with homes.memory(home, redact__enabled=True) as memory:
        note = memory.notes.add("the staging password: hunter2hunter2", folder=SHOP)

    assert "hunter2" not in note.text
