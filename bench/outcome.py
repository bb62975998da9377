"""How right the outcomes of tasks are: `python -m bench.outcome [--public MIRROR] [--half test]`.

Two sets. The *public* one is trajectories of agents whose results are known
(`bench.trajectories`; MIRROR is the folder into which their repositories were fetched):
it decides. Weights are made with a look at its half `dev`; what we claim is measured on
`test`. Our *own* one, bench/sets/outcome, is labelled episodes with people, written as
logs and imported; it proves less, because we wrote it.

Printed are, for each set: how often `success` and `fail` are right when they are said and
of how many tasks they are said, the probabilities in bins beside what came true, and their
mean distance from it (ECE); for our own also the table of all outcomes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # A script finds what is beside it; the project is one folder up.
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.sets.outcome.make import Episode, Part, build  # noqa: E402
from bench.trajectories import Half, Trajectory, trajectories  # noqa: E402
from recollect.distill.outcomes.outcome import Verdict, judge  # noqa: E402
from recollect.distill.tasks.actions import actions_of  # noqa: E402
from recollect.distill.tasks.digest import make  # noqa: E402
from recollect.distill.tasks.tasks import prompt_of  # noqa: E402
from recollect.memory import Memory  # noqa: E402
from recollect.model.digests import Outcome  # noqa: E402
from recollect.settings import Settings  # noqa: E402
from recollect.store import open_store  # noqa: E402
from recollect.store.history import Passage  # noqa: E402

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
PARTS: tuple[Part, ...] = get_args(Part)
HALVES: tuple[Half, ...] = get_args(Half)
BINS = 10


class Judged(NamedTuple):
    """An episode of our own with the verdict that it got."""

    episode: Episode
    verdict: Verdict

    @property
    def outcome(self) -> Outcome:
        return self.verdict.outcome

    @property
    def is_right(self) -> bool:
        return self.outcome == self.episode.outcome


class Tried(NamedTuple):
    """A public trajectory with the verdict that it got."""

    trajectory: Trajectory
    verdict: Verdict


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--public", type=Path, metavar="MIRROR", help="where trajectories are")
    parser.add_argument("--half", choices=HALVES, default="dev", help="which public tasks")
    parser.add_argument("--part", choices=PARTS, help="only this part of our own set")
    parser.add_argument(
        "--whole", action="store_true", help="take outcomes from the digest of a whole session"
    )
    parser.add_argument("--wrong", action="store_true", help="also show what was judged wrong")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args(argv)

    report: dict[str, Any] = {}
    wrong: list[str] = []
    if args.public:
        tried = list(tries(args.public, args.half))
        report[f"public {args.half}"] = public_figures(tried)
        wrong += [_told(one) for one in tried if _is_wrong(one)]
    judged = list(outcomes(whole=args.whole))
    for part in [args.part] if args.part else PARTS:
        own = [one for one in judged if one.episode.part == part]
        report[f"own {part}"] = figures(own)
        wrong += [explained(one) for one in own if not one.is_right]
    if args.json:
        print(json.dumps(report, indent=2))
        return 0
    for name, found in report.items():
        print(f"# {name}\n\n{shown_public(found) if 'sources' in found else shown(found)}")
    if args.wrong:
        print("\n".join(wrong))
    return 0


# Public trajectories ----------------------------------------------------------


def tries(mirror: Path, half: Half) -> Iterator[Tried]:
    """Every trajectory of one half, judged as a session of its own would be."""
    for one in trajectories(mirror):
        if one.half == half:
            yield Tried(one, judged_alone(one.passages))


def judged_alone(passages: Sequence[Passage], next_prompt: str | None = None) -> Verdict:
    """The verdict on one task."""
    actions = [action for one in passages if one.live for action in actions_of(one)]
    return judge(passages, actions, is_last=next_prompt is None, next_prompt=next_prompt)


def public_figures(tried: Sequence[Tried]) -> dict[str, Any]:
    """Everything that is printed about public trajectories, together and by source."""
    sources = sorted({one.trajectory.source for one in tried})
    of_source = {
        source: [one for one in tried if one.trajectory.source == source] for source in sources
    }
    return {
        **_said_of(tried),
        "ece": _ece(tried),
        "bins": list(_bins(tried)),
        "sources": {
            source: _said_of(own) | {"ece": _ece(own)} for source, own in of_source.items()
        },
    }


def _said_of(tried: Sequence[Tried]) -> dict[str, Any]:
    said = {
        name: [one for one in tried if one.verdict.outcome == name] for name in ("success", "fail")
    }
    right = {
        "success": _mean(one.trajectory.passed for one in said["success"]),
        "fail": _mean(not one.trajectory.passed for one in said["fail"]),
    }
    return {
        "tasks": len(tried),
        "passed": _mean(one.trajectory.passed for one in tried),
        "success": {"said": len(said["success"]), "right": right["success"]},
        "fail": {"said": len(said["fail"]), "right": right["fail"]},
        "said": round(sum(map(len, said.values())) / max(1, len(tried)), 3),
    }


def _bins(tried: Sequence[Tried]) -> Iterator[dict[str, Any]]:
    for place in range(BINS):
        own = [one for one in tried if min(int(one.verdict.p * BINS), BINS - 1) == place]
        if own:
            yield {
                "from": place / BINS,
                "tasks": len(own),
                "p": _mean(one.verdict.p for one in own),
                "passed": _mean(one.trajectory.passed for one in own),
            }


def _ece(tried: Sequence[Tried]) -> float:
    """How far the probabilities of a bin are from what came true, on average over tasks."""
    off = sum(row["tasks"] * abs(row["p"] - row["passed"]) for row in _bins(tried))
    return round(off / max(1, len(tried)), 3)


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return round(sum(known) / len(known), 3) if known else None


def _is_wrong(one: Tried) -> bool:
    said = {"success": True, "fail": False}.get(one.verdict.outcome)
    return said is not None and said != one.trajectory.passed


def _told(one: Tried) -> str:
    why = "; ".join(f"{evidence.kind} {evidence.text}" for evidence in one.verdict.evidence)
    told = f"{one.verdict.outcome} {one.verdict.p} {why}"
    return f"{one.trajectory.source} {one.trajectory.name}: {told}"


def shown_public(report: dict[str, Any]) -> str:
    """The figures of public trajectories as tables."""
    lines = [
        "| source | tasks | passed | success right | fail right | said | ECE |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in [*report["sources"].items(), ("all", report)]:
        success, fail = (
            f"{_text(row[k]['right'])} of {row[k]['said']}" for k in ("success", "fail")
        )
        lines.append(
            f"| {name} | {row['tasks']} | {_text(row['passed'])} | {success} | {fail} "
            f"| {row['said']:.2f} | {row['ece']:.3f} |"
        )
    lines += ["", "| p from | tasks | mean p | passed |", "|---|---|---|---|"]
    lines += [
        f"| {row['from']} | {row['tasks']} | {row['p']:.2f} | {row['passed']:.2f} |"
        for row in report["bins"]
    ]
    return "\n".join(lines) + "\n"


# Our own ----------------------------------------------------------------------


def outcomes(*, whole: bool = False) -> Iterator[Judged]:
    """Every episode with the outcome that it gets after an import."""
    with tempfile.TemporaryDirectory(prefix="recollect-outcome-") as folder:
        home = Path(folder)
        labelled = build(home)
        store_path = str(home / "recollect.db")
        settings = Settings(folder, store_path, {"redact.enabled": False})
        with Memory(settings) as memory:
            memory.import_logs([str(home / ".claude"), str(home / ".codex")])
        store = open_store(store_path, create=False)
        for number, ref, _ in store.digests.outdated():
            episode, passages = labelled[ref], store.digests.passages(number)
            yield _by_digest(episode, ref, passages) if whole else _by_itself(episode, passages)
        store.close()


def _by_itself(episode: Episode, passages: list[Passage]) -> Judged:
    own, after = passages[: episode.task_turns], passages[episode.task_turns :]
    return Judged(episode, judged_alone(own, prompt_of(after[0]) if after else None))


def _by_digest(episode: Episode, ref: str, passages: list[Passage]) -> Judged:
    """The task in which the last turn that is labelled ended up."""
    live = [passage.ordinal for passage in passages[: episode.task_turns] if passage.live]
    task = next(task for task in make(ref, passages).tasks if live[-1] in task.turns)
    return Judged(episode, Verdict(task.outcome, task.p or 0.0, task.evidence))


# Figures ----------------------------------------------------------------------


def figures(judged: list[Judged]) -> dict[str, Any]:
    """Everything that is printed about a part."""
    return {
        "episodes": len(judged),
        "right": _share(judged),
        "confusion": {
            given: {
                true: sum(one.outcome == given and one.episode.outcome == true for one in judged)
                for true in OUTCOMES
            }
            for given in OUTCOMES
        },
        "precision": {
            given: _share(one for one in judged if one.outcome == given) for given in OUTCOMES
        },
        "fail_succeeded": sum(
            one.outcome == "fail" and one.episode.outcome == "success" for one in judged
        ),
        "uncertain": round(
            sum(one.outcome == "uncertain" for one in judged) / max(1, len(judged)), 3
        ),
        "evidence": _by_evidence(judged),
        "agents": {
            agent: {
                "episodes": len(own),
                "right": _share(own),
                "precision": {
                    given: _share(one for one in own if one.outcome == given)
                    for given in ("success", "fail")
                },
                "uncertain": round(sum(one.outcome == "uncertain" for one in own) / len(own), 3),
            }
            for agent in sorted({one.episode.agent for one in judged})
            for own in [[one for one in judged if one.episode.agent == agent]]
        },
    }


def _by_evidence(judged: list[Judged]) -> dict[str, dict[str, Any]]:
    """For each kind of evidence: in how many episodes it stood, and in how
    many of them the outcome was right.
    """
    spoke: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in judged:
        for kind in {evidence.kind for evidence in one.verdict.evidence}:
            spoke[kind] += 1
            right[kind] += one.is_right
    return {
        kind: {"episodes": count, "right": round(right[kind] / count, 3)}
        for kind, count in spoke.most_common()
    }


def _share(judged: Iterable[Judged]) -> float | None:
    right = [one.is_right for one in judged]
    return round(sum(right) / len(right), 3) if right else None


def shown(report: dict[str, Any]) -> str:
    """A part's figures as tables."""
    lines = [
        "| given \\ true | " + " | ".join(OUTCOMES) + " | right |",
        "|---" * (len(OUTCOMES) + 2) + "|",
    ]
    for given, row in report["confusion"].items():
        lines.append(
            f"| {given} | "
            + " | ".join(str(row[true]) for true in OUTCOMES)
            + f" | {_text(report['precision'][given])} |"
        )
    lines += [
        "",
        f"{report['episodes']} episodes, {_text(report['right'])} right, "
        f"{_text(report['uncertain'])} uncertain",
        "",
    ]
    lines += ["| evidence | episodes | right |", "|---|---|---|"]
    lines += [
        f"| {kind} | {row['episodes']} | {_text(row['right'])} |"
        for kind, row in report["evidence"].items()
    ]
    lines += [
        "",
        "| agent | episodes | right | success right | fail right | uncertain |",
        "|---|---|---|---|---|---|",
    ]
    for agent, row in report["agents"].items():
        precision = row["precision"]
        lines.append(
            f"| {agent} | {row['episodes']} | {_text(row['right'])} | "
            f"{_text(precision['success'])} | {_text(precision['fail'])}"
            f" | {_text(row['uncertain'])} |"
        )
    return "\n".join(lines) + "\n"


def _text(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"


def explained(one: Judged) -> str:
    """An episode that was judged wrong, and what led there."""
    why = "; ".join(f"{evidence.kind} {evidence.text}".strip() for evidence in one.verdict.evidence)
    episode = one.episode
    verdict = f"is {episode.outcome}, was called {one.outcome}: {why or 'nothing'}"
    return f"{episode.number} {episode.agent}: {episode.about}\n   {verdict}"


if __name__ == "__main__":
    sys.exit(main())
