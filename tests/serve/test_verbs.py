"""The verbs on the command line: what a person types, and reads."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recollect
from recollect.serve.cli import main
from recollect.serve.output import printable
from recollect.serve.resume import shell_line
from tests.builders import codex
from tests.builders.claude_code import Conversation
from tests.builders.homes import add_turn, claude_log, codex_log, codex_talk, memory, small_talk

SAMPLES = Path(recollect.__file__).parent / "samples"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that holds the sample sessions; read only."""
    folder = tmp_path_factory.mktemp("prepared")
    with memory(folder) as mind:
        mind.import_logs([SAMPLES])
    return folder / ".recollect"


@pytest.fixture
def samples(prepared: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(prepared))
    monkeypatch.chdir(home)


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What a command with --json answered."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    "command", ["blame x.py", "fix boom", "how make", "friction", "resume x", "handoff x"]
)
def test_asking_before_importing_names_the_next_step(
    command: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 1

    assert "recollect import" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["blame no-such-file.xyz", "fix zzzq unheard of", "how zzzq", "friction --sessions 99"],
)
@pytest.mark.usefixtures("samples")
def test_nothing_found_is_said_and_is_the_exit_code(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script can tell, and a person too."""
    assert main(shlex.split(command)) == 1

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("command", ["blame", "blame --since 3d", "blame since:3d"])
def test_blame_without_a_file_says_so(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A filter is no file, and an empty answer would look as if nothing had changed."""
    assert main(command.split()) == 2
    assert "Which file?" in capsys.readouterr().err


@pytest.mark.usefixtures("samples")
def test_blame_tells_who_asked_for_what(capsys: pytest.CaptureFixture[str]) -> None:
    """Edits and shell commands alike, newest first."""
    assert main(["blame", "harmonics.rs"]) == 0
    assert main(["blame", "harmonics.rs", "--json"]) == 0

    text, *lines = capsys.readouterr().out.split('{"ref"')
    rows = [json.loads('{"ref"' + line) for line in lines]
    assert [(row["turn"], row["tools"]) for row in rows] == [
        (5, ["apply_patch"]), (4, ["shell_command"]), (2, ["apply_patch", "shell_command"]), (1,
        ["apply_patch"]),
    ]  # fmt: skip
    assert "> add tests. we use cargo nextest, not cargo test" in text
    assert "/home/mara/code/tidepool/src/harmonics.rs  apply_patch  +10 -0" in text


@pytest.mark.usefixtures("samples")
def test_fix_tells_what_worked_and_why_to_believe_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "sqlite3.OperationalError: database is locked"]) == 0

    assert capsys.readouterr().out == (
        "codex:01a1a188-4f7c-7bf7-9907-b07c16d3c940#5  2026-11-03 13:31  github.com/acme/webshop\n"
        "    high: the same line; the same command worked afterwards\n"
        "    error   sqlite3.OperationalError: database is locked\n"
        "    failed  uv run pytest -q tests/feeds tests/catalog  (exit 1)\n"
        "    edited  shop/feeds/cache.py\n"
        "    worked  uv run ruff check . && uv run pytest -q tests/feeds tests/catalog  (exit 0)\n"
    )


@pytest.mark.parametrize("argument", [[], ["-"]])
@pytest.mark.usefixtures("samples")
def test_an_error_can_be_piped_in(
    argument: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sys,
        "stdin",
        io.StringIO("running\nE   sqlite3.OperationalError: database is locked\n1 failed\n"),
    )

    assert main(["fix", *argument, "--json"]) == 0

    assert [row["match"] for row in answers(capsys)] == ["exact"]


@pytest.mark.usefixtures("samples")
def test_an_error_may_begin_with_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    """It is no option of ours."""
    assert main(["fix", "--frobnicate: unknown option"]) == 1

    assert "This error has not come up before." in capsys.readouterr().err


@pytest.mark.usefixtures("samples")
def test_an_unknown_error_ends_in_a_command_that_can_be_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of a whole output, the words of the line that says what went wrong."""
    assert main(["fix", "compiling\nerror: cannot frobnicate 'the $widget'\n3 done"]) == 1

    assert capsys.readouterr().err.splitlines() == [
        "This error has not come up before.",
        "To search for its words: recollect search error cannot frobnicate the widget",
    ]


@pytest.mark.usefixtures("samples")
def test_without_an_error_fix_says_how_to_give_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())

    assert main(["fix"]) == 2

    assert "recollect fix" in capsys.readouterr().err


@pytest.mark.usefixtures("samples")
def test_how_shows_the_flags_that_worked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["how", "pytest", "project:webshop", "--limit", "1"]) == 0

    assert capsys.readouterr().out == (
        "uv run ruff check . && uv run pytest -q -n 4  4 worked, last 2026-11-10  "
        "claude-code:a75df633-cccd-40e2-b7e0-918a547e522d#1\n"
    )


def test_of_a_script_how_shows_the_line_that_worked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody knows of the line before it how it ended."""
    talk = Conversation()
    talk.user("check it")
    talk.call("Bash", {"command": "cd web && npm run build\nnpm run e2e"}, "t1")
    talk.result("t1", "fine", {"stdout": "fine", "stderr": "", "interrupted": False})
    claude_log(home, talk)
    with memory(home) as mind:
        mind.import_logs()
        store = str(mind.settings.store)

    main(["how", "npm", "--everywhere", "--store", store])

    assert capsys.readouterr().out.startswith("npm run e2e  +1 line  1 worked")


