"""What becomes of search as a store grows: `python bench/growth.py --logs DIR --questions FILE`.

The same labelled questions about real logs are asked four times and more: with only the logs of
their own repository in the store, with those of all repositories, and with so many times as many
generated turns around them (`--times`). DIR holds a folder of logs for each repository; FILE has
a JSON object a line: `question`, `kind` and `answers`, each with `repo`, `session` and `turn`,
which is null when any turn of the session will do. A question of the kind `none` has no answer.
Neither is part of the project.

A question is answered at k when a turn that answers is among the first k hits. Time is processor
time of a search in a process whose modules are loaded: `cold` reads the vectors from the store,
as each new process does, `resident` has them in memory.

The generated turns are `make_corpus.py`'s: work of an agent in made-up projects, written with the
words of programming, so that common words become more common and every rare word gets company.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import msgspec

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # A script finds what is beside it; the project is one folder up.
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.corpora import Shape, ensure_corpus  # noqa: E402
from bench.plots import page  # noqa: E402
from recollect import Memory  # noqa: E402

SHOWN = 10
# The least that the generator makes of a turn, in megabytes, and how many turns it puts in a file.
MB_OF_TURN, TURNS_IN_FILE = 0.0053, 28


class Answer(msgspec.Struct):
    """A turn that answers a question, or a session of which any turn does."""

    repo: str
    session: str
    turn: int | None = None


class Question(msgspec.Struct):
    """Something to find."""

    question: str
    kind: str
    answers: list[Answer] = []

    def is_answered_by(self, ref: str) -> bool:
        """Whether a turn is one of those that answer."""
        session, _, turn = ref.rpartition("#")
        return any(one.session == session and one.turn in (None, int(turn)) for one in self.answers)


@dataclass(frozen=True)
class Stage:
    """How well and how fast questions were answered at one size."""

    name: str
    turns: int
    questions: int
    first: float
    first_3: float
    first_10: float
    said_nothing: float | None
    said_nothing_wrongly: float
    cold_ms: float
    resident_ms: float


def main(argv: list[str] | None = None) -> int:
    """Measure all stages and print them; write the picture when one is asked for."""
    args = _parser().parse_args(argv)
    questions = msgspec.json.decode(
        b"[" + b",".join(args.questions.read_bytes().splitlines()) + b"]", type=list[Question]
    )
    stages = []
    with tempfile.TemporaryDirectory(prefix="recollect-growth-") as scratch:
        times = sorted(int(times) for times in args.times.split(",") if times)
        folder = args.keep or Path(scratch)
        for stage in measure(args.logs, questions, times, folder, args.cache):
            print(json.dumps(asdict(stage)), file=sys.stderr, flush=True)
            stages.append(stage)
    print(json.dumps([asdict(stage) for stage in stages], indent=2) if args.json else table(stages))
    if args.picture:
        args.picture.write_text(picture(stages), encoding="utf-8")
    return 0


def measure(
    logs: Path, questions: list[Question], times: list[int], scratch: Path, cache: Path
) -> Iterator[Stage]:
    """Every stage in turn, the smallest first."""
    repositories = sorted(path for path in logs.iterdir() if path.is_dir())
    own = [
        _asked(scratch / repository.name, [repository], about)
        for repository in repositories
        if (about := [one for one in questions if _is_about(one, repository.name)])
    ]
    yield _together("own repository", own)
    home = scratch / "all"
    everything = _asked(home, repositories, questions)
    yield everything.stage("all repositories")
    made = 0
    for factor in times:
        turns = factor * everything.turns - made
        shape = Shape(max(1, turns // TURNS_IN_FILE), turns, round(turns * MB_OF_TURN, 1))
        corpus = ensure_corpus(cache, shape, seed=factor)
        made += turns
        before, home = home, scratch / f"{factor}-times"
        asked = _asked(home, [Path(corpus.folder)], questions, grown_from=before)
        yield asked.stage(f"{factor}× generated around")


def _is_about(question: Question, folder: str) -> bool:
    return any(one.repo.replace("/", "+") == folder for one in question.answers)


@dataclass(frozen=True)
class Asked:
    """What came of some questions in one store."""

    turns: int
    ranks: list[int | None]
    silent: list[bool]
    silent_rightly: list[bool]
    cold: list[float]
    resident: list[float]

    def stage(self, name: str) -> Stage:
        """The figures."""
        first, first_3, first_10 = (
            round(_share([rank is not None and rank <= k for rank in self.ranks]), 3)
            for k in (1, 3, SHOWN)
        )
        return Stage(
            name,
            self.turns,
            len(self.ranks),
            first,
            first_3,
            first_10,
            round(_share(self.silent_rightly), 3) if self.silent_rightly else None,
            round(_share(self.silent), 3),
            round(median(self.cold) * 1000, 2),
            round(median(self.resident) * 1000, 2),
        )


def _together(name: str, several: list[Asked]) -> Stage:
    """Several stores as one stage; its turns are those of the middle one."""
    joined = Asked(
        int(median(one.turns for one in several)),
        [rank for one in several for rank in one.ranks],
        [said for one in several for said in one.silent],
        [said for one in several for said in one.silent_rightly],
        [seconds for one in several for seconds in one.cold],
        [seconds for one in several for seconds in one.resident],
    )
    return joined.stage(name)


def _fill(home: Path, logs: list[Path], grown_from: Path | None) -> None:
    """Import logs into a new store, or into a copy of another, unless an earlier run did it."""
    done = home / "done"
    if done.is_file():
        return
    shutil.rmtree(home, ignore_errors=True)
    if grown_from is not None:
        shutil.copytree(grown_from, home, ignore=shutil.ignore_patterns("done", "*-vectors"))
    with _opened(home, resident=False) as memory:
        memory.import_logs(list(map(str, logs)))
        for _ in memory.store.embed():
            pass
    # Written last: a run that was interrupted is made again.
    done.touch()


def _asked(
    home: Path, logs: list[Path], questions: list[Question], *, grown_from: Path | None = None
) -> Asked:
    """Make a store, or go on from another one, and ask it everything."""
    _fill(home, logs, grown_from)
    with _opened(home, resident=False) as memory:
        turns = sum(row.turns for row in memory.stats())
        memory.search("warm up")
        asked = Asked(turns, [], [], [], [], [])
        for question in questions:
            began = time.thread_time()
            found = memory.search(question.question, limit=SHOWN)
            asked.cold.append(time.thread_time() - began)
            if question.kind == "none":
                asked.silent_rightly.append(not found.hits)
                continue
            asked.silent.append(not found.hits)
            asked.ranks.append(
                next(
                    (n for n, hit in enumerate(found, 1) if question.is_answered_by(hit.ref)), None
                )
            )
    with _opened(home, resident=True) as memory:
        memory.search("warm up")
        for thread in threading.enumerate():
            if thread.name == "vectors":
                thread.join()
        for question in questions:
            began = time.thread_time()
            memory.search(question.question, limit=SHOWN)
            asked.resident.append(time.thread_time() - began)
    return asked


@contextmanager
def _opened(home: Path, *, resident: bool) -> Iterator[Memory]:
    home.mkdir(parents=True, exist_ok=True)
    # Nothing of this machine's environment: neither settings nor secrets nor logs.
    with Memory.open(environ={"RECOLLECT_HOME": str(home)}, resident=resident) as memory:
        yield memory


def _share(answers: list[bool]) -> float:
    return sum(answers) / len(answers) if answers else 0.0


def table(stages: list[Stage]) -> str:
    """The figures as a table in Markdown."""
    lines = [
        "| store | turns | first | first 3 | first 10 | silent: rightly / wrongly "
        "| a search: cold / resident |",
        "|---|---|---|---|---|---|---|",
    ]
    for stage in stages:
        rightly = "–" if stage.said_nothing is None else f"{stage.said_nothing:.2f}"
        lines.append(
            f"| {stage.name} | {stage.turns:,} | {stage.first:.3f} | {stage.first_3:.3f} "
            f"| {stage.first_10:.3f} | {rightly} / {stage.said_nothing_wrongly:.3f} "
            f"| {stage.cold_ms:.0f} / {stage.resident_ms:.0f} ms |"
        )
    return "\n".join(lines)


def picture(stages: list[Stage]) -> str:
    """The same as two curves, quality above time."""
    quality = {
        "first 10": [(stage.turns, stage.first_10) for stage in stages],
        "first 3": [(stage.turns, stage.first_3) for stage in stages],
        "first": [(stage.turns, stage.first) for stage in stages],
    }
    cost = {
        "cold": [(stage.turns, stage.cold_ms) for stage in stages],
        "resident": [(stage.turns, stage.resident_ms) for stage in stages],
    }
    return page(
        [
            (quality, "turns in the store", "share of the questions answered by the first hits"),
            (cost, "turns in the store", "ms of processor time a search, median"),
        ]
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="growth.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=Path, required=True, metavar="DIR", help="the real logs")
    parser.add_argument(
        "--questions", type=Path, required=True, metavar="FILE", help="questions and their answers"
    )
    parser.add_argument(
        "--times",
        default="10,20,100",
        metavar="A,B",
        help="so many times as many generated turns (default: %(default)s)",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "recollect-bench",
        metavar="DIR",
        help="where logs are generated (default: %(default)s)",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep the stores here, and use those that are there",
    )
    parser.add_argument("--json", action="store_true", help="a JSON list instead of a table")
    parser.add_argument("--picture", type=Path, metavar="SVG", help="also draw the curves")
    return parser


if __name__ == "__main__":
    sys.exit(main())
