"""What things are called where others can read it: keyed hashes, paths without a home.

An id says nothing to whoever does not have the key of the team, which the hub does not.
"""

from __future__ import annotations

import getpass
import hmac
import os
import re
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.reading.quoting import is_seen
from recollect.store.text import words

if TYPE_CHECKING:
    from recollect.redact import Redactor

# A name this short, or this usual, stands in too many texts for other reasons.
SHORTEST_NAME = 4
USUAL_NAMES = frozenset({
    "root", "user", "admin", "ubuntu", "debian", "runner", "node", "developer", "localhost",
    "vscode", "codespace", "default", "home", "test", "build", "docker", "python", "linux",
})  # fmt: skip

# Stands where the name of a person or a machine was.
MASK = "[name]"
_HOMES = re.compile(r"(?:(?<![\w/.])(?:/home|/Users)/[^/\s\"'`:;,)]+|(?<!\w)/root(?=/)"
                    r"|[A-Za-z]:\\Users\\[^\\\s\"'`;,)]+)")  # fmt: skip
_PLAIN_WORD = re.compile("[a-z0-9]+")
_TAG = re.compile(r"(\[REDACTED:[a-z0-9-]+:)([0-9a-f]{8})\]")


class OutgoingText:
    """Makes texts fit to leave: no secrets by the newest rules, no home, no machine's name."""

    def __init__(self, key: bytes, redactor: Redactor) -> None:
        self._redactor, self._plain = redactor, _without_names(key)

    def __call__(self, text: str) -> str:
        return self._plain(self._redactor.redact_strictly(text))

    def many(self, texts: Sequence[str]) -> list[str]:
        """The same for passages of sessions, which share their scans; a weak value only goes
        where it is one.
        """
        return [self._plain(text) for text in self._redactor.redact_all(texts)]


def _without_names(key: bytes) -> Callable[[str], str]:
    """Without what names this machine and its user. The tags of secrets become those of the team:
    what was equal here stays equal there.
    """
    own = "|".join(re.escape(name) for name in sorted({_user(), *_hosts()}) if _is_telling(name))
    names = re.compile(rf"(?<![\w-])(?:{own})(?![\w-])", re.I) if own else None
    home = os.path.expanduser("~")

    def retagged(found: re.Match[str]) -> str:
        digits = hmac.new(key, found[2].encode(), "sha256").hexdigest()[:8]
        return f"{found[1]}{digits}]"

    def clean(text: str) -> str:
        text = _TAG.sub(retagged, text.replace("\0", ""))
        if len(home) > 1:
            text = text.replace(home, "~")
        text = _HOMES.sub("~", text)
        return names.sub(MASK, text) if names else text

    return clean


def arriving(redact: Callable[[str], str]) -> Callable[[str], str]:
    """What makes a text of others fit to be kept: one line of what can be seen, no secrets."""

    def clean(text: str) -> str:
        seen = "".join(char if is_seen(char) else " " if char.isspace() else "" for char in text)
        return redact(" ".join(seen.split()))

    return clean


def words_of(body: Mapping[str, object]) -> list[str]:
    """The words that a thing is found by at a hub."""
    said = (body.get(name) for name in ("title", "text", "summary", "task"))
    return prepared_words(" ".join(one for one in said if isinstance(one, str)))


def prepared_words(text: str) -> list[str]:
    """Words as our own search has them, in small letters; most texts are plain, and quick."""
    lower = text.lower()
    return _PLAIN_WORD.findall(lower) if lower.isascii() else words(lower)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


def _hosts() -> list[str]:
    host = socket.gethostname()
    return [host, host.partition(".")[0]]


def _is_telling(name: str) -> bool:
    return len(name) >= SHORTEST_NAME and name.lower() not in USUAL_NAMES
