"""The logs that are measured: generated once, kept outside the project.

The generator makes the same bytes from the same options, so two machines
measure the same thing. It stands beside the project, not in it; a corpus that
is already there can be named with --corpus instead.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
GENERATOR = ROOT.parent / "shared" / "tools" / "make_corpus.py"

# Which folder gives an agent's layout away, and which variable leads the agent, and us, to it.
_HOMES = {"sessions": "CODEX_HOME", "projects": "CLAUDE_CONFIG_DIR"}


@dataclass(frozen=True)
class Shape:
    """How large a corpus is."""

    files: int
    turns: int
    mb: float


LARGE = Shape(files=1617, turns=45_000, mb=300)
SMALL = Shape(files=64, turns=600, mb=4)


@dataclass(frozen=True)
class Corpus:
    """A folder of logs in the layout of one agent."""

    folder: str

    def paths(self) -> list[str]:
        """Every log file, in the same order each time."""
        return sorted(str(path) for path in Path(self.folder).rglob("*.jsonl"))

    def size_bytes(self) -> int:
        """What the logs take on disk."""
        return sum(os.path.getsize(path) for path in self.paths())

    def environ(self) -> dict[str, str]:
        """The variable that makes this corpus the logs of this machine's agent."""
        for name, variable in _HOMES.items():
            if os.path.isdir(os.path.join(self.folder, name)):
                return {variable: self.folder}
        raise SystemExit(
            f"bench: {self.folder} holds neither {' nor '.join(_HOMES)}; give the folder above one "
            "of them"
        )

    def facts(self) -> dict[str, object]:
        """Files, bytes, and what the generator said about it."""
        facts: dict[str, object] = {"files": len(self.paths()), "bytes": self.size_bytes()}
        summary = Path(self.folder + ".json")
        if summary.is_file():
            said = json.loads(summary.read_text())
            facts |= {
                name: said[name] for name in ("agent", "turns", "lines", "seed") if name in said
            }
        return facts


def ensure_corpus(
    cache_folder: Path, shape: Shape, *, agent: str = "codex", seed: int = 1
) -> Corpus:
    """A generated corpus of this shape, made unless it is there."""
    folder = cache_folder / f"{agent}-{shape.files}-{shape.turns}-{shape.mb:g}-{seed}"
    summary = Path(f"{folder}.json")
    if not summary.is_file():
        sizes = ["--files", str(shape.files), "--turns", str(shape.turns), "--mb", str(shape.mb)]
        command = [
            sys.executable,
            str(_found_generator()),
            str(folder),
            *sizes,
            "--agent",
            agent,
            "--seed",
            str(seed),
        ]
        print(
            f"bench: generating {shape.files} files, {shape.turns} turns, {shape.mb:g} MB",
            file=sys.stderr,
        )
        shutil.rmtree(folder, ignore_errors=True)
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        # Written last: a run that was interrupted leaves no summary and is made again.
        summary.write_text(said.splitlines()[-1])
    return Corpus(str(folder))


@cache
def generator() -> ModuleType:
    """The generator as a module, for appending turns to a log."""
    spec = importlib.util.spec_from_file_location("make_corpus", _found_generator())
    if spec is None or spec.loader is None:
        raise SystemExit(f"bench: {GENERATOR.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _found_generator() -> Path:
    if not GENERATOR.is_file():
        place = os.path.relpath(GENERATOR, ROOT)
        raise SystemExit(
            f"bench: the corpus generator {place} is not there; put it there, or name a corpus "
            "with --corpus"
        )
    return GENERATOR
