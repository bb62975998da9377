"""Queries on the command line: words, filters and options, the same for
every command that looks something up.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from recollect.model.search import CHOICES, FILTERS
from recollect.serve.cli import load, main, parser

SAMPLES = Path(recollect.__file__).parent / "samples"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the sample sessions; nothing here writes to it."""
    folder = tmp_path_factory.mktemp("samples")
    with Memory.open(folder / "recollect.db", environ={"RECOLLECT_HOME": str(folder)}) as memory:
        memory.import_logs([SAMPLES])
    return folder / "recollect.db"


@pytest.fixture
def stored(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line finds that store."""
    monkeypatch.setenv("RECOLLECT_STORE", str(samples))


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The sessions that a command line lists."""
    main(["sessions", "--json", "--limit", "100", *words])
    return [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]


def test_every_filter_is_in_the_page() -> None:
    """A filter nobody can read about does not exist."""
    page = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")

    assert [name for name in [*FILTERS, "meta.KEY"] if f"`{name}:" not in page] == []
    assert [f"is:{word}" for word in CHOICES["is"] if f"`is:{word}`" not in page] == []
    assert [
        word for word in CHOICES["outcome"] if f"`{word}`" not in page and f":{word}`" not in page
    ] == []


@pytest.mark.parametrize("command", ["sessions", "stats", "export"])
def test_every_filter_is_an_option(command: str) -> None:
    """What can be typed can be scripted, without quoting values inside a text."""
    options = parser(command, load(command)).format_help()

    assert [name for name in [*FILTERS, "meta"] if f"--{name} " not in options] == []


@pytest.mark.parametrize(
    ("typed", "option"),
    [
        (["agent:codex"], ["--agent", "codex"]),
        (["agent:codex", "agent:claude"], ["--agent", "codex", "--agent", "claude"]),
        (["is:error", "file:money.py"], ["--is", "error", "--file", "money.py"]),
        (["meta.git.branch:fix/*"], ["--meta", "git.branch=fix/*"]),
    ],
)
def test_an_option_means_what_the_filter_means(
    typed: list[str], option: list[str], stored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """One language, two ways to write it."""
    found = listed(capsys, *typed)

    assert found
    assert listed(capsys, *option) == found


def test_words_choose_sessions_and_a_minus_leaves_out(
    stored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when what is left out looks like an option."""
    everything, of_codex = listed(capsys, "deadlock"), listed(capsys, "deadlock", "agent:codex")

    assert 0 < len(of_codex) < len(everything)
    assert listed(capsys, "deadlock", "-agent:codex") == [
        name for name in everything if name not in of_codex
    ]


def test_words_choose_what_is_summed_up_and_exported(
    stored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ignoring them would give a wrong number that looks right."""
    sessions = listed(capsys, "deadlock")

    assert main(["stats", "--by", "all", "--json", "deadlock"]) == 0
    assert json.loads(capsys.readouterr().out)["sessions"] == len(sessions)
    assert main(["export", "deadlock"]) == 0
    assert sorted(
        json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()
    ) == sorted(sessions)


@pytest.mark.parametrize(
    ("words", "remark"),
    [
        (["outcome:success"], "Sessions without an outcome: "),
        (["--outcome", "success"], "Sessions without an outcome: "),
        (["--domain", "nobody"], 'There is no domain "nobody". Domains: none yet'),
        (["is:opne"], "is:opne was searched as text"),
    ],
)
@pytest.mark.parametrize("command", ["sessions", "stats", "export"])
def test_what_should_be_known_about_a_query_is_said_on_stderr(
    command: str, words: list[str], remark: str, stored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer stays an answer, and nobody takes an empty one at its word."""
    assert main([command, *words]) == 1

    answer, told = capsys.readouterr()
    assert (answer, remark in told) == ("", True)


@pytest.mark.parametrize(
    "words",
    ["--since banana", "--is opne", "--outcome great", "--meta branch", "--meta =x", "--project="],
)
def test_an_option_that_cannot_be_is_a_wrong_request(
    words: str, stored: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the next step in the second line."""
    assert main(["sessions", *words.split()]) == 2

    assert len(capsys.readouterr().err.splitlines()) == 2
