"""recollect jobs: list the waiting jobs.

recollect jobs                waiting, running and failed ones
recollect jobs --limit 5
recollect work                run the waiting ones now
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.model.reports import JobRow
from recollect.serve.cli import count
from recollect.serve.output import Output, counted
from recollect.system.clock import iso, now_ms


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", type=count, metavar="N", help="at most N rows")


def run(memory: Memory, args: Namespace) -> Output:
    rows = memory.jobs.all(limit=args.limit)
    return Output(rows, _text, note="" if rows else "No jobs waiting.")


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
