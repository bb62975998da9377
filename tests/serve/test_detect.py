"""Learning and detecting from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.cli import main
from tests.builders.homes import claude_log, memory
from tests.builders.work import Work

NOT_FOUND = "bash: docker-compose: command not found"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(argv))
    return code, *capsys.readouterr()


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    code, out, err = run(capsys, *argv, "--json")
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def imported(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three sessions in which the same command failed and another worked instead,
    imported and not learned from; their turns.
    """
    (home / ".recollect").mkdir(mode=0o700)
    (home / ".recollect" / "config.toml").write_text("[redact]\nenabled = false\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    made = []
    for number in (1, 2, 3):
        work = Work(number).ask("start the shop")
        for other in range(12):
            work.run(f"tool{number}-{other}")
        work.run("docker-compose up", NOT_FOUND, code=127).run("docker compose up", "ok").done()
        claude_log(home, work.talk)
        made.append(f"{work.ref}#1")
    # The command would leave the work to a process that is as quick as we are.
    with memory(home) as mind:
        mind.import_logs()
    return made


def test_learning_says_what_it_did(imported: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Every field that a program may count on is there, also when it is nought."""
    assert answer(capsys, "learn") == [
        {"sessions": 3, "episodes": 0, "remaining": 0, "patterns": 1}
    ]
    assert (
        run(capsys, "learn")[1] == "Nothing new to learn from. 1 pattern in all: recollect detect\n"
    )


def test_a_pattern_is_told_in_a_sentence_with_its_evidence(
    imported: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What it is, how sure that is, and where to look."""
    main(["learn"])

    _, out, _ = run(capsys, "detect")

    first, second, third, *evidence = out.splitlines()
    assert first == "`docker-compose up` fails here; `docker compose up` works instead."
    assert second.split()[1:] == [
        "decision_point", "candidate", "confidence", "0.44,", "strength", second.split()[-1],
    ]  # fmt: skip
    assert third == "    3 sessions, 3 went well, last 2026-01-01; claude-code; /home/ada/shop"
    assert evidence == [f"    - 2026-01-01  {ref}  went well" for ref in imported]


def test_what_is_detected_can_be_read_by_a_program(
    imported: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """And narrowed down: by agent, project, time and number of sessions."""
    main(["learn"])

    (row,) = answer(
        capsys, "detect", "--agent", "claude-code", "--project", "/home/ada/shop", "--since",
        "2026-01-01",
    )  # fmt: skip

    assert [one["ref"] for one in row["evidence"]] == imported
    assert run(capsys, "detect", "--agent", "codex")[0] == 1
    assert run(capsys, "detect", "--min-frequency", "4")[0] == 1


@pytest.mark.usefixtures("imported")
def test_nothing_to_tell_is_said_with_what_to_do_next(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sessions are there, but nobody has looked at them."""
    with memory(home) as mind:
        list(mind.digest_new())

    code, out, err = run(capsys, "detect")

    assert (code, out) == (1, "")
    assert "New sessions: 3. To look for patterns in them now: recollect learn" in err
