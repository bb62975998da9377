"""A query on the command line: words and filters, and every filter also as an option.

A cold search loads this, so nothing heavy is imported.
"""

from __future__ import annotations

from recollect.errors import UsageError
from recollect.model.search import CHOICES, FILTERS, META

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from recollect.memory import Memory


def add_query(parser: ArgumentParser, *, needed: bool = False) -> None:
    """Words and filters as arguments, and the filters as options."""
    parser.add_argument(
        "query",
        nargs="+" if needed else "*",
        metavar="WORDS",
        help='words, "phrases" and filters such as agent:codex',
    )
    add_filters(parser)


def add_filters(parser: ArgumentParser) -> None:
    """Every filter as an option, the same for every command that has them.

    Each may be given more than once.
    """
    for name, picks in FILTERS.items():
        values = f": {', '.join(CHOICES[name])}" if name in CHOICES else ""
        parser.add_argument(
            f"--{name}", action="append", metavar=name.upper(), help=f"only turns {picks}{values}"
        )
    parser.add_argument(
        "--meta",
        action="append",
        metavar="KEY=VALUE",
        help="only turns of sessions with this value, such as git.branch=main",
    )


def prepare(words: list[str]) -> list[str]:
    """Keep -word apart from options: what begins with a space is not an option."""
    end = words.index("--") if "--" in words else len(words)
    plain = [
        f" {word}" if word[:1] == "-" and word[1:2] not in ("", "-") and word != "-h" else word
        for word in words[:end]
    ]
    return plain + words[end:]


def typed(args: Namespace) -> str:
    """The query as one text."""
    return " ".join(word.strip() for word in args.query)


def chosen(args: Namespace) -> dict[str, list[str] | None]:
    """The filters that were given as options."""
    options: dict[str, list[str] | None] = {name: getattr(args, name) for name in FILTERS}
    for pair in args.meta or []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"--meta {pair} has no value.",
                hint="Write --meta KEY=VALUE, such as --meta git.branch=main.",
            )
        options[META + key] = [*(options.get(META + key) or []), value]
    return options


def remarked(memory: Memory, args: Namespace) -> str:
    """What to say about the query besides its answer."""
    return "\n".join(memory.remarks(typed(args), **chosen(args)))
