"""The speed figures stand on made-up logs and queries: these must be
what they claim to be, on any machine.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import apsw
import msgspec
import pytest

from bench.judging.sets import TalkSession
from bench.measure import absolute, wall_of_process
from bench.queries import ASKING, QUESTION_WORDS, questions_about
from bench.suites import SUITES, get_suite, million
from bench.suites.hook import Hook

WORDS = [f"word{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """The text of six turns in two sessions; one of them holds the word that will be asked for."""
    path = tmp_path / "texts.db"
    plain = apsw.Connection(str(path))
    plain.execute("create table texts (ref text, body text, said text)")
    for number in range(6):
        body = " ".join([*WORDS, "seldom"] if number == 4 else WORDS)
        plain.execute(
            "insert into texts values (?, ?, '')", (f"codex:{number // 3}#{number % 3 + 1}", body)
        )
    plain.close()
    return path


def written(paths: list[Path]) -> list[list[TalkSession]]:
    return [
        [msgspec.json.decode(line, type=TalkSession) for line in path.read_bytes().splitlines()]
        for path in paths
    ]


def test_a_question_is_some_words_in_a_row_of_what_was_said() -> None:
    """Words thrown together would be easier or harder to find than what people ask."""
    said = " ".join(WORDS)

    questions = list(questions_about([said, "too short", said], random.Random(1)))

    assert len(questions) == 2
    for question in questions:
        assert question[:3] == ASKING
        assert QUESTION_WORDS[0] <= len(question[3:]) <= QUESTION_WORDS[1]
        assert " ".join(question[3:]) in said


def test_the_large_store_has_exactly_its_number_of_turns(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A figure for a million turns is none when there are fewer."""
    monkeypatch.setattr(million, "TURNS", 20)

    logs = written(million.write_logs(tmp_path, texts, [("seldom", "never")]))

    assert [[len(session.turns) for session in log] for log in logs] == [
        [3, 3],
        [3, 3],
        [3, 3],
        [2],
    ]
    assert len({session.id for log in logs for session in log}) == 7


def test_words_that_are_asked_for_are_as_common_in_the_large_store(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were they rarer there, searching it would look faster than it is."""
    monkeypatch.setattr(million, "TURNS", 60)

    logs = written(million.write_logs(tmp_path, texts, [("seldom", "never")]))

    prompts = [turn.prompt for log in logs for session in log for turn in session.turns]
    assert sum(bool(re.search(r"\bseldom\b", prompt)) for prompt in prompts) == 10


def test_the_slowest_counts_where_none_may_be_slow() -> None:
    """A median would hide the one hook that an agent waits for."""
    slowest = absolute("hook", "slowest hook", [0.02, 1.5, 0.03], target=1, unit="s wall", of=max)

    assert (slowest.ours, slowest.ratio, slowest.reached) == (1.5, 1.5, False)
    assert slowest.samples() == [0.02, 1.5, 0.03]


def test_every_run_of_a_hook_is_another_session(tmp_path: Path) -> None:
    """A session is told nothing twice: the second run would be measured silent."""
    hook = Hook(
        "UserPromptSubmit", tmp_path, speaks=True, fields={"prompt": "the worker deadlocks"}
    )

    runs = [
        msgspec.json.decode(Path(hook.passed(tmp_path / "in.json")).read_bytes()) for _ in range(2)
    ]

    assert runs[0]["session_id"] != runs[1]["session_id"]
    del runs[0]["session_id"]
    assert runs[0] == {
        "transcript_path": "/nowhere/rollout.jsonl",
        "cwd": str(tmp_path),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "the worker deadlocks",
    }


def test_a_measured_process_gets_its_input(tmp_path: Path) -> None:
    """A hook that reads nothing is faster than any agent will see it.

    One that fails is not measured at all.
    """
    (tmp_path / "in.json").write_text("passed")
    reads = [sys.executable, "-c", "import sys; sys.exit(sys.stdin.read() != 'passed')"]

    assert wall_of_process(reads, {}, stdin=str(tmp_path / "in.json")) > 0
    with pytest.raises(RuntimeError, match="ended with 1"):
        wall_of_process(reads, {})


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_can_be_loaded(name: str) -> None:
    """`python -m bench all` runs for many minutes before it would notice."""
    assert callable(get_suite(name))
