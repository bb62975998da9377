"""The command line. Each command has its own file; this one finds it, runs it and prints.

Starting one command imports nothing that the others need: `recollect search`
is done in the time that it takes to import a command-line framework.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from types import ModuleType
    from typing import NoReturn

    from recollect.memory import Memory
    from recollect.model.engines import HeadlessAgent

HELP_WIDTH = 100
LARGEST_COUNT = 1 << 62
# Commands that take the number of a row in the last list.
NUMBERED = ("show", "resume", "handoff", "told")

# command: (its file, one line for the list). The order is the order of the help.
COMMANDS: dict[str, tuple[str, str]] = {
    "import": ("import_", "read new sessions from your agents"),
    "search": ("search", "find anything, by word or by meaning"),
    "recall": ("recall", "show what an agent is told for a prompt"),
    "memory": ("memory", "what the next session here is told; add, accept, reject, edit it"),
    "sessions": ("sessions", "list sessions, newest first"),
    "show": ("show", "read a session, one turn or a note"),
    "resume": ("resume", "continue a session in its agent"),
    "handoff": ("handoff", "the prompt with which another agent goes on with a session"),
    "blame": ("blame", "which sessions changed a file, and why"),
    "fix": ("fix", "what got past this error before"),
    "how": ("how", "commands that worked here"),
    "friction": ("friction", "errors that keep coming back"),
    "review": ("review", "accept or reject what was found"),
    "publish": ("publish", "write accepted notes into AGENTS.md and the like"),
    "tui": ("tui", "browse and search in the terminal"),
    "pick": ("pick", "choose a session in the terminal"),
    "web": ("web", "read, search and correct everything in your browser"),
    "team": ("team", "share notes with your other machines and your team"),
    "told": ("told", "what agents were told unasked, and whether it was used"),
    "stats": ("stats", "tokens, cost and errors"),
    "projects": ("projects", "list, merge and split projects"),
    "agents": ("agents", "list supported agents, their logs and their sessions"),
    "install": ("install", "connect an agent, or import every day"),
    "uninstall": ("uninstall", "disconnect an agent again"),
    "redact": ("redact", "remove secrets from text, or check for them"),
    "doctor": ("doctor", "check that everything works, and repair a damaged store"),
    "export": ("export", "write everything as JSON Lines"),
    "backup": ("backup", "copy the store safely, even while it is in use"),
    "forget": ("forget", "delete a session or a turn for good"),
    "retain": ("retain", "keep the store within its size limits"),
    "mcp": ("mcp", "offer the memory to an agent as tools"),
    "jobs": ("jobs", "list what waits to be done in the background, or do it now"),
    "hook": ("hook", "what agents call while they work"),
    "config": ("config", "show the settings, or a sample with every key"),
    "completion": ("completion", "have your shell complete commands and options"),
    "demo": ("demo", "try recollect with your sessions or with samples"),
}

# What people type who know other programs.
HIDDEN_ALIASES = {
    "ls": ["sessions"], "list": ["sessions"], "find": ["search"], "view": ["show"],
    "open": ["show"], "errors": ["friction"], "usage": ["stats"], "cost": ["stats"],
    "ui": ["tui"], "remember": ["memory", "add"],
}  # fmt: skip

_GOES_ON = "Stopped. What is done so far is kept; run it again to go on."
# What Ctrl-C leaves; where nothing is said, the command only reads, or changes all or nothing.
_STOPPED = {
    **dict.fromkeys(
        (
            "import",
            "retain",
            "jobs",
            "demo",
            "redact",
            "forget",
        ),
        _GOES_ON,
    ),
    "backup": "Stopped. No copy was made.",
    "export": "Stopped. What was written is not all there is.",
    "doctor": "Stopped. The store is as it was.",
}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        # An agent waits: nothing that the other commands need is loaded.
        from recollect.serve.hook import main as hook

        return hook(arguments[1:])
    options, name, rest = _split(arguments)
    try:
        return _dispatch(options, name, rest)
    except BrokenPipeError:
        # The reader has seen enough: `recollect sessions | head`.
        _give_up_stdout()
        return 0


def _dispatch(options: list[str], name: str | None, rest: list[str]) -> int:
    if name is None:
        if "-h" in options or "--help" in options:
            return _help([])
        if "--version" in options or "-V" in options:
            from recollect import __version__

            print(f"recollect {__version__}")
            return 0
        name = "overview"
    elif name == "help":
        return _help(rest)
    elif name == "version":
        return main(["--version"])
    elif name in HIDDEN_ALIASES:
        name, *words = HIDDEN_ALIASES[name]
        rest = words + rest
    elif name not in COMMANDS:
        return int(load("help_page").unknown([name, *rest]))
    try:
        _settle_streams()
        code = _run(name, options + rest)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        raise
    except OSError as error:
        # What the store and the logs may raise has become an error of ours by
        # now; this is the answer's own way out.
        _give_up_stdout()
        print(f"error: Cannot write the answer: {error}.", file=sys.stderr)
        return 74
    except KeyboardInterrupt:
        print(_STOPPED.get(name, "Stopped."), file=sys.stderr)
        return 130


def _help(words: list[str]) -> int:
    return int(load("help_page").run(words))


def _settle_streams() -> None:
    """Make sure that all streams exist and take any text: logs hold
    characters that some locales do not know.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """Stop writing to stdout; Python would try once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _split(arguments: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Options before the command's name, the name, and what follows."""
    options: list[str] = []
    while arguments and arguments[0].startswith("-"):
        options.append(arguments.pop(0))
        if options[-1] in ("--store", "--config", "--color") and arguments:
            options.append(arguments.pop(0))
    return options, arguments.pop(0) if arguments else None, arguments


