"""recollect told: list what agents were told unasked, and whether it was used.

recollect told                        the newest first: when, where, by which hook, what
recollect told --project shop --since 7d
recollect told k3v9x2pq               one of them whole, with its text
recollect told k3v9x2pq --helpful     say that it helped (or --harmful)
recollect told note:4xk2m7qa --harmful
recollect told --effect               note by note: told, used, and whether the failure came back

A told command counts as used when it was run afterwards, a told file when it
was read or edited; a failing command that failed once more was told in vain.
Of the rest nobody can say. docs/hooks.md says more.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator

from recollect.errors import UsageError
from recollect.memory import Memory
from recollect.model.injections import Effect, Injection, InjectionLine, Share
from recollect.serve.cli import count
from recollect.serve.cli.lists import Screen, agent_name, project_names
from recollect.serve.cli.style import Column, age
from recollect.serve.output import Output, counted, short_time


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", metavar="REF", help="one of them, or a note or turn")
    parser.add_argument("--project", metavar="NAME", help="only what was told in this project")
    parser.add_argument("--session", metavar="ID", help="only what this session was told")
    parser.add_argument(
        "--since", metavar="TIME", help="only since then: 2026-11-18, 3d, yesterday"
    )
    parser.add_argument(
        "--limit", type=count, metavar="N", default=20, help="at most N (default: 20)"
    )
    parser.add_argument(
        "--effect", action="store_true", help="what telling each note came to, before and after"
    )
    said = parser.add_mutually_exclusive_group()
    said.add_argument("--helpful", action="store_true", help="say that it helped")
    said.add_argument("--harmful", action="store_true", help="say that it did harm")


def run(memory: Memory, args: Namespace) -> Output:
    if args.helpful or args.harmful:
        if not args.ref:
            raise UsageError("Nothing is named.", hint="List what was told: recollect told")
        refs = memory.injections.give_feedback(args.ref, args.helpful, by="person")
        word = "helpful" if args.helpful else "harmful"
        return Output([], note=f"Noted as {word}: {', '.join(refs)}")
    if args.effect:
        rows = memory.injections.effect(project=args.project, ref=args.ref)
        return Output(rows, _effect, empty="No note was told by a hook yet.")
    if args.ref:
        return Output([memory.injections.get(args.ref)], _whole)
    found = memory.injections.list(
        project=args.project, session=args.session, since=args.since, limit=args.limit
    )
    empty = "No agent was told anything yet. Connect one: recollect install"
    return Output(found, _line, empty=empty, screen=lambda screen: _screen(screen, found))


def _screen(screen: Screen, found: Iterable[Injection]) -> Iterator[str]:
    style, rows = screen.style, list(found)
    if not rows:
        return
    projects = project_names(row.project for row in rows)
    every = [line.use for row in rows for line in row.lines]
    facts = [f"{counted(len(every), 'line')} in all", f"{every.count('used')} used"]
    facts += [f"{unused} not used"] if (unused := every.count("unused")) else []
    head = f"Told {counted(len(rows), 'time')}"
    yield style.paint("bold", head) + style.glyph(f" · {', '.join(facts)}")
    columns = [
        Column(role="accent", right=True), Column("when", role="dim", right=True), Column("agent"),
        Column("at", flexible=True), Column("project", drop=1), Column("told", right=True),
        Column("of it"), Column("id", role="accent"),
    ]  # fmt: skip
    lines = []
    for row in rows:
        uses = [line.use for line in row.lines]
        known = [f"{uses.count(use)} {use}" for use in ("used", "unused") if use in uses]
        event = style.clean(row.event)
        lines.append(
            [
                screen.number(row.id),
                style.glyph(age(row.at)),
                agent_name(row.agent or row.face),
                event,
                style.clean(projects[row.project]),
                counted(len(row.lines), "line"),
                ", ".join(known),
                row.id,
            ]
        )
    yield from screen.table(columns, lines)
    yield from screen.hint(
        "See the words: recollect told 1   Mark it: recollect told 1 --helpful | --harmful"
    )


def _line(row: Injection) -> str:
    uses = [line.use for line in row.lines]
    known = [f"{uses.count(use)} {use}" for use in ("used", "unused") if use in uses]
    said = f" ({', '.join(known)})" if known else ""
    return f"{_head(row)}: {counted(len(row.lines), 'line')}{said}"


def _head(row: Injection) -> str:
    where = row.project or row.folder or "no project"
    return f"{row.id}  {short_time(row.at)}  {row.agent or row.face} {row.event} in {where}"


def _whole(row: Injection) -> str:
    session = [f"    session {row.session}"] if row.session else []
    tokens = [f"    about {row.tokens} tokens"] if row.tokens else []
    return "\n".join([_head(row), *session, *tokens, *map(_told, row.lines)])


def _told(line: InjectionLine) -> str:
    text = "forgotten since" if line.text is None else " ".join(line.text.split())
    return f"  {line.use:7}  {line.ref}  {text}"


def _effect(row: Effect) -> str:
    lines = [
        f"{row.ref}  {row.text}",
        f"    told {counted(row.told, 'time')} in {counted(row.sessions, 'session')} since "
        f"{(row.since or '-')[:10]}; used {row.used}, unused {row.unused}, unknown {row.unknown}; "
        f"helpful {row.helpful}, harmful {row.harmful}",
    ]
    if row.before is not None and row.after is not None:
        lines.append(
            f"    failed in sessions: {_share(row.before)} before, {_share(row.after)} after"
        )
    return "\n".join([*lines, f"    {row.verdict}"])


def _share(one: Share) -> str:
    if one.share is None or one.low is None or one.high is None:
        return f"{one.count} of {one.of} (not enough data)"
    share, low, high = (f"{100 * part:.1f}" for part in (one.share, one.low, one.high))
    return f"{share} of 100 ({low} to {high}, {one.count} of {one.of})"
