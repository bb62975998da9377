"""Notes in a Markdown file of the person's own, such as an AGENTS.md.

One section of the file is ours:

    ## Auto-extracted memories

    ### Session memories — 2026-03-01

    - **[preference]** Always run the tests *(confidence: 90%)*

New facts are added under the day they were first said (UTC), the newest day first.
What stands there already is not added again, whoever wrote it; what is no
longer believed is taken out. Everything else in the file, and in the section,
stays as it is, byte for byte, and a file to which nothing is new is not written.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.errors import FileRefused, FileUnwritable, UsageError
from recollect.store.notes import compared
from recollect.system import git, platforms
from recollect.system.platforms import replace_text

if TYPE_CHECKING:
    from recollect.model.old_notes import OldNote

SECTION = "## Auto-extracted memories"
# For what was said in a log that tells no time.
UNDATED = "undated"
# Whatever a shell or a program reads is not a place for notes.
_ENDINGS = (".md", ".markdown", ".mdc", ".mdx", ".txt")
# Nobody writes guidance of this size by hand.
MOST_BYTES = 4 << 20
_DAY = re.compile(rf"### Session memories — (\d{{4}}-\d\d-\d\d|{UNDATED})\s*$")
_FACT = re.compile(r"- \*\*\[\w+\]\*\* (.*?)(?: \*\(confidence: \d+%\)\*)?\s*$")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(```|~~~)")


def write(path: str, notes: Sequence[OldNote], retired: Sequence[OldNote] = ()) -> bool:
    """Bring a file up to date, with its folder if need be; says whether anything was new."""
    path = _checked(path)
    before = _read(path)
    after = merged(before or "", notes, retired)
    if after == (before or ""):
        return False
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_text(
            path, after, mode=os.stat(path).st_mode & 0o777 if before is not None else 0o644
        )
    except OSError as error:
        raise FileUnwritable(path, error.strerror or str(error)) from error
    return True


def _checked(path: str) -> str:
    """The file behind a name, which must be one that we may write.

    A link in the same project stays a link: CLAUDE.md often is one to AGENTS.md. But
    whoever wrote the project may have put a link there that leads anywhere.
    """
    folder = os.path.dirname(os.path.abspath(path))
    top = os.path.realpath(git.work_tree(folder) or folder)
    real = os.path.realpath(path)
    if not _is_below(real, top):
        raise FileRefused(
            f"{path} leads out of its project, to {real}.",
            hint="Name that file itself, or put a plain one in its place.",
        )
    try:
        found = os.stat(real) if os.path.lexists(real) else None
    except OSError as error:
        raise FileUnwritable(real, error.strerror or str(error)) from error
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise FileUnwritable(real, "it is not a file")
    if not real.lower().endswith(_ENDINGS) or ".git" in real[len(top) :].split(os.sep):
        raise FileRefused(
            f"{real} is not a Markdown file.", hint=f"Name one that ends in {_ENDINGS[0]}."
        )
    if found is None:
        return real
    if found.st_size > MOST_BYTES:
        raise FileRefused(f"{path} is too large to hold notes.", hint="Name another one.")
    if not platforms.WINDOWS and found.st_uid != os.getuid():
        raise FileRefused(
            f"{path} belongs to another user of this machine.", hint="Run this as that user."
        )
    if not found.st_mode & stat.S_IWUSR:
        # A rename would not mind; whoever made it so does.
        raise FileUnwritable(real, "the file is read-only")
    return real


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def merged(text: str, notes: Sequence[OldNote], retired: Sequence[OldNote] = ()) -> str:
    """A file's text with these notes in our section, and without those that are retired."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _LINE.findall(text)
    start, end = _section(lines)
    own = lines[start:end]
    wanted = {compared(note.text) for note in notes}
    gone = {compared(note.text) for note in retired} - wanted
    own = _without(own, gone)
    known = {compared(fact) for fact in _facts(own)}
    for note in sorted(notes, key=_number):
        if compared(note.text) not in known:
            known.add(compared(note.text))
            if not own:
                own = _opened(lines, newline)
            _add(own, (note.created_at or "")[:10], _line(note) + newline, newline)
    if own and end < len(lines) and own != lines[start:end] and own[-1].strip():
        own.append(newline)
    return "".join([*lines[:start], *own, *lines[end:]])


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(
            f"{path} is not text in UTF-8", hint="name another file, or save this one as UTF-8"
        ) from None
    except OSError as error:
        raise FileUnwritable(path, error.strerror or str(error)) from error


