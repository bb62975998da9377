"""Lists on a terminal: numbered rows, short names, and the numbers kept for the next command.

`recollect show 2` means the second row of the last list in this terminal: the references are
kept in a file for each terminal and shell, for a day.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from recollect.errors import EXIT_NOTHING_FOUND
from recollect.serve.cli.style import cells, table
from recollect.serve.output import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from recollect.memory import Memory
    from recollect.serve.cli.style import Column, Style
    from recollect.serve.output import Output

# How a session ended, and the role of the sign. Uncertain ones are most: a sign says nothing.
OUTCOMES = {
    "success": ("✓", "ok"), "fail": ("✗", "fail"), "partial": ("~", "warn"),
    "abandoned": ("–", "dim"),
}  # fmt: skip
FOLDER = "rows"
KEPT_SECONDS = 86_400
MOST_ROWS = 999
# From this width on, where and when stand on the line of a title.
WIDE = 100


class Screen:
    """One answer as a person sees it: how it may look, and the rows that were numbered."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.rows: list[str] = []

    def number(self, ref: str) -> str:
        """The number of the next row, which stands for a reference from now on."""
        self.rows.append(ref)
        return str(len(self.rows))

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterator[str]:
        """Rows in columns; signs of an outcome and counts of lines have colours of their own."""
        return table(self.style, columns, rows, paint=self._paint)

    def _paint(self, name: str, text: str) -> str:
        for sign, role in OUTCOMES.values():
            if text == self.style.glyph(sign):
                return self.style.paint(role, text)
        return text

    def hint(self, text: str) -> Iterator[str]:
        """What to do next, for somebody who sits at a terminal."""
        if self.style.hints:
            yield ""
            yield self.style.paint("dim", self.style.cut(self.style.glyph(text), self.style.width))


def write_screen(output: Output, style: Style, home: str, *, pages: bool) -> int:
    """Print an answer as a person sees it, keep what its numbers stand for, and return the
    exit code.
    """
    assert output.screen is not None
    screen, count = Screen(style), 0
    # Where nobody knows how high the screen is, nobody sits before it.
    height = os.get_terminal_size(sys.stdout.fileno()).lines if style.hints else 0
    if pages and output.pages and height:
        from recollect.serve.cli.pager import print_paged

        count = print_paged(output.screen(screen), rows=height)
    else:
        for line in output.screen(screen):
            sys.stdout.write(line + "\n")
            count += 1
    sys.stdout.flush()
    if output.note:
        say(output.note)
    if sys.stdout.isatty():
        keep_rows(home, screen.rows)
    if not count and output.empty:
        say(output.empty)
        return output.exit_code or EXIT_NOTHING_FOUND
    return output.exit_code


def heading(
    screen: Screen, number: str, title: str, where: Sequence[str], ref: str
) -> Iterator[str]:
    """The line of a hit: its number and title, and at the right where it is from."""
    style = screen.style
    facts = style.glyph(" · ").join([*filter(None, where), ""])
    head, right = f"{number:>2}  ", cells(facts) + cells(ref)
    room = style.width - len(head) - (right + 2 if style.width >= WIDE else 0)
    short = style.cut(title, room)
    line = f"{style.paint('accent', head)}{style.paint('bold', short)}"
    about = f"{style.paint('dim', facts)}{style.paint('accent', ref)}"
    if style.width >= WIDE:
        yield f"{line}{' ' * (room - cells(short) + 2)}{about}"
    else:
        yield line
        room = style.width - 4 - cells(ref)
        yield f"    {style.paint('dim', style.cut(facts, room))}{style.paint('accent', ref)}"


def agent_name(agent: str) -> str:
    """What people call an agent: its name without the kind of program."""
    return agent.partition("-")[0]


def project_names(keys: Iterable[str | None]) -> dict[str | None, str]:
    """The last part of each project's key, or its last two where two would be called the same."""
    wanted = {key for key in keys if key}
    parts = {key: key.replace("\\", "/").rstrip("/").split("/") for key in wanted}
    last = [names[-1] for names in parts.values()]
    names: dict[str | None, str] = {
        key: "/".join(names[-2:]) if last.count(names[-1]) > 1 else names[-1]
        for key, names in parts.items()
    }
    return names | {None: "-", "": "-"}


