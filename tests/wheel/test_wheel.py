"""The wheel, installed in a clean environment and started there.

What works from a checkout can still fail for a person who installs it: a data
file that was not packed, a dependency that only the tests have.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# pip's own settings say where packages come from, and its cache saves fetching them again.
REAL_HOME = {name: os.environ[name] for name in ("HOME", "USERPROFILE") if name in os.environ}


@pytest.fixture
def recollect(tmp_path: Path) -> Path:
    """The command, from a wheel of this checkout."""
    build = ("-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT))
    call(*build, cwd=tmp_path, environment=REAL_HOME)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ("-m", "pip", "install", "--quiet", "--only-binary", ":all:", str(wheel))
    call(*install, cwd=tmp_path, program=str(python), environment=REAL_HOME)
    return python.with_name("recollect")


def test_an_installed_wheel_imports_and_finds(recollect: Path, home: Path, tmp_path: Path) -> None:
    """By words and by meaning: the model is in the package."""
    environment = {"RECOLLECT_HOME": str(home / "recollect")}
    store = str(home / "recollect" / "demo.db")

    call("demo", "--sample", cwd=tmp_path, program=str(recollect), environment=environment)
    found = call(
        *("search", "deadlock", "--json", "--store", store),
        cwd=tmp_path,
        program=str(recollect),
        environment=environment,
    )

    assert json.loads(found.splitlines()[0])["matched"] == "both"


def call(
    *arguments: str,
    cwd: Path,
    program: str = sys.executable,
    environment: dict[str, str] | None = None,
) -> str:
    """Run a command; its output when it succeeds, a failed test when not."""
    done = subprocess.run(
        [program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | (environment or {}),
        cwd=cwd,
    )
    assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}{done.stderr}"
    return done.stdout
