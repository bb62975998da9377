"""Writes the logs of our own set, and reads its questions.

    python bench/sets/own/make.py OUT     # a home folder with every log
    python bench/sets/own/make.py         # which script became which session

The sessions are the sample sessions of the package and those told by the
scripts beside this file. Both are played by tools/make_samples.py, so that
they reach the store the way real ones do: as logs of Claude Code and Codex,
through the adapters. README.md says how the questions were written.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SCRIPTS = HERE / "sessions"
QUESTIONS = HERE / "questions.jsonl"

Kind = Literal["error", "phrase", "file", "command", "how", "why", "paraphrase", "silent", "speak"]
Part = Literal["dev", "test"]
KINDS: tuple[Kind, ...] = (
    "error",
    "phrase",
    "file",
    "command",
    "how",
    "why",
    "paraphrase",
    "silent",
    "speak",
)

# What Codex tells the model about each project before the first prompt.
RULES = {
    "atrium": "Use npm. Run `npx vitest run` and `npx playwright test` before you commit.",
    "clubhouse": "Run `bin/rspec` before you commit. No sleeps in specs.",
    "dotfiles": "Plain POSIX shell where possible. Test with `make test`.",
    "harvest": "Models go through pull requests; Ravi reviews. Mind the bytes billed.",
    "lantern": "Swift 6 mode, no force unwraps.",
    "ledgerline": "Use Poetry. Run `poetry run pytest -q` before you commit.",
    "mosskeep": "C++20, CMake. Run `ctest --test-dir build` before you commit.",
    "packrat": "Run `cargo clippy -- -D warnings` and `cargo test` before you commit.",
    "platform": "Helm with --atomic. Terraform only from saved plans.",
    "relay": "Run `go vet ./...` and `go test ./...` before you commit.",
    "sensorhub": "No dynamic allocation after start, no float printf.",
    "switchboard": "Run `mix format` and `mix test` before you commit.",
    "wayfinder": "Kotlin only. Run `./gradlew :app:testDebugUnitTest` before you commit.",
}


class Question(NamedTuple):
    """Something asked of the memory, or typed to an agent, and every turn that answers it.

    `project` is the folder it is asked in; None where that does not matter.
    """

    id: str
    kind: Kind
    part: Part
    text: str
    project: str | None
    answers: tuple[str, ...]

    @property
    def cwd(self) -> str | None:
        """The working directory of whoever asks."""
        return f"{_player().HOME}/{self.project}" if self.project else None


def questions() -> list[Question]:
    """Every question, in the order of the file."""
    rows = map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
    return [Question(**{**row, "answers": tuple(row["answers"])}) for row in rows]


def build(folder: Path) -> Path:
    """Write every log below a folder, which then looks like somebody's home, and return it."""
    player = _player()
    for name, text in player.files(player.SCRIPTS, SCRIPTS):
        path = folder / f".{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def session_ids() -> dict[str, str]:
    """The session that each script becomes, by the script's name."""
    player = _player()
    ids = {}
    for session in (*player.sessions(player.SCRIPTS), *player.sessions(SCRIPTS)):
        native = session.thread if isinstance(session, player.Codex) else session.session
        ids[session.script.name] = f"{session.script.header['agent']}:{native}"
    return ids


@cache
def _player() -> ModuleType:
    """tools/make_samples.py, which is a script and in no package."""
    spec = importlib.util.spec_from_file_location(
        "make_samples", ROOT / "tools" / "make_samples.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.AGENTS_MD.update(RULES)
    return module


def main() -> None:
    if len(sys.argv) > 1:
        print(build(Path(sys.argv[1])))
        return
    for name, session in session_ids().items():
        print(f"{session}  {name}")


if __name__ == "__main__":
    main()
