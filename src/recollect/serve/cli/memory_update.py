"""`recollect memory update`: have an engine write what the next session should know."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.engines import EngineAnswer, EngineRequest, EngineRun
from recollect.serve.output import Output, counted

NOTHING = "Nothing is new since the memory was written. From the start: --force"


def arguments(parser: ArgumentParser) -> None:
    """The options of `memory update`, and `--record`."""
    parser.add_argument(
        "--record", action="store_true", help="the sessions in one text, as an engine reads them"
    )
    parser.add_argument(
        "--engine", metavar="NAME", help="update: ask this one instead of distill.engine"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="update: show what would be sent, and its price"
    )
    parser.add_argument(
        "--jobs", metavar="DIR", help="update: write files for any agent to answer by hand"
    )
    parser.add_argument("--commit", metavar="DIR", help="update: take in the answers of such files")
    parser.add_argument(
        "--force", action="store_true", help="update: read everything again, whatever the caps say"
    )


def record(memory: Memory, args: Namespace) -> Output:
    """The condensed record of a project."""
    found = memory.engines.record(project=args.project, folder=args.folder)
    if found is None:
        return Output([], empty="Nothing is stored of this project. Read it: recollect import")
    if args.json:
        return Output([found._asdict()])
    return Output([found.text], note="; ".join(found.cuts))


def update(memory: Memory, args: Namespace) -> Output:
    """Ask an engine, or show what it would be asked, or let somebody answer by hand."""
    engines, about = memory.engines, {"project": args.project}
    if args.commit:
        return Output(
            engines.commit_jobs(args.commit), _job, empty=f"{args.commit} has none of our jobs."
        )
    if args.jobs:
        everything = args.all and not args.project and not args.folder
        at = None if everything else args.folder or "."
        jobs = engines.write_jobs(args.jobs, **about, at=at, again=args.force)
        note = f"When they are answered: recollect memory update --commit {args.jobs}"
        return Output(jobs, _job, empty=NOTHING, note=note if jobs else "")
    about["folder"] = args.folder or (None if args.project or args.all else os.getcwd())
    if about["folder"] and memory.projects.of(about["folder"]) is None:
        raise UsageError(
            "Nothing is known about this folder.",
            hint="Name a project: recollect memory update --project NAME. See: recollect projects",
        )
    if args.dry_run:
        request = engines.request(**about, engine=args.engine, again=args.force)
        return Output([request] if request else [], _request, empty=NOTHING)
    run = engines.update(**about, engine=args.engine, force=args.force)
    good = run is None or run.outcome in ("kept", "nothing")
    return Output([run] if run else [], _run, empty=NOTHING, exit_code=0 if good else 69)


def _request(row: EngineRequest) -> str:
    price = "at an unknown price" if row.cost_usd is None else f"about ${row.cost_usd:.3f}"
    head = [
        f"{row.project}: {counted(row.sessions, 'session')} with {counted(row.prompts, 'prompt')}, "
        f"about {row.tokens_in:,} tokens to send and {row.tokens_out:,} back, {price}",
        f"To: {row.engine}{f', {row.model}' if row.model else ''}",
    ]
    head += [f"Not sent: {count} of {agent}" for agent, count in row.left_out.items()]
    head += [f"Shortened: {', '.join(row.cuts)}"] if row.cuts else []
    head += [f"Later, in another step: {counted(row.waiting, 'prompt')}"] if row.waiting else []
    return "\n".join([*head, "", row.text])


def _run(row: EngineRun) -> str:
    cost = f", ${row.cost_usd:.3f}" if row.cost_usd is not None else ""
    took = f"{row.engine}, {row.tokens_in:,} tokens read and {row.tokens_out:,} written{cost}"
    if row.outcome in ("kept", "nothing"):
        dropped = f", {row.dropped} not in the logs and left out" if row.dropped else ""
        return f"{row.project}: {counted(row.lines, 'line')}{dropped} ({took})"
    return f"{row.project}: nothing changed. {row.why}"


def _job(row: EngineAnswer) -> str:
    told = f"{row.outcome:9}  {row.project}  {row.path}"
    if row.outcome == "kept":
        told += f"  {counted(row.lines, 'line')}"
    return told + (f"\n    {row.reason}".replace("\n", "\n    ") if row.reason else "")