@pytest.mark.usefixtures("samples")
def test_friction_shows_what_came_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["friction", "--sessions", "2"]) == 0

    printed = capsys.readouterr().out
    assert printed.startswith(
        "error: failed to run custom build command for `openssl-sys v0.9.103`\n    2 sessions, 2 "
        "times,"
    )
    assert "2 of the last 2 got past it" in printed


# Resume


def remember(home: Path, *paths: Path) -> None:
    """Import what is in a home, or at some paths, into the store that commands use there."""
    with memory(home) as mind:
        mind.import_logs(paths)


@pytest.fixture
def own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands use the store that `remember` fills."""
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))


def resumed(ref: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, list[str]]:
    """The line and the warnings."""
    capsys.readouterr()
    assert main(["resume", ref]) == 0
    printed = capsys.readouterr()
    return printed.out.rstrip("\n"), printed.err.splitlines()


@pytest.mark.usefixtures("own")
def test_a_session_is_continued_in_its_own_agent_and_folder(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Quoted, so that the line can be pasted."""
    folder = home / "my shop; 'mine'"
    folder.mkdir()
    talk = small_talk(cwd=str(folder))
    claude_log(home, talk)
    codex_log(home, codex_talk(cwd=str(folder)))
    remember(home)

    claude, codex_line = (
        resumed(f"claude-code:{talk.session}", capsys),
        resumed(codex.THREAD, capsys),
    )

    assert claude == (f"cd {shlex.quote(str(folder))} && claude --resume {talk.session}", [])
    assert codex_line == (f"cd {shlex.quote(str(folder))} && codex resume {codex.THREAD}", [])


