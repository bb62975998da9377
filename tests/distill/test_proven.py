"""What exit codes prove about a project, rule by rule, and what they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.distill.notes.proven import proven
from recollect.distill.tasks.calls import calls_of
from tests.builders.passages import REF, Row, call, edit, passage, prompt, run

ASKED = prompt("go")
LOOKED, READ = "cat a.py", "ls"


def facts(*rows: Row, project: str | None = "/home/ada/shop") -> list[tuple[str, str]]:
    """What a turn with these calls proves."""
    found = proven(calls_of([passage(1, ASKED, *rows)]), {f"{REF}#1": project})
    return [(one.category, one.text) for one in found]


def told(*rows: Row) -> list[str]:
    return [text for _, text in facts(*rows)]


@pytest.mark.parametrize(
    ("bad", "output", "code", "good", "text"),
    [
        ("pytest -q", "bash: pytest: command not found", 127, "uv run pytest -q",
         "Run `uv run pytest -q` here: `pytest -q` fails (exit 127)"),
        ("pytest", "ModuleNotFoundError: No module named 'shop'", 1, "PYTHONPATH=. pytest",
         "Run `PYTHONPATH=. pytest` here: `pytest` fails (exit 1)"),
        ("cargo fmt", "error: could not find `Cargo.toml` in `/`", 1, "cd core && cargo fmt",
         "Run `cd core && cargo fmt` here: `cargo fmt` fails (exit 1)"),
        ("npm install", "ERR! ERESOLVE", 1, "pnpm install",
        "Run `pnpm install` here: `npm install` fails (exit 1)"),
        ("vercel deploy", "", 127, "npx vercel deploy",
        "Run `npx vercel deploy` here: `vercel deploy` fails (exit 127)"),
    ],
)  # fmt: skip
def test_the_form_of_a_command_that_worked_after_another_failed_is_kept(
    bad: str, output: str, code: int, good: str, text: str
) -> None:
    """Every session would try the wrong one first."""
    assert ("pattern", text) in facts(run(bad, output, code=code), run(LOOKED), run(good, "ok"))


def test_what_was_put_right_in_between_proves_nothing_about_a_form() -> None:
    """The tests were red, or something was missing: the form was not what was wrong."""
    assert told(
        run("pytest -q", "1 failed", code=1), edit("a.py"), run("pytest -q -x", "1 passed")
    ) == ["To check work here, run `pytest -q -x`"]
    assert not any(
        text.startswith("Run ")
        for text in told(
            run("pytest", "", code=127), run("pip install pytest"), run("uv run pytest", "1 passed")
        )
    )
    # It worked later as it was.
    assert not any(
        text.startswith("Run ")
        for text in told(
            run("pytest", "", code=127), run("uv run pytest", "1 passed"), run("pytest", "1 passed")
        )
    )


@pytest.mark.parametrize(
    "said",
    [
        "Error: unknown flag: --tree", "error: unexpected argument '--tree' found",
        "cli: error: unrecognized arguments: --tree",
        "Error: No such option: --tree", "error: unknown option '--tree'",
        "node: bad option: --tree",
    ],
)  # fmt: skip
def test_an_option_that_a_command_does_not_have_is_kept(said: str) -> None:
    """Agents guess options; the same guess is made in every session."""
    assert facts(run("bd show a-1 --tree", said, code=2)) == [
        ("pattern", "`bd show` has no option `--tree` here (exit 2)")
    ]


def test_an_option_is_only_refused_by_a_command_that_was_given_it() -> None:
    """Output may quote anything, and what is looked for is no option."""
    assert told(run("make docs", "unknown flag: --tree", code=2)) == []
    assert told(run("rg --tree src", "error: unexpected argument '--tree' found", code=2)) == []
    assert (
        told(run("bd show --tree", "unknown flag: --tree", code=1), run("bd show --tree=all", "ok"))
        == []
    )


def test_a_program_that_is_not_there_is_kept_once() -> None:
    """The next session can do without, or say so at once."""
    assert facts(run("rg a", "", code=127), run("rg b", "", code=127)) == [
        ("project", "`rg` is not installed here")
    ]
    assert told(run("just a", "", code=127), run("just a b")) == []
    assert told(run("build.sh", "", code=127)) == []
    assert told(run("python a.py", "", code=127), run("python3 a.py")) == [
        "`python` is not installed here"
    ]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([run("uv run pytest", "3 passed")], "To check work here, run `uv run pytest`"),
        ([run("npm run lint"), run("npm run lint -- --quiet"), run("npm run lint")],
        "To check work here, run `npm run lint`"),
        ([run("pytest -q 2>&1 | tail -3", "3 passed in 1s")],
        "To check work here, run `pytest -q`"),
        ([run("uv run pytest tests/test_a.py -v", "1 passed")],
        "To check a part of the work here, run `uv run pytest FILE -v`"),
        ([run("cd core && cargo test some_name", "test result: ok")],
         "To check a part of the work here, run `cd core && cargo test NAME`"),
        ([run("npx playwright test e2e/cart --headed", "1 passed")],
         "To check a part of the work here, run `npx playwright test FILE --headed`"),
        ([run("uv run ruff format")], "To format code here, run `uv run ruff format`"),
        ([run("uv sync")], "To install what is needed here, run `uv sync`"),
        ([run("pnpm dev")], "To start it here, run `pnpm dev`"),
        ([run("docker compose up -d")], "To start it here, run `docker compose up -d`"),
        ([run("npm run db:seed")], "`npm run db:seed` works here"),
        ([run("make docs")], "`make docs` works here"),
    ],
)  # fmt: skip
def test_how_a_project_is_worked_on_is_what_passed(rows: list[Row], text: str) -> None:
    """How to check the work is the first thing that every session has to find out."""
    assert facts(*rows) == [("project", text)]


@pytest.mark.parametrize(
    "row",
    [
        run("uv run pytest", "1 failed", code=1), run("pytest --collect-only"),
        run("ruff check --fix ."), run("git push"),
        run("test -f a.py"), run("node check.js"), run(".specify/scripts/check.sh"),
        run("pytest /tmp/x"), run("ls && echo ok"),
        run("docker build -t shop ."), run("npm audit"), run("npm install left-pad"),
        run("for i in 1 2; do pytest; done"),
        run("make test X=$(date)"), run("gofmt -w a.go"), run("Test-Path package.json"),
        run("python -c 'import shop'"),
    ],
)  # fmt: skip
def test_what_failed_or_only_held_then_is_not_how_it_is_done(row: Row) -> None:
    """A note is read when the temporary files of the session are long gone."""
    assert facts(row) == []


def test_of_one_program_the_form_that_was_run_most_is_kept() -> None:
    """A list of all the ways to call pytest is of no help."""
    assert told(
        run("pytest", "1 passed"), run("pytest -q", "1 passed"), run("pytest -q", "1 passed")
    ) == ["To check work here, run `pytest -q`"]


def read(path: str, *, found: bool) -> Row:
    return call(
        path, "text" if found else "ENOENT: no such file or directory", kind="read", ok=found
    )


@pytest.mark.parametrize(
    ("project", "root"),
    [
        ("/home/ada/shop", "/home/ada/shop"),
        ("github.com/ada/shop", "/work/shop"),
        ("/home/ada/shop", "."),
    ],
)
def test_a_file_that_was_looked_for_elsewhere_first_is_kept_with_its_place(
    project: str, root: str
) -> None:
    """As seen from the project's folder: the next session may be on another machine."""
    missed, hit = (
        read(f"{root}/docs/deploy.md", found=False),
        read(f"{root}/ops/deploy.md", found=True),
    )

    assert facts(missed, hit, project=project) == [
        ("project", "`deploy.md` is at `ops/deploy.md`, not at `docs/deploy.md`")
    ]


