"""recollect search: find turns by word and by meaning.

Words, "phrases", prefix*, -not, and filters: agent: project: session: domain:
file: tool: model: meta.KEY: since: until: outcome: is:error is:human is:live
is:subagent is:headless. All words first; any of them when too few turns have
them all. A time that is named (in March, on 3 May, yesterday) lifts the turns
of then. The shell takes the quotes of a phrase away unless there are others
around them: recollect search '"lock timeout"' -staging
"""

from __future__ import annotations

import os

from recollect.serve.cli import count
from recollect.serve.cli.filters import add_query, chosen, prepare, typed
from recollect.serve.cli.output import Output, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from recollect.memory import Memory
    from recollect.model.search import Hit, SearchResult

__all__ = ["arguments", "prepare", "run"]


def arguments(parser: ArgumentParser) -> None:
    add_query(parser, needed=True)
    parser.add_argument(
        "--mode",
        choices=["hybrid", "text", "vector"],
        default="hybrid",
        help="words, meaning or both (default: %(default)s)",
    )
    parser.add_argument(
        "--limit", type=count, default=10, metavar="N", help="how many hits (default: %(default)s)"
    )
    parser.add_argument(
        "--offset", type=count, default=0, metavar="N", help="leave out the first N hits"
    )
    parser.add_argument(
        "--cursor",
        metavar="CURSOR",
        help="the page after an earlier answer, which ended with this cursor",
    )
    parser.add_argument(
        "--explain", action="store_true", help="show what each hit's rank is made of"
    )


def run(memory: Memory, args: Namespace) -> Output:
    text = typed(args)
    found = memory.search(
        text,
        mode=args.mode,
        limit=args.limit,
        offset=args.offset,
        cursor=args.cursor,
        explain=args.explain,
        here=os.getcwd(),
        **chosen(args),
    )
    shown = text if len(text) <= 80 else f"{text[:79]}…"
    return Output(found, _text, empty=f"nothing found for {shown}", note="\n".join(_notes(found)))


def _notes(found: SearchResult) -> list[str]:
    notes = list(found.remarks)
    if found.mode == "hybrid" and found.hits and all(hit.matched == "meaning" for hit in found):
        notes.append("none of these turns has any of the words; they come near in meaning")
    elif found.relaxed:
        notes.append("not every turn here has all of the words and phrases")
    # Without meaning all turns are found by words only, which was said already.
    if found.unembedded and found.mode != "text":
        notes.append(
            f"{counted(found.unembedded, 'turn is', 'turns are')} not embedded yet and found by "
            "words only"
        )
    if found.cursor:
        notes.append(f"more: add --cursor {found.cursor}")
    return notes


def _text(hit: Hit) -> str:
    where = f"  {hit.project}" if hit.project else ""
    lines = [f"{hit.ref}  {(hit.at or '')[:16].replace('T', ' ')}{where}", f"    {hit.snippet}"]
    if hit.reason is not None:
        parts = "  ".join(f"{name} {value}" for name, value in hit.reason.items())
        lines.append(f"    {hit.score} by {hit.matched}: {parts}")
    return "\n".join(lines)
