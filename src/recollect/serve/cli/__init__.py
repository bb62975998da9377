"""The command line. A file per command; this one finds it, runs it and prints.

Starting one command imports nothing that the others need: `recollect search`
is over in the time that importing a command-line framework takes.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from types import ModuleType

HELP_WIDTH = 100

# command: (its file, one line for the list). The order is the order of the help.
COMMANDS: dict[str, tuple[str, str]] = {
    "import": ("import_", "read every agent's new logs into the store"),
    "search": ("search", "find turns by word and by meaning"),
    "recall": ("recall", "what an agent should be told before it starts on a prompt"),
    "sessions": ("sessions", "list sessions, newest first"),
    "show": ("show", "a session, one turn, a note or a pattern"),
    "resume": ("resume", "the command that continues a session in its own agent"),
    "blame": ("blame", "which turns changed a file, and what was asked"),
    "fix": ("fix", "what was done after an error, and worked"),
    "how": ("how", "the invocations of a tool that worked here"),
    "friction": ("friction", "errors that keep coming back"),
    "notes": ("notes", "facts worth keeping: list, add, accept, reject, edit and forget them"),
    "distill": ("distill", "sum up sessions, and make one memory of each project's"),
    "consolidate": ("consolidate", "bring each project's memory files up to date"),
    "learn": ("learn", "look at new sessions for what recurs"),
    "detect": ("detect", "what recurs over sessions and agents"),
    "patterns": ("patterns", "review what recurs: list, accept, reject, edit and retire it"),
    "publish": ("publish", "write what was accepted into the files of a project that agents read"),
    "measure": ("measure", "whether what was published or accepted helped"),
    "stats": ("stats", "tokens, cost, tools and errors, summed up"),
    "projects": ("projects", "list, merge and split projects"),
    "agents": ("agents", "supported agents: where they log, what is stored"),
    "install": ("install", "set up an agent: hooks, MCP server and skill"),
    "uninstall": ("uninstall", "take that out of an agent's settings again"),
    "redact": ("redact", "remove secrets from text, or check for them"),
    "doctor": ("doctor", "look for what is wrong"),
    "repair": ("repair", "salvage a damaged store"),
    "export": ("export", "everything as JSON Lines"),
    "backup": ("backup", "a sound copy of the store, while it is in use"),
    "forget": ("forget", "remove a session or a turn for good"),
    "retain": ("retain", "keep the store within its budget"),
    "mcp": ("mcp", "the memory as tools for an agent"),
    "embed": ("embed", "make turns findable by meaning"),
    "work": ("work", "do the jobs that wait"),
    "jobs": ("jobs", "list the jobs that wait"),
    "hook": ("hook", "what an agent is told while it works; agents call this"),
    "config": ("config", "show the settings, or a sample with every key"),
    "demo": ("demo", "try it: import, search, and what to do next"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["hook"] and not {"-h", "--help"} & set(arguments):
        # An agent waits: nothing that the other commands need is loaded.
        from recollect.serve.hook import main as hook

        return hook(arguments[1:])
    options, name, rest = _split(arguments)
    if name is None:
        if "-h" in options or "--help" in options:
            print(_help())
            return 0
        if "--version" in options:
            from recollect import __version__

            print(f"recollect {__version__}")
            return 0
        name = "overview"
    elif name not in COMMANDS:
        return _unknown(name)
    try:
        _settle_streams()
        code = _run(name, options + rest)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough: `recollect sessions | head`.
        _give_up_stdout()
        return 0
    except OSError as error:
        # What the store and the logs may raise has become an error of ours by
        # now; this is the answer's own way out.
        _give_up_stdout()
        print(f"recollect: cannot go on: {error}", file=sys.stderr)
        return 74
    except KeyboardInterrupt:
        print("stopped; what was committed is kept", file=sys.stderr)
        return 130


def _settle_streams() -> None:
    """Streams that are there and take any text: logs hold more
    characters than some locales know.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """Nothing more can be written; Python would try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _split(arguments: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Options before the command's name, the name, and what follows."""
    options: list[str] = []
    while arguments and arguments[0].startswith("-"):
        options.append(arguments.pop(0))
        if options[-1] == "--store" and arguments:
            options.append(arguments.pop(0))
    return options, arguments.pop(0) if arguments else None, arguments


def _run(name: str, arguments: list[str]) -> int:
    from recollect.errors import RecollectError
    from recollect.memory import Memory
    from recollect.serve.cli.output import complain, write

    command = load(name)
    args = parser(name, command).parse_args(
        command.prepare(arguments) if hasattr(command, "prepare") else arguments
    )
    memory = None
    try:
        if args.log_json or "RECOLLECT_LOG" in os.environ:
            from recollect.serve.logs import configure

            configure(os.environ.get("RECOLLECT_LOG", "warning"), as_json=args.log_json)
        memory = Memory.open(args.store)
        return write(command.run(memory, args), as_json=args.json)
    except RecollectError as error:
        return complain(error, as_json=args.json)
    finally:
        if memory is not None:
            memory.close()


def load(name: str) -> ModuleType:
    """The module of a command, which has `arguments(parser)`, `run(memory,
    args)` and, if need be, `prepare(words)`.
    """
    from importlib import import_module

    return import_module(f"recollect.serve.cli.{COMMANDS[name][0] if name in COMMANDS else name}")


def parser(name: str, command: ModuleType) -> ArgumentParser:
    """The argument parser of one command."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    summary, _, details = (command.__doc__ or "").partition("\n\n")
    made = ArgumentParser(
        prog=f"recollect {name}" if name in COMMANDS else "recollect",
        description=summary.partition(": ")[2] or summary,
        epilog=details,
        # A width of our own: asking the terminal for its would load five modules, at every search.
        formatter_class=lambda prog: RawDescriptionHelpFormatter(prog, width=HELP_WIDTH),
    )
    command.arguments(made)
    made.add_argument("--json", action="store_true", help="answer as JSON, one object a line")
    made.add_argument("--store", metavar="PATH", help="use this store instead of the usual one")
    made.add_argument("--log-json", action="store_true", help="log lines on stderr as JSON")
    return made


def count(text: str) -> int:
    """The type of every option that says how many."""
    from argparse import ArgumentTypeError

    number = int(text) if text.strip().lstrip("+-").isdecimal() else -1
    # SQLite counts in 64 bits, and an offset and a limit are added.
    if not 0 <= number < 1 << 62:
        raise ArgumentTypeError(f"{text.strip()} is no count; give a whole number, 0 or more")
    return number


def _help() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [
        "usage: recollect COMMAND [options]",
        "",
        "A memory for coding agents that lives on your machine.",
        "",
    ]
    lines += [f"  {name:{width}}  {summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(
        [
            *lines,
            "",
            "`recollect COMMAND --help` says more; without a command: what is stored, what to try.",
        ]
    )


def _unknown(name: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    meant = (
        f"did you mean `recollect {near[0]}`?" if near else "`recollect --help` lists the commands"
    )
    print(f"recollect: no command is called {name}; {meant}", file=sys.stderr)
    return 2
