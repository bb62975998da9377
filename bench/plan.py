"""What one run of the benchmarks works with: corpora, folders, environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import ROOT, Corpus

# What a program needs to start. All else stays out: a secret among the
# variables would be looked for in every log, and PYTHONDONTWRITEBYTECODE
# would have every process compile its modules again.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
# What numpy and faiss read: a figure is about what one core does.
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


@dataclass(frozen=True)
class Plan:
    """Handed to each suite.

    What it leaves behind is below `work`, or in `cache` when later runs want it too.
    """

    corpus: Corpus
    small: Corpus
    work: Path
    cache: Path
    runs: int | None = None

    def runs_or(self, usual: int) -> int:
        """How often to measure: what was asked for, or what suits the figure."""
        return self.runs or usual

    def home(self, name: str, *, redact: bool) -> Path:
        """A folder for a store and its settings, made if need be."""
        home = self.work / name
        home.mkdir(parents=True, exist_ok=True)
        config = home / "config.toml"
        if not config.exists():
            config.write_text(f"[redact]\nenabled = {str(redact).lower()}\n")
        return home

    def environ(self, home: Path, corpus: Corpus | None = None) -> dict[str, str]:
        """The variables of a process that works with this home and
        this corpus, and knows no other.
        """
        return (
            clean_environ(self.work)
            | {"RECOLLECT_HOME": str(home)}
            | (corpus or self.corpus).environ()
        )

    def full_store(self) -> Path:
        """The home of a store that holds the whole corpus,
        imported unless an earlier suite did it.
        """
        home = self.home("full", redact=False)
        if not (home / "recollect.db").exists():
            say("importing the corpus")
            child(["import"], self.environ(home))
        return home

    def embedded_store(self) -> Path:
        """The home of a store with the whole corpus and all its vectors,
        made unless an earlier suite did it.
        """
        home = self.home("embedded", redact=False)
        if not (home / "recollect.db").exists():
            say("embedding the corpus")
            self.embed_copy()
        return home

    def embed_copy(self) -> dict[str, float]:
        """Copy the full store and embed the copy, in the place of one that was made before.

        Says what it cost.
        """
        home = self.home("embedded", redact=False)
        for path in home.glob("recollect.db*"):
            path.unlink()
        shutil.copy(self.full_store() / "recollect.db", home)
        return child(["embed"], self.environ(home))

    @property
    def texts(self) -> Path:
        """Where the text of every turn of the corpus is kept for the suites.

        See bench/queries.py.
        """
        return self.work / "texts.db"


def clean_environ(work: Path) -> dict[str, str]:
    """An environment without this user's secrets, logs and Python options."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    nobody = work / "nobody"
    nobody.mkdir(exist_ok=True)
    return passed | {"HOME": str(nobody)} | dict.fromkeys(_ONE_THREAD, "1")


def child_process(arguments: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    """A process of bench/child.py that runs beside us."""
    command = [sys.executable, "-m", "bench.child", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environ, cwd=ROOT)


def child(arguments: list[str], environ: dict[str, str]) -> dict[str, float]:
    """What a fresh process measured; see bench/child.py."""
    command = [sys.executable, "-m", "bench.child", *arguments]
    said = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environ, cwd=ROOT
    ).stdout
    return {name: float(value) for name, _, value in (word.partition("=") for word in said.split())}


def say(text: str) -> None:
    """Progress, for the person who waits."""
    print(f"  {text}", file=sys.stderr, flush=True)