@pytest.mark.usefixtures("own")
@pytest.mark.skipif(os.name == "nt", reason="the line is for another shell there")
def test_the_line_means_what_it_says_to_a_shell(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "a $(touch pwned) `b` 'c'"
    folder.mkdir()
    claude_log(home, small_talk(cwd=str(folder)))
    remember(home)

    line, _ = resumed("5e551011", capsys)

    ran = subprocess.run(
        ["sh", "-c", line.replace("claude --resume", "pwd; echo")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"{folder}\n5e551011-0000-4000-8000-000000000001\n"
    assert not list(home.rglob("pwned"))


@pytest.mark.usefixtures("own")
def test_a_folder_that_a_terminal_cannot_show_is_given_to_no_shell(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escapes would be left out of what is shown, and with them a quote."""
    claude_log(home, small_talk(cwd="/tmp/a\x1b]0;'; touch pwned; '\x07b"))
    remember(home)

    line, warnings = resumed("5e551011", capsys)

    assert line == "claude --resume 5e551011-0000-4000-8000-000000000001"
    assert warnings[0].startswith("No shell can be given the name of the folder safely: ")


PIECES = [
    *"aZ1 ./\\:~-=!#*?[]{}()<>|&;,^%@$`\"'\n\r\t\x1b\x07ü“”„’", "\u202e", "%PATH%", "$(calc)",
    "& calc &",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=20).map("".join)
RESUME = ["claude", "--resume", "5e551011"]


@pytest.mark.skipif(os.name == "nt", reason="the line is for another shell there")
@settings(max_examples=60)
@given(folder=HOSTILE)
@example(folder="-")
@example(folder="/tmp/a\x1b]0;'; touch pwned; '\x07b")
def test_no_folder_makes_sh_run_anything_else(folder: str) -> None:
    """The line is pasted as it is shown."""
    line = printable(shell_line(folder, RESUME, windows=False))

    script = 'cd() { printf "%s\\n" "$#$1"; }; claude() { printf "%s\\n" "$*"; }\n' + line
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)

    lines = ran.stdout.splitlines()
    assert lines in (
        ["--resume 5e551011"],
        [f"1{folder}", "--resume 5e551011"],
        [f"1./{folder}", "--resume 5e551011"],
    )
    assert (len(lines) == 1) == (not folder.isprintable())


@given(folder=HOSTILE)
@example(folder='C:\\x" & calc.exe & rem "')
@example(folder="C:\\$(calc)")
def test_no_folder_makes_a_shell_of_windows_run_anything_else(folder: str) -> None:
    """One line for cmd and PowerShell, in which nothing but the two quotes means something.

    Between double quotes cmd sees `%`, `!` and the end of the quotes, PowerShell
    sees `$`, the backtick and four kinds of quotes.
    """
    line = printable(shell_line(folder, RESUME, windows=True))

    *entered, start = line.rpartition(" && ")[::2] if " && " in line else [line]
    assert start == "claude --resume 5e551011"
    assert "".join(entered) in ("", f'pushd "{folder}"')
    if entered:
        assert not set(folder) & set('"%!$`“”„\r\n\0<>|?*')
        assert folder.isprintable()


def test_an_ordinary_folder_of_windows_is_entered() -> None:
    """On another drive too, and in both shells."""
    folder = r"D:\Müller & Söhne (alt)\it's ^ours"

    assert shell_line(folder, RESUME, windows=True) == (
        f'pushd "{folder}" && claude --resume 5e551011'
    )


@pytest.mark.usefixtures("own")
def test_what_keeps_it_from_working_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Agents clear away their logs after some weeks; the store still has the session."""
    log = claude_log(home, small_talk(cwd=str(home / "gone")))
    remember(home)
    log.unlink()

    line, warnings = resumed("5e551011-0000-4000-8000-000000000001#2", capsys)

    assert line.endswith("claude --resume 5e551011-0000-4000-8000-000000000001")
    assert [warning.split(":")[0] for warning in warnings] == [
        "A session continues at its end, not at one of its turns.",
        f"{home / 'gone'} does not exist on this machine, so the agent cannot find the session.",
        f"The log {log} is gone, so the agent cannot continue it. You can still read it",
    ]  # fmt: skip


@pytest.mark.usefixtures("own")
def test_a_log_from_elsewhere_is_not_the_agents(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backup can be read, but the agent does not look there."""
    claude_log(tmp_path / "backup", small_talk(cwd=str(home)))
    remember(home, tmp_path / "backup")

    _, warnings = resumed("5e551011", capsys)

    assert len(warnings) == 1
    assert f"the agent looks in {home / '.claude'}" in warnings[0]


@pytest.mark.usefixtures("own")
def test_a_sub_agent_is_continued_through_its_parent(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = small_talk(cwd=str(home))
    log = claude_log(home, talk)
    helper = Conversation(talk.session, prefix="h", agent="a1b2c3", cwd=str(home))
    add_turn(helper, "helper")
    helper.write(log.with_suffix("") / "subagents" / "agent-a1b2c3.jsonl")
    remember(home)
    ref = f"claude-code:{talk.session}/a1b2c3"

    line, warnings = resumed(ref, capsys)

    assert line == f"cd {shlex.quote(str(home))} && claude --resume {talk.session}"
    assert warnings == [
        f"{ref} is a sub-agent and cannot be continued. This continues the session that started it."
    ]
    assert main(["resume", ref, "--json"]) == 0
    (row,) = answers(capsys)
    assert (row["asked"], row["session"], row["words"]) == (
        ref,
        f"claude-code:{talk.session}",
        ["claude", "--resume", talk.session],
    )


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("thread", ["--dangerous", "x y", "$(pwned)"])
def test_an_id_that_is_none_is_given_to_no_command(
    thread: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody's log can claim any id, and the line is meant to be pasted."""
    codex_log(home, codex_talk(thread))
    remember(home)

    assert main(["resume", "--", f"codex:{thread}"]) == 2

    printed = capsys.readouterr()
    assert (printed.out, "no agent uses" in printed.err) == ("", True)


@pytest.mark.usefixtures("samples")
def test_a_session_nobody_knows_cannot_be_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", "nobody"]) == 1

    assert "recollect sessions" in capsys.readouterr().err


# Show


def test_show_prints_a_patch_as_a_patch(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What an edit was to change says more than that it was made."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    given = [codex.meta(), codex.user(), codex.patch(patch), codex.output("Success.", "call_p")]
    codex_log(home, given)
    talk = Conversation()
    talk.user("rename it")
    edit = {"file_path": "/b.py", "old_string": "one\ntwo", "new_string": "three"}
    talk.call("Edit", edit, "toolu_1")
    talk.call("Bash", {"command": "make | tail"}, "toolu_2")
    talk.result("toolu_2", "cc a.c")
    claude_log(home, talk)
    assert main(["import", "--wait"]) == 0
    capsys.readouterr()

    assert main(["show", f"codex:{codex.THREAD}"]) == 0
    shown = capsys.readouterr().out
    assert "$ apply_patch a.py" in shown
    assert "  | @@\n  | -x\n  | +y\n" in shown

    assert main(["show", f"claude-code:{talk.session}"]) == 0
    shown = capsys.readouterr().out
    assert "  | -one\n  | -two\n  | +three" in shown
    assert "$ Bash make | tail  [unknown exit 0]" in shown
