"""How lines look on a terminal: widths, cuts, colours, ages and tables."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from recollect.serve.cli.style import (
    Column,
    Style,
    age,
    cells,
    cut,
    fill,
    money,
    number,
    pad,
    style_of,
    table,
)

NOON = 1_789_473_600.0  # 2026-09-15T12:00:00Z


class Terminal(io.StringIO):
    """What a person looks at."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("plain", 5),
        ("移行デッドロック", 16),
        ("한국어", 6),
        ("e\u0301te\u0301", 3),
        ("✓ ✎", 3),
        ("❤\ufe0f", 2),
        ("👩\u200d🔧", 2),
        ("👍🏽!", 3),
    ],
)
def test_a_width_is_counted_in_cells(text: str, wide: int) -> None:
    """Real titles are Japanese, Korean and Chinese, and hold what combines."""
    assert cells(text) == wide


def test_a_line_is_cut_at_a_word() -> None:
    assert cut("Cache supplier price feeds in SQLite instead of Redis", 38) == (
        "Cache supplier price feeds in SQLite…"
    )
    assert cut("unbreakable" * 3, 12) == "unbreakable…"
    assert cut("short", 5) == "short"
    assert cut("longer", 1) == "…"
    assert cut("longer", 0) == ""


@pytest.mark.parametrize("most", range(1, 17))
def test_a_cut_never_splits_a_character(most: int) -> None:
    """A wide one that does not fit leaves a blank, and an accent stays on its letter."""
    for text in ("移行デッドロック", "e\u0301" * 20, "👩\u200d🔧" * 9):
        short = cut(text, most)
        assert cells(short) <= most
        assert text.startswith(short.removesuffix("…"))
        assert cells(pad(short, most)) == most
    assert "\u200d…" not in cut("👩\u200d🔧" * 9, most)


def test_prose_is_filled() -> None:
    assert fill("one two three four", 9) == ["one two", "three", "four"]


@pytest.mark.parametrize(
    ("environ", "choice", "colored"),
    [
        ({"TERM": "xterm"}, None, True),
        ({"TERM": "dumb"}, None, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, None, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, None, True),
        ({"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "1"}, None, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, None, True),
        ({"TERM": "xterm", "CI": "true"}, None, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "always", True),
        ({"TERM": "xterm", "FORCE_COLOR": "1"}, "never", False),
    ],
)
def test_whether_there_is_colour(
    environ: dict[str, str], choice: str | None, colored: bool
) -> None:
    style = style_of(Terminal(), choice, environ)

    assert style is not None
    assert style.color is colored
    assert style.paint("accent", "a75d") == ("\x1b[36ma75d\x1b[0m" if colored else "a75d")


def test_a_program_gets_no_screen() -> None:
    """Unless colour is asked for: somebody will look at it then, such as in `less -R`."""
    assert style_of(io.StringIO(), None, {}) is None
    assert style_of(io.StringIO(), "never", {}) is None
    forced = style_of(io.StringIO(), None, {"FORCE_COLOR": "1", "COLUMNS": "80"})

    assert forced is not None
    assert (forced.width, forced.color, forced.hints) == (80, True, False)


def test_a_stream_without_our_signs_gets_ascii() -> None:
    style = style_of(Terminal(), None, {"TERM": "linux"})

    assert style is not None
    assert style.glyph("✓ a · b…") == "+ a - b..."
    assert style.cut("one two three", 11) == "one two..."


def test_text_from_a_log_cannot_act() -> None:
    """It is cleaned before our own colours come."""
    hostile = "a\x1b[31mred\x1b]0;owned\x07\x1b]8;;http://x\x07b\u202egnp\r\n\tc"

    assert Style(color=True).clean(hostile) == "aredb\N{REPLACEMENT CHARACTER}gnp c"


def test_words_that_matched_are_marked() -> None:
    style = Style(color=True)

    assert style.emphasize("The Lock locks", ["lock"]) == (
        "The \x1b[1;35mLock\x1b[0m \x1b[1;35mlock\x1b[0ms"
    )
    assert Style().emphasize("The lock", ["lock"]) == "The lock"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("2026-09-15T11:59:30Z", "now"),
        ("2027-01-01T00:00:00Z", "now"),
        ("2026-09-15T11:48:00Z", "12m"),
        ("2026-09-15T09:00:00.123Z", "3h"),
        ("2026-09-07T12:00:00Z", "8d"),
        ("2026-08-10T12:00:00Z", "5w"),
        ("2026-07-01T12:00:00Z", "2mo"),
        ("2025-03-01T12:00:00Z", "1y"),
        (None, "–"),
        ("yesterday", "–"),
    ],
)
def test_an_age_is_short(at: str | None, said: str) -> None:
    assert age(at, NOON) == said


def test_amounts_are_short_and_never_made_up() -> None:
    assert [number(value) for value in (0, 1015, 4_900_000, None)] == ["0", "1,015", "4.9M", "–"]
    assert [money(value) for value in (0, 0.004, 1.32, 1234.5, None)] == [
        "$0.00", "<1¢", "$1.32", "$1,234.50", "–",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_a_table_fits_the_width(width: int) -> None:
    """Columns go before the title has fewer than 36 cells, and the id never goes."""
    columns = [
        Column("title", flexible=True), Column("turns", right=True, drop=1),
        Column("agent", drop=2), Column("id", role="accent"),
    ]  # fmt: skip
    rows = [["移行デッドロック " * 12, "7", "claude", "453dcfa0"], ["short", "12", "x", "01a1a188"]]

    lines = list(table(Style(width=width), columns, rows))

    assert all(cells(line) <= width for line in lines)
    assert [
        line.endswith(end) for line, end in zip(lines, ("id", "453dcfa0", "01a1a188"), strict=True)
    ] == [True] * 3
    assert ("turns" in lines[0]) == (width > 60)


def test_nothing_heavy_is_loaded() -> None:
    """A cold search has 40 ms."""
    code = (
        "import sys; before = set(sys.modules); import recollect.serve.cli.style;"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()

    assert [name for name in loaded if not name.startswith("recollect")] == ["__future__"] or not [
        name for name in loaded if not name.startswith(("recollect", "__future__"))
    ]


def test_a_later_row_that_is_wider_than_those_that_were_measured_fits_too() -> None:
    """Widths are those of the first rows, so that a long list begins at once."""
    rows = [["a title that goes on and on until it is cut", "short"]] * 200
    rows.append(["a title that goes on and on until it is cut", "a-much-longer-name"])

    *_, before, last = table(Style(width=40), [Column(flexible=True), Column("id")], rows)

    assert before == "a title that goes on and on…       short"
    assert last == "a title that goes…    a-much-longer-name"
