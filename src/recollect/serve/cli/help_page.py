"""The first page of help, the page of all commands, and what is said of an unknown one."""

from __future__ import annotations

import os
import sys
from argparse import Action

from recollect.model.search import CHOICES, FILTERS
from recollect.serve.cli import COMMANDS, HELP_WIDTH, HIDDEN_ALIASES, load, parser
from recollect.serve.cli.style import fill, style_of

PROMISE = "recollect remembers what your coding agents did, and tells the next one."
# The first page: sixteen verbs, each with what it takes.
VERBS = {
    "Find": (
        ("search", "WORDS", "find anything, by word or by meaning"),
        ("sessions", "", "list sessions, newest first                     (ls)"),
        ("show", "REF", "read a session or one turn"),
        ("resume", "REF", "continue a session in its agent"),
    ),
    "Ask": (
        ("fix", "ERROR", "what got past this error before"),
        ("how", "TOOL", "commands that worked here"),
        ("blame", "FILE", "which sessions changed a file, and why"),
    ),
    "Memory": (
        ("memory", "", "what your agents are told here; edit it"),
        ("review", "", "accept or reject what was learned"),
        ("told", "", "what agents were told, and whether it helped"),
        ("publish", "", "write the memory into AGENTS.md and the like"),
    ),
    "Look": (
        ("tui", "", "browse and search in the terminal"),
        ("web", "", "the same in your browser"),
        ("stats", "", "tokens, cost and errors"),
    ),
    "Set up": (
        ("import", "", "read new sessions from your agents"),
        ("install", "AGENT", "connect an agent; `recollect install` lists them"),
    ),
}
# What the page of all commands adds to those groups.
OTHERS = {
    "More": ("handoff", "friction", "team", "projects", "agents", "pick", "demo", "uninstall"),
    "Keep": ("doctor", "backup", "export", "forget", "retain", "redact"),
    "For agents and scripts": ("mcp", "hook", "recall"),
    "Machine room": ("jobs", "config", "completion"),
}
# What people type for something that has another name here.
MEANT = {
    "rm": "forget", "delete": "forget", "remove": "forget", "log": "sessions",
    "history": "sessions", "update": "import", "sync": "team", "check": "doctor",
    "notes": "memory", "distill": "memory update", "consolidate": "memory update",
    "learn": "review", "detect": "review", "patterns": "review", "measure": "told --effect",
    "repair": "doctor --repair", "embed": "jobs run embed", "work": "jobs run",
}  # fmt: skip
# Options that every command has, and those of the filters: each is explained once.
EVERYWHERE = (
    "-h",
    "--json",
    "--color",
    "--no-pager",
    "--store",
    "--demo",
    "--config",
    "--log-json",
)
_FILTER_OPTIONS = (*(f"--{name}" for name in FILTERS), "--meta")
# A word is taken for a slip of the finger up to this likeness.
LEAST_ALIKE = 0.7


def first_page() -> str:
    """The sixteen verbs, on one screen."""
    lines = [PROMISE, ""]
    for group, verbs in VERBS.items():
        for place, (name, takes, said) in enumerate(verbs):
            title = group if not place else ""
            lines.append(f"{title:<10}{f'{name} {takes}'.rstrip():<17}{said}")
        lines.append("")
    return "\n".join(
        [
            *lines,
            "REF is a row number from the last list, or the start of an id.",
            "More: recollect help COMMAND · recollect help all · recollect help filters",
        ]
    )


def all_commands() -> str:
    """Every command in its group."""
    lines = [PROMISE, ""]
    groups = {group: tuple(name for name, _, _ in verbs) for group, verbs in VERBS.items()}
    for group, names in {**groups, **OTHERS}.items():
        lines += [group, *(f"  {name:<10} {COMMANDS[name][1]}" for name in names), ""]
    return "\n".join([*lines, "Options: recollect help COMMAND"])


