"""recollect search: find anything, by word or by meaning.

recollect search deadlock migration                  words; turns with all of them first
recollect search '"lock timeout"' -staging           a phrase; without a word
recollect search deadlock --team                     what your team shares; asks its hub
recollect search voucher agent:codex since:30d       filters
recollect search --more                              the next page of the last search here

When you name a time (in March, on 3 May, yesterday), turns of that time come
first. docs/search.md has the whole query language.
"""

from __future__ import annotations

import os
import sys

from recollect.errors import EXIT_NOTHING_FOUND, UsageError
from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, typed
from recollect.serve.output import Output, counted, external_mark, short_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from recollect.memory import Memory
    from recollect.model.search import Hit, SearchResult
    from recollect.serve.cli.lists import Screen

__all__ = ["arguments", "prepare", "run"]

# So many turns of a session are shown; the others are there when it is read.
MOST_TURNS, MOST_TITLE = 3, 60


def arguments(parser: ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument(
        "--mode",
        choices=["hybrid", "text", "vector"],
        default="hybrid",
        help="by word, by meaning or both (default: %(default)s)",
    )
    parser.add_argument(
        "--limit", type=count, default=10, metavar="N", help="how many hits (default: %(default)s)"
    )
    parser.add_argument(
        "--offset", type=count, default=0, metavar="N", help="skip the first N hits"
    )
    parser.add_argument(
        "--cursor",
        metavar="CURSOR",
        help="the next page, as the last one ended with this cursor",
    )
    parser.add_argument(
        "--more", action="store_true", help="the next page of this terminal's last search"
    )
    parser.add_argument("--flat", action="store_true", help="a line for each turn, by rank")
    parser.add_argument(
        "--explain", action="store_true", help="show why each hit ranks where it is"
    )
    parser.add_argument(
        "--team", action="store_true", help="search what your team shares, at its hub"
    )


def run(memory: Memory, args: Namespace) -> Output:
    if args.more:
        args = _next_page(memory)
    text, filters = typed(args), chosen(args)
    if not text.strip() and not any(filters.values()):
        raise UsageError("What should it look for?", hint="Usage: recollect search WORDS")
    if args.team:
        from recollect.serve.cli.team import found_by_team

        return found_by_team(memory, text, args.limit)
    found = memory.search(
        text,
        mode=args.mode,
        limit=args.limit,
        offset=args.offset,
        cursor=args.cursor,
        explain=args.explain,
        here=os.getcwd(),
        **filters,
    )
    shown = text if len(text) <= 80 else f"{text[:79]}…"
    # That nothing is relevant is the first remark of the answer.
    empty = "" if found.nearest else f'Nothing found for "{shown}".'
    return Output(
        found,
        _text,
        empty=empty,
        note="\n".join(_notes(memory, found)),
        exit_code=0 if found.hits else EXIT_NOTHING_FOUND,
        screen=lambda screen: _screen(screen, memory, found, args),
    )


def _next_page(memory: Memory) -> Namespace:
    """The last search of this terminal, with the cursor that goes on from where it ended."""
    from recollect.serve.cli import parser
    from recollect.serve.cli.lists import find_search

    words = find_search(memory.settings.home)
    if words is None:
        raise UsageError(
            "No search was made in this terminal that has more.", hint="Try: recollect search WORDS"
        )
    args = parser("search", sys.modules[__name__]).parse_args(words)
    args.given = words
    return args


def _notes(memory: Memory, found: SearchResult) -> list[str]:
    notes = list(found.remarks)
    if found.nearest and sys.stdout.isatty():
        near = found.nearest
        name = memory.names([near.session])[near.session]
        title = " ".join((name.title or "(no prompt)").split())[:MOST_TITLE]
        whole, short = near.ref, f"{title} ({name.short}.{near.turn})"
        notes = [note.replace(whole, short) for note in notes]
    if found.mode == "hybrid" and found.hits and all(hit.matched == "meaning" for hit in found):
        notes.append("No session has these words. These are near in meaning.")
    # Without meaning all turns are found by word only, which was said already.
    if found.unembedded and found.mode != "text":
        turns = counted(found.unembedded, "turn is", "turns are")
        notes.append(f"{turns} found by word only so far. Embed them now: recollect jobs run embed")
    if found.cursor and not sys.stdout.isatty():
        notes.append(f"More hits: add --cursor {found.cursor}")
    return notes


def _screen(screen: Screen, memory: Memory, found: SearchResult, args: Namespace) -> Iterator[str]:
    """The sessions that have hits, each with its best ones."""
    from recollect.serve.cli.lists import (
        agent_name,
        heading,
        keep_search,
        project_names,
        words_of,
    )
    from recollect.serve.cli.style import age

    style, words = screen.style, words_of(typed(args))
    grouped: dict[str, list[Hit]] = {}
    for hit in found:
        grouped.setdefault(hit.session, []).append(hit)
    names, projects = memory.names(list(grouped)), project_names(hit.project for hit in found)
    if args.flat:
        yield from _flat(screen, memory, found, words)
        grouped = {}
    for place, (session, hits) in enumerate(grouped.items()):
        first = hits[0]
        title = style.clean((names[session].title or "(no prompt)") + external_mark(first))
        project, when = style.clean(projects[first.project]), style.glyph(age(first.at))
        where = [project, agent_name(first.agent), when]
        if place:
            yield ""
        number = screen.number(session)
        yield from heading(screen, number, title, where, names[session].short)
        for hit in hits[:MOST_TURNS]:
            mark = f".{hit.turn}"
            said = style.cut(style.clean(hit.snippet), style.width - 9)
            yield f"    {style.paint('accent', f'{mark:<4}')} {style.emphasize(said, words)}"
            if hit.reason is not None:
                yield "         " + style.paint("dim", style.cut(_reason(hit), style.width - 9))
    if found.cursor:
        keep_search(memory.settings.home, args.given, found.cursor)
    if found.hits:
        example = "1" if args.flat else f"1.{found.hits[0].turn}"
        more = "More: recollect search --more   " if found.cursor else ""
        yield from screen.hint(f"{more}Read one: recollect show {example}")


def _flat(screen: Screen, memory: Memory, found: SearchResult, words: list[str]) -> Iterator[str]:
    """The turns as they rank, a line each."""
    from recollect.serve.cli.lists import agent_name, turn_name
    from recollect.serve.cli.style import age, cells

    style, names = screen.style, memory.names([hit.session for hit in found])
    for hit in found:
        name = turn_name(hit.ref, lambda session: names[session].short)
        number = f"{screen.number(hit.ref):>2}  "
        where = style.glyph(f"  {age(hit.at):>4}  {agent_name(hit.agent):<8}  ")
        room = style.width - cells(number) - cells(where) - cells(name)
        said = style.cut(style.clean(hit.snippet + external_mark(hit)), room)
        blanks = " " * (room - cells(said))
        yield (
            f"{style.paint('accent', number)}{style.emphasize(said, words)}{blanks}"
            f"{style.paint('dim', where)}{style.paint('accent', name)}"
        )


def _reason(hit: Hit) -> str:
    parts = "  ".join(f"{name} {value}" for name, value in (hit.reason or {}).items())
    return f"{hit.score} by {hit.matched}: {parts}"


def _text(hit: Hit) -> str:
    where = f"  {hit.project}" if hit.project else ""
    lines = [f"{hit.ref}  {short_time(hit.at)}{where}{external_mark(hit)}", f"    {hit.snippet}"]
    if hit.reason is not None:
        lines.append(f"    {_reason(hit)}")
    return "\n".join(lines)
