"""recollect import: read new sessions from your agents.

recollect import                       from every agent on this machine
recollect import --agent codex         only from this one
recollect import ~/old-laptop          from a home folder, an agent's folder or a log file
recollect import --watch               go on until Ctrl-C

Only what is new is read, so you can run it at any time.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import ImportReport, SourceReport
from recollect.serve.agents import agent_called
from recollect.serve.background import leave_work
from recollect.serve.cli.lists import Screen, agent_name
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.cli.style import number, size
from recollect.serve.output import Output, and_subagents, counted, say
from recollect.settings import KEYS
from recollect.system.platforms import as_argument

# The options that stand for a setting: option, key, type and what it is called in the help.
_ENCODER = (
    ("--provider", "embed.provider", str, "NAME"),
    ("--model", "embed.model", str, "MODEL"),
    ("--gpu-layers", "embed.gpu_layers", int, "N"),
    ("--threads", "embed.threads", int, "N"),
)

# So many folders are named when their logs are external.
_MOST_FOLDERS = 5

_NOBODY = """No agent logs found on this machine.
  recollect agents    where it looked
  recollect demo      try it with sample sessions"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="log files or folders (default: every agent on this machine)",
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="only this agent (may be repeated)",
    )
    parser.add_argument("--dry-run", action="store_true", help="read the logs, write nothing")
    parser.add_argument(
        "--report",
        action="store_true",
        help="list every log: what was read, what was skipped and why",
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on importing what agents write, until Ctrl-C"
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="also run the jobs that follow, such as embedding, before it ends",
    )
    parser.add_argument(
        "--work-when-quiet",
        action="store_true",
        help="leave these jobs until no turn has ended for a minute, as hooks do",
    )
    encoder = parser.add_argument_group("embed with, for this run")
    for option, key, kind, metavar in _ENCODER:
        meaning = KEYS[key][1]
        encoder.add_argument(option, type=kind, metavar=metavar, help=f"{key}: {meaning}")


def settings(args: Namespace) -> dict[str, object]:
    """The settings that hold for this run alone."""
    given = ((key, getattr(args, option[2:].replace("-", "_"))) for option, key, _, _ in _ENCODER)
    return {key: value for key, value in given if value is not None}


def run(memory: Memory, args: Namespace) -> Output:
    args.agent = [agent_called(name) for name in args.agent]
    if settings(args):
        # A model that is not there is said now: in a job nobody would see it.
        memory.encoder()
    if args.watch:
        _refuse_with_watch(args)
        return Output(_watched(memory, args), _line)
    with ProgressBar("Reading", " logs") as progress:
        report = memory.import_logs(
            args.paths, agents=args.agent, dry_run=args.dry_run, progress=progress
        )
    if args.wait and not args.dry_run:
        waiting = memory.jobs.count_undigested()
        memory.jobs.work(at_once=True)
        report.analyzed = waiting - memory.jobs.count_undigested()
    elif not args.dry_run:
        leave_work(memory, when_quiet=args.work_when_quiet)
    rows: list[ImportReport | SourceReport] = (
        [*memory.source_reports, *memory.agents.skipped(args.paths, args.agent), report]
        if args.report
        else [report]
    )
    if not args.report:
        _say_problems(memory.source_reports)
    note = "" if report.discovered or args.paths else _NOBODY
    if report.external and not args.dry_run:
        note = _external(memory)
    return Output(
        rows,
        lambda row: _text(row, dry_run=args.dry_run),
        note=note,
        screen=None
        if args.report or args.dry_run or not report.discovered
        else lambda screen: _screen(screen, memory, report, wait=args.wait),
    )


def _screen(screen: Screen, memory: Memory, report: ImportReport, *, wait: bool) -> Iterator[str]:
    """What came in, what is there now, and what could not be read."""
    style = screen.style
    if report.unchanged == report.discovered:
        yield _up_to_date(report)
        return
    came = counted(report.sessions, "session") + and_subagents(report.subagents)
    logs = counted(report.imported + report.updated, "log")
    head = (
        f"{came}, {counted(report.turns, 'turn')} from {logs} ({size(report.bytes)}) "
        f"in {report.seconds:.1f} s"
    )
    yield style.paint("ok", style.glyph("✓ ")) + style.cut(head, style.width - 2)
    summary = memory.summary()
    facts = [f"{agent_name(agent)} {number(n)}" for agent, n in summary.agents.items()]
    facts.append(counted(summary.projects, "project"))
    if report.redactions:
        facts.append(f"{counted(report.redactions, 'secret')} removed")
    if report.analyzed:
        facts.append(f"{counted(report.analyzed, 'session')} analyzed")
    yield style.paint("dim", style.cut(style.glyph("  " + " · ".join(facts)), style.width))
    if report.problems:
        yield style.paint("warn", "! ") + (
            f"{counted(report.problems, 'line')} could not be read: recollect import --report"
        )
    if report.turns and not wait:
        yield style.paint("dim", "  Search by meaning is being prepared in the background.")
    yield from screen.hint("Try: recollect search WORDS   What agents are told: recollect memory")