def _run(name: str, arguments: list[str]) -> int:
    from recollect.errors import RecollectError
    from recollect.memory import Memory
    from recollect.serve.output import complain, say, write
    from recollect.system.operations import wants_spans

    command = load(name)
    given = command.prepare(arguments) if hasattr(command, "prepare") else arguments
    args = parser(name, command).parse_args(given)
    args.command, args.given = name, given
    memory = None
    try:
        if args.log_json or "RECOLLECT_LOG" in os.environ:
            from recollect.serve.log_config import configure

            configure(os.environ.get("RECOLLECT_LOG", "warning"), as_json=args.log_json)
        if wants_spans():
            from recollect.serve.spans import configure as send_spans

            send_spans()
        if args.demo and name != "demo":
            args.store = _demo_store(args)
        changed = command.settings(args) if hasattr(command, "settings") else None
        memory = Memory.open(
            args.store, config=args.config, settings=changed, headless=_find_headless
        )
        if (typed := getattr(args, "ref", None)) and name in NUMBERED:
            _take_row(args, memory, typed)
        output = command.run(memory, args)
        style = None
        if output.screen is not None and not args.json and _is_for_person(args.color):
            from recollect.serve.cli.style import style_of

            style = style_of(sys.stdout, args.color)
        if style is not None:
            from recollect.serve.cli.lists import write_screen

            code = write_screen(output, style, memory.settings.home, pages=not args.no_pager)
        else:
            code = write(output, as_json=args.json)
        if left_out := memory.take_left_out():
            from recollect.model.answers import damage_note

            say(damage_note(left_out))
        return code
    except RecollectError as error:
        return complain(error, as_json=args.json)
    except KeyboardInterrupt:
        if memory is None or not hasattr(command, "stopped"):
            raise
        print(command.stopped(memory), file=sys.stderr)
        return 130
    finally:
        if memory is not None:
            memory.close()


def _demo_store(args: Namespace) -> str:
    """Where the samples are that somebody tried recollect with."""
    from recollect.errors import NotFound
    from recollect.settings import Settings

    path = os.path.join(Settings.load(config=args.config).home, "demo.db")
    if not os.path.exists(path):
        raise NotFound("There are no samples yet.", hint="Try: recollect demo --sample")
    return path


def _is_for_person(color: str | None) -> bool:
    """Whether a style is worth loading: most answers go to programs."""
    forced = color == "always" or "FORCE_COLOR" in os.environ or "CLICOLOR_FORCE" in os.environ
    return forced or sys.stdout.isatty()


