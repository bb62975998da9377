"""How a tool is used here, told from what worked."""

from __future__ import annotations

import pytest

from recollect.errors import UsageError
from recollect.model.answers import Invocation
from tests.builders.work import Remember, Work


def test_uses_are_grouped_by_their_shape(remember: Remember) -> None:
    work = (
        Work()
        .ask("test")
        .run("pytest -q tests/a.py")
        .run("cd web && CI=1 pytest -q tests/b.py", "boom", code=1)
    )
    work.run("pytest -q tests/c.py | tail").run("pytest --lf", "boom", code=1).run(
        "echo pytest"
    ).done()

    found = remember(work).how("pytest", everywhere=True)

    assert found.rows == [
        Invocation(
            tool="pytest", shape="pytest -q …", ok=1, failed=1, unclear=1,
            example="pytest -q tests/a.py", ref=f"{work.ref}#1", external=False,
            agents=["claude-code"], projects=["/home/ada/shop"],
            first_at="2026-01-01T09:00:01.000Z", last_at="2026-01-01T09:00:01.000Z",
        )
    ]  # fmt: skip
    assert found.remarks == ["1 more that never worked: recollect how pytest --failed"]
    never = remember(work).how("pytest", everywhere=True, failed=True)
    assert [(row.example, row.ok, row.failed) for row in never] == [("pytest --lf", 0, 1)]


def test_what_worked_most_comes_first(remember: Remember) -> None:
    work = Work().ask("go").run("make lint").run("make test").run("make test | tail")
    for _ in range(2):
        work.run("make -j4 all")

    found = remember(work.done()).how("make", everywhere=True)

    assert [(row.shape, row.ok, row.unclear) for row in found] == [
        ("make all", 2, 0),
        ("make lint", 1, 0),
        ("make test", 1, 1),
    ]


def test_a_subcommand_narrows_it(remember: Remember) -> None:
    work = Work().ask("go").run("docker compose up -d db").run("docker build -t shop .").done()

    assert [row.shape for row in remember(work).how("docker compose", everywhere=True)] == [
        "docker compose up"
    ]


@pytest.mark.parametrize(
    ("tool", "command", "use"),
    [
        ("npm", "npm run build -- --watch", "npm run build"),
        ("npm", "npm --silent run build:prod", "npm run build:prod"),
        ("npm", "npm test", "npm test"),
        ("npm run", "npm run lint src", "npm run lint"),
        ("npm run lint", "npm run lint src", "npm run lint …"),
        ("make", "make -j4 CC=clang docs", "make docs"),
        ("docker", "docker compose -f dev.yml up -d", "docker compose up"),
        ("git", "git commit -m 'x y'", "git commit"),
        ("git commit", "git commit -m 'x y'", "git commit -m …"),
        ("python", "python3.12 x.py; python tools/gen.py --all", "python tools/gen.py"),
        ("python", "python -m http.server 8000", "python -m http.server"),
        ("python", "python -c 'print(1)'", "python -c …"),
        ("node", "node -e 'x()'", "node -e …"),
        ("pytest", "uv run pytest -q tests", "uv run pytest -q …"),
    ],
)
def test_what_matters_of_a_use_is_its_script_or_subcommand(
    tool: str, command: str, use: str, remember: Remember
) -> None:
    """`npm run …` tells nobody what can be run; options make no other script of it."""
    found = remember(Work().ask("go").run(command).done()).how(tool, everywhere=True)

    assert [row.shape for row in found] == [use]


def test_unclear_is_not_worked(remember: Remember) -> None:
    """What only ran inside pipes is told when nothing better is known, and not as a success."""
    work = Work().ask("go").run("make lint | tail").run("make docs | tail")
    only = remember(work.done())

    assert [(row.shape, row.ok, row.unclear) for row in only.how("make", everywhere=True)] == [
        ("make lint", 0, 1),
        ("make docs", 0, 1),
    ]
    assert only.how("make", everywhere=True).remarks == [
        "None of these is known to have worked: the logs do not tell."
    ]
    known = remember(Work(2).ask("go").run("make test").done()).how("make", everywhere=True)
    assert [row.shape for row in known] == ["make test"]
    assert known.remarks == ["2 more whose outcome the logs do not tell."]


def test_a_command_of_several_lines_keeps_them(remember: Remember) -> None:
    """Joined by blanks it would be another command."""
    command = "cat <<EOF\nx\nEOF\nmake docs"

    found = remember(Work().ask("go").run(command).done()).how("make", everywhere=True)

    assert [row.example for row in found] == [command]


def test_this_folders_project_is_asked_unless_all_are(remember: Remember) -> None:
    """And the answer says which it was."""
    mind = remember(
        Work(1).ask("a").run("make here").done(),
        Work(2, cwd="/home/ada/blog").ask("b").run("make -C there").done(),
    )

    own, everywhere = (
        mind.how("make", folder="/home/ada/blog"),
        mind.how("make", folder="/home/ada/blog", everywhere=True),
    )

    assert ([row.shape for row in own], own.remarks) == (
        ["make -C …"],
        ["Only in /home/ada/blog, the project of this folder. All projects: --everywhere"],
    )  # fmt: skip
    assert sorted(row.shape for row in everywhere) == ["make -C …", "make here"]
    assert [row.shape for row in mind.how("make project:shop", folder="/home/ada/blog")] == [
        "make here"
    ]


def test_a_folder_that_nobody_knows_means_everywhere(remember: Remember) -> None:
    found = remember(Work().ask("a").run("make").done()).how("make", folder="/nowhere")

    assert (len(found), found.remarks) == (1, [])


def test_an_agents_own_tool_is_told_by_its_arguments(remember: Remember) -> None:
    work = (
        Work()
        .ask("edit")
        .edit("/home/ada/shop/a.py")
        .edit("/home/ada/shop/b.py", error="not found")
        .done()
    )

    (row,) = remember(work).how("edit", everywhere=True)

    assert (row.shape, row.ok, row.failed) == ("Edit(file_path, old_string, new_string)", 1, 1)


def test_a_loop_tells_nothing_about_its_commands(remember: Remember) -> None:
    (row,) = remember(Work().ask("go").run("for i in 1 2; do pytest -x; done").done()).how(
        "pytest", everywhere=True
    )

    assert (row.ok, row.unclear) == (0, 1)


def test_a_tool_must_be_named(remember: Remember) -> None:
    with pytest.raises(UsageError):
        remember(Work().ask("go").done()).how("agent:codex")


def test_the_same_line_is_not_told_for_each_use_in_it(remember: Remember) -> None:
    """`npm -v` and `npm ls` of one line would both be shown as that line."""
    found = remember(Work().ask("go").run("npm -v && npm ls").done()).how("npm", everywhere=True)

    assert [row.example for row in found] == ["npm -v && npm ls"]
