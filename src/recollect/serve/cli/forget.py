"""recollect forget: delete a session or a turn for good.

recollect forget codex:0199 --dry-run     what would go
recollect forget codex:0199#3             one turn
recollect forget codex:0199 --yes         the session, without asking

It goes from the store, its text index, its write-ahead log and the copies that
migrations left, and the next import does not bring it back. Copies of a turn
in forked sessions go too, and notes that come only from there, unless a person
wrote or accepted them. An attempt that an agent recorded has an id of its own,
`episode:…`; one that recollect derived goes with its session.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.reports import Forgotten
from recollect.serve.cli.confirm import confirm
from recollect.serve.output import Output, counted

GO_AHEAD = "Add --yes to go ahead, --dry-run to see what goes."


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ref",
        metavar="REF",
        help="a session, a turn as <session>#<number>, or an attempt as episode:<id>",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would go, delete nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(memory: Memory, args: Namespace) -> Output:
    if args.ref.startswith("note:"):
        raise UsageError(f"{args.ref} is a note.", hint=f"Try: recollect memory forget {args.ref}")
    if args.ref.startswith("episode:"):
        return _forget_episode(memory, args)
    if not args.dry_run and not args.yes:
        plan = memory.store.forget(args.ref, dry_run=True)
        if plan.turns or plan.sessions:
            confirm(_titled(memory, plan), otherwise=GO_AHEAD)
    return Output([memory.store.forget(args.ref, dry_run=args.dry_run)], _text)


def _forget_episode(memory: Memory, args: Namespace) -> Output:
    episode = memory.episodes.get(args.ref)
    if not args.dry_run and not args.yes:
        confirm(f"the attempt “{episode.task}”", otherwise=GO_AHEAD)
    if not args.dry_run:
        memory.episodes.forget(args.ref)
    verb = "would forget" if args.dry_run else "forgot"
    return Output(
        [episode], lambda row: f"{verb} the attempt “{row.task}”, {counted(len(row.steps), 'step')}"
    )


def _titled(memory: Memory, plan: Forgotten) -> str:
    """What would go, with the title that a person knows it by."""
    names = memory.names(plan.sessions)
    titles = [f"{one.title or '(no prompt)'} ({one.short})" for one in names.values()]
    return "\n  ".join([*titles, f"{_what(plan)}; an import does not bring it back"])


def _what(row: Forgotten) -> str:
    sessions = f"{', '.join(row.sessions)}, " if row.sessions else ""
    copies = (
        f", {counted(len(row.copies), 'copy', 'copies')} in forks among them" if row.copies else ""
    )
    notes = f", {', '.join(row.notes)}" if row.notes else ""
    return f"{sessions}{counted(row.turns, 'turn')}{copies}{notes}"


def _text(row: Forgotten) -> str:
    calls = f"{counted(row.tool_calls, 'tool call')}, {counted(row.model_calls, 'model call')}"
    forgot, removed = ("would forget", "would remove") if row.dry_run else ("forgot", "removed")
    if row.turns or row.sessions:
        lines = [f"{forgot} {_what(row)}, {calls}"]
    else:
        lines = ["It was forgotten already."]
    lines += [f"{removed} the copy {path}" for path in row.files]
    if row.scrubbed is not None and not row.scrubbed.complete:
        lines.append(row.scrubbed.detail)
    return "\n".join(lines)
