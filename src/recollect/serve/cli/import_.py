"""recollect import: read every agent's new logs into the store.

Without a path, every supported agent found on this machine; with one, the log
file, the agent's folder, or the home folder (a copy of somebody else's, say)
that it names. Only what is new is read, so it can be run at any time.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect import platforms
from recollect.memory import Memory
from recollect.model import ImportReport, SourceReport
from recollect.serve.cli.output import Output, say
from recollect.serve.cli.progress import Progress


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="log files or folders; none means every agent found here")
    parser.add_argument("--agent", action="append", default=[], metavar="NAME", help="only this agent (may be repeated)")
    parser.add_argument("--dry-run", action="store_true", help="discover and read, write nothing")
    parser.add_argument("--report", action="store_true", help="say for each source what was seen, kept, skipped and why")
    parser.add_argument("--watch", action="store_true", help="go on importing what agents write, until interrupted")
    parser.add_argument("--wait", action="store_true", help="also do the jobs that the import leaves, before returning")


def run(memory: Memory, args: Namespace) -> Output:
    if args.watch:
        return Output(_watched(memory, args), _line)
    with Progress("importing") as progress:
        report = memory.import_logs(args.paths, agents=args.agent, dry_run=args.dry_run, progress=progress)
    if args.wait and not args.dry_run:
        memory.work()
    elif not args.dry_run and memory.jobs(limit=1):
        platforms.spawn_detached([sys.executable, "-m", "recollect", "work", "--store", memory.settings.store])
    rows: list[ImportReport | SourceReport] = [*memory.source_reports, report] if args.report else [report]
    if not args.report:
        _say_problems(memory.source_reports)
    return Output(rows, lambda row: _text(row, dry_run=args.dry_run))


def _watched(memory: Memory, args: Namespace) -> Iterator[ImportReport]:
    say("watching; stop with Ctrl-C")
    for report in memory.watch(agents=args.agent):
        yield report
        sys.stdout.flush()


def _line(report: ImportReport) -> str:
    return f"{report.imported} new, {report.updated} grown: {report.turns} turns, {report.problems} problems"


def _text(row: ImportReport | SourceReport, *, dry_run: bool) -> str:
    if isinstance(row, SourceReport):
        lines = [f"{row.outcome:9} {row.path}  {row.turns} turns, {row.events} events, {row.bytes} bytes"]
        for problem in row.problems:
            where = f" line {problem.line}" if problem.line else ""
            lines.append(f"          {problem.kind}{where}: {problem.reason}" + (f" (x{problem.count})" if problem.count > 1 else ""))
        return "\n".join(lines)
    verb = "would keep" if dry_run else "kept"
    return (
        f"{row.discovered} sources: {row.imported} new, {row.updated} grown or replaced, {row.unchanged} unchanged\n"
        f"{verb} {row.sessions} sessions, {row.turns} new turns, {row.tool_calls} tool calls"
        f" from {row.bytes / 1e6:.1f} MB in {row.seconds:.1f} s\n"
        f"{row.redactions} secrets removed, {row.problems} problems"
    )


def _say_problems(reports: list[SourceReport]) -> None:
    """The sources that gave nothing are worth a word even when nobody asked for the report."""
    failed = [report for report in reports if report.outcome == "failed"]
    for report in failed[:5]:
        say(f"could not read {report.path}: {report.reason}")
    if len(failed) > 5:
        say(f"and {len(failed) - 5} more; `recollect import --report` lists them")
