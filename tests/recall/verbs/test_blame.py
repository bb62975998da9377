"""Who changed a file, and what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.errors import UsageError
from recollect.model.answers import FileChange
from tests.builders import codex
from tests.builders.homes import codex_log, memory
from tests.builders.work import Remember, Work


def test_a_change_is_told_with_what_was_asked(remember: Remember) -> None:
    """The commit says what; the prompt says why."""
    work = (
        Work()
        .ask("round prices half up")
        .edit("/home/ada/shop/src/money.py", "x = 1\ny = 2", "x = 1\nround_half_up = True")
        .done()
    )

    found = remember(work).blame("src/money.py", folder="/home/ada/shop")

    assert found.rows == [
        FileChange(
            ref=f"{work.ref}#1", session=work.ref, turn=1, agent="claude-code",
            project="/home/ada/shop",
            at="2026-01-01T09:00:01.000Z", live=True, subagent=False, external=False,
            file="/home/ada/shop/src/money.py", match="path",
            prompt="round prices half up", tools=["Edit"], changes=1, ok=True, added=1, removed=1,
            excerpt="+ round_half_up = True",
        )
    ]  # fmt: skip
    assert found.remarks == []


@pytest.mark.parametrize(
    "asked",
    [
        "money.py",
        "src/money.py",
        "/home/ada/shop/src/money.py",
        "./src/money.py",
        "../shop/src/money.py",
    ],
)
def test_any_way_to_name_the_file_finds_it(asked: str, remember: Remember) -> None:
    mind = remember(Work().ask("go").edit("/home/ada/shop/src/money.py").done())

    assert [row.turn for row in mind.blame(asked, folder="/home/ada/shop")] == [1]


@pytest.mark.parametrize("asked", ["oney.py", "other/money.py", "money", "shop"])
def test_half_a_name_is_another_file(asked: str, remember: Remember) -> None:
    mind = remember(
        Work()
        .ask("go")
        .edit("/home/ada/shop/src/money.py")
        .run("sed -i s/a/b/ src/http_money.py")
        .done()
    )

    assert mind.blame(asked, folder="/elsewhere").rows == []


def test_the_newest_change_comes_first(remember: Remember) -> None:
    work = (
        Work()
        .ask("first")
        .edit("/home/ada/shop/a.py")
        .done()
        .ask("second")
        .edit("/home/ada/shop/a.py")
        .done()
    )

    found = remember(work).blame("a.py", folder="/home/ada/shop")

    assert [row.prompt for row in found] == ["second", "first"]


def test_several_changes_in_one_turn_are_one_row(remember: Remember) -> None:
    """What failed is no change, as long as something else worked."""
    work = (
        Work()
        .ask("go")
        .edit("/home/ada/shop/a.py", "one", "two")
        .edit("/home/ada/shop/a.py", "x", "never", error="not found")
    )
    work.edit("/home/ada/shop/a.py", "two", "three\nfour").done()

    (row,) = remember(work).blame("a.py", folder="/home/ada/shop")

    assert (row.changes, row.ok, row.added, row.removed, row.excerpt) == (3, True, 3, 2, "+ three")


def test_a_change_that_only_failed_is_marked(remember: Remember) -> None:
    (row,) = remember(
        Work().ask("go").edit("/home/ada/shop/a.py", error="String not found").done()
    ).blame("a.py")

    assert row.ok is False


def test_a_shell_command_counts_when_it_names_the_file(remember: Remember) -> None:
    work = (
        Work()
        .ask("rename")
        .run("cd src && sed -i 's/a/b/' app.py && pytest")
        .done()
        .ask("look")
        .run("cat src/app.py")
        .done()
    )

    (row,) = remember(work).blame("src/app.py", folder="/home/ada/shop")

    assert (row.prompt, row.tools, row.added, row.excerpt) == (
        "rename",
        ["Bash"],
        None,
        "cd src && sed -i 's/a/b/' app.py && pytest",
    )


def test_a_long_command_is_read_to_its_end(remember: Remember) -> None:
    """The table keeps its beginning only; the body has all of it."""
    work = (
        Work()
        .ask("write it")
        .run(f"cat > a.txt <<'EOF'\n{'word ' * 600}\nEOF\necho done > late.txt")
        .done()
    )

    assert [row.prompt for row in remember(work).blame("late.txt", folder="/home/ada/shop")] == [
        "write it"
    ]


def test_a_patch_of_many_files_names_them_all(home: Path) -> None:
    """A call lists the first eight; the ninth was changed as well."""
    patch = (
        "*** Begin Patch\n"
        + "".join(f"*** Add File: f{n}.py\n+line {n} here\n" for n in range(1, 13))
        + "*** End Patch"
    )
    codex_log(home, [codex.meta(), codex.context(), codex.user("make them"), codex.patch(patch),
                     codex.item("custom_tool_call_output", call_id="call_p",
                     output="Exit code: 0\nOutput:\nDone")])  # fmt: skip

    with memory(home) as mind:
        mind.import_logs()
        (row,) = mind.blame("f12.py", folder="/home/kim/orchard")

    assert (row.file, row.match, row.added, row.excerpt) == (
        "/home/kim/orchard/f12.py",
        "path",
        1,
        "+ line 12 here",
    )


def test_the_very_file_hides_others_that_are_called_so(remember: Remember) -> None:
    """Every project has a README.

    The one here is meant, and the answer says that there are others.
    """
    here = Work(1).ask("here").edit("/home/ada/shop/README.md").done()
    there = Work(2, cwd="/home/ada/blog").ask("there").edit("/home/ada/blog/README.md").done()
    mind = remember(here, there)

    ours, anywhere = (
        mind.blame("README.md", folder="/home/ada/shop"),
        mind.blame("README.md", folder="/tmp"),
    )

    assert ([row.prompt for row in ours], [row.match for row in ours]) == (["here"], ["path"])
    assert "1 more" in ours.remarks[0]
    assert sorted(row.prompt for row in anywhere) == ["here", "there"]
    assert "/tmp/README.md" in anywhere.remarks[0]


def test_another_checkout_of_the_project_is_the_same_file(
    remember: Remember, tmp_path: Path
) -> None:
    """Agents work in worktrees that are gone tomorrow."""
    top = tmp_path / "shop"
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = git@example.com:acme/shop.git\n'
    )
    worktree = tmp_path / "tree"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {top}/.git/worktrees/tree\n")
    (top / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (top / ".git" / "worktrees" / "tree" / "commondir").write_text("../..\n")
    work = Work(cwd=str(worktree)).ask("from the worktree").edit(f"{worktree}/src/a.py").done()

    (row,) = remember(work).blame("src/a.py", folder=str(top))

    assert (row.prompt, row.match, row.project) == (
        "from the worktree",
        "project",
        "example.com/acme/shop",
    )


def test_filters_and_the_limit_apply(remember: Remember) -> None:
    one = Work(1).ask("one").edit("/home/ada/shop/a.py").done()
    two = Work(2, cwd="/home/ada/blog").ask("two").edit("/home/ada/blog/a.py").done()
    mind = remember(one, two)

    assert [row.prompt for row in mind.blame("a.py", project="blog", folder="/tmp")] == ["two"]
    assert [row.prompt for row in mind.blame("a.py", "agent:codex", folder="/tmp")] == []
    limited = mind.blame("a.py", limit=1, folder="/tmp")
    assert (len(limited), limited.remarks[-1]) == (1, "1 more. To see them, raise --limit.")


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("[image image/png 24021 bytes 591d0001]\nmake it blue", "make it blue"),
        ("[image image/png 24021 bytes 591d0001]", "[image image/png 24021 bytes 591d0001]"),
    ],
)
def test_what_was_asked_is_told_without_the_mark_of_a_picture(
    asked: str, shown: str, remember: Remember
) -> None:
    """It is how a picture is stored, and tells nobody anything; unless it is all there was."""
    mind = remember(Work().ask(asked).edit("/home/ada/shop/a.css").done())

    assert [row.prompt for row in mind.blame("a.css", folder="/home/ada/shop")] == [shown]


@pytest.mark.parametrize("asked", ["", "..", "/", "."])
def test_what_names_no_file_is_refused(asked: str, remember: Remember) -> None:
    with pytest.raises(UsageError):
        remember(Work().ask("go").done()).blame(asked)
