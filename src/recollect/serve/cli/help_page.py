"""The first page of help, the page of all commands, and what is said of an unknown one."""

from __future__ import annotations

import sys

from recollect.serve.cli import COMMANDS, HIDDEN_ALIASES, load, parser

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
}  # fmt: skip
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
            "Options: recollect help COMMAND     All commands: recollect help all (doctor …)",
        ]
    )


def all_commands() -> str:
    """Every command in its group."""
    lines = [PROMISE, ""]
    groups = {group: tuple(name for name, _, _ in verbs) for group, verbs in VERBS.items()}
    for group, names in {**groups, **OTHERS}.items():
        lines += [group, *(f"  {name:<10} {COMMANDS[name][1]}" for name in names), ""]
    return "\n".join([*lines, "Options: recollect help COMMAND"])


def run(words: list[str]) -> int:
    """`recollect help`, `help all` and `help COMMAND`."""
    if not words:
        print(first_page())
        return 0
    if words[0] == "all":
        print(all_commands())
        return 0
    name = HIDDEN_ALIASES.get(words[0], [words[0]])[0]
    if name not in COMMANDS:
        return unknown(words)
    parser(name, load(name)).print_help()
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
