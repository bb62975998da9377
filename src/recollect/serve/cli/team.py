"""recollect team: share what you learned with your other machines and your team.

recollect team init postgresql://admin@db.acme.com/recollect   found a team on your server
recollect team invite bo                                       a link for bo; printed once
recollect team join                                            join: it asks for the link
recollect team share notes --project shop --dry-run            exactly what would leave
recollect team share notes --project shop                      share it from the next sync on
recollect team sync                                            exchange what is new, now
recollect team                                                 what of yours is out there

Nothing is shared until you say so. `notes` are those you wrote or accepted, and
the commands and traps that your logs prove; `digests` adds what sessions came
to, `sessions` what was asked, answered and run in them. What others share waits in
`recollect review`; agents are told of it only after you accepted it, or trust
its author: recollect team trust NAME --project P. `mute` hears nothing of
somebody, `stop` takes yours back everywhere, `revoke` shuts a member out,
`leave` ends it here. Passwords come from the environment or your keyring.
"""

from __future__ import annotations

import getpass
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from typing import get_args

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.team import (
    Role,
    SharePlan,
    SyncReport,
    TeamHit,
    TeamMember,
    TeamStatus,
)
from recollect.serve.output import Output, counted, short_time

HIT_CHARACTERS = 240
# Where users of Turso have the address of their database already.
ADDRESS_VARIABLE = "TURSO_DATABASE_URL"
# What each action takes: how many words, and which.
_WORDS: dict[str, tuple[int, str]] = {
    "status": (0, ""), "init": (1, "the address of your server"), "invite": (1, "a name"),
    "join": (0, ""), "share": (1, "notes, digests, sessions or episodes"), "sync": (0, ""),
    "members": (0, ""),
    "trust": (1, "a name"), "mute": (1, "a name"), "revoke": (1, "a name"), "stop": (0, ""),
    "leave": (0, ""),
}  # fmt: skip


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=list(_WORDS), default="status",
        help="what to do (default: status)",
    )  # fmt: skip
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="the address, the name, or what is shared"
    )
    parser.add_argument("--project", metavar="NAME", help="of this project (default: the one here)")
    parser.add_argument(
        "--all", action="store_true", help="stop: of every project; share episodes: of any"
    )
    parser.add_argument("--since", metavar="DATE", help="share: only what is newer than that")
    parser.add_argument(
        "--name", metavar="NAME", help="init: the name of the team (default: that of the database)"
    )
    parser.add_argument("--as", dest="member", metavar="NAME", help="init: what you are called")
    parser.add_argument(
        "--role", choices=get_args(Role), default="member", help="invite: (default: member)"
    )
    parser.add_argument("--dry-run", action="store_true", help="share, stop: show it, do nothing")
    parser.add_argument("--undo", action="store_true", help="trust, mute: take it back")
    parser.add_argument("--yes", action="store_true", help="stop, revoke, leave: do not ask")


def run(memory: Memory, args: Namespace) -> Output:
    if args.action == "init" and not args.words and ADDRESS_VARIABLE in os.environ:
        args.words = [os.environ[ADDRESS_VARIABLE]]
    wanted, what = _WORDS[args.action]
    if len(args.words) != wanted:
        takes = what if wanted else "no words"
        raise UsageError(
            f"`recollect team {args.action}` takes {takes}.", hint="See recollect team --help"
        )
    return _ACTIONS[args.action](memory, args)


def _init(memory: Memory, args: Namespace) -> Output:
    url = args.words[0]
    name = args.name or url.partition("?")[0].rstrip("/").rpartition("/")[2] or "team"
    link = memory.team.found(url, name=name, member=args.member or getpass.getuser())
    return Output(
        [{"team": link.name, "member": link.member, "link": link.text()}],
        lambda row: row["link"],
        note=f"Founded {link.name}; you are {link.member}, its admin.\n{_keep(memory)}\n"
        "The link above is for your other devices: recollect team join. Show it to nobody else.\n"
        "Let others in: recollect team invite NAME",
    )


