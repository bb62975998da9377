"""Our part of somebody's file: put there, replaced and taken out, and everything else as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import FileRefused
from recollect.publish import block
from recollect.publish.block import BEGIN, BEGIN_AFTER_NO_LINE_END, END

NAME = "AGENTS.md"
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\r", ""])
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=12)
FILES = st.lists(st.tuples(LINES, LINE_ENDS), max_size=8).map(
    lambda parts: "".join(text + end for text, end in parts)
)
TEXTS = st.lists(LINES.map(lambda line: "- " + line.replace("\r", "")), min_size=1, max_size=4).map(
    "\n".join
)


@given(FILES, TEXTS)
def test_what_was_put_into_a_file_can_be_taken_out_without_a_trace(file: str, text: str) -> None:
    """Whatever the file looks like: its end, its line ends, its byte-order mark."""
    assert block.removed(block.put(file, text, NAME), NAME) == file


@given(FILES, TEXTS, TEXTS)
def test_replacing_the_block_is_the_same_as_writing_it_at_once(
    file: str, first: str, second: str
) -> None:
    """So that it does not matter how often somebody publishes."""
    assert block.put(block.put(file, first, NAME), second, NAME) == block.put(file, second, NAME)


@given(FILES, FILES, TEXTS, TEXTS)
def test_what_others_wrote_around_the_block_stays_byte_for_byte(
    before: str, after: str, first: str, second: str
) -> None:
    """People go on writing above it and below it."""
    written = block.put(before, first, NAME) + after
    found = block.find(written, NAME)
    assert found is not None

    changed = block.put(written, second, NAME)

    assert changed.startswith(found.before)
    assert changed.endswith(found.after)
    assert block.find(changed, NAME) == found._replace(text=second + "\n")


@given(FILES, TEXTS)
def test_what_is_found_is_what_was_put(file: str, text: str) -> None:
    """Hand edits are noticed by comparing the two, whatever the line ends are."""
    found = block.find(block.put(file, text, NAME), NAME)

    assert found is not None
    assert found.text == text + "\n"


@given(FILES.filter(lambda file: "\r\n" in file), TEXTS)
def test_lines_end_as_they_do_in_the_rest_of_the_file(file: str, text: str) -> None:
    """A file with both kinds shows as changed from top to bottom in some editors."""
    ours = block.put(file, text, NAME)[len(file) :]

    assert ours.count("\n") == ours.count("\r\n")


def test_a_block_stands_apart_from_what_is_before_it() -> None:
    """Markdown would take a comment that follows a paragraph at once for a part of it."""
    assert block.put("# Shop\n", "- one", NAME) == f"# Shop\n\n{BEGIN}\n- one\n{END}\n"
    assert block.put("", "- one", NAME) == f"{BEGIN}\n- one\n{END}\n"
    assert (
        block.put("# Shop", "- one", NAME) == f"# Shop\n\n{BEGIN_AFTER_NO_LINE_END}\n- one\n{END}\n"
    )


def test_what_was_written_below_the_block_stays_apart_when_it_goes() -> None:
    """Two paragraphs may not become one."""
    file = block.put("# Shop\n", "- one", NAME) + "Below.\n"

    assert block.removed(file, NAME) == "# Shop\n\nBelow.\n"


def test_a_file_in_which_somebody_moved_the_block_up_loses_nothing_with_it() -> None:
    """The empty line before it is gone, so there is none to take out."""
    file = f"# Shop\n{BEGIN}\n- one\n{END}\n"

    assert block.removed(file, NAME) == "# Shop\n"


def test_a_last_line_without_an_end_stays_so() -> None:
    """Some editors cut it off; that is no reason to change the file."""
    file = block.put("# Shop\n", "- one", NAME).removesuffix("\n")

    assert block.put(file, "- one", NAME) == file


def test_prose_about_the_markers_is_no_marker() -> None:
    """This project's own guidance may explain them."""
    file = f"Ours is between `{BEGIN}` and `{END}`.\n"

    assert block.find(file, NAME) is None
    assert block.removed(block.put(file, "- one", NAME), NAME) == file


@pytest.mark.parametrize(
    "file",
    [
        f"{BEGIN}\n- one\n",
        f"- one\n{END}\n",
        f"{END}\n- one\n{BEGIN}\n",
        f"{BEGIN}\n{BEGIN}\n- one\n{END}\n",
        f"{BEGIN}\n- one\n{END}\n{END}\n",
        f"{BEGIN}\n- one\n{END}\n{BEGIN}\n- two\n{END}\n",
        "<!-- recollect:begin v1\n- one\n" + END + "\n",
        f"{BEGIN}\n- one\n<!-- recollect:end\n",
    ],
    ids=[
        "no end",
        "no begin",
        "turned round",
        "two begins",
        "two ends",
        "two blocks",
        "torn begin",
        "torn end",
    ],
)
def test_markers_that_are_no_pair_are_refused(file: str) -> None:
    """A merge that went wrong leaves such files; guessing would cost somebody's text."""
    for change in (
        lambda: block.put(file, "- new", NAME),
        lambda: block.removed(file, NAME),
        lambda: block.find(file, NAME),
    ):
        with pytest.raises(FileRefused) as refused:
            change()
        assert str(refused.value) == "AGENTS.md has our markers torn, doubled or in the wrong order"
        assert f"one line `{BEGIN}`" in refused.value.hint
