"""recollect completion: have your shell complete commands, options and their values.

recollect completion bash > ~/.local/share/bash-completion/completions/recollect
recollect completion zsh > ~/.zfunc/_recollect        (a folder of your fpath)
recollect completion fish > ~/.config/fish/completions/recollect.fish

Start a new shell afterwards. Do it again after an upgrade: commands may have changed.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from recollect.memory import Memory
from recollect.serve.cli import COMMANDS, load
from recollect.serve.cli import parser as parser_of
from recollect.serve.output import Output


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="for which shell")


def run(memory: Memory, args: Namespace) -> Output:
    import shtab

    return Output([str(shtab.complete(whole_parser(), args.shell)).rstrip()])


def whole_parser() -> ArgumentParser:
    """Every command in one parser; a command that is run loads only its own."""
    whole = ArgumentParser(prog="recollect")
    commands = whole.add_subparsers()
    for name, (_, summary) in COMMANDS.items():
        made = parser_of(name, load(name))
        # What a shell shows beside an option is one line.
        for action in made._actions:
            if action.help:
                action.help = " ".join((action.help % {"default": action.default}).split())
                action.help = action.help.replace("%", "%%")
        commands.add_parser(name, help=summary, parents=[made], add_help=False)
    return whole