def _keep(memory: Memory) -> str:
    """Where the password of one's login has to be from now on."""
    if memory.team.has_secret():
        return "Your password is where the next sync finds it."
    return (
        "Set RECOLLECT_TEAM_PASSWORD in your environment: it is what follows `secret=` in the link."
    )


def _invite(memory: Memory, args: Namespace) -> Output:
    link = memory.team.invite(args.words[0], args.role)
    return Output(
        [{"team": link.name, "member": link.member, "link": link.text()}],
        lambda row: row["link"],
        note=f"{link.member} joins with: recollect team join. It is not shown again, and whoever "
        "has it is them.",
    )


def _join(memory: Memory, args: Namespace) -> Output:
    link = getpass.getpass("Paste the link: ") if sys.stdin.isatty() else sys.stdin.readline()
    identity = memory.team.join(link)
    limits = "".join(f"\n{limit}" for limit in identity.limits)
    return Output(
        [identity],
        lambda row: f"You are {row.member} ({row.role}) of {row.name}, on {row.server}.",
        note=f"{_keep(memory)}\nExchange what is new: recollect team sync{limits}",
    )


def _share(memory: Memory, args: Namespace) -> Output:
    ask = memory.team.plan if args.dry_run else memory.team.share
    project = None if args.all else _project(args)
    plans = ask(args.words[0], project=project, since=args.since)
    count = counted(len(plans), "thing")
    note = (
        f"{count} would leave, as above. Nothing was sent."
        if args.dry_run
        else f"{count} will leave with the next sync: recollect team sync. "
        "Take it back: recollect team stop"
    )
    return Output(plans if args.dry_run else [], _plan, note=note)


def _plan(row: SharePlan) -> str:
    inner = "\n".join(f"    {name}: {value}" for name, value in row.body.items() if value != "")
    return f"{row.kind}  {row.ref}  {row.project}\n{inner}"


def _sync(memory: Memory, args: Namespace) -> Output:
    return Output([memory.team.sync()], _synced)


def _synced(row: SyncReport) -> str:
    said = [
        f"{number} {verb}"
        for number, verb in (
            (row.pushed, "shared"), (row.taken_back, "taken back"), (row.pulled, "came in"),
            (row.removed, "removed here"), (row.forgotten, "forgotten here"),
        )
        if number
    ]  # fmt: skip
    return "\n".join([", ".join(said) or "Nothing new.", *row.remarks])


def _status(memory: Memory, args: Namespace) -> Output:
    return Output([memory.team.status()], lambda row: "\n".join(_lines(row)))


def _lines(row: TeamStatus) -> Iterator[str]:
    last = short_time(row.synced_at) or "never"
    yield f"{row.name}: you are {row.member}. Last sync: {last}."
    if row.failed:
        yield f"Not in touch: {row.failed}"
    for project in row.projects:
        what = ", ".join(project.what) or "nothing any more"
        waits = f", {project.waiting} waiting" if project.waiting else ""
        since = f" since {project.since[:10]}" if project.since else ""
        yield f"    {project.project}  {what}{since}: {counted(project.items, 'thing')}{waits}"
    if not row.projects:
        yield "    Nothing of yours is shared. Share: recollect team share notes --project P"
    if row.seen_by:
        yield f"Seen by {', '.join(row.seen_by)}. {counted(row.pulled, 'note')} of others here."
    if row.at_hub:
        there = ", ".join(counted(number, kind) for kind, number in row.at_hub.items())
        yield f"The team shares {there}."
    if row.devices is not None and any(not project.what for project in row.projects):
        yield f"{row.confirmed} of {counted(row.devices, 'device')} know what was taken back."
    yield from row.limits


def _members(memory: Memory, args: Namespace) -> Output:
    return Output(memory.team.members(), _member)


