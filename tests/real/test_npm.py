"""Without the agents' programs these tests are skipped, and say why."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import npm


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever reads the summary learns what to do about it."""
    monkeypatch.setattr(npm, "MODULES", tmp_path)

    with pytest.raises(
        pytest.skip.Exception, match=f"claude is not in {tmp_path}; `make test` installs it"
    ):
        npm.require("claude")


def test_a_machine_without_npm_uses_the_one_from_pypi(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`make test` is for everybody who has Python."""
    monkeypatch.setenv("PATH", str(tmp_path))
    command = npm.npm()
    assert command is not None

    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_machine_without_any_goes_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What they would test is skipped then, and fails in CI."""
    monkeypatch.setattr(npm, "FOLDER", tmp_path / "npm")
    monkeypatch.setattr(npm, "npm", lambda: None)

    told = npm.install()

    assert told == "no npm on this machine: the tests with real agents will be skipped"
    assert not (tmp_path / "npm").exists()
