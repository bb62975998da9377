"""The page about what was measured: whole, self-contained, and
harmless whatever the words in it are.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.errors import FileUnwritable
from recollect.model.publications import Amount, Measured, Side
from recollect.publish import report, statistics
from recollect.publish.plots import Line, Mark, intervals, number


def side(count: int, of: int, tasks: int = 30, tokens: float = 9_000) -> Side:
    return Side(
        sessions=statistics.share(count, of, statistics.LEAST_SESSIONS),
        success=statistics.share(tasks // 2, tasks, statistics.LEAST_TASKS),
        tokens=statistics.amount([tokens * (1 + place / 10) for place in range(tasks)]),
        seconds=Amount(of=3),
    )


def measured(
    text: str = "`npm test` fails with ENOENT until `npm ci` has run",
    *,
    ref: str = "pattern:3f2a90",
) -> Measured:
    before, after = side(12, 40), side(1, 44, tokens=4_000)
    changed = statistics.change(before.sessions, after.sessions)
    assert changed is not None
    return Measured(
        ref=ref, kind="failure", text=text, status="published", since="2026-01-21T09:00:00.000Z",
        wanted="fewer", offered=17,
        opened=2, cited=5, helpful=3, before=before, after=after, change=changed[0],
        change_low=changed[1],
        change_high=changed[2], enough=True, verdict="seen less often since",
    )  # fmt: skip


class _Tags(HTMLParser):
    """What a page opens and closes, and what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.said: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [
            value or ""
            for name, value in attrs
            if name in ("src", "href", "action", "data", "xlink:href")
        ]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def read(page: str) -> _Tags:
    tags = _Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    """It is opened from a mail, from a disk without network, years later."""
    page = report.page([measured()])
    tags = read(page)

    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(
        tags.seen
    )
    assert tags.links == []
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_every_plot_has_a_title_a_unit_and_both_sides() -> None:
    """A picture without these says nothing."""
    page = report.page([measured()])

    plots = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    assert [plot.findtext("title") for plot in plots] == [
        "How often it was seen (sessions in 100)",
        "What changed (change, in sessions in 100)",
        "How the tasks went (successes in 100)",
        "Tokens (tokens a task)",
    ]
    assert (
        len(plots[0].findall(".//circle[@class='before']"))
        == len(plots[0].findall(".//rect[@class='after']"))
        == 1
    )
    assert len(plots[1].findall(".//circle[@class='good']")) == 1
    assert all(plot.find(".//text[@class='unit']") is not None for plot in plots)
    assert "Not enough data: this takes 10 tasks on both sides." in page


@given(values=st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=4), zero=st.booleans())
@example(values=[0.0, 5e-324], zero=True)
@example(values=[1.0, 1.0000000000000002], zero=False)
def test_any_values_have_an_axis(values: list[float], *, zero: bool) -> None:
    """Differences may be as small as numbers get; everything stays on the page."""
    lines = [
        Line("tests", "tests", (Mark(value, value, value, "good", number(value)),))
        for value in values
    ]

    svg = intervals("Effect", "seconds", lines, zero=zero)

    places = [float(at) for at in re.findall(r'<circle[^>]* cx="([^"]+)"', svg)]
    assert len(places) == len(values)
    assert all(0 <= place <= 900 for place in places)


def test_light_and_dark_are_both_there() -> None:
    """Half of its readers have the one and half the other."""
    page = report.page([measured()])

    assert "prefers-color-scheme: dark" in page
    assert "color-scheme: light dark" in page


@given(st.text(max_size=80))
def test_whatever_the_words_are_they_are_words(text: str) -> None:
    """They come from logs, and one of them may be a tag."""
    tags = read(report.page([measured(f"<script>{text}</script><img src=x onerror=1>")]))

    assert not {"script", "img"} & set(tags.seen)
    assert tags.links == []


def test_nothing_measured_is_a_page_too() -> None:
    """It says what it would need."""
    tags = read(report.page([]))

    assert "nothing is accepted yet" in tags.said
    assert "svg" not in tags.seen


def test_the_same_numbers_make_the_same_page(tmp_path: Path) -> None:
    """So that two of them can be compared."""
    path = tmp_path / "report.html"
    report.write(str(path), [measured()])
    first = path.read_bytes()
    report.write(str(path), [measured()])

    assert path.read_bytes() == first


def test_a_page_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """A folder that is not there, or one in its place."""
    for path in (tmp_path, tmp_path / "none" / "report.html"):
        with pytest.raises(FileUnwritable, match="Cannot write"):
            report.write(str(path), [])


FINITE = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(FINITE, FINITE, FINITE).map(sorted), min_size=1, max_size=6))
def test_marks_stay_within_the_picture(triples: list[list[float]]) -> None:
    """Whatever the values are."""
    lines = [
        Line("x", "x", (Mark(value, low, high, "before", ""),)) for low, value, high in triples
    ]

    plot = ElementTree.fromstring(intervals("name", "unit", lines))

    width = float(plot.attrib["viewBox"].split()[2])
    assert all(0 <= float(dot.attrib["cx"]) <= width for dot in plot.iter("circle"))
    assert all(
        0 <= float(line.attrib[end]) <= width for line in plot.iter("line") for end in ("x1", "x2")
    )
    assert 2 <= len(plot.findall("text[@class='tick']")) <= 12


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.125, "0.125"),
        (25, "25"),
        (1_234, "1,234"),
        (52_000, "52k"),
        (1.2e6, "1.2M"),
        (3e9, "3G"),
    ],
)
def test_numbers_are_written_as_people_read_them(value: float, shown: str) -> None:
    """Three digits are enough."""
    assert number(value) == shown