def _external(memory: Memory) -> str:
    """What to do about logs that a repository may have brought along."""
    folders = [
        one.folder for one in memory.projects.external_logs() if set(one.logs) - set(one.tracked)
    ]
    if not folders:
        return ""
    more = f"\n  and {len(folders) - _MOST_FOLDERS} more" if len(folders) > _MOST_FOLDERS else ""
    commands = "\n".join(
        f"  recollect projects trust {as_argument(name)}" for name in folders[:_MOST_FOLDERS]
    )
    return (
        "Logs inside projects are external: a clone can bring them along, so agents are not told"
        f" of them.\nIf they are yours:\n{commands}{more}"
    )


def _refuse_with_watch(args: Namespace) -> None:
    """Refuse what --watch would otherwise ignore."""
    given = {
        "a PATH": args.paths,
        "--dry-run": args.dry_run,
        "--report": args.report,
        "--wait": args.wait,
    }
    for name, value in given.items():
        if value:
            raise UsageError(
                f"--watch does not go with {name}.",
                hint="It imports what every agent here writes, until Ctrl-C.",
            )


def _watched(memory: Memory, args: Namespace) -> Iterator[ImportReport]:
    say("Watching for new sessions. Stop with Ctrl-C.")
    for report in memory.watch(agents=args.agent):
        yield report
        sys.stdout.flush()
        leave_work(memory)


def stopped(memory: Memory) -> str:
    """What to say after Ctrl-C: what was committed stays."""
    if not os.path.exists(memory.settings.store):
        return "Stopped. Nothing is imported yet."
    stored = memory.summary().sessions
    return f"Stopped. {counted(stored, 'session is', 'sessions are')} in; run it again to go on."


def logs_read(report: ImportReport) -> str:
    """How many logs were read, as a sentence."""
    rest = [f"{report.unchanged} up to date"] if report.unchanged else []
    rest += [f"{report.failed} failed"] if report.failed else []
    return ", ".join([f"{counted(report.imported + report.updated, 'log')} read", *rest]) + "."


def _up_to_date(report: ImportReport) -> str:
    return f"Up to date ({counted(report.discovered, 'log')}, checked in {report.seconds:.1f} s)."


def _line(report: ImportReport) -> str:
    problems = f" {counted(report.problems, 'problem')}." if report.problems else ""
    return f"{logs_read(report)} {counted(report.turns, 'turn')}.{problems}"


def _text(row: ImportReport | SourceReport, *, dry_run: bool) -> str:
    if isinstance(row, SourceReport):
        if row.outcome == "skipped":
            return f"{row.outcome:9} {row.path}  {row.reason}"
        amounts = ((row.turns, "turn"), (row.events, "event"), (row.bytes, "byte"))
        amount = ", ".join(counted(number, what) for number, what in amounts)
        lines = [f"{row.outcome:9} {row.path}  {amount}"]
        for problem in row.problems:
            where = f" line {problem.line}" if problem.line else ""
            times = f" (x{problem.count})" if problem.count > 1 else ""
            lines.append(f"          {problem.kind}{where}: {problem.reason}{times}")
        return "\n".join(lines)
    if row.discovered and row.unchanged == row.discovered:
        return _up_to_date(row)
    would = "Would import " if dry_run else ""
    sessions = counted(row.sessions, "session") + and_subagents(row.subagents)
    turns = counted(row.turns, "turn")
    secrets = f" {counted(row.redactions, 'secret')} removed." if row.redactions else ""
    analyzed = f"\n{counted(row.analyzed, 'session')} analyzed." if row.analyzed else ""
    problems = (
        f"\n{counted(row.problems, 'problem')}. See them: recollect import --report"
        if row.problems
        else ""
    )
    read = f"{would}{sessions}, {turns} in {row.seconds:.1f} s."
    return f"{logs_read(row)}\n{read}{secrets}{analyzed}{problems}"


def _say_problems(reports: list[SourceReport]) -> None:
    """Name the logs that could not be read at all, even without --report."""
    failed = [report for report in reports if report.outcome == "failed"]
    for report in failed[:5]:
        say(f"Could not read {report.path}: {report.reason}")
    if len(failed) > 5:
        say(f"And {len(failed) - 5} more. All of them: recollect import --report")
