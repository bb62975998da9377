"""recollect distill: summarise sessions into one memory for each project.

recollect distill                     every session that has been quiet for some hours
recollect distill --now               also sessions that may still be running
recollect distill --jobs DIR          write the work as files for your own agent
recollect distill --commit DIR        read back what your agent made of them

Rules do it unless config.toml names a model. The files are under memories/ in
recollect's folder; see docs/distill.md.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Distilled, JobFile
from recollect.serve.cli import count
from recollect.serve.output import Output, counted


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--now",
        action="store_true",
        help="also sessions that may still be running, and those that failed before",
    )
    parser.add_argument(
        "--limit",
        type=count,
        metavar="N",
        help="at most N sessions (default: as many as 8 model calls take; all by rules)",
    )
    parser.add_argument("--all", action="store_true", help="every due session, however many")
    parser.add_argument(
        "--engine",
        choices=["rules", "llm", "agent"],
        help="who does it (default: see config.toml)",
    )
    parser.add_argument("--project", metavar="NAME", help="only sessions of this project")
    parser.add_argument("--jobs", metavar="DIR", help="write what is due as files for your agent")
    parser.add_argument("--commit", metavar="DIR", help="read back what your agent made of them")


def run(memory: Memory, args: Namespace) -> Output:
    if args.jobs and args.commit:
        raise UsageError(
            "--jobs does not go with --commit.",
            hint="Write the jobs, let your agent do them, then run --commit.",
        )
    if args.engine in ("rules", "llm") and (args.jobs or args.commit):
        raise UsageError(
            f"--engine {args.engine} writes no job files.",
            hint="Leave --engine out, or use --engine agent.",
        )
    options = {
        "now": args.now,
        "limit": args.limit,
        "everything": args.all,
        "project": args.project,
    }
    if args.commit:
        return Output(
            memory.old.commit_jobs(args.commit), _job, empty=f"{args.commit} has none of our jobs."
        )
    if args.jobs:
        return Output(
            memory.old.write_jobs(args.jobs, **options),
            _job,
            empty="Nothing to do. Add --now to take new sessions too.",
        )
    return Output([memory.old.distill(engine=args.engine, **options)], _text)


def _text(row: Distilled) -> str:
    if not row.candidates and not row.projects:
        return "Nothing to do."
    cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:.4f}"
    later = row.projects - row.consolidated - row.locked
    lines = [
        f"{counted(row.considered, 'session')}: {row.candidates} due, {row.distilled} summarised,"
        f" {row.failed} failed, {row.skipped} left for later",
        f"{counted(row.projects, 'project')}: {row.consolidated} updated, "
        f"{row.locked} busy elsewhere, {later} left for later",
    ]
    return "\n".join(
        [*lines, f"{counted(row.tokens, 'token')}, cost {cost}"] if row.tokens else lines
    )


def _job(row: JobFile) -> str:
    why = f"  {row.reason}" if row.reason else ""
    return f"{row.outcome:9} {row.kind:6} {row.subject}  {row.path}{why}"
