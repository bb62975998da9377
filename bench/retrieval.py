"""How well recall finds what answers a question: `python bench/retrieval.py --set SET --data FILE`.

Sets: `own` (part of the project), and published ones that are given by path:
`locomo`, `longmemeval` and `cosqa`; how each is read is in `bench/judging`, what
the figures mean in `bench/judging/metrics.py`. Weights are chosen on the `dev`
part; what we claim is measured on `test`. With --json one object is printed:
part, then mode, then figures; our own set also has `injection`, what `recall`
tells unasked, and `hook`, what an agent's hook tells, in each part.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    # A script finds what is beside it; the project is one folder up.
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.judging.asking import (  # noqa: E402
    MODES,
    PROMPTS,
    Answer,
    Reaction,
    agreement,
    answers,
    figures,
    reactions,
    reactions_of_hook,
)
from bench.judging.metrics import injection_summary  # noqa: E402
from bench.judging.sets import PARTS, Collection, LabelledSet, Question  # noqa: E402
from bench.judging.show import misjudged, missed, table  # noqa: E402
from bench.judging.stores import Encoder, Stores  # noqa: E402
from recollect import Memory  # noqa: E402
from recollect.embed import PROVIDERS  # noqa: E402
from recollect.errors import RecollectError, UsageError  # noqa: E402

SETS = ("own", "locomo", "longmemeval", "cosqa")


def main(argv: list[str] | None = None) -> int:
    """Measure what was asked for and print it."""
    args = _parser().parse_args(argv)
    try:
        measurement = Measurement(args)
        with tempfile.TemporaryDirectory(prefix="recollect-retrieval-") as scratch:
            encoder = Encoder(args.provider, args.model, args.url)
            folder = args.keep or Path(scratch)
            measurement.run(
                _loaded(args),
                Stores(folder, encoder=encoder, keep=bool(args.keep), resident=args.resident),
            )
    except RecollectError as error:
        print(f"retrieval: {error}\n{error.hint}".rstrip(), file=sys.stderr)
        return error.exit_code
    report = measurement.report()
    print(json.dumps(report, indent=2) if args.json else table(report))
    for miss in measurement.some_misses():
        print(f"\n{miss}")
    return 0


class Measurement:
    """Goes through a set, store by store, and gathers what each mode of search answers."""

    def __init__(self, args: argparse.Namespace) -> None:
        if args.misses and "test" in (args.part or ()):
            raise UsageError(
                "questions of the test part are not for reading", hint="leave out --part test"
            )
        if args.misses and args.json:
            raise UsageError(
                "what was missed is for reading, not for programs",
                hint="leave out --json or --misses",
            )
        self.args = args
        self.modes = args.mode or list(MODES)
        self.parts = args.part or (["dev"] if args.misses else list(PARTS))
        self.asked: Counter[str] = Counter()
        self.answers: defaultdict[tuple[str, str], list[Answer]] = defaultdict(list)
        self.reactions: defaultdict[str, list[Reaction]] = defaultdict(list)
        self.hooked: defaultdict[str, list[Reaction]] = defaultdict(list)
        self.misses: list[str] = []

    def run(self, labelled: LabelledSet, stores: Stores) -> None:
        """Ask every question that is wanted."""
        for collection in labelled.collections:
            if questions := list(self._wanted(collection)):
                print(f"{labelled.name}: {collection.name} ({len(questions)})", file=sys.stderr)
                # Words need no vectors; everything else, injection too, may use them.
                embed = self.modes != ["text"] or any(
                    question.kind in PROMPTS for question in questions
                )
                with stores.opened(labelled.digest, collection, embed=embed) as memory:
                    self._ask(memory, questions)
            elif self._enough():
                return
        for sort, count in sorted((+labelled.left_out).items()):
            print(f"{labelled.name}: left out {count} {sort}", file=sys.stderr)

    def _wanted(self, collection: Collection) -> Iterator[Question]:
        for question in collection.questions:
            if question.part in self.parts and not self._enough(question.part):
                self.asked[question.part] += 1
                yield question

    def _enough(self, part: str | None = None) -> bool:
        """Whether the limit is reached, for one part or for all that are wanted."""
        limit = self.args.limit
        return limit is not None and all(
            self.asked[one] >= limit for one in ([part] if part else self.parts)
        )

    def _ask(self, memory: Memory, questions: list[Question]) -> None:
        searches = [question for question in questions if question.kind not in PROMPTS]
        for mode in self.modes:
            given = list(answers(memory, searches, mode))
            for answer in given:
                self.answers[answer.question.part, mode].append(answer)
            if self.args.misses:
                self.misses += missed(memory, given)
        prompts = [question for question in questions if question.kind in PROMPTS]
        reacted = list(reactions(memory, prompts))
        for reaction in reacted:
            self.reactions[reaction[0].part].append(reaction)
        for reaction in reactions_of_hook(memory, prompts):
            self.hooked[reaction[0].part].append(reaction)
        if self.args.misses:
            self.misses += misjudged(memory, reacted)

    def report(self) -> dict[str, dict[str, Any]]:
        """The figures: part, then mode, then name."""
        by_kind = self.args.by == "kind"
        report: dict[str, dict[str, Any]] = {}
        for part in self.parts:
            report[part] = {
                mode: figures(self.answers[part, mode], by_kind=by_kind)
                for mode in self.modes
                if self.answers[part, mode]
            }
            if self.reactions[part]:
                recalled, hooked = self.reactions[part], self.hooked[part]
                report[part]["injection"] = injection_summary(
                    [injection for _, injection in recalled]
                )
                told = injection_summary([injection for _, injection in hooked])
                report[part]["hook"] = {**told, "agreed": agreement(hooked, recalled)}
        return report

    def some_misses(self) -> list[str]:
        """As many of the misses as were asked for, from all over the
        set and the same ones each time.
        """
        return Random(1).sample(self.misses, min(self.args.misses, len(self.misses)))


def _loaded(args: argparse.Namespace) -> LabelledSet:
    if args.data is None and args.set != "own":
        raise UsageError(
            f"{args.set} is not part of the project", hint="say where it is with --data"
        )
    if args.data is not None and not args.data.exists():
        raise UsageError(
            f"{args.data} is not there", hint="fetch the published file and give its path"
        )
    load: Callable[..., LabelledSet] = import_module(f"bench.judging.{args.set}").load
    return load(args.data, *([args.categories.split(",")] if args.categories else []))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="retrieval.py", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--set", choices=SETS, default="own", help="which questions (default: %(default)s)"
    )
    parser.add_argument("--data", type=Path, metavar="FILE", help="the published file of the set")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--mode", action="append", choices=MODES, help="only this mode of search; may be repeated"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="only this part; may be repeated"
    )
    parser.add_argument(
        "--categories",
        metavar="A,B",
        help="only these kinds of questions (default for locomo: 1,2,3,4)",
    )
    parser.add_argument("--by", choices=["kind"], help="also the figures of each kind of question")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only the first N questions of each part"
    )
    parser.add_argument(
        "--misses",
        type=int,
        default=0,
        metavar="N",
        help="also show N questions of dev that were missed",
    )
    parser.add_argument(
        "--provider", choices=PROVIDERS, default="static", help="the encoder (default: %(default)s)"
    )
    parser.add_argument(
        "--model", default="", metavar="PATH", help="its model: a path, or a name for remote"
    )
    parser.add_argument("--url", default="", help="the address of a remote encoder")
    parser.add_argument(
        "--resident",
        action="store_true",
        help="search as a process that stays does, vectors in memory",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep the stores here, and use those that are there",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
