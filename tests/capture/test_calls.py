"""What an import makes of calls: where they ran and how they ended."""

from __future__ import annotations

import os
from pathlib import Path

from recollect.model.sessions import ToolCall
from tests.builders import aider, codex
from tests.builders.homes import chat, claude_log, codex_log, everything, memory
from tests.builders.repositories import repository


def imported(home: Path) -> list[ToolCall]:
    """The calls of the only session of a home, in their order."""
    with memory(home) as mind:
        mind.import_logs()
        [session] = everything(mind).values()
    events = [event for turn in session.turn_list for event in turn.events]
    return [event for event in events if isinstance(event, ToolCall)]


def test_the_folder_of_a_shell_call_is_kept(home: Path) -> None:
    """`go test ./...` is only true in its folder."""
    talk = chat(cwd="/srv/shop")
    talk.user("test it")
    for number, command in enumerate(["go test", "cd web && npm test", "cd /opt; ls", "cd $X; ls"]):
        talk.call("Bash", {"command": command}, f"toolu_{number}")
    claude_log(home, talk)

    assert [call.folder for call in imported(home)] == ["/srv/shop", "/srv/shop/web", "/opt", None]


def test_powershell_goes_to_a_folder_in_its_own_words(home: Path) -> None:
    """On Windows agents begin nearly every line with it."""
    talk = chat(cwd=r"C:\code")
    talk.user("test it")
    commands = [r"Set-Location -Path C:\shop; npm test", "sl web; npm test", "chdir web && dir"]
    for number, command in enumerate(commands):
        talk.call("Bash", {"command": command}, f"toolu_{number}")
    claude_log(home, talk)

    assert [call.folder for call in imported(home)] == [r"C:\shop", "C:\\code/web", "C:\\code/web"]


def test_a_command_that_says_its_folder_ran_there(home: Path) -> None:
    """Codex gives every command a folder, above the session's or beside it."""
    codex_log(
        home,
        [
            codex.meta(cwd="/srv/shop"),
            codex.user(),
            codex.call("exec_command", "call_1", cmd="make", workdir="/srv/shop/api"),
            codex.call("exec_command", "call_2", cmd="cd ../web && make", workdir="api"),
            codex.call("exec_command", "call_3", cmd="make"),
        ],
    )

    assert [call.folder for call in imported(home)] == [
        "/srv/shop/api", "/srv/shop/web", "/srv/shop",
    ]  # fmt: skip


def test_a_call_ends_as_its_command_says(home: Path) -> None:
    """An answer is no failure, and a pipe hides what stood before it."""
    talk = chat()
    talk.user("look")
    for id, command in (("a", "grep x y"), ("b", "npm test | tail -2"), ("c", "make"), ("d", "ls")):
        talk.call("Bash", {"command": command}, id)
    talk.result("a", "Exit code 1", None, error=True)
    talk.result("b", "done in 2 s", None)
    talk.result("c", "Exit code 1\nno rule", None, error=True)
    claude_log(home, talk)

    assert [call.ok for call in imported(home)] == [True, None, False, None]


def test_a_result_that_comes_in_a_later_run_ends_its_command(home: Path) -> None:
    """The command is in the store by then, and decides as it would have before."""
    talk = chat()
    talk.user("look")
    talk.call("Bash", {"command": "npm test | tail -2"}, "late")
    claude_log(home, talk)
    with memory(home) as mind:
        mind.import_logs()
    talk.result("late", "done in 2 s", None)
    claude_log(home, talk)

    assert [call.ok for call in imported(home)] == [None]


def test_a_command_left_in_the_background_has_not_passed(home: Path) -> None:
    """That it was started is all that is known."""
    talk = chat()
    talk.user("serve")
    talk.call("Bash", {"command": "npm start", "run_in_background": True}, "bg")
    talk.result("bg", "Command running in background with ID: b1", None)
    claude_log(home, talk)

    assert [call.ok for call in imported(home)] == [None]


def test_a_patch_that_a_shell_was_given_is_an_edit(home: Path) -> None:
    """It was listed among the commands, all of its lines in one."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    codex_log(home, [codex.meta(), codex.user(), codex.call("shell_command", command=patch)])

    [call] = imported(home)

    assert (call.tool_kind, call.target, call.input) == ("edit", "a.py", {"command": patch})


def test_a_command_of_several_lines_keeps_them(home: Path) -> None:
    """In one line, `make` and `echo` would be one command with an argument."""
    talk = chat()
    talk.user("build it")
    talk.call("Bash", {"command": "make\necho done"}, "a")
    talk.result("a", "Exit code 2\nmake: *** no rule: oak", None, error=True)
    claude_log(home, talk)

    with memory(home) as mind:
        mind.import_logs()
        [fix] = mind.fix("make: *** no rule: oak")

    assert fix.failed == "make\necho done"


def test_a_command_in_a_history_of_another_place_has_the_same_folder_each_time(
    home: Path, tmp_path: Path
) -> None:
    """Nothing in such a history says where it was made; what is known of it is known at once."""
    history = repository(tmp_path / "clone") / "old-history.md"
    history.write_text(aider.introduced() + aider.prompt("/run ls") + aider.answer("Done."))
    with memory(home) as mind:
        mind.import_logs([history])
        first = everything(mind)
        os.utime(history, ns=(1, 1))
        mind.import_logs([history])

        assert everything(mind) == first
