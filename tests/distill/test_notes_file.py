"""A section of somebody's own file: ours is kept up to date,
and nothing else in the file changes.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from recollect.distill.notes.notes_file import MOST_BYTES, SECTION, merged, write
from recollect.errors import FileRefused, FileUnwritable, UsageError
from recollect.model.old_notes import Category, OldNote
from recollect.store.notes import compared

PREFERENCE = "- **[preference]** Use tabs *(confidence: 90%)*"


def note(
    text: str = "Use tabs",
    number: int = 1,
    day: str = "2026-03-01",
    category: Category = "preference",
    sure: float = 0.9,
) -> OldNote:
    return OldNote(
        ref=f"note:{number}", category=category, text=text, project="/home/ada/shop",
        status="active", trust="user",
        author="rules", confidence=sure, session=None, turn=None, seen=1,
        created_at=f"{day}T23:59:00Z", seen_at=None,
        valid_from=None, valid_to=None, superseded_by=None,
    )  # fmt: skip


def test_a_new_file_has_the_section_alone(tmp_path: Path) -> None:
    """With its folder, if that is not there yet."""
    path = tmp_path / "docs" / "agents" / "MEMORY.md"

    assert write(str(path), [note()])

    assert path.read_text() == f"{SECTION}\n\n### Session memories — 2026-03-01\n\n{PREFERENCE}\n"


def test_days_stand_newest_first_and_facts_in_the_order_they_were_found() -> None:
    """Whatever the order they are given in, at once or one after another."""
    notes = [
        note("c", 3, "2026-03-02", "decision", 0.75), note("a", 1), note("d", 4, "2026-02-27",
        "project", 1.0), note("b", 2),
    ]  # fmt: skip
    whole = (
        f"{SECTION}\n\n### Session memories — 2026-03-02\n\n- **[decision]** c *(confidence: "
        "75%)*\n\n"
        "### Session memories — 2026-03-01\n\n"
        "- **[preference]** a *(confidence: 90%)*\n- **[preference]** b *(confidence: 90%)*\n\n"
        "### Session memories — 2026-02-27\n\n- **[project]** d *(confidence: 100%)*\n"
    )

    text = ""
    for one in sorted(notes, key=lambda one: one.ref):
        text = merged(text, [one])

    assert merged("", notes) == text == whole


def test_what_stands_there_is_not_added_again_whoever_wrote_it() -> None:
    """People change the words, the day and the confidence of a line; it is still the same fact."""
    own = (
        "# Shop\n\n"
        f"{SECTION}\n\n"
        "Mind these.\n\n"
        "### Session memories — 2025-01-01\n\n"
        "- **[project]** use TABS!\n\n"
        "## After\nx\n"
    )

    assert merged(own, [note()]) == own


def test_a_line_goes_to_the_day_that_is_there() -> None:
    """Beside what a person wrote under it."""
    text = f"{SECTION}\n\n### Session memories — 2026-03-01\n\n- mine\n\n## After\n"

    assert (
        merged(text, [note()])
        == f"{SECTION}\n\n### Session memories — 2026-03-01\n\n- mine\n{PREFERENCE}\n\n## After\n"
    )


def test_what_is_no_longer_believed_is_taken_out_with_its_empty_day() -> None:
    """An agent that reads the file must not be told what was corrected."""
    text = merged("# Shop\n", [note("old", 1, "2026-02-01"), note("kept", 2)])

    after = merged(text, [note("new", 3), note("kept", 2)], retired=[note("old", 1)])

    assert "old" not in after
    assert "2026-02-01" not in after
    assert after == merged("# Shop\n", [note("kept", 2), note("new", 3)])


def test_a_fact_that_holds_again_stays() -> None:
    """Two notes may say the same, one of them superseded."""
    text = merged("", [note()])

    assert merged(text, [note(number=2)], retired=[note()]) == text


def test_headings_in_code_are_none() -> None:
    """A file may well show what such a section looks like."""
    text = f"# Shop\n\n```\n{SECTION}\n```\n"

    assert (
        merged(text, [note()])
        == f"{text}\n{SECTION}\n\n### Session memories — 2026-03-01\n\n{PREFERENCE}\n"
    )


def test_a_file_with_windows_line_ends_keeps_them(tmp_path: Path) -> None:
    """Mixed ones would show as a change of every line."""
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"# Shop\r\n\r\nRules.")

    assert write(str(path), [note()])

    assert path.read_bytes().startswith(
        b"# Shop\r\n\r\nRules.\r\n\r\n## Auto-extracted memories\r\n"
    )
    assert b"\n" not in path.read_bytes().replace(b"\r\n", b"")


def test_nothing_new_leaves_the_file_alone(tmp_path: Path) -> None:
    """Not even its time changes: editors and builds watch it."""
    path = tmp_path / "AGENTS.md"
    write(str(path), [note()])
    os.utime(path, ns=(1, 1))

    assert not write(str(path), [note()])
    assert not write(str(tmp_path / "other.md"), [])

    assert path.stat().st_mtime_ns == 1
    assert not (tmp_path / "other.md").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are different there")
def test_a_link_stays_a_link_and_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """CLAUDE.md is often a link to AGENTS.md."""
    target, link = tmp_path / "AGENTS.md", tmp_path / "CLAUDE.md"
    target.write_text("# Shop\n")
    target.chmod(0o640)
    link.symlink_to("AGENTS.md")

    assert write(str(link), [note()])

    assert link.is_symlink()
    assert PREFERENCE in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """We would break what we cannot read."""
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"caf\xe9")

    with pytest.raises(UsageError, match="is not text in UTF-8") as caught:
        write(str(path), [note()])

    assert caught.value.hint == "name another file, or save this one as UTF-8"
    assert path.read_bytes() == b"caf\xe9"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileUnwritable, match=str(tmp_path)):
        write(str(tmp_path), [note()])


PLAIN = [
    "# Shop", "## After", SECTION, "### Session memories — 2026-03-01",
    "### Session memories — 2025-01-01", PREFERENCE,
    "- mine", "", "text", "  ", "### Other", "- **[project]** b *(confidence: 5%)*",
    "ü\x0b\x0c\u2028x",
]  # fmt: skip
FENCED = [*PLAIN, "```", "~~~", "  ```python"]
NOTES = st.lists(
    st.builds(
        note,
        st.sampled_from(["a", "b", "Use tabs", "c *(confidence: 1%)*"]),
        st.integers(1, 9),
        st.sampled_from(["2026-03-01", "2026-03-02", "2025-01-01"]),
    ),
    max_size=5,
)


def texts(lines: list[str]) -> st.SearchStrategy[str]:
    """Files of such lines, with either line end, the last line ended or not."""
    made = st.tuples(
        st.lists(st.sampled_from(lines)), st.sampled_from(["\n", "\r\n"]), st.booleans()
    )
    return made.map(lambda one: one[1].join(one[0]) + (one[1] if one[2] else ""))


def around(text: str) -> tuple[str, str]:
    """What stands before and after our section, in a file without code."""
    lines = text.split("\n")
    start = next(
        (number for number, line in enumerate(lines) if line.rstrip() == SECTION), len(lines)
    )
    after = [
        number
        for number, line in enumerate(lines)
        if number > start and line.startswith(("# ", "## "))
    ]
    return "\n".join(lines[:start]).rstrip("\r\n"), "\n".join(lines[after[0] :]) if after else ""


@given(texts(PLAIN), NOTES, NOTES)
def test_the_rest_of_any_file_stays_as_it_was(
    text: str, notes: list[OldNote], retired: list[OldNote]
) -> None:
    """Byte for byte, whatever is in it."""
    after = merged(text, notes, retired)

    assert around(after) == around(text)
    assert SECTION in text or after.startswith(text)


@given(texts(FENCED), NOTES, NOTES)
@example("```", [note()], [])
def test_doing_it_again_changes_nothing(
    text: str, notes: list[OldNote], retired: list[OldNote]
) -> None:
    """Not even in a file that ends within code."""
    after = merged(text, notes, retired)

    assert merged(after, notes, retired) == after


@given(NOTES)
def test_every_fact_stands_there_once_under_its_day(notes: list[OldNote]) -> None:
    """No duplicates, the newest day first."""
    text = merged("# Shop\n", notes)

    days = [line[-10:] for line in text.splitlines() if line.startswith("### ")]
    facts = [line for line in text.splitlines() if line.startswith("- ")]
    assert days == sorted(set(days), reverse=True)
    assert len(facts) == len({compared(one.text) for one in notes})


def test_what_was_said_on_no_known_day_stands_last() -> None:
    """A log without times is no reason to write today's date."""
    undated = replace(note(), created_at=None)

    text = merged(merged("", [undated]), [note("Use pnpm", 2)])

    assert (
        text.index("2026-03-01") < text.index("pnpm") < text.index("undated") < text.index("tabs")
    )


