"""Writes the generated parts of the pages in this folder again: `make docs`.

A page is written by hand, except for what stands between two marks:

    <!-- generated: commands -->
    <!-- end -->

The text after the colon names the function below that fills the place. The
last column of a table of fields is written by hand too: it is kept as it is,
and a new field starts with a question mark there that a test asks about.
"""

from __future__ import annotations

import re
from argparse import Action
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from recollect.capture.adapters import ProjectAdapter, find_adapters
from recollect.capture.overview import variables
from recollect.jobs import JOBS, Job
from recollect.redact.contexts import CONTEXTS
from recollect.redact.shapes import INFIXES, SHAPES
from recollect.serve import cli
from recollect.serve.output import counted
from recollect.settings import sample
from recollect.store.sqlite.migrate import migrations

DOCS = Path(__file__).parent
PLACE = re.compile(r"<!-- generated: (?P<what>[^>]+?) -->\n(?P<old>.*?)<!-- end -->", re.DOTALL)
UNTOLD = "?"


def main() -> None:
    """Write every page that has changed."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        filled = fill(text)
        if filled != text:
            page.write_text(filled, encoding="utf-8")
            print(f"wrote {page.relative_to(DOCS.parent)}")


def pages() -> list[Path]:
    """The pages with a generated part."""
    return sorted(
        page for page in DOCS.rglob("*.md") if PLACE.search(page.read_text(encoding="utf-8"))
    )


def fill(text: str) -> str:
    """A page with its generated parts as they should be."""

    def filled(place: re.Match[str]) -> str:
        what, _, name = place["what"].partition(" of ")
        made = PARTS[what](name, place["old"])
        return f"<!-- generated: {place['what']} -->\n{made.rstrip()}\n<!-- end -->"

    return PLACE.sub(filled, text)


# The command line -----------------------------------------------------------

COMMON = ("-h", "--json", "--store", "--demo", "--log-json")


def commands(name: str, old: str) -> str:
    """Every command with its arguments, from the parsers themselves."""
    return "\n".join(_command(command) for command in cli.COMMANDS)


def _command(name: str) -> str:
    parser = cli.parser(name, cli.load(name))
    arguments = [
        action for action in parser._actions if not set(COMMON) & set(action.option_strings)
    ]
    given = [_shown(action) for action in arguments if not action.option_strings]
    options = ["[options]"] if len(given) < len(arguments) else []
    sentence, _, examples = (parser.description or "").partition("\n\n")
    lines = [
        f"## {name}",
        "",
        sentence,
        "",
        f"`{' '.join(['recollect', name, *given, *options])}`",
        "",
        _example(examples),
        "",
    ]
    lines += [_details(parser.epilog), ""] if parser.epilog else []
    if arguments:
        lines += ["| argument | meaning |", "|---|---|"]
        lines += [f"| `{_shown(action)}` | {_help(action)} |" for action in arguments] + [""]
    return "\n".join(lines)


def _details(text: str) -> str:
    """Prose as it is, without what Markdown would change."""
    return "\n\n".join(_plain(block) for block in text.rstrip().split("\n\n"))


def _example(block: str) -> str:
    return f"```\n{dedent(block).rstrip()}\n```"


def _shown(action: Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if action.option_strings:
        return action.option_strings[-1] + ("" if action.nargs == 0 else f" {value}")
    return {"*": f"[{value} ...]", "+": f"{value} ...", "?": f"[{value}]"}.get(
        str(action.nargs), value
    )


def _help(action: Action) -> str:
    return _plain((action.help or "") % vars(action)).replace("|", "\\|")


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, where it would take a <name> for a tag."""
    return text.replace("<", "&lt;").rstrip()


# JSON -----------------------------------------------------------------------

# Where a record is described under another name than its class's.
HEADINGS = {
    "InjectionLine": "injection line",
    "TurnEvent": "event", "ToolCall": "tool call", "PackLine": "pack line",
    "SessionTask": "session task",
    "PatternVersion": "pattern version",
}  # fmt: skip
WORDS: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Any: "anything",
}
TIMES = re.compile(r"^(at|not_before|.*_at)$")


def fields(name: str, old: str) -> str:
    """The fields of a record: name and type from the class, the
    meaning as it stands in the page.
    """
    told = dict(re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", old, re.MULTILINE))
    rows = [
        f"| `{field}` | {kind} | {told.get(field, UNTOLD)} |"
        for field, kind in _fields(_found(name)).items()
    ]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])


def _found(name: str) -> type:
    module, _, word = name.rpartition(".")
    found: type = getattr(import_module(f"recollect.model.{module}"), word)
    return found


