"""Which project a folder belongs to, and how projects are merged and split."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.capture.projects import ProjectFinder
from recollect.errors import NotFound, UsageError
from recollect.memory import Memory
from recollect.model.batch import ProjectIdentity
from recollect.model.reports import ProjectRow
from recollect.system.git import normalised, origin_of, repository
from tests.builders import codex
from tests.builders.homes import chat, claude_log, codex_log, codex_talk, memory, small_talk


@pytest.fixture(autouse=True)
def without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Git is never run: there is nothing to run."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def git_folder(folder: Path, *remotes: tuple[str, str]) -> Path:
    """A repository as git leaves it on disk, as far as we read it."""
    (folder / ".git").mkdir(parents=True)
    lines = ["[core]\n\trepositoryformatversion = 0\n"]
    lines += [
        f'[remote "{name}"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/{name}/*\n'
        for name, url in remotes
    ]
    (folder / ".git" / "config").write_text("".join(lines) + '[branch "main"]\n\tremote = origin\n')
    return folder


def worktree(main: Path, folder: Path, name: str) -> Path:
    """A second working tree of a repository."""
    own = main / ".git" / "worktrees" / name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {own}\n")
    return folder


def project_of(mind: Memory, number: int) -> str | None:
    return next(iter(mind.sessions(session=chat(number).session))).project


@pytest.mark.parametrize(
    "spelling",
    [
        "https://github.com/ada/shop",
        "https://github.com/ada/shop.git",
        "https://github.com/ada/shop/",
        "https://ada:token@github.com/ada/shop.git",
        "http://GitHub.com:80/ada/shop.git",
        "ssh://git@github.com/ada/shop.git",
        "ssh://git@github.com:22/ada/shop",
        "ssh://git@ssh.github.com:443/ada/shop.git",
        "git://github.com/ada/shop.git",
        "git+ssh://git@github.com/ada/shop.git",
        "git@github.com:ada/shop.git",
        "github.com:ada/shop",
        "git@github.com:/ada/shop.git",
        "  git@github.com:ada/shop.git\n",
    ],
)
def test_every_spelling_of_a_remote_is_one_project(spelling: str) -> None:
    assert normalised(spelling) == "github.com/ada/shop"


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "/srv/git/shop.git",
        "../shop",
        "shop",
        "https://",
        "https://github.com",
        "git@github.com:",
    ],
)
def test_what_names_no_host_and_path_is_no_remote(remote: str) -> None:
    assert normalised(remote) is None


def test_a_clone_that_is_here_speaks_before_the_log(tmp_path: Path) -> None:
    """Logs of one folder name the remote that it had then: they are one project still."""
    folder = git_folder(tmp_path / "shop", ("origin", "https://github.com/kim/other"))
    log = "git@github.com:ada/shop.git"

    here = ProjectFinder().identify(str(folder), log)
    elsewhere = ProjectFinder(local=False).identify(str(folder), log)

    assert here == ProjectIdentity("github.com/kim/other", "remote", (str(folder),), seen=True)
    assert elsewhere == ProjectIdentity("github.com/ada/shop", "remote", (str(folder),))


@pytest.mark.parametrize(
    ("remotes", "key"),
    [
        ([("origin", "git@github.com:ada/shop.git")], "github.com/ada/shop"),
        (
            [("fork", "git@github.com:kim/shop.git"), ("origin", "git@github.com:ada/shop.git")],
            "github.com/ada/shop",
        ),
        (
            [("upstream", "git@github.com:eve/shop.git"), ("fork", "git@github.com:kim/shop.git")],
            "github.com/eve/shop",
        ),
    ],
    ids=["one", "origin among others", "the first without origin"],
)
def test_a_repository_is_known_by_its_remote(
    tmp_path: Path, remotes: list[tuple[str, str]], key: str
) -> None:
    folder = git_folder(tmp_path / "shop", *remotes)
    deeper = folder / "src" / "till"
    deeper.mkdir(parents=True)

    assert ProjectFinder().identify(str(deeper), None) == ProjectIdentity(
        key, "remote", (str(folder), str(deeper)), seen=True
    )


def test_a_repository_without_a_remote_is_known_by_its_folder(tmp_path: Path) -> None:
    folder = git_folder(tmp_path / "shop")

    assert ProjectFinder().identify(str(folder), None) == ProjectIdentity(
        str(folder), "repository", (str(folder),), seen=True
    )


@pytest.mark.parametrize(
    "remotes",
    [[], [("origin", "git@github.com:ada/shop.git")]],
    ids=["without remote", "with remote"],
)
def test_worktrees_are_one_project(tmp_path: Path, remotes: list[tuple[str, str]]) -> None:
    main = git_folder(tmp_path / "shop", *remotes)
    other = worktree(main, tmp_path / "shop-hotfix", "hotfix")
    projects = ProjectFinder()

    one, two = projects.identify(str(main), None), projects.identify(str(other), None)

    assert one is not None
    assert two is not None
    assert (one.key, one.kind) == (two.key, two.kind)
    assert repository(str(other)) == str(main / ".git")


def test_a_plain_folder_is_its_own_project(tmp_path: Path) -> None:
    folder = str(tmp_path / "shop")

    found = ProjectFinder().identify(folder + "/", None)

    assert found is not None
    assert (found.key, found.kind, found.folders) == (folder, "directory", ())
    assert ProjectFinder().identify(None, None) is None


@pytest.mark.parametrize(
    ("dot_git", "config"),
    [
        ("gitdir: /nowhere/at/all", None),
        ("rubbish", None),
        ("", None),
        (None, "[remote\nurl"),
        (None, "\0\xff" * 100),
        (None, ""),
    ],
    ids=["points nowhere", "rubbish", "empty", "broken config", "binary config", "empty config"],
)
def test_a_broken_repository_is_a_folder_like_any_other(
    tmp_path: Path, dot_git: str | None, config: str | None
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    if dot_git is not None:
        (folder / ".git").write_text(dot_git)
    else:
        git_folder(tmp_path / "shop" / "inner")
        (tmp_path / "shop" / "inner" / ".git" / "config").write_text(
            config or "", encoding="latin-1"
        )
        folder = tmp_path / "shop" / "inner"

    found = ProjectFinder().identify(str(folder), None)

    assert found is not None
    assert found.key == str(folder)
    assert origin_of(str(folder / ".git")) is None


def test_strange_folders_are_no_trouble() -> None:
    for folder in (
        "/",
        "",
        ".",
        "relative/path",
        "C:\\Users\\ada\\shop",
        "/home/\0",
        "/home/" + "x" * 5000,
        "\udcff",
    ):
        ProjectFinder().identify(folder, None)


def test_a_folder_seen_with_a_repository_before_belongs_to_it(home: Path, tmp_path: Path) -> None:
    """The checkout is deleted, the log remains: it still finds home."""
    shop = git_folder(tmp_path / "shop", ("origin", "git@github.com:ada/shop.git"))
    claude_log(home, small_talk(1, cwd=str(shop)))
    with memory(home) as mind:
        mind.import_logs()
    (shop / ".git" / "config").unlink()
    (shop / ".git").rmdir()

    claude_log(home, small_talk(2, cwd=str(shop)))
    with memory(home) as mind:
        mind.import_logs()

        assert (project_of(mind, 1), project_of(mind, 2)) == (
            "github.com/ada/shop",
            "github.com/ada/shop",
        )


def test_a_folder_that_turns_out_to_be_a_repository_is_shown_under_its_name(
    home: Path, tmp_path: Path
) -> None:
    """What was taken for a plain folder before now has a name."""
    shop = tmp_path / "shop"
    claude_log(home, small_talk(1, cwd=str(shop)))
    with memory(home) as mind:
        mind.import_logs()
    git_folder(shop, ("origin", "git@github.com:ada/shop.git"))

    claude_log(home, small_talk(2, cwd=str(shop)))
    with memory(home) as mind:
        mind.import_logs()

        assert (project_of(mind, 1), project_of(mind, 2)) == (
            "github.com/ada/shop",
            "github.com/ada/shop",
        )
        assert mind.projects.all() == [
            ProjectRow(
                key="github.com/ada/shop",
                kind="remote",
                domain=None,
                sessions=2,
                turns=4,
                last_at="2026-01-01T09:00:08.000Z",
                aliases=[str(shop)],
                merged=[str(shop)],
            )
        ]


@pytest.mark.parametrize("named", ["", ".claude", ".claude/projects", "each log"])
def test_five_ways_into_a_repository_are_one_project_however_its_logs_are_named(
    home: Path, tmp_path: Path, named: str
) -> None:
    """A hook imports by path, and so may a person: these are still folders of this machine."""
    shop = git_folder(tmp_path / "shop", ("origin", "git@github.com:ada/shop.git"))
    inner = shop / "src" / "till"
    inner.mkdir(parents=True)
    (tmp_path / "link").symlink_to(shop)
    folders = [shop, worktree(shop, tmp_path / "hotfix", "hotfix"), inner, tmp_path / "link"]
    logs = [
        claude_log(home, small_talk(number, cwd=str(folder)))
        for number, folder in enumerate([*folders, shop / "src"], 1)
    ]

    with memory(home) as mind:
        for path in logs if named == "each log" else [home / named]:
            mind.import_logs([path])

        assert [(row.key, row.sessions) for row in mind.projects.all()] == [
            ("github.com/ada/shop", 5)
        ]


def test_a_copy_of_a_home_says_nothing_about_the_folders_here(home: Path, tmp_path: Path) -> None:
    shop = git_folder(tmp_path / "shop", ("origin", "git@github.com:ada/shop.git"))
    claude_log(tmp_path / "old-laptop", small_talk(1, cwd=str(shop)))

    with memory(home) as mind:
        mind.import_logs([tmp_path / "old-laptop"])

        assert project_of(mind, 1) == str(shop)


def test_both_agents_share_a_project(home: Path) -> None:
    """Codex logs the remote; Claude Code only the folder, which Codex has told us about."""
    git = {"repository_url": "https://github.com/kim/orchard.git", "branch": "main"}
    codex_log(home, codex_talk(git=git))
    with memory(home) as mind:
        mind.import_logs()
        claude_log(home, small_talk(1, cwd="/home/kim/orchard"))
        mind.import_logs()

        assert {session.project for session in mind.sessions()} == {"github.com/kim/orchard"}


def test_a_command_that_changes_the_folder_takes_no_turn_with_it(home: Path) -> None:
    """A project is a session's: where a command ran is kept with the command."""
    talk = small_talk(1, turns=1, cwd="/home/ada/shop")
    talk.envelope["cwd"] = "/home/ada/till"
    talk.user("and now the till")
    claude_log(home, talk)

    with memory(home) as mind:
        mind.import_logs()

        assert project_of(mind, 1) == "/home/ada/shop"
        assert {hit.project for hit in mind.search("till")} == {"/home/ada/shop"}
        assert len(mind.search("question", project="/home/ada/till")) == 0
        assert [(row.key, row.turns) for row in mind.projects.all()] == [("/home/ada/shop", 2)]


