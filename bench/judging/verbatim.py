"""Whether what a told line quotes stands in the logs it is told from.

The logs are read raw, by code that shares nothing with the product: every text in every
JSON line, however deep, joined into one. White space, case and the kind of slash say
nothing; a home folder may be written as `~`. A command has to stand there whole.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

# Texts that hold JSON again: the arguments of Codex's calls.
_NESTED = ("{", "[")
_COMMAND = re.compile(r"`([^`\n]+)`")
_QUOTE = re.compile(r"[\"“]([^\"“”\n]{2,})[\"”]|「([^」\n]{2,})」")
_PATH = re.compile(
    r"(?<![\w/:.])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w.@+-]+){2,}"
    r"|(?<![\w/:.])[\w.@+-]+(?:/[\w.@+-]+)+\.\w{1,5}\b"
)
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_REFERENCE = re.compile(r"\b[\w-]+:[0-9a-f-]{8,}#\d+")
_HOME = re.compile(
    r"/(?:home|users)/[^/\s\"']+(?=/)|/root(?=/)|\$home(?=/)|[a-z]:/users/[^/\s\"']+"
)
_REDACTED = re.compile(r"\[REDACTED[^\]]*\]?")
_LEFT_OUT = re.compile(r"…|\.\.\.")
AROUND = 200


class Span(NamedTuple):
    """What a line quotes: a command, somebody's words, a path or an option."""

    kind: str
    text: str


class RawLogs:
    """All text of some logs, as one."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.text = plain("\n".join(text for path in files for text in texts_in(path)))
        self.dense = self.text.replace(" ", "")

    def has(self, span: Span) -> bool:
        """Whether a span stands there; what was left out of somebody's words may be missing."""
        text = _REDACTED.sub("…", span.text)
        if span.kind == "command":
            return self._stands(text) or self._stands(text.strip(" .,;:"))
        return all(self._stands(part.strip(" .,;:")) for part in _LEFT_OUT.split(text))

    def around(self, span: Span) -> str:
        """The last place where a span stands, with what is before and after it."""
        place = self.text.rfind(plain(span.text))
        return self.text[max(0, place - AROUND) : place + AROUND] if place >= 0 else ""

    def _stands(self, text: str) -> bool:
        sought = plain(text)
        return sought in self.text or sought.replace(" ", "") in self.dense


def plain(text: str) -> str:
    """A text as it is compared."""
    text = unicodedata.normalize("NFKC", text).translate(_MARKS)
    text = " ".join(re.sub(r"\\+", "/", text).replace("**", "").casefold().split())
    return _HOME.sub("~", text)


_MARKS = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "`": None})


def texts_in(path: Path) -> Iterator[str]:
    """Every text in a log of JSON lines."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        yield from _texts(record)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value.startswith(_NESTED):
            with suppress(ValueError):
                yield from _texts(json.loads(value))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        # Words of a command that is given one by one stand in a row.
        if value and all(isinstance(one, str) for one in value):
            yield " ".join(value)
        for inner in value:
            yield from _texts(inner)


def spans_in(line: str) -> list[Span]:
    """What a line quotes, without the reference to its turns."""
    rest = _REFERENCE.sub(" ", line)
    found = [Span("command", text) for text in _COMMAND.findall(rest)]
    # Backticks in somebody's words are theirs; quotation marks in a command are its own.
    hidden = _COMMAND.sub(lambda command: command[0].replace('"', "'"), rest)
    found += [Span("quote", one or other) for one, other in _QUOTE.findall(hidden)]
    rest = _COMMAND.sub(" ", _QUOTE.sub(" ", hidden))
    found += [Span("path", text) for text in _PATH.findall(rest)]
    return found + [Span("option", text) for text in _FLAG.findall(rest)]
