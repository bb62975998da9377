"""Which repository a folder belongs to, as a hook reads it: from
git's files alone, whatever they hold.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.capture.projects import ProjectFinder
from recollect.system.git import name_of, names_of, normalised, repository


def init(folder: Path, config: str = "") -> Path:
    """A repository as `git init` leaves it, as far as we look."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config)
    return folder


def remote(url: str, name: str = "origin") -> str:
    return (
        f'[core]\n\tbare = false\n[remote "{name}"]\n\turl = {url}\n'
        f"\tfetch = +refs/heads/*:refs/remotes/{name}/*\n"
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/ada/shop.git", "github.com/ada/shop"),
        ("https://ada:secret@GitHub.com/ada/shop", "github.com/ada/shop"),
        ("git@github.com:ada/shop.git", "github.com/ada/shop"),
        ("ssh://git@github.com:2222/ada/shop.git/", "github.com/ada/shop"),
        ("github.com:ada/shop", "github.com/ada/shop"),
        ("ssh://git@ssh.github.com:443/ada/shop.git", "github.com/ada/shop"),
        ("git@ssh.github.com:ada/shop.git", "github.com/ada/shop"),
        ("ssh://git@altssh.gitlab.com:443/ada/shop.git", "gitlab.com/ada/shop"),
        ("https://github.com./ada/shop", "github.com/ada/shop"),
        ("ssh://git@[2001:db8::1]:22/ada/shop.git", "[2001:db8::1]/ada/shop"),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("C:/git/shop", None),
        ("c:\\git\\shop", None),
        ("", None),
        ("https://", None),
        ("git@", None),
    ],
)
def test_a_remote_has_one_name_however_it_is_spelt(url: str, expected: str | None) -> None:
    """And no password in it."""
    assert normalised(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example#@github.com/ada/shop",
        "https://evil.example?@github.com/ada/shop",
        "https://evil.example\\@github.com/ada/shop",
        "https://evil.example/@github.com/ada/shop",
        "https://github.com@evil.example/ada/shop",
        "https://github.com:443@evil.example/ada/shop",
        "ssh://evil.example#@github.com/ada/shop",
    ],
)
def test_a_remote_is_of_the_host_that_it_leads_to(url: str) -> None:
    """Memories are keyed by remotes: one that only looks like another's would be told them."""
    named = normalised(url)

    assert named is not None
    assert named.startswith("evil.example/")


@pytest.mark.parametrize("url", ["evil.example#@github.com:ada/shop", "a\\@github.com:ada/shop"])
def test_a_user_that_may_be_a_host_names_no_project(url: str) -> None:
    """Readers differ in where such a host ends."""
    assert normalised(url) is None


@given(st.text(max_size=60))
def test_any_remote_has_a_name_or_none(url: str) -> None:
    """A config file is written by anybody."""
    name = normalised(url)

    assert name is None or "/" in name


def test_a_folder_is_named_by_its_remote_its_repository_or_itself(tmp_path: Path) -> None:
    """In that order, from any depth."""
    shared = init(tmp_path / "shared", remote("git@github.com:ada/shop.git"))
    alone = init(tmp_path / "alone")
    (shared / "src" / "deep").mkdir(parents=True)
    (tmp_path / "plain").mkdir()

    assert name_of(str(shared / "src" / "deep")) == ("github.com/ada/shop", "remote")
    assert name_of(str(alone)) == (str(alone), "repository")
    assert name_of(str(tmp_path / "plain")) == (str(tmp_path / "plain"), "directory")
    assert name_of(str(shared / "gone" / "folder")) == ("github.com/ada/shop", "remote")


def test_origin_is_the_remote_that_counts_and_otherwise_the_first(tmp_path: Path) -> None:
    """A fork has an upstream, and is still itself."""
    both = remote("https://h.example/up/x", "upstream") + remote("https://h.example/me/x")
    neither = remote("https://h.example/a/x", "a") + remote("https://h.example/b/x", "b")

    assert name_of(str(init(tmp_path / "both", both)))[0] == "h.example/me/x"
    assert name_of(str(init(tmp_path / "neither", neither)))[0] == "h.example/a/x"