def inside(path: str, folder: str | None) -> str:
    """A path as it is seen from a session's folder; whole when it is elsewhere."""
    start = (folder or "").replace("\\", "/").rstrip("/") + "/"
    tidy = path.replace("\\", "/")
    return tidy[len(start) :] if len(start) > 1 and tidy.startswith(start) else shown_path(path)


def shown_path(path: str) -> str:
    """A path as it is shown: `~` for the home folder, which has somebody's name in it."""
    home = os.path.expanduser("~").rstrip(os.sep)
    return "~" + path[len(home) :] if home and path.startswith((home + os.sep,)) else path


def turn_name(ref: str, short: Callable[[str], str]) -> str:
    """A turn as it is printed: `453dcfa0.4`; some shells take a `#` for a pattern."""
    session, mark, number = ref.rpartition("#")
    return f"{short(session)}.{number}" if mark else short(ref)


def keep_rows(home: str, rows: Sequence[str]) -> None:
    """Remember what the numbers of this terminal's last list stand for, as far as that works.

    Only references: what is forgotten or redacted is in no other file.
    """
    key = _terminal()
    if key is None or not rows:
        return
    with suppress(OSError):
        _write(home, key, rows[:MOST_ROWS])


def _write(home: str, name: str, lines: Iterable[str]) -> None:
    """Replace a file of this terminal's, and delete those of a day ago."""
    import time

    folder = os.path.join(home, FOLDER)
    path = os.path.join(folder, name)
    written = f"{path}.{os.getpid()}"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    os.replace(written, path)
    for name in os.listdir(folder):
        other = os.path.join(folder, name)
        if os.stat(other).st_mtime < time.time() - KEPT_SECONDS:
            os.unlink(other)


def keep_search(home: str, words: Sequence[str], cursor: str) -> None:
    """Remember what asks for the next page of this terminal's last search, as far as that works."""
    key = _terminal()
    if key is None or not sys.stdout.isatty() or any("\n" in word for word in words):
        return
    kept = [word for word in words if word != "--more" and not word.startswith("--cursor")]
    with suppress(OSError):
        _write(home, f"{key}.search", [f"--cursor={cursor}", *kept])


def find_search(home: str) -> list[str] | None:
    """What asks for the next page of this terminal's last search."""
    key = _terminal()
    try:
        with open(os.path.join(home, FOLDER, f"{key}.search"), encoding="utf-8") as file:
            return file.read().splitlines() if key else None
    except (OSError, UnicodeDecodeError):
        return None


def find_row(home: str, text: str) -> str | None:
    """The reference that a number stands for: 2, or 2.4 for a turn of it.

    None when it is no number of a row, or no terminal has shown a list.
    """
    row, dot, turn = text.partition(".")
    if not (row.isdecimal() and len(row) <= 3 and (turn.isdecimal() or not dot)):
        return None
    key = _terminal()
    if key is None:
        return None
    try:
        with open(os.path.join(home, FOLDER, key), encoding="utf-8") as file:
            rows = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        rows = []
    number = int(row)
    if not 1 <= number <= len(rows):
        from recollect.errors import NotFound

        raise NotFound(
            f"The last list in this terminal has no row {number}.", hint="Try: recollect sessions"
        )
    ref = rows[number - 1]
    return f"{ref.partition('#')[0]}#{turn}" if dot else ref


def find_last(memory: Memory) -> str | None:
    """The newest session of the project here; of all where there is none."""
    own = memory.projects.of(os.getcwd())
    newest = next(iter(memory.sessions(limit=1, project=own)), None)
    return newest.id if newest else None


def words_of(query: str) -> list[str]:
    """The words of a query that may be marked in what was found, in lower case."""
    words = query.replace('"', " ").lower().split()
    found = [word.strip("*,.;!?") for word in words if word[0] != "-" and ":" not in word]
    return [word for word in found if len(word) > 1]


def _terminal() -> str | None:
    """A name for this terminal and the shell in it; None where there is none."""
    for stream in (0, 1, 2):
        try:
            name = os.ttyname(stream).strip("/").replace("/", "-")
            return f"{name}-{os.getsid(0)}"
        except (OSError, AttributeError):
            continue
    return None
