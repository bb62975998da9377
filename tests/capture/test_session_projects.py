"""Which project a session belongs to: the repository or the folder in which it began.

What it becomes known by as it grows, and as more is known of the folders, is
settled with each import. The repositories are real ones, made by git.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.store.sqlite.ready import Ready
from recollect.system.git import names_of
from recollect.system.places import gathers, parents, tidy
from tests.builders.claude_code import Conversation
from tests.builders.homes import add_turn, chat, claude_log, codex_log, codex_talk, memory
from tests.golden_logs import laid_out

SHOP, TILL = "github.com/ada/shop", "github.com/ada/till"
GOLDEN = Path(__file__).parents[1] / "golden"


def _case_name(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=m"]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *own, "-C", str(folder), *words], check=True, env=plain)


def repository(folder: Path, remote: str | None = None) -> Path:
    """A repository with a commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", f"git@{remote.replace('/', ':', 1)}.git")
    return folder


def talk(number: int, cwd: Path | str, *edited: Path | str, **envelope: Any) -> Conversation:
    """A session that began in a folder, with an edit in a turn of its own for each file."""
    said = chat(number, cwd=str(cwd), **{"gitBranch": "", **envelope})
    add_turn(said, f"{number}-0", "umbrella")
    for at, path in enumerate(edited):
        edit(said, f"{number}-{at}", path)
    return said


def edit(said: Conversation, name: str, path: Path | str) -> None:
    said.user(f"change {name}")
    given = {"file_path": str(path), "old_string": "a", "new_string": "b"}
    said.call("Edit", given, f"toolu_edit_{name}")
    said.result(f"toolu_edit_{name}", "The file has been updated.")
    said.reply(f"changed {name}")


def imported(home: Path, *paths: Path) -> Memory:
    mind = memory(home)
    mind.import_logs([*paths])
    return mind


def project_of(mind: Memory, number: int) -> str | None:
    return next(iter(mind.sessions(session=chat(number).session))).project