@pytest.mark.parametrize(
    "pointer", ["gitdir: {}/.git/worktrees/one", "gitdir:   ../main/.git/worktrees/one\n"]
)
def test_a_worktree_is_its_repository(tmp_path: Path, pointer: str) -> None:
    """Whether git wrote the pointer as an absolute or a relative path."""
    main = init(tmp_path / "main", remote("https://h.example/ada/shop"))
    own = main / ".git" / "worktrees" / "one"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(pointer.format(main))

    assert name_of(str(tmp_path / "tree")) == ("h.example/ada/shop", "remote")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir:",
        b"gitdir: /nowhere",
        b"\xff\xfe\x00",
        b"gitdir: \x00",
        b"x" * 1_000_000,
        b"gitdir: ../../..",
    ],
)
def test_a_git_file_that_leads_nowhere_is_no_reason_to_fail(tmp_path: Path, content: bytes) -> None:
    """Archives and half-deleted worktrees have such."""
    (tmp_path / ".git").write_bytes(content)

    name, kind = name_of(str(tmp_path))

    assert kind in ("directory", "repository")
    assert name


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00[remote",
        b'[remote "origin"',
        b"url = x",
        b"[" * 1_000_000,
        b'[remote "o"]\nurl',
    ],
)
def test_a_config_that_is_none_is_no_reason_to_fail(tmp_path: Path, content: bytes) -> None:
    """The repository still has a place."""
    init(tmp_path / "odd")
    (tmp_path / "odd" / ".git" / "config").write_bytes(content)

    assert name_of(str(tmp_path / "odd")) == (str(tmp_path / "odd"), "repository")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and links")
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    """An agent waits for us, and a repository may hold anything."""
    init(tmp_path / "pipe")
    (tmp_path / "pipe" / ".git" / "config").unlink()
    os.mkfifo(tmp_path / "pipe" / ".git" / "config")
    (tmp_path / "dot").mkdir()
    os.mkfifo(tmp_path / "dot" / ".git")

    began = time.monotonic()
    assert name_of(str(tmp_path / "pipe"))[1] == "repository"
    assert name_of(str(tmp_path / "dot"))[1] == "directory"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "folder",
    ["", "/", ".", "\x00", "/\ud800", "/" + "a/" * 50_000, "/" + "a" * 50_000, "C:\\x", "//", "~"],
)
def test_any_text_may_be_called_a_folder(folder: str) -> None:
    """It comes from a log, or from an agent."""
    began = time.process_time()
    assert repository(folder) is None or os.path.exists(".git")
    assert time.process_time() - began < 0.5


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here to compare with")
def test_it_is_what_git_says(tmp_path: Path) -> None:
    """Also for worktrees and submodules that git itself made, and
    for capture, which asks the same.
    """
    main = tmp_path / "main"
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*words: str) -> None:
        command = [
            "git",
            "-c",
            "user.name=ada",
            "-c",
            "user.email=ada@example.org",
            "-C",
            str(main),
            *words,
        ]
        subprocess.run(command, check=True, capture_output=True, env=environ)

    main.mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("worktree", "add", "-q", str(tmp_path / "tree"))
    before = [name_of(str(folder)) for folder in (main, tmp_path / "tree")]
    git("remote", "add", "origin", "git@github.com:ada/shop.git")

    assert before == [(str(main), "repository")] * 2
    for folder in (main, tmp_path / "tree"):
        identity = ProjectFinder().identify(str(folder), None)
        assert identity is not None
        assert (
            name_of(str(folder))
            == ("github.com/ada/shop", "remote")
            == (identity.key, identity.kind)
        )


@pytest.mark.skipif(os.name == "nt", reason="a drive is this system's own there")
@pytest.mark.parametrize("folder", [r"E:\code\shop", "e:/code/shop"])
def test_a_folder_of_another_system_is_known_by_its_own_name(folder: str) -> None:
    """Logs that were made on Windows are asked for on any machine, by the names they have."""
    assert names_of(folder)[0] == r"E:\code\shop"
