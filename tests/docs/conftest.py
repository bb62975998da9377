"""Pages are tested in a home with the sample logs where agents would have left them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from recollect.memory import Memory

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "src" / "recollect" / "samples"


def leave_samples(home: Path) -> None:
    """Put the sample logs into a home."""
    for name in ("claude", "codex"):
        shutil.copytree(SAMPLES / name, home / f".{name}")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that holds the sample sessions.

    Made once, because preparing to find secrets takes a while.
    """
    folder = tmp_path_factory.mktemp("prepared")
    with Memory.open(environ={"RECOLLECT_HOME": str(folder)}) as memory:
        memory.import_logs([memory.agents.sample_logs()])
    return folder


@pytest.fixture
def samples(home: Path, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with sample logs and a store that knows them; also the current folder."""
    leave_samples(home)
    folder = tmp_path / "recollect"
    shutil.copytree(prepared, folder)
    monkeypatch.setenv("RECOLLECT_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return home
