"""A file as its last change left it: the edits of logs made again, line by line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.verbs.file_lines import replay

FILE = "/home/ada/shop/cache.py"


def told(*edits: object) -> list[list[tuple[str, str | None]]]:
    """The pieces that are known after these edits; the first one is of turn 1."""
    steps = [(f"codex:a#{number}", one, FILE) for number, one in enumerate(edits, 1)]
    return [
        [(line.text, line.ref.rpartition("#")[2] if line.ref else None) for line in piece]
        for piece in replay(steps).pieces
    ]


def test_each_line_names_the_turn_that_wrote_it() -> None:
    assert told(
        {"file_path": FILE, "content": "import os\n\nFOLDER = 1\n"},
        {"file_path": FILE, "old_string": "FOLDER = 1", "new_string": "FOLDER = 2\nFILE = 3"},
    ) == [[("import os", "1"), ("", "1"), ("FOLDER = 2", "2"), ("FILE = 3", "2")]]


def test_a_patch_changes_the_lines_it_shows_and_no_other_file() -> None:
    added = "*** Begin Patch\n*** Add File: cache.py\n+one\n+two\n+three\n*** End Patch"
    changed = (
        "*** Begin Patch\n*** Update File: other.py\n@@\n-one\n+ten\n"
        "*** Update File: cache.py\n@@\n one\n-two\n+zwei\n*** End Patch"
    )

    assert told(added, {"input": changed}) == [[("one", "1"), ("zwei", "2"), ("three", "1")]]


def test_a_file_that_was_written_again_keeps_what_stayed() -> None:
    assert told({"content": "a\nb\nc"}, {"content": "a\nx\nc"}) == [
        [("a", "1"), ("x", "2"), ("c", "1")]
    ]


def test_what_was_there_before_any_log_has_no_turn() -> None:
    """Only pieces are known of a file that no session wrote as a whole."""
    found = replay(
        [
            ("codex:a#1", {"old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 3"}, FILE),
            ("codex:a#2", {"old_string": "z", "new_string": "zz"}, FILE),
        ]
    )

    assert not found.is_whole
    assert [[(one.text, one.ref) for one in piece] for piece in found.pieces] == [
        [("x = 1", None), ("y = 3", "codex:a#1")],
        [("zz", "codex:a#2")],
    ]


def test_an_edit_that_fits_nowhere_says_that_somebody_else_was_here() -> None:
    found = replay(
        [
            ("codex:a#1", {"content": "a\nb"}, FILE),
            ("codex:a#2", {"old_string": "by hand", "new_string": "again"}, FILE),
        ]
    )

    assert (found.is_whole, found.unplaced) == (True, 1)


def test_a_text_is_replaced_everywhere_when_that_was_asked() -> None:
    assert told(
        {"content": "a = old\nb = 1\nc = old old"},
        {"old_string": "old", "new_string": "older", "replace_all": True},
    ) == [[("a = older", "2"), ("b = 1", "1"), ("c = older older", "2")]]


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=6).map("\n".join)


@given(st.lists(LINES, min_size=1, max_size=6))
def test_whatever_was_written_last_is_the_text(texts: list[str]) -> None:
    (piece,) = replay([("codex:a#1", {"content": text}, FILE) for text in texts]).pieces or [[]]

    assert [line.text for line in piece] == texts[-1].splitlines()


@given(st.lists(st.tuples(LINES, LINES), max_size=8))
def test_no_edits_are_too_odd(edits: list[tuple[str, str]]) -> None:
    replay([("codex:a#1", {"old_string": old, "new_string": new}, FILE) for old, new in edits])
