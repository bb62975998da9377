"""recollect jobs: list what waits to be done in the background, or do it now.

recollect jobs                      waiting, running and failed ones
recollect jobs run                  do what waits
recollect jobs run --limit 10       at most ten
recollect jobs run embed            only search by meaning, and watch it
recollect jobs run embed --again    every turn anew, for example with another model

An import leaves jobs such as embedding and starts this in the background, so you
seldom need it: to watch it happen, or after choosing another model under [embed] in
config.toml. You can stop it at any time; it goes on where it was.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Embedded, JobRow
from recollect.serve.cli import count
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.output import Output, counted
from recollect.system.clock import iso, now_ms


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=["list", "run"],
        default="list",
        help="what to do (default: list)",
    )
    parser.add_argument(
        "what", nargs="?", choices=["embed"], help="run only this: search by meaning"
    )
    parser.add_argument(
        "--again", action="store_true", help="embed: every turn, also those that have a vector"
    )
    parser.add_argument(
        "--when-quiet", action="store_true", help="first wait until no turn has ended for a minute"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows, jobs or turns")


def run(memory: Memory, args: Namespace) -> Output:
    if args.again and args.what != "embed":
        raise UsageError("--again goes with embed.", hint="Try: recollect jobs run embed --again")
    if args.action == "list":
        if args.what:
            raise UsageError("It lists all jobs.", hint=f"Try: recollect jobs run {args.what}")
        rows = memory.jobs.all(limit=args.limit)
        return Output(rows, _text, note="" if rows else "No jobs waiting.")
    if args.what == "embed":
        return _embed(memory, args)
    if args.when_quiet and not memory.jobs.wait_for_quiet():
        return Output([{"done": 0}], lambda _: "Another process does it.")
    done = memory.jobs.work(limit=args.limit)
    said = f"{counted(done, 'job')} done." if done else "No jobs waiting."
    return Output([{"done": done}], lambda _: said)


def _embed(memory: Memory, args: Namespace) -> Output:
    report = Embedded()
    with ProgressBar("Preparing search by meaning", " turns") as progress:
        for report in memory.store.embed(again=args.again, limit=args.limit):
            progress(report.turns, report.turns + report.remaining, "")
    return Output([report], _embedded)


def _embedded(report: Embedded) -> str:
    if not report.turns and not report.remaining:
        return f"Every turn is embedded already, with {report.encoder}."
    rest = f"; {counted(report.remaining, 'turn')} to go" if report.remaining else ""
    return (
        f"{counted(report.turns, 'turn')} embedded in {counted(report.pieces, 'piece')}"
        f" with {report.encoder} in {report.seconds:.1f} s{rest}"
    )


def _text(job: JobRow) -> str:
    error = f"  {job.error}" if job.error else ""
    later = (
        f", not before {job.not_before[:16]}"
        if job.not_before and job.not_before > (iso(now_ms()) or "")
        else ""
    )
    return (
        f"{job.state:8} {job.kind} {job.subject}  tried {counted(job.tries, 'time')}{later}{error}"
    )
