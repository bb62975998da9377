"""The same questions are asked of a store of one repository, and of all of them together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import growth
from tests.builders.homes import chat


def laid_out(
    logs: Path, repository: str, number: int, prompt: str, reply: str
) -> dict[str, object]:
    """A session with one turn in the logs of a repository, and what a question calls it."""
    talk = chat(number, cwd=f"/home/ada/{repository}")
    talk.user(prompt)
    talk.reply(reply)
    folder = logs / f"ada+{repository}" / "claude" / "projects" / f"-home-ada-{repository}"
    folder.mkdir(parents=True)
    talk.write(folder / f"{talk.session}.jsonl")
    return {"repo": f"ada/{repository}", "session": f"claude-code:{talk.session}", "turn": 1}


def test_each_question_is_asked_in_its_repository_and_in_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without generated turns, which a generator beside the project makes."""
    logs = tmp_path / "logs"
    garden = laid_out(logs, "garden", 1, "water the tomatoes", "They get a litre each morning.")
    shop = laid_out(logs, "shop", 2, "round the prices", "Prices are rounded to the penny.")
    questions = [
        {"question": "tomatoes", "kind": "how", "answers": [garden]},
        {"question": "penny", "kind": "how", "answers": [{**shop, "turn": None}]},
        {"question": "penny", "kind": "how", "answers": [garden]},
        {"question": "submarine", "kind": "none", "answers": []},
    ]
    asked = tmp_path / "questions.jsonl"
    asked.write_text("".join(json.dumps(one) + "\n" for one in questions))
    picture = tmp_path / "growth.svg"

    given = ["--logs", str(logs), "--questions", str(asked), "--picture", str(picture)]
    growth.main([*given, "--times", "", "--json"])

    told = json.loads(capsys.readouterr().out)
    for stage in told:
        assert stage.pop("cold_ms") > 0
        assert stage.pop("resident_ms") > 0
    always = {"questions": 3, "said_nothing_wrongly": 0.0, "first_3": 1.0, "first_10": 1.0}
    # In its own repository the only turn is the answer; among all, another one has the word.
    assert told == [
        {"name": "own repository", "turns": 1, "first": 1.0, "said_nothing": None, **always},
        {"name": "all repositories", "turns": 2, "first": 0.667, "said_nothing": 0.0, **always},
    ]
    assert picture.read_text().startswith("<svg ")