# Merging ----------------------------------------------------------------------

SHOP, TILL, CELLAR = "/home/ada/shop", "/home/ada/till", "/home/ada/cellar"


@pytest.fixture
def mind(home: Path) -> Memory:
    """Three projects with a session each."""
    for number, folder in enumerate((SHOP, TILL, CELLAR), 1):
        claude_log(home, small_talk(number, turns=1, cwd=folder))
    opened = memory(home)
    opened.import_logs()
    return opened


def seen(mind: Memory) -> dict[str, list[list[str]]]:
    """Which sessions each project's filter finds: listed, searched, summed."""
    found = {}
    for name in (SHOP, TILL, CELLAR):
        listed = sorted(session.native_id[-1] for session in mind.sessions(project=name))
        searched = sorted(hit.session[-1] for hit in mind.search("question", project=name))
        summed = [str(row.turns) for row in mind.stats("all", project=name)]
        found[name] = [listed, searched, summed]
    return found


def test_a_merge_is_seen_everywhere_and_a_split_undoes_it(mind: Memory) -> None:
    before = seen(mind), mind.projects.all(), mind.stats("project")

    mind.projects.merge(TILL, SHOP)
    merged = seen(mind)
    rows = {row.key: (row.sessions, row.merged) for row in mind.projects.all()}
    names = {session.native_id[-1]: session.project for session in mind.sessions()}
    mind.projects.split(TILL)

    assert merged[SHOP] == [["1", "2"], ["1", "2"], ["2"]]
    assert merged[CELLAR] == before[0][CELLAR]
    assert rows == {SHOP: (2, [TILL]), CELLAR: (1, [])}
    assert names == {"1": SHOP, "2": SHOP, "3": CELLAR}
    assert (seen(mind), mind.projects.all(), mind.stats("project")) == before


