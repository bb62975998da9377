"""How right the outcomes of tasks are: `python bench/outcome.py [--part test] [--wrong] [--json]`.

The labelled episodes of bench/sets/outcome are written as logs, imported, and
judged. Printed are the confusion table, how often each outcome is right when it
is given, the share that stays uncertain, how often the outcome is right where
each kind of evidence spoke, and the same by agent. Rules are made with a look
at `dev`; what we claim is measured on `test`. With `--whole` the outcome is the
one in the digest of the whole session, so that splitting it into tasks counts too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # A script finds what is beside it; the project is one folder up.
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.sets.outcome.make import Episode, Part, build  # noqa: E402
from recollect.distill.outcomes.outcome import judge  # noqa: E402
from recollect.distill.tasks.calls import calls_of  # noqa: E402
from recollect.distill.tasks.digest import make  # noqa: E402
from recollect.distill.tasks.tasks import prompt_of  # noqa: E402
from recollect.memory import Memory  # noqa: E402
from recollect.model.digests import Evidence, Outcome  # noqa: E402
from recollect.settings import Settings  # noqa: E402
from recollect.store import open_store  # noqa: E402
from recollect.store.history import Passage  # noqa: E402

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
PARTS: tuple[Part, ...] = get_args(Part)


class Judged(NamedTuple):
    """An episode with the outcome that it got, and why."""

    episode: Episode
    outcome: Outcome
    evidence: list[Evidence]

    @property
    def is_right(self) -> bool:
        return self.outcome == self.episode.outcome


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--part", choices=PARTS, help="only this part; both, one after the other, when not given"
    )
    parser.add_argument(
        "--whole", action="store_true", help="take the outcome from the digest of the whole session"
    )
    parser.add_argument(
        "--wrong", action="store_true", help="also show each episode that was judged wrong"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args(argv)

    judged = list(outcomes(whole=args.whole))
    parts = [args.part] if args.part else list(PARTS)
    report = {part: figures([one for one in judged if one.episode.part == part]) for part in parts}
    if args.json:
        print(json.dumps(report, indent=2))
        return 0
    for part in parts:
        print(f"# {part}\n\n{shown(report[part])}")
        if args.wrong:
            print(
                "\n".join(
                    explained(one)
                    for one in judged
                    if one.episode.part == part and not one.is_right
                ),
                end="\n\n",
            )
    return 0


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
    calls = calls_of(passage for passage in own if passage.live)
    following = prompt_of(after[0]) if after else None
    return Judged(episode, *judge(own, calls, is_last=not after, next_prompt=following))


def _by_digest(episode: Episode, ref: str, passages: list[Passage]) -> Judged:
    """The task in which the last turn that is labelled ended up."""
    live = [passage.ordinal for passage in passages[: episode.task_turns] if passage.live]
    calls = {passage.ordinal: calls_of([passage]) for passage in passages if passage.live}
    tasks = make(ref, passages, calls).tasks
    task = next(task for task in tasks if live[-1] in task.turns)
    return Judged(episode, task.outcome, task.evidence)


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
        for kind in {evidence.kind for evidence in one.evidence}:
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
    why = "; ".join(f"{evidence.kind} {evidence.text}".strip() for evidence in one.evidence)
    episode = one.episode
    verdict = f"is {episode.outcome}, was called {one.outcome}: {why or 'nothing'}"
    return f"{episode.number} {episode.agent}: {episode.about}\n   {verdict}"


if __name__ == "__main__":
    sys.exit(main())