def keys(mind: Memory) -> dict[str, int]:
    """The projects that are listed, with how many sessions they have."""
    return {row.key: row.sessions for row in mind.projects.all()}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder of repositories."""
    folder = tmp_path / "code"
    repository(folder / "shop", SHOP)
    repository(folder / "till", TILL)
    return folder


# One repository, many ways into it --------------------------------------------


def test_worktrees_links_and_folders_inside_are_one_project(home: Path, code: Path) -> None:
    shop, inner = code / "shop", code / "shop" / "src"
    inner.mkdir()
    git(shop, "worktree", "add", "-q", str(code / "hotfix"))
    (code / "link").symlink_to(inner)
    for number, folder in enumerate((shop, inner, code / "hotfix", code / "link"), 1):
        claude_log(home, talk(number, folder))

    with imported(home) as mind:
        assert keys(mind) == {SHOP: 4}


@pytest.mark.parametrize("change", ["added", "changed", "removed"])
def test_a_remote_that_changes_does_not_split_a_folders_project(
    home: Path, tmp_path: Path, change: str
) -> None:
    shop = repository(tmp_path / "shop", None if change == "added" else SHOP)
    claude_log(home, talk(1, shop))
    imported(home).close()
    if change == "changed":
        git(shop, "remote", "set-url", "origin", "https://github.com/acme/shop")
    elif change == "added":
        git(shop, "remote", "add", "origin", "https://github.com/acme/shop")
    else:
        git(shop, "remote", "remove", "origin")
    (shop / "src").mkdir()
    claude_log(home, talk(2, shop / "src"))

    with imported(home) as mind:
        assert keys(mind) == {SHOP if change == "removed" else "github.com/acme/shop": 2}
        assert project_of(mind, 1) == project_of(mind, 2) == mind.projects.of(str(shop))


def test_another_clone_keeps_the_project_that_one_clone_leaves(home: Path, tmp_path: Path) -> None:
    fork, other = repository(tmp_path / "fork", SHOP), repository(tmp_path / "other", SHOP)
    claude_log(home, talk(1, fork))
    claude_log(home, talk(2, other))
    imported(home).close()
    git(fork, "remote", "set-url", "origin", "https://github.com/kim/shop")
    claude_log(home, talk(3, fork))

    with imported(home) as mind:
        assert keys(mind) == {"github.com/kim/shop": 2, SHOP: 1}


def test_a_folder_that_becomes_a_repository_takes_what_lies_in_it(
    home: Path, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    (shop / "src").mkdir(parents=True)
    claude_log(home, talk(1, shop / "src"))
    imported(home).close()
    git(shop, "init", "-q")
    claude_log(home, talk(2, shop))

    with imported(home) as mind:
        assert keys(mind) == {str(shop): 2}


def test_a_clone_that_is_gone_keeps_its_sessions_together(home: Path, code: Path) -> None:
    shop = code / "shop"
    (shop / "src").mkdir()
    claude_log(home, talk(1, shop))
    imported(home).close()
    shutil.rmtree(shop)
    claude_log(home, talk(2, shop, gitBranch="main"))
    claude_log(home, talk(3, shop / "src"))

    with imported(home) as mind:
        assert keys(mind) == {SHOP: 3}


@pytest.mark.parametrize("spelling", ["c:\\code\\shop", "C:/code/shop/", "C:\\code\\shop\\src"])
def test_a_drive_has_one_spelling(home: Path, spelling: str) -> None:
    claude_log(home, talk(1, "C:\\code\\shop"))
    claude_log(home, talk(2, spelling))

    with imported(home) as mind:
        assert keys(mind) == {"C:\\code\\shop": 2}


# Outside any repository -------------------------------------------------------


def test_a_session_outside_belongs_to_the_one_repository_it_edits(home: Path, code: Path) -> None:
    for number, start in enumerate((home, code, Path("/tmp"), Path("/srv/notes")), 1):
        claude_log(home, talk(number, start, code / "shop" / "a.py", code / "shop" / "b.py"))

    with imported(home) as mind:
        assert keys(mind) == {SHOP: 4}


def test_a_session_that_edits_several_from_a_place_of_many_has_no_project(
    home: Path, code: Path
) -> None:
    edited = (code / "shop" / "a.py", code / "till" / "b.py")
    for number, start in enumerate((home, code, Path("/tmp/scratch")), 1):
        claude_log(home, talk(number, start, *edited))
    claude_log(home, talk(4, "/srv/notes", *edited))

    with imported(home) as mind:
        assert [project_of(mind, number) for number in (1, 2, 3)] == [None] * 3
        assert keys(mind) == {"/srv/notes": 1}
        assert mind.search("umbrella", project=str(home)).hits == []


def test_what_a_program_notes_down_for_itself_is_not_work_elsewhere(home: Path, code: Path) -> None:
    scratch = ("/tmp/try.py", home / ".claude" / "plans" / "shop.md")
    claude_log(home, talk(1, home, code / "shop" / "a.py", *scratch))

    with imported(home) as mind:
        assert keys(mind) == {SHOP: 1}


def test_a_project_is_settled_anew_as_a_session_grows(home: Path, code: Path) -> None:
    """From where it began, to the one repository it edits, to none when there are two.

    The same comes of it in one import as in three.
    """
    said, seen = talk(1, code), []
    for step, path in enumerate([None, code / "shop" / "a.py", code / "till" / "b.py"]):
        if path is not None:
            edit(said, f"grown-{step}", path)
        claude_log(home, said)
        with imported(home) as mind:
            seen.append((project_of(mind, 1), keys(mind)))

    with memory(home, "again.db") as fresh:
        fresh.import_logs()

        assert project_of(fresh, 1) is None
    assert seen[:2] == [(str(code), {str(code): 1}), (SHOP, {SHOP: 1})]
    assert (seen[2][0], sum(seen[2][1].values())) == (None, 0)


def test_notes_of_a_session_go_where_it_goes(home: Path, code: Path) -> None:
    """And nowhere when it turns out to have no project: they do not hold everywhere."""
    said = talk(1, code, *(code / "shop" / f"{number}.py" for number in range(7)))
    said.user("always use tabs in this project")
    said.reply("Noted.")
    claude_log(home, said)
    with imported(home) as mind:
        mind.remember(project=SHOP)
        before = {(note.project, note.author) for note in mind.notes.search(project=SHOP)}
        edit(said, "late", code / "till" / "b.py")
        claude_log(home, said)
        mind.import_logs()

        assert before == {(SHOP, "rules")}
        assert list(mind.notes.search(project=SHOP)) == []
        assert mind.remember(project=SHOP) is None


def test_a_place_of_many_projects_owns_nothing_below_it(home: Path, code: Path) -> None:
    """Somebody asked something in their home once: other folders are not part of that."""
    plain = code / "plain"
    plain.mkdir()
    for number, folder in enumerate((home, code, plain, home / "notes"), 1):
        claude_log(home, talk(number, folder))

    with imported(home) as mind:
        assert keys(mind) == {str(home): 1, str(code): 1, str(plain): 1, str(home / "notes"): 1}
        assert mind.projects.of(str(code / "new")) is None


def test_a_folder_inside_a_known_project_is_that_project(home: Path) -> None:
    """Whichever of them was imported first."""
    for number, folder in enumerate(("/srv/shop/src", "/srv/shop", "/srv/shop/docs/de"), 1):
        claude_log(home, talk(number, folder))
        imported(home).close()

    with imported(home) as mind:
        assert keys(mind) == {"/srv/shop": 3}
        assert mind.projects.of("/srv/shop/new") == "/srv/shop"


# Logs of another computer -----------------------------------------------------


def test_a_foreign_branch_tells_a_repository_from_the_folder_around_it(
    home: Path, tmp_path: Path
) -> None:
    other = tmp_path / "laptop"
    claude_log(other, talk(1, "/home/kim/work/code"))
    claude_log(other, talk(2, "/home/kim/work/code/shop", gitBranch="main"))
    claude_log(other, talk(3, "/home/kim/work/code/shop/src/till", gitBranch="main"))

    with imported(home, other) as mind:
        assert keys(mind) == {"/home/kim/work/code/shop": 2, "/home/kim/work/code": 1}


def test_a_foreign_folder_is_known_by_the_remote_that_another_log_names(
    home: Path, tmp_path: Path
) -> None:
    other, told = tmp_path / "laptop", {"repository_url": f"https://{SHOP}.git", "branch": "main"}
    claude_log(other, talk(1, "/home/kim/shop", gitBranch="main"))
    codex_log(other, codex_talk(cwd="/home/kim/shop/src", git=told))
    claude_log(other, talk(2, "/home/kim/shop/src/deep", gitBranch="main"))

    with imported(home, other) as mind:
        assert keys(mind) == {SHOP: 3}


def test_a_foreign_session_in_a_home_belongs_to_the_known_repository_it_edits(
    home: Path, tmp_path: Path
) -> None:
    other = tmp_path / "laptop"
    claude_log(other, talk(1, "/home/kim/shop", gitBranch="main"))
    claude_log(other, talk(2, "/home/kim", "/home/kim/shop/src/a.py"))

    with imported(home, other) as mind:
        assert keys(mind) == {"/home/kim/shop": 2}


def test_two_repositories_that_were_in_one_foreign_folder_stay_two(
    home: Path, tmp_path: Path
) -> None:
    """Containers call every repository /workspace."""
    other = tmp_path / "runner"
    for number, remote in enumerate((SHOP, TILL), 1):
        thread = f"0199a000-0000-7000-8000-{number:012}"
        told = {"repository_url": f"https://{remote}"}
        codex_log(other, codex_talk(thread, cwd="/workspace", git=told), thread)

    with imported(home, other) as mind:
        assert keys(mind) == {SHOP: 1, TILL: 1}


# Who asks ---------------------------------------------------------------------


def test_hook_and_recall_know_a_folder_by_the_same_names(home: Path, code: Path) -> None:
    shop = code / "shop"
    git(shop, "worktree", "add", "-q", str(code / "hotfix"))
    (code / "link").symlink_to(shop)
    (code / "plain" / "deep").mkdir(parents=True)
    claude_log(home, talk(1, shop))
    claude_log(home, talk(2, code / "plain"))

    with imported(home) as mind:
        ready = Ready.open(mind.settings.store)
        assert ready is not None
        for folder in (
            shop, shop / "gone", code / "hotfix", code / "link", code / "till", code,
            code / "plain", code / "plain" / "deep", home, Path("/"),
        ):  # fmt: skip
            number = ready.project(names_of(str(folder)))
            key = mind.projects.of(str(folder))
            assert (number is None) == (key is None), folder
            assert number == (None if key is None else mind._shared.store().projects.number(key))
        assert mind.projects.of(str(code / "hotfix")) == SHOP
        assert mind.projects.of(str(code / "plain" / "deep")) == str(code / "plain")
        assert mind.projects.of(str(code)) is None


def test_the_same_comes_of_a_sweep_of_paths_and_of_one_log_after_the_other(
    home: Path, code: Path
) -> None:
    starts = [
        talk(1, home, code / "shop" / "a.py"), talk(2, code / "shop"),
        talk(3, code, code / "shop" / "a.py", code / "till" / "b.py"), talk(4, code / "till"),
    ]  # fmt: skip
    logs = [claude_log(home, said) for said in starts]
    found = []
    for name, order in (("sweep", [[]]), ("path", [[home]]), ("hook", [[log] for log in logs])):
        with memory(home, f"{name}.db") as mind:
            for paths in order:
                mind.import_logs(paths)
            found.append([project_of(mind, number) for number in (1, 2, 3, 4)])

    assert found == [[SHOP, SHOP, None, TILL]] * 3


@pytest.mark.parametrize("seed", range(8))
def test_folders_that_are_gone_fall_into_the_same_projects_in_any_order(
    home: Path, seed: int
) -> None:
    """Of a folder of several repositories nothing tells that it is one but the logs in it."""
    gone = "/gone/town"
    folders = [
        "", "mayor", "deacon", "deacon/dogs", "deacon/dogs/boot", "rig", "rig/witness", "rig/fork",
    ]  # fmt: skip
    branches = {"rig/fork": "main"}
    logs = [
        claude_log(home, talk(number, f"{gone}/{folder}".rstrip("/"), gitBranch=branch))
        for number, (folder, branch) in enumerate(
            [*((folder, branches.get(folder, "")) for folder in folders), ("deacon", "master")], 1
        )
    ]
    random.Random(seed).shuffle(logs)
    with memory(home) as mind:
        for log in logs:
            mind.import_logs([log])
        found = [project_of(mind, number) for number in range(1, len(logs) + 1)]

    deacon, rig = f"{gone}/deacon", f"{gone}/rig"
    assert found == [
        gone, f"{gone}/mayor", deacon, deacon, deacon, rig, rig, f"{rig}/fork", deacon,
    ]  # fmt: skip


def test_what_a_person_split_stays_split(home: Path, tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", SHOP)
    claude_log(home, talk(1, shop))
    imported(home).close()
    git(shop, "remote", "set-url", "origin", "https://github.com/acme/shop")
    claude_log(home, talk(2, shop))
    with imported(home) as mind:
        mind.projects.split(SHOP)
        claude_log(home, talk(3, shop))
        mind.import_logs()

        assert keys(mind) == {"github.com/acme/shop": 2, SHOP: 1}


# Places -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder",
    [
        "/", "/home", "/home/kim", "/home/kim/Desktop", "/Users/kim/Documents", "/root", "/tmp",
        "C:\\", "C:\\Users\\kim", "D:\\Users\\kim\\Downloads",
    ],
)  # fmt: skip
def test_these_are_nobodys_project(folder: str) -> None:
    assert gathers(folder)


def test_folders_above_end_where_many_projects_lie() -> None:
    assert parents("/home/kim/work/shop/src") == ["/home/kim/work/shop", "/home/kim/work"]
    assert parents("C:\\Users\\kim\\shop\\src") == ["C:\\Users\\kim\\shop"]
    assert parents("/home/kim/shop") == []
    assert [tidy(text) for text in ("c:/x/y/", "/x/", "/", "C:", "\\\\srv\\x\\")] == [
        "C:\\x\\y", "/x", "/", "C:\\", "\\\\srv\\x",
    ]  # fmt: skip


# Sub-agents -------------------------------------------------------------------


@pytest.mark.parametrize(
    "case", sorted(path for path in GOLDEN.glob("*/*") if (path / "root").is_dir()), ids=_case_name
)
def test_sub_agents_of_every_agent_have_the_project_of_their_session(
    case: Path, home: Path, tmp_path: Path
) -> None:
    """Whatever their own logs say of a folder, and whichever log came first."""
    root = laid_out(case / "root", tmp_path / "laptop")

    with imported(home, root) as mind:
        projects = {one.id: one.project for one in mind.sessions(limit=None, subagents=True)}
        subagents = {
            one.id: f"{one.agent}:{one.parent}" if ":" not in (one.parent or "") else one.parent
            for one in mind.sessions(limit=None, subagents=True)
            if one.origin == "subagent" and one.parent
        }

        assert {one: projects[one] for one, parent in subagents.items() if parent in projects} == {
            one: projects[parent] for one, parent in subagents.items() if parent in projects
        }
        if case.name in ("cli-subagents", "code-subagents"):
            assert subagents
            assert None not in projects.values()


def test_edits_of_a_sub_agent_are_edits_of_its_session(home: Path, code: Path) -> None:
    said = talk(1, code)
    claude_log(home, said)
    imported(home).close()
    agent = talk(
        9, code, code / "shop" / "a.py", isSidechain=True, agentId="a1", sessionId=said.session
    )
    agent.write(
        home / ".claude" / "projects" / "-c" / said.session / "subagents" / "agent-a1.jsonl"
    )

    with imported(home) as mind:
        listed = list(mind.sessions(limit=None, subagents=True))

        assert [one.project for one in listed] == [SHOP, SHOP]