# Files that are not ours to write


@pytest.mark.skipif(sys.platform == "win32", reason="links are different there")
@pytest.mark.parametrize("name", ["AGENTS.md", "docs/NOTES.md"])
def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path, name: str) -> None:
    """Whoever wrote the project may have put it there; neither is a folder on the way."""
    (tmp_path / "outside").mkdir()
    victim = tmp_path / "outside" / "NOTES.md"
    victim.write_text("theirs\n")
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    if "/" in name:
        (shop / "docs").symlink_to(tmp_path / "outside")
    else:
        (shop / name).symlink_to(victim)

    with pytest.raises(FileRefused, match="leads out of its project"):
        write(str(shop / name), [note()])

    assert victim.read_text() == "theirs\n"


@pytest.mark.parametrize("name", [".bashrc", "Makefile", "settings.json", ".git/hooks.md"])
def test_a_file_that_is_not_for_notes_is_left_alone(tmp_path: Path, name: str) -> None:
    """A shell would run what an agent was talked into saying."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("theirs\n")

    with pytest.raises(FileRefused, match="is not a Markdown file"):
        write(str(path), [note()])

    assert path.read_text() == "theirs\n"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and modes are different there")
def test_what_is_no_file_of_this_user_is_left_alone(tmp_path: Path) -> None:
    """Nor is a pipe waited for."""
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "large.md").write_bytes(b"x" * (MOST_BYTES + 1))
    (tmp_path / "fixed.md").write_text("theirs\n")
    (tmp_path / "fixed.md").chmod(0o444)

    for name in ("pipe.md", "folder.md", "large.md", "fixed.md"):
        with pytest.raises((FileRefused, FileUnwritable)):
            write(str(tmp_path / name), [note()])
