"""The files of a project's memory follow the rows, and touch nobody else's."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.memories import files
from recollect.errors import FileRefused
from recollect.store.traces import KeptTrace
from recollect.system import platforms
from tests.store.conftest import START

PROJECT = "github.com/acme/shop"
SKILL = (
    '---\nname: shop-checks\ndescription: "x"\nmetadata:\n  recollect-id: "shop-checks"\n'
    "---\n\n"
    "body\n"
)


HEADING = "# Sessions of this project, newest first\n\n"


def kept(
    session: str = "codex:s1", title: str = "Cart totals", memory: str = "# summary\nit went well"
) -> KeptTrace:
    return KeptTrace(
        session, "/home/ada/shop", "/logs/s1.jsonl", START, title, memory, f"about {title}"
    )


def found(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(files.folder_of(str(tmp_path), PROJECT))


def test_the_files_are_where_and_what_the_page_says(tmp_path: Path, folder: Path) -> None:
    """Other programs read them."""
    traces = [kept("codex:s2", "Übergröße / 2!"), kept()]

    assert files.write(
        str(tmp_path),
        PROJECT,
        traces,
        {"MEMORY.md": "# Memory\n", "skills/shop-checks/SKILL.md": SKILL},
    )

    assert folder == tmp_path / "memories" / hashlib.sha256(PROJECT.encode()).hexdigest() / "memory"
    header = (
        "cwd: /home/ada/shop\nsource: /logs/s1.jsonl\nupdated_at: 2026-01-01T09:00:00.000Z\n"
        "\n# summary\nit went well\n"
    )
    assert found(folder) == {
        "MEMORY.md": "# Memory\n",
        "memory_summary.md": f"{HEADING}- about Übergröße / 2! (trace: codex:s2)\n"
        "- about Cart totals (trace: codex:s1)\n",
        "skills/shop-checks/SKILL.md": SKILL,
        "trace_summaries/codex-s1_cart_totals.md": f"session: codex:s1\n{header}",
        "trace_summaries/codex-s2_bergr_e_2.md": f"session: codex:s2\n{header}",
    }


def test_without_traces_the_summary_says_so(tmp_path: Path, folder: Path) -> None:
    """An empty file would look like a mistake."""
    files.write(str(tmp_path), PROJECT, [], {})

    assert found(folder) == {"memory_summary.md": f"{HEADING}No memory traces yet.\n"}


def test_a_path_that_is_not_text_is_written_all_the_same(tmp_path: Path, folder: Path) -> None:
    """Logs may be in a folder whose name is any bytes."""
    trace = kept()._replace(cwd="/home/\udcff", source="/logs/\udcfe.jsonl")

    assert files.write(str(tmp_path), PROJECT, [trace], {})

    assert not files.write(str(tmp_path), PROJECT, [trace], {})
    assert (
        "cwd: /home/?\nsource: /logs/?.jsonl\n"
        in found(folder)["trace_summaries/codex-s1_cart_totals.md"]
    )


def test_writing_the_same_again_changes_nothing(tmp_path: Path, folder: Path) -> None:
    """What watches these files is not woken for nothing."""
    files.write(str(tmp_path), PROJECT, [kept()], {"MEMORY.md": "x\n"})
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    assert not files.write(str(tmp_path), PROJECT, [kept()], {"MEMORY.md": "x\n"})

    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_what_has_no_row_any_more_goes_and_what_is_not_ours_stays(
    tmp_path: Path, folder: Path
) -> None:
    """A person may keep a page of their own beside ours."""
    files.write(
        str(tmp_path), PROJECT, [kept()], {"MEMORY.md": "x\n", "skills/shop-checks/SKILL.md": SKILL}
    )
    theirs = {
        folder / "notes.md": "mine", folder / "trace_summaries" / "codex-s1_mine.md": "mine",
        folder / "trace_summaries" / "codex-s9_old.md": "session: codex:s8\ncwd: \nsource: "
                                                        "\nupdated_at: \n\nnot its name\n",
        folder / "skills" / "own" / "SKILL.md": "---\nname: own\ndescription: "
                                                "mine\n---\nrecollect-id: in no front matter\n",
    }  # fmt: skip
    (folder / "skills" / "own").mkdir()
    for path, text in theirs.items():
        path.write_text(text)
    (folder / f"{platforms.PARTIAL}half").write_text("what a killed process left")

    assert files.write(str(tmp_path), PROJECT, [kept(title="Another title")], {})

    assert found(folder) == {
        "memory_summary.md": f"{HEADING}- about Another title (trace: codex:s1)\n",
        "trace_summaries/codex-s1_another_title.md": files.trace_text(kept()),
        **{str(path.relative_to(folder)): text for path, text in theirs.items()},
    }
    files.clear(str(tmp_path), files.folder_name(PROJECT))
    assert found(folder) == {str(path.relative_to(folder)): text for path, text in theirs.items()}


def test_a_skill_of_the_same_name_that_is_not_ours_stays(tmp_path: Path, folder: Path) -> None:
    """A model may hit on the name that a person gave to a skill of their own."""
    path = folder / "skills" / "shop-checks" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: shop-checks\ndescription: mine\n---\n")

    files.write(str(tmp_path), PROJECT, [], {"skills/shop-checks/SKILL.md": SKILL})

    assert "description: mine" in path.read_text()


def test_a_cleared_folder_is_gone(tmp_path: Path, folder: Path) -> None:
    """Not even that there was a project can be seen."""
    files.write(str(tmp_path), PROJECT, [kept()], {"skills/shop-checks/SKILL.md": SKILL})

    files.clear(str(tmp_path), files.folder_name(PROJECT))
    files.clear(str(tmp_path), files.folder_name(PROJECT))

    assert list((tmp_path / "memories").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="profiles are private there")
def test_nobody_else_may_read_them(tmp_path: Path, folder: Path) -> None:
    """They say as much as the logs do."""
    files.write(str(tmp_path), PROJECT, [kept()], {})
    (folder / "memory_summary.md").chmod(0o644)

    files.write(str(tmp_path), PROJECT, [kept()], {})

    modes = {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()}
    folders = {
        path.stat().st_mode & 0o777
        for path in [*(tmp_path / "memories").rglob("*")]
        if path.is_dir()
    }
    assert (modes, folders) == ({0o600}, {0o700})


@pytest.mark.skipif(os.name == "nt", reason="needs links")
@pytest.mark.parametrize("inside", ["..", ".", "trace_summaries", "MEMORY.md", "memory_summary.md"])
def test_a_link_is_refused_wherever_it_stands(inside: str, tmp_path: Path, folder: Path) -> None:
    """It would have us write, or delete, what somebody else chose."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "memory").mkdir()
    place = Path(os.path.normpath(folder / inside))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(elsewhere if "." not in inside.strip(".") else elsewhere / "file.md")

    with pytest.raises(FileRefused):
        files.write(str(tmp_path), PROJECT, [kept()], {"MEMORY.md": "x\n"})

    assert found(elsewhere) == {}


@given(st.text(max_size=200), st.text(min_size=1, max_size=300))
def test_any_title_and_any_id_make_a_name_that_file_systems_take(title: str, session: str) -> None:
    """Titles are what people and agents make them."""
    slug, name = files.slug_of(title), files.trace_name(session, title)

    assert 0 < len(slug) <= 64
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")
    assert not set(name) & set('<>:"/\\|?*\0\n\r')
    assert len(name.encode()) < 255
    assert name.endswith(f"_{slug}.md")