def filters_page() -> str:
    """Every filter once, for all the commands that take them."""
    lines = [
        "Filters choose turns. They stand among the words, project:shop, or are options,",
        "--project shop. Several values of one filter are alternatives; a minus before it leaves",
        "out: -project:shop.",
        "",
    ]
    for name, picks in FILTERS.items():
        values = f" ({', '.join(CHOICES[name])})" if name in CHOICES else ""
        lines.append(f"  {name + ':':<10} {picks}{values}")
    lines += [
        f"  {'meta.KEY:':<10} of sessions with this value, such as meta.git.branch:main",
        "",
        "A time is 2026-11-18, yesterday, 3d or 2w. Commands that take filters: search, sessions,",
        "stats, export, blame, fix, how, friction.",
    ]
    return "\n".join(lines)


def command_page(name: str) -> str:
    """A command: what it does, examples, and its options; filters and what all take are named."""
    made = parser(name, load(name))
    takes_filters = any("--meta" in action.option_strings for action in made._actions)
    left_out = {*EVERYWHERE, *(_FILTER_OPTIONS if takes_filters else ())}
    own = [action for action in made._actions if not {*action.option_strings} & left_out]
    words = [_argument(action) for action in own if not action.option_strings]
    options = ["[OPTIONS]"] * any(action.option_strings for action in own)
    lines = [
        " ".join(["Usage: recollect", name, *words, *options]), "",
        (made.description or "").rstrip(), "",
    ]  # fmt: skip
    rows = [(_named(action), _meaning(action)) for action in own]
    wide = min(28, max((len(left) for left, _ in rows), default=0))
    for left, said in rows:
        first, *more = fill(said, HELP_WIDTH - wide - 4) or [""]
        if len(left) > wide:
            lines.append(f"  {left}")
            left = ""
        lines.append(f"  {left:<{wide}}  {first}".rstrip())
        lines += [f"  {'':<{wide}}  {line}" for line in more]
    if takes_filters:
        names = " ".join(f"{one}:" for one in FILTERS)
        lines += ["", f"Filters: {names}", "         (recollect help filters)"]
    lines += ["", "Everywhere: --json --color WHEN --no-pager --demo --store PATH --config FILE"]
    if made.epilog:
        lines += ["", made.epilog.rstrip()]
    return "\n".join(lines)


def _argument(action: Action) -> str:
    name = str(action.metavar or "ACTION")
    forms = {"*": f"[{name} ...]", "+": f"{name} ...", "?": f"[{name}]"}
    return forms.get(str(action.nargs), name)


def _named(action: Action) -> str:
    """How an argument or option is called in its line of help."""
    if not action.option_strings:
        return str(action.metavar or "ACTION")
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    if action.choices is not None:
        value = f" {'|'.join(map(str, action.choices))}"
    return ", ".join(action.option_strings) + value


def _meaning(action: Action) -> str:
    said = (action.help or "") % vars(action)
    if action.choices is not None and not action.option_strings:
        said += f": {', '.join(map(str, action.choices))}"
    return said


def run(words: list[str]) -> int:
    """`recollect help`, `help all`, `help filters` and `help COMMAND`."""
    page = words[0] if words else ""
    name = HIDDEN_ALIASES.get(page, [page])[0]
    if page and page not in ("all", "filters") and name not in COMMANDS:
        return unknown(words)
    pages = {"": first_page, "all": all_commands, "filters": filters_page}
    text = pages[page]() if page in pages else command_page(name)
    style = style_of(sys.stdout)
    if style is not None and style.hints and page:
        from recollect.serve.cli.pager import print_paged

        print_paged(text.splitlines(), rows=os.get_terminal_size(sys.stdout.fileno()).lines or 999)
    else:
        print(text)
    return 0


def unknown(words: list[str]) -> int:
    """Say what may be meant; nothing is run."""
    from difflib import get_close_matches

    name = words[0]
    near = get_close_matches(name, [*COMMANDS, *HIDDEN_ALIASES], n=1, cutoff=LEAST_ALIKE)
    if meant := MEANT.get(name) or (near[0] if near else ""):
        hint = f"Did you mean {meant}?"
    elif name[:1] != "-" and " ".join(words).replace(" ", "").isalnum():
        hint = f"To search: recollect search {' '.join(words[:8])}"
    else:
        hint = "All commands: recollect help all"
    print(f'error: There is no command "{name}". {hint}', file=sys.stderr)
    return 2
