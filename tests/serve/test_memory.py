"""`recollect memory`: what a next session should know, out of the sample sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.cli import main

SAMPLES = Path(__file__).parents[2] / "src" / "recollect" / "samples"
WEBSHOP = "github.com/acme/webshop"


@pytest.fixture
def filled() -> None:
    with Memory.open() as memory:
        memory.import_logs([SAMPLES / "claude", SAMPLES / "codex"])


@pytest.mark.usefixtures("filled")
def test_the_standing_rules_of_a_project_are_in_its_short_form(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """uv, ruff before every commit, port 5050: whoever works there next needs them."""
    assert main(["memory", "--project", WEBSHOP]) == 0

    told = capsys.readouterr().out
    assert "5050" in told
    assert "ruff before commit" in told
    assert "`uv run pytest -q -n 4`" in told


@pytest.mark.usefixtures("filled")
def test_the_long_form_begins_with_the_lines_of_the_short_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One order, two lengths: what is cut off is what matters less."""
    main(["memory", "--project", WEBSHOP, "--json"])
    short = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    main(["memory", "--project", WEBSHOP, "--long", "--json"])
    long = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert long[: len(short)] == short
    assert len(long) > len(short)
    assert all(line["in_pack"] for line in short)


@pytest.mark.usefixtures("filled")
def test_every_line_rests_on_a_turn_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A person who doubts a line can read what was really said."""
    main(["memory", "--project", WEBSHOP, "--long", "--json"])
    turns = {json.loads(line)["turns"][0] for line in capsys.readouterr().out.splitlines()}

    with Memory.open() as memory:
        assert all(memory.show(turn) for turn in turns)


@pytest.mark.usefixtures("filled")
def test_a_project_is_told_nothing_of_another(capsys: pytest.CaptureFixture[str]) -> None:
    """What holds in one project may be wrong next door."""
    main(["memory", "--project", "github.com/acme/tidepool", "--long"])

    told = capsys.readouterr().out
    assert "cargo nextest" in told
    assert "5050" not in told


@pytest.mark.usefixtures("filled")
def test_an_unknown_folder_is_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing found is an answer with a next step."""
    assert main(["memory", "--folder", str(tmp_path)]) == 1

    assert "recollect import" in capsys.readouterr().err
