"""Patterns that are tried only where they may be find what they would find anyway."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.distill.outcomes import phrases
from recollect.reading.screened import Screens, weakened, without_gaps

PATTERNS = (
    r"(?:ask (?:me )?.{0,9}first|tell .*)you|works.{1,3}not|(?:still .+)?red",
    r"\bstill (?:red|broken)\b(?! here)",
    r"^(?:ok )*works(?=[.!,;]|$)",
    r"(?<!if )\bit fails\b",
    r"[\w ]{1,8} (?:must|should) never \w+",
    r"\b[(\]]+x{2}",
    r"不行|好了",
)
WORDS = [
    "still red", "still red here", "works", "ok works.", "if it fails", "it fails",
    "tests must never lie", "(]xx", "x{2}",
    "不行", "é", "naïve ", "\t", "\n", "\xa0", "\r", " ", ".", "K",
]  # fmt: skip
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=6).map("".join)


def places(flags: int, text: str) -> list[tuple[int, int] | None]:
    """Where each pattern is found, through the screen."""
    screens = Screens(flags)
    found = [screens.add(pattern).search for pattern in PATTERNS]
    return [match.span() if (match := search(text)) else None for search in found]


def plainly(flags: int, text: str) -> list[tuple[int, int] | None]:
    return [
        match.span() if (match := re.search(pattern, text, flags)) else None for pattern in PATTERNS
    ]


@given(texts, st.sampled_from([0, re.IGNORECASE]))
@example("STILL RED", re.IGNORECASE)
@example("it fails\x0bstill broken", 0)
@example("\u212a works", re.IGNORECASE)
def test_a_screen_hides_nothing_and_adds_nothing(text: str, flags: int) -> None:
    """It is there for speed: nobody may be able to tell that it is there."""
    assert places(flags, text) == plainly(flags, text)


@given(texts)
def test_without_re2_the_same_is_found(text: str) -> None:
    """It is missing where Python is not CPython."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "re2", None)

        assert places(0, text) == plainly(0, text)


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        (r"a(?=b(?:c|d))e", "ae"),
        (r"(?<![\w)])x(?!\)|])y", "xy"),
        (r"[(?=]a", "[(?=]a"),
        (r"\(?=a{2,3}?b{4}", r"\(?=a*b*"),
        (r"[a{2}]\{2}", r"[a{2}]\{2}"),
    ],
)
def test_a_weakened_pattern_has_neither_lookarounds_nor_limits(pattern: str, left: str) -> None:
    """What they rule out is ruled out afterwards; brackets that are quoted or listed are none."""
    assert weakened(pattern) == left


def test_a_wide_pattern_fits_what_is_not_ascii() -> None:
    """In a text with one such character a word may begin and end where re2 sees none."""
    assert (
        weakened(r"\bw\w+[\d-]\s$", wide=True)
        == r"w[\w\x{80}-\x{10FFFF}]+[\d\x{80}-\x{10FFFF}-][\s\x{80}-\x{10FFFF}]$"
    )


def test_a_verbose_pattern_is_refused() -> None:
    """re2 knows no such flag: it would look for the spaces, find none, and hide everything."""
    with pytest.raises(ValueError, match="verbose"):
        Screens(re.VERBOSE)


def test_what_re2_cannot_read_is_left_to_re() -> None:
    """One pattern too many for it may not hide the others."""
    screens = Screens()
    twice, plain = screens.add(r"(a+)b\1"), screens.add("cd")

    assert [bool(one.search(text)) for text in ("aabaa", "cd", "ab") for one in (twice, plain)] == [
        True, False, False, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("screens", [phrases.SCREENS])
def test_our_own_patterns_are_all_screened(screens: Screens) -> None:
    """One that is not costs every sentence as much as all of them together."""
    screens.possible("nothing of the kind")

    assert len(screens.patterns) > 10
    assert list(screens.unscreened) == []


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("ask .* first|tell me", "ask |tell me"),
        ("(?:ask|.*x)y", "(?:ask|)"),
        ("a(?:b.*c)?d|e", "a(?:b)?|e"),
        ("(?:a.*b|c)d(?:e|f)|g", "(?:a|c)|g"),
        (r"a\.b[.*]c.+d", r"a\.b[.*]c"),
        ("a.b", "a.b"),
    ],
)
def test_a_way_through_a_pattern_ends_where_anything_may_follow(pattern: str, left: str) -> None:
    """Each end that is waited for doubles what re2 has to remember."""
    assert without_gaps(pattern) == left