def test_a_merge_holds_for_what_is_imported_later(mind: Memory, home: Path) -> None:
    mind.projects.merge(TILL, SHOP)

    claude_log(home, small_talk(4, turns=1, cwd=TILL))
    mind.import_logs()

    assert project_of(mind, 4) == SHOP


def test_what_was_merged_before_follows(mind: Memory) -> None:
    """Pointers stay one step long, so that no reader has to walk."""
    mind.projects.merge(CELLAR, TILL)
    mind.projects.merge(TILL, SHOP)

    assert [(row.key, row.sessions, row.merged) for row in mind.projects.all()] == [
        (SHOP, 3, [CELLAR, TILL])
    ]


def test_merges_that_make_no_sense_are_refused_in_words(mind: Memory) -> None:
    mind.projects.merge(TILL, SHOP)

    with pytest.raises(UsageError, match="the same project"):
        mind.projects.merge(SHOP, SHOP)
    with pytest.raises(UsageError, match="itself part of another project"):
        mind.projects.merge(CELLAR, TILL)
    with pytest.raises(UsageError, match="not part of another project"):
        mind.projects.split(SHOP)
    with pytest.raises(NotFound, match="There is no project"):
        mind.projects.merge("/nowhere", SHOP)


def test_codex_threads_carry_their_remote(home: Path) -> None:
    """A foreign home's project is what its log says, and never what is here."""
    git = {"repository_url": "ssh://git@example.org:2222/kim/orchard.git"}
    path = codex_log(home, codex_talk(git=git))

    with memory(home) as mind:
        mind.import_logs([path])

        assert [session.project for session in mind.sessions()] == ["example.org/kim/orchard"]
        assert codex.THREAD in path.name
