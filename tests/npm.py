"""Where the real agents are, and how they get there.

`python -m tests.npm` installs what `tests/real/package.json` lists into the
virtual environment, once. RECOLLECT_NPM names a `node_modules` folder to use
instead. Without npm the tests that need an agent are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

WANTED = Path(__file__).parent / "real" / "package.json"
FOLDER = Path(sys.prefix) / "npm"
# Read when the module is: every test begins by clearing our variables away.
MODULES = Path(os.environ.get("RECOLLECT_NPM") or FOLDER / "node_modules")
# These two put their program in its place with a script; the others' scripts
# would compile things that no test uses.
NEED_THEIR_SCRIPT = ("@anthropic-ai/claude-code", "opencode-ai")


def find(cli: str) -> Path | None:
    """A command that one of the packages brings, or None."""
    path = MODULES / ".bin" / cli
    return path if path.exists() else None


def require(cli: str) -> Path:
    """The same, or the test is skipped and says why."""
    import pytest

    path = find(cli)
    if path is None:
        pytest.skip(f"{cli} is not in {MODULES}; `make test` installs it when npm is there")
    return path


def install() -> str:
    """Install the packages unless these very versions are there; say what was done."""
    npm = shutil.which("npm")
    if npm is None:
        return "no npm on this machine: the tests with real agents will be skipped"
    installed = FOLDER / "installed"
    if installed.exists() and installed.read_text() == WANTED.read_text():
        return f"the agents are in {FOLDER}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    # npm reads the list from the folder it installs into.
    shutil.copy(WANTED, FOLDER / "package.json")
    options = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    subprocess.run([npm, "install", "--ignore-scripts", *options], cwd=FOLDER, check=True)
    subprocess.run([npm, "rebuild", *NEED_THEIR_SCRIPT, "--loglevel=error"], cwd=FOLDER, check=True)
    shutil.copy(WANTED, installed)
    names = ", ".join(sorted(json.loads(WANTED.read_text())["dependencies"]))
    return f"installed {names} in {FOLDER}"


if __name__ == "__main__":
    print(install())