def _take_row(args: Namespace, memory: Memory, typed: str) -> None:
    """Put what a row of this terminal's last list stands for in the place of its number, and
    the newest session of this project, or of all, in that of `last`.
    """
    from recollect.serve.cli.lists import find_last, find_row
    from recollect.serve.output import say

    if typed == "last" and args.command != "told":
        found = find_last(memory)
    else:
        found = find_row(memory.settings.home, typed) if typed[0].isdecimal() else None
    if found:
        args.ref = found
        session = found.partition("#")[0]
        name = memory.names([session]).get(session)
        if name and sys.stdout.isatty():
            say(f"{name.short}  {name.title or '(no prompt)'}")


def _find_headless(agent: str) -> HeadlessAgent | None:
    """How an agent is asked by itself; loaded when one is."""
    from recollect.serve.agents.headless import find_headless

    return find_headless(agent)


def load(name: str) -> ModuleType:
    """The module of a command: it has `arguments(parser)`, `run(memory, args)` and, where
    needed, `prepare(words)`, `settings(args)` and `stopped(memory)`.
    """
    from importlib import import_module

    return import_module(f"recollect.serve.cli.{COMMANDS[name][0] if name in COMMANDS else name}")


def parser(name: str, command: ModuleType) -> ArgumentParser:
    """The argument parser of one command."""
    from argparse import SUPPRESS, Action, ArgumentParser, RawDescriptionHelpFormatter

    class _Help(Action):
        """Shows the page of one command."""

        def __init__(self, option_strings: list[str], dest: str, name: str) -> None:
            super().__init__(option_strings, SUPPRESS, nargs=0, help="show this page")
            self.name = name

        def __call__(self, *given: object) -> NoReturn:
            raise SystemExit(_help([self.name]))

    class Parser(ArgumentParser):
        """Says in our words what is wrong with a command line, with one line of usage."""

        def error(self, message: str) -> NoReturn:
            from recollect.serve.cli.misuse import explain

            self.exit(2, explain(self, message))

    # A command's docstring is its help: a sentence, examples, then the details.
    summary, _, details = (command.__doc__ or "").partition("\n\n")
    examples, _, details = details.partition("\n\n")
    sentence = summary.partition(": ")[2]
    made = Parser(
        prog=f"recollect {name}" if name in COMMANDS else "recollect",
        description=f"{sentence[:1].upper()}{sentence[1:]}\n\n{examples}",
        epilog=details,
        # A fixed width: asking the terminal for its own loads five modules at every search.
        formatter_class=lambda prog: RawDescriptionHelpFormatter(prog, width=HELP_WIDTH),
        add_help=name not in COMMANDS,
    )
    if name in COMMANDS:
        made.add_argument("-h", "--help", action=_Help, name=name)
    command.arguments(made)
    made.add_argument("--json", action="store_true", help="print JSON, one object a line")
    made.add_argument(
        "--color", choices=["always", "never"], help="colour, or none (default: on a terminal)"
    )
    made.add_argument("--no-pager", action="store_true", help="print a long answer as it is")
    which = made.add_mutually_exclusive_group()
    which.add_argument("--store", metavar="PATH", help="use this store instead of the usual one")
    which.add_argument("--demo", action="store_true", help="use the samples of recollect demo")
    made.add_argument("--config", metavar="FILE", help="read this file instead of config.toml")
    made.add_argument("--log-json", action="store_true", help="print log lines on stderr as JSON")
    return made


def count(text: str) -> int:
    """The type of every option that takes a number of things."""
    from argparse import ArgumentTypeError

    typed = text.strip()
    if not typed.lstrip("+-").isdecimal():
        raise ArgumentTypeError(f'needs a number, not "{typed}"')
    number = int(typed)
    # SQLite counts in 64 bits, and an offset and a limit are added.
    if not 0 <= number < LARGEST_COUNT:
        raise ArgumentTypeError(f'needs a number from 0 to {LARGEST_COUNT - 1}, not "{typed}"')
    return number