def _fields(record: type) -> dict[str, str]:
    """A record's own fields; those of the record it extends are described there."""
    if not issubclass(record, msgspec.Struct):
        hints = get_type_hints(record.__init__, vars(import_module(record.__module__)))
        return {name: _type(name, hints[name]) for name in record.FIELDS}  # type: ignore[attr-defined]
    base = record.__base__
    inherited = (
        base.__struct_fields__
        if base and base is not msgspec.Struct and issubclass(base, msgspec.Struct)
        else ()
    )
    own = [field for field in msgspec.structs.fields(record) if field.name not in inherited]
    return {field.name: _type(field.name, field.type) for field in own}


def _type(name: str, kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(name, one) for one in inner))
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in inner)
    if origin in (list, tuple):
        return f"list of {_type(name, inner[0])}"
    if origin is dict:
        return (
            "object" if inner[1] is Any else f"object with a {_type(name, inner[1])} for each name"
        )
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        heading = HEADINGS.get(kind.__name__, kind.__name__.lower())
        return f"[{heading}](#{heading.replace(' ', '-')})"
    return "time" if kind is str and TIMES.match(name) else WORDS[kind]


# The store ------------------------------------------------------------------


def tables(name: str, old: str) -> str:
    """Every migration; the comment before a table is its text."""
    return "\n\n".join(_migration(*migration) for migration in migrations())


def _migration(number: int, name: str, sql: str) -> str:
    parts = [f"## {number:04d} {name.replace('_', ' ')}"]
    for block in sql.strip().split("\n\n"):
        lines = block.splitlines()
        said = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
        statement = "\n".join(lines[said:])
        if made := re.match(r"create (?:virtual )?table (\w+)", statement):
            parts.append(f"### {made[1]}")
        if said:
            parts.append(
                _plain("\n".join(line.removeprefix("--").strip() for line in lines[:said]))
            )
        if statement:
            parts.append(f"```sql\n{statement}\n```")
    return "\n\n".join(parts)


# Settings and secrets -------------------------------------------------------


def settings(name: str, old: str) -> str:
    """A config.toml with every key."""
    return f"```toml\n{sample().rstrip()}\n```"


def kinds(name: str, old: str) -> str:
    """The kinds of secrets that the table names."""
    found = sorted({row.kind for table in (SHAPES, INFIXES, CONTEXTS) for row in table})
    return f"{len(found)} kinds: {', '.join(f'`{kind}`' for kind in found)}."


def agents(name: str, old: str) -> str:
    """Every agent whose logs are read: its page, where its logs
    are on Linux, and what moves them.
    """
    home = "/home/you"
    lines = ["| agent | id | looked for in | moved by |", "|---|---|---|---|"]
    for adapter in find_adapters():
        roots = [root.replace(home, "~") for root in adapter.roots(home, {})]
        places = [f"`{root}`" for root in roots[:2]] + (
            [counted(len(roots) - 2, "more place")] if len(roots) > 2 else []
        )
        places += ["the folders of projects"] if isinstance(adapter, ProjectAdapter) else []
        moving = ", ".join(f"`{variable}`" for variable in variables([adapter]))
        lines.append(
            f"| [{adapter.name}]({adapter.agent}.md) | `{adapter.agent}` | {', '.join(places)} | "
            f"{moving} |"
        )
    return "\n".join(lines)


# Jobs -----------------------------------------------------------------------


def jobs(name: str, old: str) -> str:
    """What follows from what, as a picture and as a table, from the table of jobs itself."""
    marks = list(dict.fromkeys(mark for job in JOBS for mark in job.due_after))
    number = {mark: f"m{index}" for index, mark in enumerate(marks)}
    nodes = [f'    {number[mark]}(["{mark}"])' for mark in marks]
    arrows = [f"    {number[mark]} --> {job.kind}" for job in JOBS for mark in job.due_after]
    rows = [
        f"| `{job.kind}` | {_marks_of(job)} | {'<br>'.join(f'`{one}`' for one in job.run)} "
        f"| {job.tries} | {job.lease_seconds:g} s |"
        for job in JOBS
    ]
    return "\n".join(
        [
            "```mermaid", "flowchart LR", *nodes, *arrows, "```", "",
            "| job | due after | runs | tries | lease |", "|---|---|---|---|---|", *rows,
        ]
    )  # fmt: skip


def _marks_of(job: Job) -> str:
    return ", ".join(job.due_after) or "left when a model failed"


PARTS: dict[str, Callable[[str, str], str]] = {
    "commands": commands, "fields": fields, "tables": tables, "settings": settings, "kinds": kinds,
    "agents": agents, "jobs": jobs,
}  # fmt: skip

if __name__ == "__main__":
    main()
