"""Commands are taken apart the way a shell would, and nothing in them is guessed."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.reading.shell import Piece, grammar, pieces, told


def words(command: str) -> list[list[str]]:
    return [piece.words for piece in pieces(command)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "pytest -q && git push; ls | wc -l",
            [["pytest", "-q"], ["git", "push"], ["ls"], ["wc", "-l"]],
        ),
        ("cd web && CI=1 pnpm test 2>&1 | tail -5", [["pnpm", "test"], ["tail", "-5"]]),
        ("sudo -u www env -u A B=1 timeout 60 make -j4", [["make", "-j4"]]),
        (
            """git commit -m "a && b; c | d" 'it''s'""",
            [["git", "commit", "-m", "a && b; c | d", "its"]],
        ),
        ("bash -lc 'make dev; make test'", [["make", "dev"], ["make", "test"]]),
        (
            "echo $(git log | head -1; (date)) end",
            [["echo", "$(git log | head -1; (date))", "end"]],
        ),
        ("for a in 1 2; do run $a; done | sort", [["run", "$a"], ["sort"]]),
        ("make # && rm -rf /\nls", [["make"], ["ls"]]),
        ("say 'never closed", [["say", "'never", "closed"]]),
        ("# only a remark", []),
        ("", []),
    ],
)
def test_a_line_falls_into_its_commands(command: str, expected: list[list[str]]) -> None:
    """Operators inside quotes, remarks and substitutions are text.

    What only prepares or wraps a command is left out.
    """
    assert words(command) == expected


def test_a_here_document_is_no_command() -> None:
    """Agents write files this way all the time, and the files hold anything."""
    script = "cat > notes.md <<'EOF'\nrm -rf build > log\nEOF\nls -l"

    assert pieces(script) == (Piece(["cat"], ["notes.md"], "\n"), Piece(["ls", "-l"], [], ""))


def test_redirections_are_what_a_command_writes() -> None:
    """Reading, and joining two streams, write no file."""
    (piece,) = pieces("make < in.txt > out.txt 2>> err.txt 2>&1 &> all.txt")

    assert (piece.words, piece.writes) == (["make"], ["out.txt", "err.txt", "all.txt"])


@pytest.mark.parametrize(
    ("command", "folder"),
    [("make", ""), ("cd a && make", "a"), ("cd a; cd b; make", "a/b"), ("cd /srv && make", "/srv"),
    ("cd $HOME && make", None),
     ("bash -c 'cd a && make'", "a"), ("cd x && bash -c 'cd a && make'", "x/a")],
)  # fmt: skip
def test_a_command_knows_its_folder(command: str, folder: str | None) -> None:
    """A relative path means something else after cd; where that leads is not always known."""
    assert pieces(command)[-1].folder == folder


@pytest.mark.parametrize(
    ("command", "ok", "place", "expected"),
    [
        ("make", True, 0, True),
        ("make", False, 0, False),
        ("make", None, 0, None),
        ("ruff check && pytest", True, 0, True),
        ("ruff check && pytest", True, 1, True),
        ("ruff check && pytest", False, 0, None),
        ("ruff check && pytest", False, 1, None),
        ("ruff check && pytest | tail", True, 0, True),
        ("ruff check && pytest | tail", True, 1, None),
        ("pytest; ls", True, 0, None),
        ("pytest; ls", True, 1, True),
        ("pytest; ls", False, 1, False),
        ("pytest || true", True, 0, None),
        ("pytest || make test", True, 1, None),
        ("pytest || make test | tail", True, 2, None),
        ("pytest || make test && ruff check", True, 2, True),
        ("serve &", True, 0, None),
    ],
)
def test_the_end_of_a_line_tells_about_some_of_its_commands(
    command: str, ok: bool | None, place: int, expected: bool | None
) -> None:
    """A pipe hides an exit code, a chain that broke does not say where:
    that is not counted as success or failure.
    """
    assert told(ok, pieces(command), place) is expected


def test_loops_and_conditions_are_seen() -> None:
    assert [grammar(line) for line in ("for a in b; do c; done", "if a; then b; fi",
    "git format-patch", "make if=1")] == [
        True, True, False, False,
    ]  # fmt: skip


@given(
    st.lists(
        st.text(
            alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"),
            min_size=1,
        ),
        max_size=6,
    )
)
def test_quoted_words_come_back_as_they_were(given_words: list[str]) -> None:
    """Whatever is in them: what a person quotes is one word."""
    assert words("run " + shlex.join(given_words)) == [["run", *given_words]]


@given(st.text(alphabet="ab '\"\\$()`|&;<>#\n-=", max_size=40))
def test_anything_can_be_read(command: str) -> None:
    """Logs hold broken commands too."""
    for piece in pieces(command):
        assert piece.words or piece.writes


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            r"Get-Content -LiteralPath 'C:\shop\a.txt' | Select-Object -First 5",
            [
                ["Get-Content", "-LiteralPath", r"C:\shop\a.txt"],
                ["Select-Object", "-First", "5"],
            ],
        ),
        (
            r'& "C:\Program Files\node.exe" build.js; Get-ChildItem .\dist',
            [[r"C:\Program Files\node.exe", "build.js"], ["Get-ChildItem", r".\dist"]],
        ),
        (
            'Get-Process | Where-Object { $_.Name -match "py|js"; 1 }',
            [["Get-Process"], ["Where-Object", '{ $_.Name -match "py|js"; 1 }']],
        ),
        (r'powershell -Command "Get-Item C:\shop\a"', [["Get-Item", r"C:\shop\a"]]),
        (r"cmd /c dir C:\shop", [["dir", r"C:\shop"]]),
        ("$env:CI='1'; npm test", [["npm", "test"]]),
    ],
)
def test_commands_of_windows_are_read_as_what_they_are(
    command: str, words: list[list[str]]
) -> None:
    """A backslash is a letter of a path there, and a block in braces is one word."""
    assert [piece.words for piece in pieces(command)] == words


def test_a_cd_goes_to_a_drive() -> None:
    """A path with a drive is no folder below the one before."""
    assert [piece.folder for piece in pieces(r"cd web; cd C:\shop; npm test")] == [r"C:\shop"]
