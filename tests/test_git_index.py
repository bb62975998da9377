"""Which files git tracks, read from its own list."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.system import git, git_index
from tests.builders.repositories import index, repository

NAMES = st.lists(
    st.text("ab/.é", min_size=1, max_size=12).filter(lambda name: not name.endswith("/")),
    unique=True,
    max_size=20,
)


@given(NAMES, st.sampled_from([2, 3, 4]), st.sampled_from([20, 32]))
def test_an_index_holds_what_is_in_it_and_nothing_else(
    names: list[str], version: int, hash_bytes: int
) -> None:
    """Of every version, with hashes of both sorts."""
    data = index(*names, version=version, hash_bytes=hash_bytes)

    assert all(git_index.holds(data, name) for name in names)
    assert not git_index.holds(data, "another/file")


@given(st.binary(max_size=400))
def test_what_cannot_be_read_may_hold_anything(junk: bytes) -> None:
    """Who asks wants to know whether a file may have come with a repository."""
    assert git_index.holds(junk, "any")
    assert git_index.holds(None, "any")
    git_index.holds(b"DIRC" + junk, "any")


def test_names_are_compared_as_a_forgiving_file_system_does() -> None:
    """Of two that differ in case, a Mac has one."""
    assert git_index.holds(index(".Aider.chat.history.md"), ".aider.chat.history.md")
    assert git_index.holds(index("cafe\u0301.md"), "caf\u00e9.md")


def test_a_file_is_tracked_where_it_really_is(tmp_path: Path) -> None:
    """A link in a repository may lead to a folder of it with another name."""
    top = repository(tmp_path / "shop", "docs/history/a.md", ".specstory")
    (top / "docs" / "history").mkdir(parents=True)
    (top / "docs" / "history" / "a.md").write_text("")
    (top / ".specstory").symlink_to(top / "docs")

    assert git.tracks_any([str(top / ".specstory" / "history" / "a.md")])
    assert not git.tracks_any([str(top / ".specstory" / "history" / "b.md")])


def test_outside_of_a_repository_nothing_is_tracked(tmp_path: Path) -> None:
    """Nor is anything that a repository does not list."""
    assert not git.tracks_any([str(tmp_path / "a.md")])
    assert not git.tracks_any([str(repository(tmp_path / "shop") / "a.md")])


@pytest.mark.skipif(shutil.which("git") is None, reason="git writes the index here")
@pytest.mark.parametrize("options", [(), ("--index-version", "4"), ("--split-index",)])
def test_an_index_that_git_wrote_is_read(tmp_path: Path, options: tuple[str, ...]) -> None:
    """So that our own is not only right by itself."""
    (tmp_path / "src").mkdir()
    for name in ("src/a.py", "src/ab.py", ".aider.chat.history.md", "untracked.md"):
        (tmp_path / name).write_text(name)

    def run(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    run("init")
    run("add", "src", ".aider.chat.history.md")
    if options:
        run("update-index", *options)

    assert git.tracks_any([str(tmp_path / ".aider.chat.history.md")])
    assert git.tracks_any([str(tmp_path / "src" / "ab.py")])
    assert not git.tracks_any([str(tmp_path / "untracked.md")])
    assert not git.tracks_any([str(tmp_path / "src" / "b.py")])
