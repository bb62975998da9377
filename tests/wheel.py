"""Builds the wheel, installs it in a clean environment and starts it there.

What works from a checkout can still fail for a person who installs it: a data
file that was not packed, a dependency that only the tests have.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Raise at the first step that does not work."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        call(sys.executable, "-m", "build", "--wheel", "--outdir", str(work / "dist"), str(ROOT))
        (wheel,) = (work / "dist").glob("*.whl")
        venv.create(work / "clean", with_pip=True)
        python = work / "clean" / ("Scripts" if os.name == "nt" else "bin") / "python"
        call(str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", str(wheel))
        home = work / "home"
        home.mkdir()
        environment = {
            **os.environ,
            "HOME": str(home),
            "USERPROFILE": str(home),
            "RECOLLECT_HOME": str(home / "recollect"),
        }
        recollect = str(python.with_name("recollect"))
        call(recollect, "demo", "--sample", environment=environment)
        found = call(
            recollect,
            "search",
            "deadlock",
            "--json",
            "--store",
            str(home / "recollect" / "demo.db"),
            environment=environment,
        )
        # By words and by meaning: the model is in the package.
        assert json.loads(found.splitlines()[0])["matched"] == "both"
        print(f"{wheel.name}: installed, imported and searched")


def call(*command: str, environment: dict[str, str] | None = None) -> str:
    """Run a command from nowhere in particular; its output when it succeeds, an error when not."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tempfile.gettempdir(),
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