def _section(lines: list[str]) -> tuple[int, int]:
    """Where our section begins and ends.

    Both at the end of the file when there is none. Headings in code are none.
    """
    code = _code(lines)
    start = None
    for number, line in enumerate(lines):
        if number in code:
            continue
        if start is None and line.rstrip() == SECTION:
            start = number
        # What is published stands between markers of its own.
        elif start is not None and line.startswith(("# ", "## ", "<!-- recollect:begin")):
            return start, number
    return (len(lines) if start is None else start), len(lines)


def _code(lines: list[str]) -> set[int]:
    """The lines between fences.

    One that is never closed is none, or we would not find our own section after it.
    """
    code: set[int] = set()
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence and opened is None:
            opened = number, fence[1]
        elif fence and opened and fence[1] == opened[1]:
            code.update(range(opened[0], number))
            opened = None
    return code


def _opened(lines: list[str], newline: str) -> list[str]:
    """A new section, with an empty line between it and what the file ends with."""
    if not lines:
        return [SECTION + newline]
    gap = [] if lines[-1].endswith("\n") else [newline]
    return [*gap, *([newline] if lines[-1].strip() else []), SECTION + newline]


def _add(own: list[str], day: str, line: str, newline: str) -> None:
    """Put a line at the end of its day, and a new day before the first one that is older.

    What was said on no known day is last.
    """
    if not own[-1].endswith("\n"):
        own[-1] += newline
    days = [
        (number, found[1].replace(UNDATED, ""))
        for number, old in enumerate(own)
        if (found := _DAY.match(old))
    ]
    for place, (number, dated) in enumerate(days):
        if dated == day:
            end = days[place + 1][0] if place + 1 < len(days) else len(own)
            while end > number + 1 and not own[end - 1].strip():
                end -= 1
            own[end:end] = [line] if own[end - 1].strip() and end > number + 1 else [newline, line]
            return
    at = next((number for number, dated in days if dated < day), len(own))
    before = [] if not own[at - 1].strip() else [newline]
    after = [newline] if at < len(own) else []
    own[at:at] = [
        *before,
        f"### Session memories — {day or UNDATED}{newline}",
        newline,
        line,
        *after,
    ]


def _without(own: list[str], gone: set[str]) -> list[str]:
    """A section without the facts that are gone, and without the days that this leaves empty."""
    if not any(compared(fact) in gone for fact in _facts(own)):
        return own
    kept = [
        line for line in own if not ((found := _FACT.match(line)) and compared(found[1]) in gone)
    ]
    blocks: list[list[str]] = [[]]
    for line in kept:
        if _DAY.match(line):
            blocks.append([])
        blocks[-1].append(line)
    left = [line for block in blocks if not _is_empty_day(block) for line in block]
    while _is_empty_day(blocks[-1]) and left and not left[-1].strip():
        left.pop()
    return left


def _is_empty_day(block: list[str]) -> bool:
    return (
        bool(block)
        and _DAY.match(block[0]) is not None
        and not any(line.strip() for line in block[1:])
    )


def _facts(own: list[str]) -> Iterator[str]:
    for line in own:
        if found := _FACT.match(line):
            yield found[1]


def _line(note: OldNote) -> str:
    return f"- **[{note.category}]** {note.text} *(confidence: {round(note.confidence * 100)}%)*"


def _number(note: OldNote) -> int:
    return int(note.ref.removeprefix("note:"))
