"""recollect distill: give sessions their trace memories, and projects one memory of them.

Sessions are taken that have been quiet for some hours and that are not
distilled yet as they are now. Rules do it unless the settings name a model;
your own agent does it in two steps, with --jobs and then --commit. The files
are under memories/ in recollect's folder; see docs/distill.md.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Distilled, JobFile
from recollect.serve.cli import count
from recollect.serve.cli.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--now",
        action="store_true",
        help="also sessions that may still run, and those that failed before",
    )
    parser.add_argument(
        "--limit",
        type=count,
        metavar="N",
        help="at most N sessions (default: 8 calls of a model, else all)",
    )
    parser.add_argument(
        "--all", action="store_true", help="every session that is due, however many"
    )
    parser.add_argument(
        "--engine",
        choices=["rules", "llm", "agent"],
        help="who distills (default: as the settings say)",
    )
    parser.add_argument("--project", metavar="NAME", help="only sessions of this project")
    parser.add_argument("--jobs", metavar="DIR", help="write what is due as files for your agent")
    parser.add_argument("--commit", metavar="DIR", help="take in what your agent made of them")


def run(memory: Memory, args: Namespace) -> Output:
    if args.jobs and args.commit:
        raise UsageError(
            "--jobs does not go with --commit",
            hint="write the jobs, let your agent do them, then commit",
        )
    if args.engine in ("rules", "llm") and (args.jobs or args.commit):
        raise UsageError(
            f"--engine {args.engine} writes no job files",
            hint="leave --engine out, or say --engine agent",
        )
    options = {
        "now": args.now,
        "limit": args.limit,
        "everything": args.all,
        "project": args.project,
    }
    if args.commit:
        return Output(
            memory.commit_jobs(args.commit), _job, empty=f"no job of ours is in {args.commit}"
        )
    if args.jobs:
        return Output(
            memory.write_jobs(args.jobs, **options),
            _job,
            empty="nothing is due; --now takes fresh sessions too",
        )
    return Output([memory.distill(engine=args.engine, **options)], _text)


def _text(row: Distilled) -> str:
    cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:.4f}"
    lines = [
        f"{counted(row.considered, 'session')}: {row.candidates} due, {row.distilled} distilled,"
        f" {row.failed} failed, {row.skipped} left for later",
        f"{counted(row.projects, 'project')} changed: {row.consolidated} consolidated, "
        f"{row.locked} in other hands,"
        f" {row.projects - row.consolidated - row.locked} left for later",
    ]
    return "\n".join(
        [*lines, f"{counted(row.tokens, 'token')}, cost {cost}"] if row.tokens else lines
    )


def _job(row: JobFile) -> str:
    return f"{row.outcome:9} {row.kind:6} {row.subject}  {row.path}{f'  {row.reason}' if row.reason else ''}"