def _member(row: TeamMember) -> str:
    marks = [
        row.role, counted(row.devices, "device"), counted(row.items, "thing"),
        f"seen {short_time(row.seen_at)}" if row.seen_at else "never seen",
        "you" if row.is_me else "", "muted here" if row.is_muted else "",
        "revoked" if row.revoked_at else "",
        f"trusted in {', '.join(row.trusted_in)}" if row.trusted_in else "",
    ]  # fmt: skip
    return f"{row.name}\n    {', '.join(mark for mark in marks if mark)}"


def _trust(memory: Memory, args: Namespace) -> Output:
    name, project = args.words[0], _project(args)
    if args.undo:
        memory.team.distrust(name, project=project)
        return Output([], note=f"What {name} shares waits for you again, note by note.")
    memory.team.trust(name, project=project)
    return Output(
        [],
        note=f"What {name} wrote, accepted or proved is told here with their name. "
        f"Undo: recollect team trust {name} --undo",
    )


def _mute(memory: Memory, args: Namespace) -> Output:
    name = args.words[0]
    gone = memory.team.mute(name, muted=not args.undo)
    if args.undo:
        return Output([], note=f"The next sync brings what {name} shares.")
    return Output(
        [],
        note=f"{counted(gone, 'thing')} of {name} went from here. "
        f"Undo: recollect team mute {name} --undo",
    )


def _revoke(memory: Memory, args: Namespace) -> Output:
    name = args.words[0]
    if not args.yes:
        _ask(f"Revoke {name}? They see nothing any more.")
    memory.team.revoke(name)
    return Output([], note=f"{name} sees nothing from now on, on no device.")


def _stop(memory: Memory, args: Namespace) -> Output:
    project = None if args.all else _project(args)
    status = memory.team.status(ask=False)
    key = None if project is None else _key(memory, project)
    out = [one for one in status.projects if project is None or one.project == key]
    count = counted(sum(one.items for one in out), "thing")
    if args.dry_run:
        return Output(out, lambda row: f"{row.project}: {row.items}", note=f"{count} would go.")
    if not args.yes:
        _ask(f"Take back {count}, from everybody?")
    gone = memory.team.stop(project=project)
    return Output(
        [], note=f"{counted(gone, 'thing')} taken back. Others lose it with their next sync."
    )


def _leave(memory: Memory, args: Namespace) -> Output:
    if not args.yes:
        _ask("Leave the team? What others shared goes from here; what you shared stays there.")
    gone = memory.team.leave()
    return Output([], note=f"You left. {counted(gone, 'note')} of others went from here.")


def found_by_team(memory: Memory, text: str, limit: int) -> Output:
    """What `recollect search --team` answers: who shared it, and that it is theirs."""
    result = memory.team.search(text, limit=limit)
    return Output(
        result.hits, _hit, note="\n".join(result.remarks),
        empty=f'Your team shares nothing about "{text[:80]}".',
    )  # fmt: skip


def _hit(row: TeamHit) -> str:
    text = row.text if len(row.text) <= HIT_CHARACTERS else f"{row.text[:HIT_CHARACTERS]}…"
    return f"{row.kind} of {row.author}  {short_time(row.at)}  {row.project}\n    {text}"


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("This changes what others have.", hint="Add --yes to go ahead.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("Nothing was done.")


def _project(args: Namespace) -> str:
    return str(args.project) if args.project is not None else os.getcwd()


def _key(memory: Memory, project: str) -> str | None:
    if os.path.isdir(project):
        return memory.projects.of(project)
    return memory.projects.get(project)


_ACTIONS: dict[str, Callable[[Memory, Namespace], Output]] = {
    "status": _status, "init": _init, "invite": _invite, "join": _join, "share": _share,
    "sync": _sync, "members": _members, "trust": _trust, "mute": _mute, "revoke": _revoke,
    "stop": _stop, "leave": _leave,
}  # fmt: skip
