"""What `recollect help` shows, and what is said of a word that is no command."""

from __future__ import annotations

import pytest

from recollect.model.search import FILTERS
from recollect.serve.cli import COMMANDS, HIDDEN_ALIASES, load, main
from recollect.serve.cli.style import cells


@pytest.mark.parametrize("words", [["help"], ["-h"], ["--help"]])
def test_the_first_page_has_sixteen_verbs(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A person decides in a minute; the rest is one page further."""
    assert main(words) == 0

    lines = capsys.readouterr().out.splitlines()
    verbs = [line[10:].split()[0] for line in lines[2:-3] if line]
    assert " ".join(verbs) == (
        "search sessions show resume fix how blame memory review told publish tui web stats"
        " import install"
    )
    assert len(lines) <= 30
    assert max(map(cells, lines)) <= 80


def test_the_other_page_has_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "all"]) == 0

    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:2] == "  "]
    assert sorted(listed) == sorted(COMMANDS)


def test_help_of_a_command_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Also by the name that people know from elsewhere."""
    for name in ("sessions", "ls"):
        assert main(["help", name]) == 0
        assert capsys.readouterr().out.startswith("Usage: recollect sessions ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_and_says_what_all_commands_take_once(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Thirteen filters on nine pages are read by nobody: they have a page of their own."""
    assert main(["help", name]) == 0

    lines = capsys.readouterr().out.splitlines()
    options = {line.split()[0] for line in lines if line.startswith("  -")}
    assert max(map(cells, lines)) <= 100
    assert sum(line.startswith("Everywhere: ") for line in lines) == 1
    assert not {"--json", "--store", "--meta", "--outcome"} & options


def test_each_filter_is_explained_on_one_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "filters"]) == 0

    page = capsys.readouterr().out
    assert [name for name in FILTERS if f"\n  {name}: " not in page] == []
    assert max(map(cells, page.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("serach x", "Did you mean search?"),
        ("rm 453d", "Did you mean forget?"),
        ("history", "Did you mean sessions?"),
        ("distill", "Did you mean memory update?"),
        ("measure", "Did you mean told --effect?"),
        ("repair", "Did you mean doctor --repair?"),
        ("deadlock migration", "To search: recollect search deadlock migration"),
        ("x;y", "All commands: recollect help all"),
        ("help deadlock", "To search: recollect search deadlock"),
    ],
)
def test_an_unknown_word_gets_a_hint_and_nothing_is_run(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: There is no command ")
    assert printed.err.endswith(f" {said}\n")


def test_other_names_mean_commands_that_there_are() -> None:
    page = load("help_page")

    assert {words[0] for words in HIDDEN_ALIASES.values()} <= COMMANDS.keys()
    assert {command.split()[0] for command in page.MEANT.values()} <= COMMANDS.keys()
    assert not (HIDDEN_ALIASES.keys() | page.MEANT.keys()) & COMMANDS.keys()


@pytest.mark.parametrize("words", [["version"], ["-V"], ["--version"]])
def test_the_version_has_every_usual_name(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("recollect ")