def test_a_place_is_kept_only_where_it_is_one() -> None:
    """Of files that every folder has, that were made only then, or that are
    another project's, nothing follows.
    """
    missed, hit = (
        read("/home/ada/shop/a/cart.py", found=False),
        read("/home/ada/shop/b/cart.py", found=True),
    )

    assert told(missed, edit("/home/ada/shop/b/cart.py"), hit) == []
    assert told(missed, hit, read("/home/ada/shop/c/cart.py", found=True)) == []
    assert told(missed, read("/home/ada/other/b/cart.py", found=True)) == []
    assert (
        told(
            read("/home/ada/shop/a/index.ts", found=False),
            read("/home/ada/shop/b/index.ts", found=True),
        )
        == []
    )
    assert facts(missed, hit, project=None) == []


def test_a_version_is_what_a_program_said_last() -> None:
    """Which syntax may be used depends on it."""
    assert facts(run("node -v", "v18.1.0"), run("node --version", "v20.11.1")) == [
        ("project", "Node here is version 20.11.1")
    ]
    assert told(run(".venv/bin/python --version", "Python 3.12.3")) == [
        "Python here is version 3.12.3 (`.venv/bin/python`)"
    ]
    assert told(run("node -v", "v18", code=1), run("make --version", "GNU Make 4.3")) == []


def test_our_own_commands_prove_nothing() -> None:
    """What we told an agent must not come back as a fact."""
    assert facts(run("recollect search x", "", code=127), run("recollect check", "1 passed")) == []


WORDS = [
    "pytest",
    "uv run",
    "-q",
    "--x=1",
    "&&",
    "|",
    "cd a",
    ";",
    "tests/a.py",
    "npm",
    "run",
    "x:y",
    "'",
    "$(",
]
LINES = st.lists(st.sampled_from(WORDS)).map(" ".join)
RUNS = st.tuples(
    LINES, st.sampled_from(["", "unknown option --x", "v1.2"]), st.sampled_from([0, 1, 127])
)


@given(st.lists(RUNS))
def test_any_line_can_be_read(lines: list[tuple[str, str, int]]) -> None:
    """Agents write whatever a shell may take, and a note is always one short line."""
    for _, text in facts(*(run(line, output, code=code) for line, output, code in lines)):
        assert 0 < len(text) <= 260
        assert "\n" not in text
