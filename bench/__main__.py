"""`python -m bench SUITE...`: measure, write the results down, say what was reached."""

from __future__ import annotations

import shlex
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path

from bench import report
from bench.corpora import LARGE, ROOT, SMALL, Corpus, Shape, ensure_corpus
from bench.measure import Figure, machine
from bench.plan import Plan
from bench.suites import SUITES
from bench.worker import run_apart

RESULTS = ROOT / "bench" / "results"
DOCS = ROOT / "docs" / "performance.md"


def main(argv: list[str] | None = None) -> int:
    """Measure what was asked for.

    1 when something got worse than in the results given with --against.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    args.suites = [args.suites] if isinstance(args.suites, str) else args.suites
    if args.table and not args.against:
        parser.error("--table shows what changed: name what it is compared with by --against")
    if args.write_docs and args.suites != ["all"]:
        parser.error("--write-docs wants all figures: python -m bench all --write-docs")
    old = report.read(args.against) if args.against else None
    results = measure(args, sys.argv[1:] if argv is None else argv)
    written = report.write(RESULTS, results)
    print(report.as_text(results))
    print(f"\n{written}\n{written.with_name('report.html')}")
    if args.write_docs:
        report.write_docs(DOCS, results)
    if old is None:
        return 0
    if args.table:
        args.table.write_text(report.as_markdown(results, old), encoding="utf-8")
    worse = [change for change in report.changes(results, old) if change.worse]
    for change in worse:
        print(f"worse: {change}", file=sys.stderr)
    return 1 if worse else 0


def measure(args: Namespace, argv: list[str]) -> report.Results:
    """The figures of some suites, or of all."""
    command = shlex.join(["python", "-m", "bench", *argv])
    args.cache.mkdir(parents=True, exist_ok=True)
    large, small = _corpora(args)
    with tempfile.TemporaryDirectory(prefix="run-", dir=args.cache) as work:
        figures: list[Figure] = []
        for name in SUITES if "all" in args.suites else args.suites:
            print(f"{name}:", file=sys.stderr)
            figures += run_apart(
                name, Plan(large, small, Path(work), args.cache.resolve(), args.runs)
            )
    for figure in figures:
        figure.command = command
    corpora = {"corpus": large.facts()} | ({"small": small.facts()} if small != large else {})
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    return report.Results("-".join(args.suites), date, machine(), corpora, figures)


def _corpora(args: Namespace) -> tuple[Corpus, Corpus]:
    """The large and the small corpus.

    What the options say is about the one that the suite is about.
    """
    usual = SMALL if args.suites == ["small"] else LARGE
    shape = Shape(args.files or usual.files, args.turns or usual.turns, args.mb or usual.mb)
    chosen = (
        Corpus(str(args.corpus.resolve()))
        if args.corpus
        else ensure_corpus(args.cache, shape, agent=args.agent)
    )
    chosen.environ()
    other = ensure_corpus(args.cache, SMALL, agent=args.agent) if "all" in args.suites else chosen
    return chosen, other


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m bench", description="Measure the figures of docs/performance.md."
    )
    parser.add_argument(
        "suites",
        nargs="*",
        metavar="SUITE",
        default="all",
        choices=[*SUITES, "all"],
        help=f"what to measure: all (the default) or some of {' '.join(SUITES)}",
    )
    parser.add_argument(
        "--files",
        type=int,
        help=f"files of the generated corpus (default: {LARGE.files}; small: {SMALL.files})",
    )
    parser.add_argument(
        "--turns", type=int, help=f"its turns (default: {LARGE.turns}; small: {SMALL.turns})"
    )
    parser.add_argument(
        "--mb", type=float, help=f"its size in MB (default: {LARGE.mb}; small: {SMALL.mb})"
    )
    parser.add_argument(
        "--agent",
        choices=["codex", "claude"],
        default="codex",
        help="whose logs are generated (default: %(default)s)",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        metavar="DIR",
        help="measure with these logs instead; they are only read",
    )
    parser.add_argument(
        "--runs",
        type=int,
        metavar="N",
        help="how often each figure is measured (default: 5 or more, by figure)",
    )
    cache = Path(tempfile.gettempdir(), "recollect-bench")
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache,
        metavar="DIR",
        help="for corpora and stores (default: %(default)s)",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="OLD.json",
        help="exit 1 when a figure is more than 10 %% worse than there",
    )
    parser.add_argument(
        "--table",
        type=Path,
        metavar="NEW.md",
        help="with --against: write what changed as a table in Markdown",
    )
    parser.add_argument(
        "--write-docs", action="store_true", help="put the results into docs/performance.md"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
