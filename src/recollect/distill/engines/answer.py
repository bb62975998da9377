"""What an engine answered, parsed at the edge and trusted nowhere.

Two parts, MEMORY and PACK, each a list of lines under titles; every line ends with the turns
it rests on. Models put words before it, forget a fence or write another title: what can be
read for certain is read, and an answer in which nothing can is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from recollect.distill.finders.cleaning import words
from recollect.errors import BadReply
from recollect.model.notes import Section
from recollect.reading.quoting import is_seen

MOST_CHARACTERS = 200_000
MOST_LINES, MOST_SOURCES = 120, 4

_TITLES: Mapping[str, Section] = {
    "preferences": "preferences",
    "commands": "commands",
    "traps": "traps",
    "decisions": "decisions",
    "files": "files",
    "decisions and files": "decisions",
    "left off": "left_off",
}
_FENCED = re.compile(
    r"^[ \t]*`{3,}[ \t]*(MEMORY|PACK|CHANGES)[ \t]*\n(.*?)(?=^[ \t]*`{3,}|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
# Without fences: the names of the parts alone on their lines.
_NAMED = re.compile(
    r"^[ \t#*]*(MEMORY|PACK|CHANGES)[ \t:*]*\n(.*?)(?=^[ \t#*]*(?:MEMORY|PACK|CHANGES)[ \t:*]*\n"
    r"|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_TITLE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|\*\*)?([A-Za-z ]{4,24}?)(?:\*\*)?:?(?:\*\*)?[ \t]*$")
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+")
_SOURCE = r"[0-9A-Za-z]{0,40}#\d{1,6}"
_SOURCES = re.compile(rf"(?:[ \t]*[\[(]{_SOURCE}(?:[ \t]*[,;][ \t]*{_SOURCE})*[\])][.]?)+[ \t]*$")


class Told(NamedTuple):
    """One line of an answer: `cited` are the marks of its turns, such as `a1b2#4`."""

    section: Section
    text: str
    cited: tuple[str, ...]


class Answer(NamedTuple):
    """A memory as it was answered, best first in each section, and the short form cut from it."""

    memory: tuple[Told, ...]
    pack: tuple[Told, ...]
    changes: tuple[str, ...]

    def lines(self) -> tuple[Told, ...]:
        """Every line, those of the short form first; what they say in other words once."""
        kept = list(self.pack)
        known = [frozenset(words(line.text)) for line in kept]
        for line in self.memory:
            own = frozenset(words(line.text))
            if not any(_says_the_same(own, other) for other in known):
                kept.append(line)
                known.append(own)
        return tuple(kept)


def _says_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a line of the memory says no more than one that is kept already."""
    return bool(one) and len(one & other) >= 0.72 * len(one)


def read_answer(text: str) -> Answer:
    """The memory in an answer; BadReply says what is wrong with it."""
    if len(text) > MOST_CHARACTERS:
        raise BadReply(f"The answer has {len(text):,} characters.", hint="A memory has 9,000.")
    text = text.replace("\r\n", "\n")
    parts = {name.upper(): body for name, body in _FENCED.findall(text)}
    if "MEMORY" not in parts:
        parts = {name.upper(): body for name, body in _NAMED.findall(text)}
    if "MEMORY" not in parts:
        raise BadReply(
            "The answer has no part called MEMORY.",
            hint="Answer with the parts MEMORY and PACK, as the prompt shows them.",
        )
    memory, pack = _lines(parts["MEMORY"]), _lines(parts.get("PACK", ""))
    if not memory and not pack:
        raise BadReply(
            "No line of the answer stands under Preferences, Commands, Traps, Decisions or Files.",
            hint="Is the model large enough to follow the prompt? Try another: distill.model.",
        )
    if len(memory) > MOST_LINES or len(pack) > MOST_LINES:
        raise BadReply("The answer has too many lines.", hint=f"At most {MOST_LINES} are read.")
    changes = tuple(
        _BULLET.sub("", line).strip()
        for line in parts.get("CHANGES", "").splitlines()
        if line.strip() and not line.strip().startswith("`")
    )
    return Answer(memory, pack, changes)


def _lines(body: str) -> tuple[Told, ...]:
    section: Section | None = None
    found = []
    for line in body.splitlines():
        if title := _TITLE.match(line):
            section = _TITLES.get(title[1].strip().casefold())
        elif section and _BULLET.match(line) and (told := _told(section, _BULLET.sub("", line))):
            found.append(told)
    return tuple(dict.fromkeys(found))


def _told(section: Section, line: str) -> Told | None:
    seen = "".join(char if is_seen(char) else " " for char in line)
    text = " ".join(seen.split())
    cited: list[str] = []
    if sources := _SOURCES.search(text):
        session = ""
        for source in re.findall(_SOURCE, sources[0]):
            name, _, number = source.partition("#")
            session = name or session
            cited.append(f"{session}#{int(number)}")
        text = text[: sources.start()].rstrip(" -–—")
    return Told(section, text, tuple(dict.fromkeys(cited))[:MOST_SOURCES]) if text else None
