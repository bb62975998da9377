"""recollect recall: what an agent is told, on the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator

import pytest

from recollect.serve.cli import main
from tests.builders.hooks import within_frame
from tests.builders.talks import SHOP, Said, Talks

PROMPT = "the webhook signature check fails again"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    made = Talks(tmp_path_factory.mktemp("told"))
    made.tell(
        "a",
        Said("why does the webhook signature check fail?", command="pytest -q hooks"),
        "rename a column of the table",
    )
    yield made.embed()
    made.close()


@pytest.fixture(autouse=True)
def stored(told: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line finds that store."""
    monkeypatch.setenv("RECOLLECT_STORE", str(told.filled.path))


def test_the_pack_is_printed_as_an_agent_gets_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Framed, and nothing else on stdout: it can be piped into a prompt."""
    assert main(["recall", *PROMPT.split(), "--folder", SHOP]) == 0

    out, err = capsys.readouterr()
    assert within_frame(out.rstrip("\n")) == [
        "- 2026-01-01 codex:a#1: asked “why does the webhook signature check fail?”; ran `pytest "
        "-q hooks` (ok)"
    ]
    assert err == ""


def test_as_json_it_has_lines_tokens_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    """For a program that composes its own."""
    assert main(["recall", PROMPT, "--folder", SHOP, "--json"]) == 0

    pack = json.loads(capsys.readouterr().out)
    assert list(pack) == ["lines", "tokens", "text"]
    assert [list(line) for line in pack["lines"]] == [
        ["ref", "at", "project", "confidence", "text", "trust"]
    ]


def test_a_prompt_can_be_piped_in(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts are long, and shells are in the way."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PROMPT}\nplease\n"))

    assert main(["recall", "-", "--folder", SHOP]) == 0

    assert "codex:a#1" in capsys.readouterr().out


def test_without_a_prompt_it_is_what_memory_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """One text, whoever asks; only the frame is left out where a person reads it."""
    assert main(["recall", "--folder", SHOP]) == 0
    told = within_frame(capsys.readouterr().out.rstrip("\n"))
    assert main(["memory", "--folder", SHOP]) == 0

    assert told == capsys.readouterr().out.rstrip("\n").split("\n")


def test_memory_for_a_prompt_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever looks at the memory asks there what a prompt calls up."""
    assert main(["recall", PROMPT, "--folder", SHOP]) == 0
    told = capsys.readouterr().out
    assert main(["memory", "--for", PROMPT, "--folder", SHOP]) == 0

    assert capsys.readouterr().out == told


@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize(
    "words",
    [
        ["write", "a", "poem", "about", "spring", "--folder", SHOP],
        [PROMPT, "--folder", "/srv/unknown"],
        ["--folder", "/srv/unknown"],
        [PROMPT, "--folder", SHOP, "--budget", "20"],
        [PROMPT, "--folder", SHOP, "--budget", "0"],
    ],
)
def test_silence_is_an_exit_code_and_nothing_on_stdout(
    words: list[str], json_too: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is piped into an agent is then empty, and a person reads why on stderr."""
    assert main(["recall", *words, *json_too]) == 1

    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)


def test_other_projects_are_told_about_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """One may be in a new folder."""
    assert main(["recall", PROMPT, "--folder", "/srv/unknown", "--everywhere"]) == 0

    assert "codex:a#1" in capsys.readouterr().out


def test_a_budget_is_a_whole_number(capsys: pytest.CaptureFixture[str]) -> None:
    """A negative one would be a slip."""
    with pytest.raises(SystemExit) as stopped:
        main(["recall", PROMPT, "--budget", "-5"])

    assert stopped.value.code == 2
