"""What a shell completes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from recollect.serve.cli import COMMANDS, main


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_completed_in_every_shell(
    shell: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a store: somebody sets up the shell first."""
    text = script(shell, capsys)

    assert [name for name in COMMANDS if name not in text] == []
    assert list(home.rglob("*.db")) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["sess"], {"sessions"}),
        (["told", "--eff"], {"--effect"}),
        (["search", "--mode", "v"], {"vector"}),
        (["completion", "f"], {"fish"}),
    ],
)
def test_bash_completes_commands_options_and_values(
    words: list[str], completed: set[str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = f"""
        {script("bash", capsys)}
        COMP_WORDS=(recollect {" ".join(words)}); COMP_CWORD={len(words)}
        _shtab_recollect; printf '%s\\n' "${{COMPREPLY[@]}}"
    """

    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)

    assert set(done.stdout.split()) == completed
