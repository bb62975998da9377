"""What is wrong with a command line, in our words; loaded only when something is."""

from __future__ import annotations

import re
from argparse import ArgumentParser

# What to ask for when an argument is missing, by its name in the usage line.
QUESTIONS = {
    "FILE": "Which file?",
    "REF": "Which session or turn?",
    "TOOL": "Which tool?",
    "WORDS": "What should it look for?",
}

# argparse's words: ours. The first that fits is used; the groups are in its order.
WORDS = (
    (r"argument (.+?): invalid choice: '(.*)' \(choose from (.*)\)", '{0} takes {2}, not "{1}".'),
    (r"argument (.+?): expected .*", "{0} needs a value."),
    (r"argument (.+?): not allowed with argument (.+)", "{0} does not go with {1}."),
    (r"argument (.+?): ignored explicit argument .*", "{0} takes no value."),
    (r"argument (.+?): (needs .*)", "{0} {1}."),
    (r"ambiguous option: (.+?) could match (.*)", "{0} could mean {1}."),
    (r"unrecognized arguments: (-\S+).*", "There is no option {0}."),
    (r"unrecognized arguments: (.*)", "It takes no more words: {0}."),
)


def explain(parser: ArgumentParser, message: str) -> str:
    """What argparse complains about, with one line of usage."""
    needed = [
        str(action.metavar or action.dest)
        for action in parser._actions
        if not action.option_strings and action.nargs not in ("*", "?")
    ]
    usage = " ".join([parser.prog, *needed])
    return f"error: {_sentence(message)}\n  Usage: {usage}   All options: {parser.prog} --help\n"


def _sentence(message: str) -> str:
    missing = re.fullmatch(r"the following arguments are required: ([^,]+).*", message)
    if missing:
        return QUESTIONS.get(missing[1], f"{missing[1]} is missing.")
    for pattern, words in WORDS:
        found = re.fullmatch(pattern, message, re.DOTALL)
        if found:
            return words.format(*map(_plain, found.groups()))
    return f"{message[:1].upper()}{message[1:]}."


def _plain(text: str) -> str:
    """A list of choices in prose: some versions of Python put quotes around each."""
    choices = re.sub(r"'([\w-]+)'(?=, |$)", r"\1", text).split(", ")
    if not all(re.fullmatch(r"[\w-]+", choice) for choice in choices) or len(choices) == 1:
        return text
    return f"{', '.join(choices[:-1])} or {choices[-1]}"
