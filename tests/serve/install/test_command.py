"""How agents call us, and how we know that it is us whom they call."""

from __future__ import annotations

import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.serve.install.command import is_ours, line, program, words_of


def test_the_program_is_the_one_that_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that a tool installer made is kept: it outlives the version it leads to."""
    link = tmp_path / "my tools" / "recollect"
    link.parent.mkdir()
    link.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "argv", [str(link), "install", "codex"])

    assert program() == [str(link)]


def test_without_a_script_python_starts_us_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And takes no module from the folder it is started in, which may be a stranger's project."""
    real, python = sys.executable, tmp_path / "python"
    python.symlink_to(real)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "recollect" / "__main__.py"), "install"])
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "recollect.py").write_text("raise SystemExit('somebody else')")

    words = program()

    assert words == [str(python), "-P", "-m", "recollect"]
    ran = subprocess.run(
        [real, *words[1:], "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("recollect ")


def test_a_line_survives_the_shell(tmp_path: Path) -> None:
    """Paths have spaces and quotes in them."""
    script = tmp_path / "it's a $HOME" / "recollect"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    script.chmod(stat.S_IRWXU)

    ran = subprocess.run(
        line([str(script), "hook", "codex", "Stop"]),
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == "hook\ncodex\nStop\n"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/usr/bin/recollect", "args": ["hook", "codex", "Stop"]},
        {"command": "/usr/bin/recollect hook codex Stop", "timeout": 5},
        {"command": "'/opt/my tools/recollect' hook codex Stop"},
        {"command": ["/usr/bin/recollect", "hook", "codex", "Stop"]},
        {"command": "/usr/bin/python", "args": ["-P", "-m", "recollect", "hook", "codex", "Stop"]},
        {"command": "C:\\Tools\\recollect.exe", "args": ["hook", "codex", "Stop"]},
        {"bash": "recollect hook codex Stop"},
    ],
)
def test_an_entry_of_ours_is_known_at_any_path_and_in_any_form(entry: dict[str, object]) -> None:
    """An older recollect may have written it, or a person."""
    assert is_ours(words_of(entry), "hook", "codex")
    assert not is_ours(words_of(entry), "hook", "cursor")
    assert not is_ours(words_of(entry), "mcp")


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "recollect hook codex Stop",
        {},
        {"command": None},
        {"command": "echo 'recollect hook codex Stop'"},
        {"command": "/usr/bin/my-recollect hook codex Stop"},
        {"command": "recollect 'hook codex"},
        {"command": "/usr/bin/recollect", "args": None},
        {"command": "/usr/bin/recollect", "args": 7},
        {"type": "prompt", "prompt": "recollect hook codex Stop"},
    ],
)
def test_an_entry_of_somebody_else_is_not_ours(entry: object) -> None:
    """Whatever it looks like, it stays."""
    assert not is_ours(words_of(entry), "hook", "codex")


def test_words_are_those_that_the_shell_would_see() -> None:
    """The path is shown to the person, and looked for."""
    assert words_of({"command": shlex.join(["/opt/my tools/recollect", "mcp"])}) == [
        "/opt/my tools/recollect",
        "mcp",
    ]
