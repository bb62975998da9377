"""Turns results into text or JSON Lines, and errors into words; no other module prints.

Answers go to stdout, everything else to stderr.
"""

from __future__ import annotations

import sys

from recollect.errors import EXIT_NOTHING_FOUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from re import Match
    from typing import Any

    from recollect.errors import RecollectError
    from recollect.serve.cli.lists import Screen


class Output:
    """What a command found, how a person sees it, and what else to say.

    `rows` are shown one after the other; a single answer is one row. `text`
    turns a row into lines, `head` and `foot` frame them for a person, `empty`
    is said when there is no row (the exit code says it too), `note` goes to
    stderr. `screen` says how all of it looks on a terminal, where a person reads it; its lines
    are cleaned already. One that `pages` goes through a pager when it is longer than the screen.
    """

    __slots__ = ("empty", "exit_code", "foot", "head", "note", "pages", "rows", "screen", "text")

    def __init__(
        self,
        rows: Iterable[Any],
        text: Callable[[Any], str] = str,
        *,
        head: str = "",
        foot: str = "",
        empty: str = "",
        note: str = "",
        exit_code: int = 0,
        screen: Callable[[Screen], Iterable[str]] | None = None,
        pages: bool = False,
    ) -> None:
        self.rows, self.text, self.head, self.foot = rows, text, head, foot
        self.empty, self.note, self.exit_code, self.screen = empty, note, exit_code, screen
        self.pages = pages


def write(output: Output, *, as_json: bool) -> int:
    """Print an answer and return the exit code."""
    if as_json and hasattr(sys.stdout, "reconfigure"):
        # Programs expect UTF-8, whatever the locale is.
        sys.stdout.reconfigure(encoding="utf-8")
    out = sys.stdout.write
    count = 0
    for row in output.rows:
        if as_json:
            out(to_json(row) + "\n")
        else:
            if not count and output.head:
                out(output.head + "\n")
            out(printable(output.text(row)) + "\n")
        count += 1
    if output.note:
        say(output.note)
    if not count and output.empty:
        say(output.empty)
        return output.exit_code or EXIT_NOTHING_FOUND
    if output.foot and not as_json:
        out(output.foot + "\n")
    return output.exit_code


def complain(error: RecollectError, *, as_json: bool) -> int:
    """Say what happened and what to do next."""
    if as_json:
        sys.stderr.write(
            to_json({"error": str(error), "hint": error.hint, "exit_code": error.exit_code}) + "\n"
        )
    else:
        say(f"error: {error}")
        if error.hint:
            say(f"  {error.hint}")
    return error.exit_code


def say(text: str) -> None:
    """Something for the person, not part of the answer."""
    sys.stderr.write(printable(text) + "\n")


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things in words: 1 turn, 2 turns."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def and_subagents(number: int) -> str:
    """What stands behind a number of sessions: how many sub-agents they started."""
    return f" (and {counted(number, 'sub-agent')})" if number else ""


def short_time(at: str | None) -> str:
    """A time to the minute; empty when it is not known."""
    return (at or "")[:16].replace("T", " ")


def short_date(at: str | None) -> str:
    """A day; a dash when it is not known."""
    return (at or "-")[:10]


def placed(row: Any) -> str:
    """The first line of an answer about a turn: its reference, when, where, and what is
    special about it.
    """
    marks = ("" if row.live else "  (undone)") + ("  (sub-agent)" if row.subagent else "")
    where = f"  {row.project}" if row.project else ""
    return f"{row.ref}  {short_time(row.at)}{where}{marks}{external_mark(row)}"


def external_mark(row: Any) -> str:
    """What is said behind a row whose log came with a project, and may be anybody's."""
    return "  [external]" if row.external else ""


def to_json(row: Any) -> str:
    """One row as a line of JSON.

    What would act on a terminal that the line is printed to, or show it in another
    order than it has, is escaped: programs read the same.
    """
    line = _encoded(row)
    if line.isprintable():
        return line
    import re

    return re.sub(r"[^\x20-\x7e]+", _escaped, line)


def _escaped(found: Match[str]) -> str:
    if found[0].isprintable():
        return found[0]
    import json

    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in found[0])


def _encoded(row: Any) -> str:
    if hasattr(row, "as_dict"):
        row = row.as_dict()
    if isinstance(row, dict) and "msgspec" not in sys.modules:
        import json

        return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    import msgspec

    try:
        return msgspec.json.encode(row).decode()
    except (UnicodeEncodeError, OverflowError):
        # A path that is no text, a number beyond 64 bits: the standard library escapes them.
        import json

        return json.dumps(msgspec.to_builtins(row), separators=(",", ":"))


def printable(text: str) -> str:
    """Text that cannot move the cursor or colour the terminal: logs
    hold escape codes, some with intent.
    """
    if text.isprintable():
        return text
    if "\x1b" in text:
        import re

        text = re.sub(
            r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])", "", text
        )
    return "".join(
        char if char in "\n\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )
