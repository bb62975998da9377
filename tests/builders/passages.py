"""Turns as distilling sees them, told in a few words."""

from __future__ import annotations

from typing import Any

from recollect.model.logs import Author
from recollect.model.sessions import Tokens
from recollect.store.events import events_in
from recollect.store.history import Passage

Row = list[Any]
REF = "codex:s"


def passage(
    number: int,
    *rows: Row,
    author: Author = "human",
    live: bool = True,
    whole: bool = True,
    **tokens: int,
) -> Passage:
    """A turn that took a second, with these events."""
    at = number * 60_000
    place = (number, f"{REF}#{number}", number, author, live, "/home/ada/shop", at, at + 1_000)
    return Passage(*place, Tokens(**tokens), events_in(number, rows), whole)


def prompt(text: str) -> Row:
    return ["prompt", None, text]


def reply(text: str) -> Row:
    return ["reply", None, text]


def run(command: str, output: str = "", *, code: int = 0) -> Row:
    """A shell command, with what it printed and how it ended."""
    return [
        "tool_call",
        None,
        "",
        None,
        "Bash",
        "shell",
        command,
        {},
        output,
        code == 0,
        code,
        None,
        None,
    ]


def edit(path: str, *, ok: bool = True) -> Row:
    """An edit of a file, which may fail."""
    return ["tool_call", None, "", None, "Edit", "edit", path, {}, "", ok, None, None, None]


def said(kind: str, text: str) -> Row:
    """An event of any kind that is words."""
    return [kind, None, text]


def call(
    target: str,
    output: str = "",
    *,
    kind: str = "shell",
    ok: bool = True,
    code: int | None = None,
    **given: Any,
) -> Row:
    """A call of any kind of tool, with what it was given and what it gave."""
    return [
        "tool_call",
        None,
        "",
        None,
        kind,
        kind,
        target,
        given or None,
        output,
        ok,
        code,
        None,
        None,
    ]
