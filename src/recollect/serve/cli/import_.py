"""recollect import: read every agent's new logs into the store.

Without a path, every supported agent found on this machine; with one, the log
file, the agent's folder, or the home folder (a copy of somebody else's, say)
that it names. Only what is new is read, so it can be run at any time.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import ImportReport, SourceReport
from recollect.serve.cli.background import leave_work
from recollect.serve.cli.output import Output, counted, say
from recollect.serve.cli.progress import Progress

_NOBODY = """no agent has left sessions here
  recollect agents    where we looked
  recollect demo      try it with sessions of our own"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="log files or folders; none means every agent found here",
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="only this agent (may be repeated)",
    )
    parser.add_argument("--dry-run", action="store_true", help="discover and read, write nothing")
    parser.add_argument(
        "--report",
        action="store_true",
        help="say for each source what was seen, kept, skipped and why",
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on importing what agents write, until interrupted"
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="also do the jobs that the import leaves, before returning",
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.watch:
        _refuse_with_watch(args)
        return Output(_watched(memory, args), _line)
    with Progress("importing") as progress:
        report = memory.import_logs(
            args.paths, agents=args.agent, dry_run=args.dry_run, progress=progress
        )
    if args.wait and not args.dry_run:
        memory.work()
    elif not args.dry_run:
        leave_work(memory)
    rows: list[ImportReport | SourceReport] = (
        [*memory.source_reports, report] if args.report else [report]
    )
    if not args.report:
        _say_problems(memory.source_reports)
    nobody = "" if report.discovered or args.paths else _NOBODY
    return Output(rows, lambda row: _text(row, dry_run=args.dry_run), note=nobody)


def _refuse_with_watch(args: Namespace) -> None:
    """What watching would ignore is refused rather than ignored."""
    given = {
        "a PATH": args.paths,
        "--dry-run": args.dry_run,
        "--report": args.report,
        "--wait": args.wait,
    }
    for name, value in given.items():
        if value:
            raise UsageError(
                f"--watch does not go with {name}",
                hint="it imports what every agent here writes, until interrupted",
            )


def _watched(memory: Memory, args: Namespace) -> Iterator[ImportReport]:
    say("watching; stop with Ctrl-C")
    for report in memory.watch(agents=args.agent):
        yield report
        sys.stdout.flush()
        leave_work(memory)


def _line(report: ImportReport) -> str:
    failed = f", {report.failed} failed" if report.failed else ""
    kept = f"{counted(report.turns, 'turn')}, {counted(report.problems, 'problem')}"
    return f"{report.imported} new, {report.updated} grown{failed}: {kept}"


def _text(row: ImportReport | SourceReport, *, dry_run: bool) -> str:
    if isinstance(row, SourceReport):
        told = f"{counted(row.turns, 'turn')}, {counted(row.events, 'event')}, {counted(row.bytes, 'byte')}"
        lines = [f"{row.outcome:9} {row.path}  {told}"]
        for problem in row.problems:
            where = f" line {problem.line}" if problem.line else ""
            times = f" (x{problem.count})" if problem.count > 1 else ""
            lines.append(f"          {problem.kind}{where}: {problem.reason}{times}")
        return "\n".join(lines)
    verb = "would keep" if dry_run else "kept"
    failed = f", {row.failed} failed" if row.failed else ""
    sources, sessions, turns = (
        counted(row.discovered, "source"),
        counted(row.sessions, "session"),
        counted(row.turns, "new turn"),
    )
    return (
        f"{sources}: {row.imported} new, {row.updated} grown or replaced, {row.unchanged} "
        f"unchanged{failed}\n"
        f"{verb} {sessions}, {turns}, {counted(row.tool_calls, 'tool call')}"
        f" from {row.bytes / 1e6:.1f} MB in {row.seconds:.1f} s\n"
        f"{counted(row.redactions, 'secret')} removed, {counted(row.problems, 'problem')}"
    )


def _say_problems(reports: list[SourceReport]) -> None:
    """The sources that gave nothing are worth a word even when nobody asked for the report."""
    failed = [report for report in reports if report.outcome == "failed"]
    for report in failed[:5]:
        say(f"could not read {report.path}: {report.reason}")
    if len(failed) > 5:
        say(f"and {len(failed) - 5} more; `recollect import --report` lists them")
