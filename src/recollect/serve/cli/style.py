"""How lines look on a terminal: eight codes, widths in cells, tables, ages and amounts.

Nothing heavy is imported: a person waits for every search. Text from logs is cleaned here
before it is measured, and our own codes come after that, so no log can bring its own.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TextIO

# The eight codes. The terminal's own palette decides what they look like, light or dark.
RESET = "0"
ROLES = {
    "bold": "1",
    "dim": "2",
    "accent": "36",
    "ok": "32",
    "fail": "31",
    "warn": "33",
    "match": "1;35",
}
GLYPHS_IN_ASCII = {
    "✓": "+", "✗": "x", "–": "-", "·": "-", "…": "...", "✎": "e", "━": "=", "─": "-", "−": "-",
    "│": "|", "└": "\\", "▸": ">",
    "▁": "_", "▂": ".", "▃": "-", "▄": "+", "▅": "=", "▆": "*", "▇": "#", "█": "@", "¢": "c",
}  # fmt: skip
WIDTH_UNKNOWN, WIDEST, NARROWEST = 100, 140, 20
# A title that is cut to less than this says nothing any more; columns go first.
LEAST_FLEXIBLE = 36
MEASURED_ROWS = 200

_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "mo": 30 * 86_400, "y": 365 * 86_400}


class Style:
    """What a stream can show: colours, glyphs, and how many cells a line has."""

    __slots__ = ("color", "hints", "in_ascii", "width")

    def __init__(
        self, *, color: bool = False, in_ascii: bool = False, width: int = WIDTH_UNKNOWN,
        hints: bool = False,
    ) -> None:  # fmt: skip
        self.color, self.in_ascii, self.hints = color, in_ascii, hints
        self.width = max(NARROWEST, min(width, WIDEST))

    def paint(self, role: str, text: str) -> str:
        """The text in a role; empty text, and text in no role, stays as it is."""
        if not self.color or not text or not role:
            return text
        return f"\x1b[{ROLES[role]}m{text}\x1b[{RESET}m"

    def clean(self, text: str) -> str:
        """Text from a log as one line that cannot act on the terminal."""
        from recollect.serve.output import printable

        line = " ".join(printable(text.replace("\r", " ")).split())
        return self.glyph(line) if self.in_ascii else line

    def glyph(self, text: str) -> str:
        """Signs of ours as this stream can show them."""
        if self.in_ascii and not text.isascii():
            for sign, instead in GLYPHS_IN_ASCII.items():
                text = text.replace(sign, instead)
        return text

    def spark(self, amounts: Sequence[float]) -> str:
        """Amounts beside each other, each as high as its share of the most."""
        most = max(amounts, default=0)
        steps = "▁▂▃▄▅▆▇█"
        return self.glyph(
            "".join(steps[round(7 * amount / most) if most else 0] for amount in amounts)
        )

    def cut(self, text: str, cells: int) -> str:
        """The text, or as many of its words as fit with an ellipsis."""
        return cut(text, cells, "..." if self.in_ascii else "…")

    def emphasize(self, text: str, words: Iterable[str]) -> str:
        """The text with the words that were looked for."""
        lower = text.lower()
        if not self.color or len(lower) != len(text):
            return text
        spans = []
        for word in words:
            start = lower.find(word)
            while start >= 0:
                spans.append((start, start + len(word)))
                start = lower.find(word, start + len(word))
        done, parts = 0, []
        for start, end in sorted(spans):
            if start >= done:
                parts += [text[done:start], self.paint("match", text[start:end])]
                done = end
        return "".join([*parts, text[done:]])


def style_of(
    stream: TextIO, choice: str | None = None, environ: Mapping[str, str] | None = None
) -> Style | None:
    """How to write for the person who reads this stream; None when a program reads it.

    `choice` is what --color was given. Colour that is asked for means that a person reads.
    """
    env = os.environ if environ is None else environ
    forced = choice == "always" or bool(env.get("FORCE_COLOR") or env.get("CLICOLOR_FORCE"))
    is_terminal = stream.isatty()
    if not (is_terminal or forced):
        return None
    term = env.get("TERM", "")
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("-", "").replace("_", "")
    plain_signs = (
        encoding != "utf8" or term in ("linux", "dumb") or bool(env.get("RECOLLECT_ASCII"))
    )
    if choice is not None:
        color = choice == "always"
    elif env.get("NO_COLOR"):
        color = False
    else:
        color = forced or (term != "dumb" and not env.get("CI"))
    return Style(
        # The old console of Windows shows codes as text; what is newer sets one of these.
        color=color and (sys.platform != "win32" or bool(env.get("WT_SESSION") or term)),
        in_ascii=plain_signs,
        width=_width(stream, is_terminal=is_terminal, env=env),
        hints=is_terminal and not env.get("CI"),
    )


def _width(stream: TextIO, *, is_terminal: bool, env: Mapping[str, str]) -> int:
    # COLUMNS is out of date in many shells: it counts where there is no terminal to ask.
    columns = 0
    if is_terminal:
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
    elif env.get("COLUMNS", "").isdecimal():
        columns = int(env["COLUMNS"])
    return columns or WIDTH_UNKNOWN


def cells(text: str) -> int:
    """How many cells a terminal needs for it."""
    return len(text) if text.isascii() else sum(wide for _, wide in _clusters(text))


def cut(text: str, most: int, ellipsis: str = "…") -> str:
    """The text, or the words of it that fit before an ellipsis; never part of a cluster."""
    if cells(text) <= most:
        return text
    room = most - len(ellipsis)
    if room < 1:
        return ellipsis[: max(0, most)]
    kept, used = "", 0
    for cluster, wide in _clusters(text):
        if used + wide > room:
            # A word that goes on is left out, unless too little would be left then.
            blank = kept.rfind(" ")
            if cluster != " " and blank > room * 2 // 3:
                kept = kept[:blank]
            break
        kept, used = kept + cluster, used + wide
    return kept.rstrip() + ellipsis


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text with blanks up to a number of cells."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def fill(text: str, width: int) -> list[str]:
    """A text of several words as lines of at most so many cells."""
    lines, line = [], ""
    for word in text.split():
        if line and cells(line) + 1 + cells(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """What is drawn as one, with its cells: a character and what combines with it."""
    from unicodedata import category, east_asian_width

    cluster, wide, joins = "", 0, False
    for char in text:
        if char < "\x7f":
            own = 1
        elif category(char) in ("Mn", "Me", "Cf") or "\U0001f3fb" <= char <= "\U0001f3ff":
            own = 0
        else:
            own = 2 if east_asian_width(char) in "WF" else 1
        if cluster and (own == 0 or joins):
            cluster += char
            # VARIATION SELECTOR-16 asks for the picture, which is wide.
            wide = 2 if char == "\N{VARIATION SELECTOR-16}" else wide
            joins = char == "\N{ZERO WIDTH JOINER}"
            continue
        if cluster:
            yield cluster, wide
        cluster, wide, joins = char, own, False
    if cluster:
        yield cluster, wide


class Column:
    """One column of a table. `drop` says which goes first when there is no room: 1, then 2, …;
    the `flexible` one is cut, and the others never are. `gap` blanks stand after it.
    """

    __slots__ = ("drop", "flexible", "gap", "name", "right", "role")

    def __init__(
        self, name: str = "", *, role: str = "", right: bool = False, flexible: bool = False,
        drop: int = 0, gap: int = 2,
    ) -> None:  # fmt: skip
        self.name, self.role, self.right, self.flexible, self.drop, self.gap = (
            name, role, right, flexible, drop, gap,
        )  # fmt: skip


def table(
    style: Style,
    columns: Sequence[Column],
    rows: Iterable[Sequence[str]],
    *,
    paint: Callable[[str, str], str] | None = None,
) -> Iterator[str]:
    """Rows in columns that fit the width, under their names. The first rows are measured.

    `paint` gives a cell of a column, by its name, a colour of its own.
    """
    rest = iter(rows)
    first = [row for _, row in zip(range(MEASURED_ROWS), rest, strict=False)]
    widths = [
        max([cells(column.name), *(cells(row[at]) for row in first)])
        for at, column in enumerate(columns)
    ]
    flexible = next((at for at, column in enumerate(columns) if column.flexible), None)
    # A column without a name that has nothing in it is none.
    shown = [at for at in range(len(columns)) if widths[at]]
    if flexible is not None:
        least = min(widths[flexible], LEAST_FLEXIBLE)
        for goes in sorted(
            (at for at in shown if columns[at].drop), key=lambda at: columns[at].drop
        ):
            if style.width - _taken(columns, shown, widths, flexible) >= least:
                break
            shown.remove(goes)
        room = style.width - _taken(columns, shown, widths, flexible)
        widths[flexible] = max(1, min(widths[flexible], room))
    if any(column.name for column in columns):
        names = [
            pad(columns[at].name, widths[at], right=columns[at].right) + " " * columns[at].gap
            for at in shown
        ]
        yield style.paint("dim", "".join(names).rstrip())
    for row in _joined(first, rest):
        parts = []
        # What a later row has more than those that were measured comes off its flexible cell.
        more = sum(max(0, cells(row[at]) - widths[at]) for at in shown if at != flexible)
        for at in shown:
            column = columns[at]
            text = row[at] if at != flexible else style.cut(row[at], max(1, widths[at] - more))
            last = at == shown[-1]
            wide = widths[at] - more if at == flexible else widths[at]
            padded = text if last and not column.right else pad(text, wide, right=column.right)
            parts.append(
                paint(column.name, padded) if paint is not None and not column.role
                else style.paint(column.role, padded)
            )  # fmt: skip
            parts.append(" " * column.gap)
        yield "".join(parts).rstrip()


def _joined(
    first: Iterable[Sequence[str]], rest: Iterable[Sequence[str]]
) -> Iterator[Sequence[str]]:
    yield from first
    yield from rest


def _taken(
    columns: Sequence[Column], shown: Sequence[int], widths: Sequence[int], flexible: int
) -> int:
    """What the other columns and the blanks between all need."""
    own = sum(widths[at] for at in shown if at != flexible)
    return own + sum(columns[at].gap for at in shown[:-1])


def age(at: str | None, now: float | None = None) -> str:
    """How long ago: now, 12m, 3h, 8d, 5w, 2mo, 1y; a dash when it is not known."""
    seconds = seconds_of(at)
    if seconds is None:
        return "–"
    if now is None:
        import time

        now = time.time()
    past = now - seconds
    if past < 60:
        return "now"
    for unit, until in (("m", 3600), ("h", 86_400), ("d", 14 * 86_400), ("w", 63 * 86_400)):
        if past < until:
            return f"{int(past // _SECONDS[unit])}{unit}"
    unit = "mo" if past < _SECONDS["y"] else "y"
    return f"{int(past // _SECONDS[unit])}{unit}"


def seconds_of(at: str | None) -> float | None:
    """The seconds since 1970 of a time in UTC such as 2026-09-15T06:51:04Z."""
    digits = (at or "")[:19].replace("-", "").replace(":", "").replace("T", "").replace(" ", "")
    if not digits.isdecimal() or len(digits) < 8:
        return None
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    clock = digits[8:].ljust(6, "0")
    # Days from 1970 in the calendar that begins with March: `datetime` costs too much here.
    march = year - (month < 3)
    days = march * 365 + march // 4 - march // 100 + march // 400
    days += (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - 719_468
    return days * 86_400 + int(clock[:2]) * 3600 + int(clock[2:4]) * 60 + int(clock[4:6])


def number(value: float | None) -> str:
    """A count: 1,015; from a million 4.9M; a dash when it is not known."""
    if value is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M")):
        if abs(value) >= size:
            short = value / size
            return f"{short:.1f}{unit}" if short < 100 else f"{short:.0f}{unit}"
    return f"{value:,.0f}"


def tokens(value: int) -> str:
    """An amount of tokens in a line: 8,123, 114k, 4.9M."""
    return f"{value / 1000:.0f}k" if 10_000 <= value < 1_000_000 else number(value)


def money(dollars: float | None) -> str:
    """A cost; a dash when it is not known, which is not nothing."""
    if dollars is None:
        return "–"
    return "<1¢" if 0 < dollars < 0.01 else f"${dollars:,.2f}"


def size(count: int) -> str:
    """An amount of bytes: 812 KB, 68 MB, 4.9 GB; one decimal below ten."""
    amount, unit = count / 1000, "KB"
    for larger in ("MB", "GB"):
        if amount >= 1000:
            amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:,.0f} {unit}"
