"""Every test gets its own home folder and a clean environment."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest

from recollect.capture.adapters import find_adapters
from recollect.capture.overview import variables

pytest_plugins = ["tests.suite.tiers", "tests.suite.skips", "pytester"]

# We start thousands of processes; each would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A store makes sure that the disk has what it was given; on a slow disk, or one
# that others use, the suite would mostly wait for that. Linux has one in memory.
MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# How long one example takes says how busy the machine is.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

MOVING = frozenset(variables(find_adapters()))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden from what is read now"
    )


def pytest_configure() -> None:
    """A shell starts what runs in its background with interrupts ignored, and the
    commands we start would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def move_into(folder: Path, environment: pytest.MonkeyPatch) -> None:
    """Make a folder HOME; variables that move an agent's or our own folders are gone."""
    for name in list(os.environ):
        if name in MOVING or name.startswith(
            ("RECOLLECT_", "CLAUDE_", "CODEX_", "COPILOT_", "XDG_")
        ):
            environment.delenv(name)
    environment.setenv("HOME", str(folder))
    environment.setenv("USERPROFILE", str(folder))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME in a clean environment."""
    folder = tmp_path / "home"
    folder.mkdir()
    move_into(folder, monkeypatch)
    return folder


@pytest.fixture
def corpus() -> Path:
    """The folder of public sample logs, which is beside the project and not in it."""
    folder = Path(__file__).parents[2] / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip("the sample corpus is not beside the project")
    return folder
