"""recollect search: find turns by word.

Words, "phrases", prefix*, -not, and filters: agent: project: session: domain:
file: tool: model: since: until: is:error is:human is:live. All words first;
any of them when no turn has them all. The shell takes the quotes of a phrase
away unless there are others around them: recollect search '"lock timeout"' -staging
"""

from __future__ import annotations

from recollect.serve.cli import count
from recollect.serve.cli.output import Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from recollect.lookup import Hit
    from recollect.memory import Memory


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help='words, "phrases" and filters such as agent:codex')
    parser.add_argument("--mode", choices=["text"], default="text", help="how to search (default: %(default)s)")
    parser.add_argument("--project", help="only this project")
    parser.add_argument("--agent", help="only this agent")
    parser.add_argument("--limit", type=count, default=10, metavar="N", help="how many hits (default: %(default)s)")
    parser.add_argument("--offset", type=count, default=0, metavar="N", help="leave out the first N hits")


def prepare(words: list[str]) -> list[str]:
    """Keep -not apart from options: what begins with a space is none."""
    end = words.index("--") if "--" in words else len(words)
    plain = [f" {word}" if word[:1] == "-" and word[1:2] not in ("", "-") and word != "-h" else word for word in words[:end]]
    return plain + words[end:]


def run(memory: Memory, args: Namespace) -> Output:
    text = " ".join(word.strip() for word in args.query)
    found = memory.search(text, project=args.project, agent=args.agent, limit=args.limit, offset=args.offset)
    note = "no turn has all of these words; showing turns with any of them" if found.relaxed else ""
    return Output(found, _text, empty=f"nothing found for {text}", note=note)


def _text(hit: Hit) -> str:
    where = f"  {hit.project}" if hit.project else ""
    return f"{hit.ref}  {(hit.at or '')[:16].replace('T', ' ')}{where}\n    {hit.snippet}"
