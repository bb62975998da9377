"""What recollect tells the next session is worth: `python bench/worth.py LOGS`.

LOGS is what `lay_out.py` of the open judgement makes, a folder for each project. The
judgement itself (what the next session should know, the measures, the replay) is beside
the project, in `../shared/worth`: it is made of other people's logs and never part of ours.

The logs of each repository are imported into a store that is thrown away, by the commands
that people use; then it is asked what an agent is told there at its start (the pack) and
what it could read (the long form). Printed are

    captured   the share of the facts that a told line holds, by kind and by project
    verbatim   commands, quotes, paths and options in told lines, and which stand in no log
    strays     lines that come from another project of the same repository
    replay     what the next session runs, edits and reads again, and the pack names

A run over all projects adds a line to `bench/worth.jsonl`, figures only. `bench/results`
gets the texts, what was missed, and `worth-sample.jsonl`: told lines by chance, each with
the places it quotes. Somebody who did not write the rules sets `label` in it to

    useful     an agent that works here loses less time or breaks less for being told
    noise      true, perhaps, but of no help: a moment's task, half a sentence, what is plain
    wrong      not what the log says
    harmful    whoever follows it does damage

and `--labels FILE…` sums that up. Importing takes most of the time: with `--stores FOLDER` the
stores are kept there, and a later run whose memories are made anew reads them again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # A script finds what is beside it; the project is one folder up.
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.judging.verbatim import RawLogs, Span, spans_in  # noqa: E402

JUDGEMENT = ROOT.parent / "shared" / "worth"
RESULTS = ROOT / "bench" / "results"
HISTORY = ROOT / "bench" / "worth.jsonl"
LABELS = ("useful", "noise", "wrong", "harmful")
# The short form and the long one, under the names that the measure has for them, and how
# many tokens each may have.
BUDGETS = {"pack": 600, "memory": 2_500}
REPLAYED = ("forms", "checks", "edits", "reads", "fails")
# What frames told lines, and is none of them; the title of a section is one too.
_FRAME = re.compile(r"^\s*(?:</?recalled|#|Data from earlier sessions|[A-Z][a-z]+(?: [a-z]+)?:$|$)")
_SESSION = re.compile(r"\b[\w-]+:([0-9a-zA-Z_-]{8,})#\d+")


class Project(NamedTuple):
    """One project of the judgement: where its sessions ran, and their logs."""

    name: str
    repository: str
    folders: tuple[str, ...]
    logs: Path

    @property
    def files(self) -> list[Path]:
        return sorted(self.logs.rglob("*.jsonl"))


class Judgement:
    """The open judgement: its projects, its facts and its measures."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "projects.json").is_file():
            sys.exit(
                f"worth: {folder} does not hold the judgement (projects.json, score.py, replay.py)."
                " It is not part of the project; name its folder with --worth."
            )
        self.folder = folder
        self.score, self.replay = _module(folder / "score.py"), _module(folder / "replay.py")

    def projects(self, logs: Path, wanted: Sequence[str] = ()) -> list[Project]:
        """Those whose logs are laid out."""
        known = json.loads((self.folder / "projects.json").read_text(encoding="utf-8"))
        found = [
            Project(name, one["repo"], tuple(one["folders"]), logs / name)
            for name, one in known.items()
            if (logs / name).is_dir() and (not wanted or name in wanted)
        ]
        if not found:
            sys.exit(f"worth: no project's logs in {logs}. Lay them out: {self.folder}/lay_out.py")
        return found

    def facts(self, projects: Sequence[Project]) -> list[dict[str, Any]]:
        names = {project.name for project in projects}
        facts = self.score.load_gold(self.folder / "gold-open.jsonl")
        return [fact for fact in facts if fact["project"] in names]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"worth_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Product:
    """recollect as people call it: a program, in a home of its own."""

    def __init__(self, program: str, home: Path) -> None:
        self.program = program
        self.environ = {
            **os.environ,
            "HOME": str(home),
            "RECOLLECT_HOME": str(home / "recollect"),
            "NO_COLOR": "1",
        }
        self.home = home
        self.has_memory = self._run("memory", "--help").returncode == 0

    def _run(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [self.program, *map(str, words)]
        return subprocess.run(command, env=self.environ, capture_output=True, text=True)

    def __call__(self, *words: object) -> str:
        done = self._run(*words)
        # 1 says that there is nothing, which is an answer.
        if done.returncode not in (0, 1):
            sys.exit(f"worth: recollect {' '.join(map(str, words))}\n{done.stderr}")
        return done.stdout

    def take_in(self, logs: Sequence[Path]) -> None:
        """Import logs and make memories of them."""
        self("import", *logs, "--wait")

    def told(self, folder: str) -> dict[str, str]:
        """What an agent is told in a folder.

        The one place that knows the commands: without `memory` the pack is what `recall`
        tells, and the long form the MEMORY.md whose heading names the folder's project.
        """
        if self.has_memory:
            return {
                "pack": self("memory", "--folder", folder, "--pack"),
                "memory": self("memory", "--folder", folder, "--long"),
            }
        return {"pack": self("recall", "--folder", folder), "memory": self._memory_file(folder)}

    def _memory_file(self, folder: str) -> str:
        projects = [json.loads(line) for line in self("projects", "--json").splitlines()]
        # Windows means the same by `e:` and `E:`.
        sought = folder.casefold()
        keys = [
            one["key"]
            for one in projects
            if sought in [known.casefold() for known in (one["key"], *one["aliases"])]
        ]
        headings = {f"# Memory of {key}" for key in keys}
        files = sorted(self.home.rglob("MEMORY.md"))
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
        return "\n".join(text for text in texts if text.partition("\n")[0] in headings)


class Told(NamedTuple):
    """A line that some project was told, without what frames it."""

    project: str
    surface: str
    text: str


def told_lines(project: str, texts: dict[str, str]) -> list[Told]:
    return [
        Told(project, surface, line.strip())
        for surface, text in texts.items()
        for line in text.splitlines()
        if not _FRAME.match(line)
    ]


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    if args.labels:
        print(json.dumps({str(path): summed_up(read(path)) for path in args.labels}, indent=2))
        return 0
    if args.logs is None:
        _parser().error("name the folder of the laid-out logs, or files of --labels")
    judgement = Judgement(args.worth)
    projects = judgement.projects(args.logs, args.only or ())
    args.out.mkdir(parents=True, exist_ok=True)
    figures = measure(judgement, projects, args)
    print(shown(figures))
    (args.out / "worth.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if not args.only and not args.no_replay:
        keep(args.history, figures)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("logs", nargs="?", type=Path, help="the laid-out logs")
    parser.add_argument("--worth", type=Path, default=JUDGEMENT, help="the open judgement")
    parser.add_argument("--recollect", default=str(Path(sys.executable).with_name("recollect")))
    parser.add_argument("--only", nargs="+", metavar="PROJECT", help="these; then nothing is kept")
    parser.add_argument("--no-replay", action="store_true", help="leave the replay out: minutes")
    parser.add_argument("--replay-projects", type=int, default=16, metavar="N")
    parser.add_argument("--replay-sessions", type=int, default=25, metavar="N")
    parser.add_argument("--stores", type=Path, help="keep the stores here, and use those kept")
    parser.add_argument("--sample", type=int, default=150, metavar="N", help="told lines to label")
    parser.add_argument("--seed", type=int, default=1, help="which lines these are")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--history", type=Path, default=HISTORY, help="the figures of all runs")
    parser.add_argument("--labels", nargs="+", type=Path, help="sum up labelled samples")
    return parser


def measure(
    judgement: Judgement, projects: Sequence[Project], args: argparse.Namespace
) -> dict[str, Any]:
    """Everything that is measured, of these projects."""
    began = time.monotonic()
    lines: list[Told] = []
    rows: list[dict[str, Any]] = []
    quoted: Counter[str] = Counter()
    missing: list[dict[str, str]] = []
    strays: list[Told] = []
    for repository, some in by_repository(projects).items():
        print(f"{repository}: {', '.join(one.name for one in some)}", file=sys.stderr)
        told = _told_in(args.recollect, some, args.out / "worth-texts", args.stores)
        logs = RawLogs(path for one in some for path in one.files)
        for line in told:
            spans = spans_in(line.text)
            gone = [span for span in spans if not logs.has(span)]
            quoted.update(span.kind for span in spans)
            missing += [{**line._asdict(), "kind": span.kind, "span": span.text} for span in gone]
            rows.append(_to_label(line, spans, logs))
        strays += _strays(told, some)
        lines += told
    _write(args.out / "worth-sample.jsonl", _sampled(rows, args.sample, args.seed))
    _write(args.out / "worth-missing.jsonl", missing)
    return {
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        "version": _version(),
        "projects": len(projects),
        "captured": captured(judgement, projects, args.out / "worth-texts"),
        "lines": dict(Counter(line.surface for line in lines)),
        "verbatim": {"quoted": dict(quoted), "missing": dict(Counter(r["kind"] for r in missing))},
        "strays": len(strays),
        "replay": {} if args.no_replay else replayed(judgement, projects, args),
        "seconds": round(time.monotonic() - began),
    }


def by_repository(projects: Sequence[Project]) -> dict[str, list[Project]]:
    found: defaultdict[str, list[Project]] = defaultdict(list)
    for project in projects:
        found[project.repository].append(project)
    return found


@contextmanager
def _home(kept: Path | None, repository: str) -> Iterator[Path]:
    """A folder for the store of a repository, thrown away unless it is to be kept."""
    if kept is not None:
        home = kept / repository.replace("/", "+")
        home.mkdir(parents=True, exist_ok=True)
        yield home
    else:
        with tempfile.TemporaryDirectory(prefix="recollect-worth-") as temporary:
            yield Path(temporary)


def _told_in(
    program: str, projects: Sequence[Project], out: Path, kept: Path | None = None
) -> list[Told]:
    """What the projects of one repository are told, out of one store that has them all."""
    lines = []
    with _home(kept, projects[0].repository) as home:
        product = Product(program, home)
        # In a kept store nothing is read again: unchanged logs cost a look at each.
        product.take_in([path for project in projects for path in sorted(project.logs.iterdir())])
        for project in projects:
            parts = [product.told(folder) for folder in project.folders]
            texts = {
                name: "\n".join(dict.fromkeys(part[name] for part in parts)) for name in BUDGETS
            }
            (out / project.name).mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                (out / project.name / f"{name}.txt").write_text(text, encoding="utf-8")
            lines += told_lines(project.name, texts)
    return lines


def captured(judgement: Judgement, projects: Sequence[Project], texts: Path) -> dict[str, Any]:
    """The weighted share of the facts that each surface holds, in all, by kind and by project."""
    score, facts = judgement.score, judgement.facts(projects)
    _, tokens = score.score(facts, texts)
    found: dict[str, Any] = {}
    for surface, most in BUDGETS.items():
        found[surface] = {
            "all": _share(score, facts, surface),
            "tokens": round(tokens.get(surface, 0) / len(projects)),
            "too_long": sum(
                score.tokens_of((texts / one.name / f"{surface}.txt").read_text("utf-8")) > most
                for one in projects
            ),
        }
        for field, name in (("kind", "kinds"), ("project", "by_project")):
            found[surface][name] = {
                value: _share(score, [fact for fact in facts if fact[field] == value], surface)
                for value in sorted({fact[field] for fact in facts})
            }
    return found


def _share(score: ModuleType, facts: list[dict[str, Any]], surface: str) -> float:
    return round(score.share(facts, surface)[2], 3)


def replayed(
    judgement: Judgement, projects: Sequence[Project], args: argparse.Namespace
) -> dict[str, Any]:
    """The share of what comes again that the pack names, beside a plain block's."""
    replay = judgement.replay
    logs = [path for project in projects for path in sorted(project.logs.iterdir())]
    known = replay.sessions(args.recollect, logs)
    worked = {
        key: found
        for key, found in known.items()
        if sum(session["tool_calls"] >= 5 for session in found) >= 3
    }
    largest = sorted(worked, key=lambda key: -sum(one["tool_calls"] for one in worked[key]))
    rows = [
        row
        for key in largest[: args.replay_projects]
        for row in replay.replay(args.recollect, key, worked[key][: args.replay_sessions], 260)
    ]
    figures: dict[str, Any] = {"sessions": len(rows)}
    for kind in REPLAYED:
        again = sum(row[kind]["again"] for row in rows)
        figures[kind] = {
            text: round(sum(row[kind][text] for row in rows) / again, 3) if again else None
            for text in ("pack", "memory", "block")
        }
    return figures


def _strays(lines: Sequence[Told], projects: Sequence[Project]) -> list[Told]:
    """Lines whose turns are of a session that only another project's logs hold."""
    files = {project.name: " ".join(path.name for path in project.files) for project in projects}
    return [
        line
        for line in lines
        for session in _SESSION.findall(line.text)
        if session not in files[line.project] and any(session in names for names in files.values())
    ]


# A sample to label -------------------------------------------------------------------------


def _to_label(line: Told, spans: Sequence[Span], logs: RawLogs) -> dict[str, Any]:
    places = [logs.around(span) for span in spans[:3]]
    return {"label": "", **line._asdict(), "evidence": [place for place in places if place]}


def _sampled(rows: list[dict[str, Any]], most: int, seed: int) -> list[dict[str, Any]]:
    """Lines of packs by chance; the same for the same texts and seed."""
    packs = [row for row in rows if row["surface"] == "pack"]
    return random.Random(seed).sample(packs, min(most, len(packs)))


def read(path: Path) -> list[dict[str, Any]]:
    """Labelled lines; one without a label, or with another, ends the run."""
    rows = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    wrong = [row["text"] for row in rows if row["label"] not in LABELS]
    if wrong:
        sys.exit(f"{path}: {len(wrong)} lines have no label, or none of {', '.join(LABELS)}")
    return rows


def summed_up(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many lines there are, and the share of each label."""
    counts = Counter(row["label"] for row in rows)
    shares = {label: round(counts[label] / len(rows), 3) if rows else None for label in LABELS}
    return {"lines": len(rows), **shares}


# What is kept and shown --------------------------------------------------------------------


def keep(history: Path, figures: dict[str, Any]) -> None:
    """Add a run to the history, without the names of other people's projects."""
    captured = {
        surface: {key: value for key, value in found.items() if key != "by_project"}
        for surface, found in figures["captured"].items()
    }
    with history.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**figures, "captured": captured}) + "\n")


def shown(figures: dict[str, Any]) -> str:
    """The figures as tables."""
    return "\n".join(_shown(figures))


def _shown(figures: dict[str, Any]) -> Iterator[str]:
    captured = figures["captured"]
    for name in ("kinds", "by_project"):
        yield f"{'captured':24}{'pack':>8}{'long':>8}"
        for value, share in captured["pack"][name].items():
            yield f"{value:24}{share:8.3f}{captured['memory'][name][value]:8.3f}"
        yield ""
    for row in ("all", "tokens", "too_long"):
        yield f"{row:24}{captured['pack'][row]:8}{captured['memory'][row]:8}"
    verbatim = figures["verbatim"]
    quoted, missing = sum(verbatim["quoted"].values()), sum(verbatim["missing"].values())
    yield f"quoted {quoted}, not in the logs {missing}; strays {figures['strays']}"
    for kind in REPLAYED if figures["replay"] else ():
        shares = figures["replay"][kind]
        yield f"again {kind:18}" + "".join(f"{text} {shares[text]}  " for text in shares)


def _version() -> str:
    described = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(described, capture_output=True, text=True).stdout.strip()


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
