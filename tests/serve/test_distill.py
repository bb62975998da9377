"""Distilling from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.cli import main
from tests.builders.homes import claude_log, memory
from tests.builders.work import Work


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(argv))
    return code, *capsys.readouterr()


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    code, out, err = run(capsys, *argv, "--json")
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def work(home: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    """A session that is imported and not distilled yet, in a store that removes no
    secrets: that takes a while to get ready.
    """
    (home / ".recollect").mkdir(mode=0o700)
    (home / ".recollect" / "config.toml").write_text("[redact]\nenabled = false\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    made = Work().ask("mend the cart").run("pytest -q", "1 passed").done()
    claude_log(home, made.talk)
    # The command would leave the work to a process that is as quick as we are.
    with memory(home) as mind:
        mind.import_logs()
    return made


def test_distilling_says_what_it_did(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    """Every field that a program may count on is there, also when it is nought."""
    (row,) = answer(capsys, "distill", "--now")

    assert row == {
        "considered": 1, "candidates": 1, "distilled": 1, "failed": 0, "skipped": 0, "projects": 1,
        "consolidated": 1,
        "locked": 0, "tokens": 0, "cost_usd": 0.0,
    }  # fmt: skip
    assert run(capsys, "distill")[1] == "Nothing to do.\n"


def test_a_memory_is_shown_once_it_is_made(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    """Asked for too early, it says how to get it."""
    code, _, err = run(capsys, "show", work.ref, "--memory")
    assert (code, "recollect distill" in err) == (1, True)

    main(["distill", "--now"])

    assert run(capsys, "show", work.ref, "--memory")[1].startswith("# summary\n")
    (row,) = answer(capsys, "show", work.ref, "--memory")
    assert (row["session"], row["engine"]) == (work.ref, "rules")


def test_consolidating_says_where_the_files_are(
    work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their folder is named after a hash, which nobody guesses."""
    main(["distill", "--now"])
    (project,) = answer(capsys, "projects")

    code, out, err = run(capsys, "consolidate", "--project", project["key"])

    assert (code, out) == (0, "Nothing to do.\n")
    assert (Path(err.split()[-1]) / "MEMORY.md").is_file()


def test_an_agent_can_do_it_in_two_steps(
    work: Work, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files go out, the answers come in, and the project's memory follows."""
    folder = str(tmp_path / "jobs")
    (written,) = answer(capsys, "distill", "--jobs", folder, "--now")
    job = Path(written["path"])
    name = next(
        line for line in job.read_text().splitlines() if line.startswith("answer: ")
    ).removeprefix("answer: ")
    (job.parent / name).write_text(
        json.dumps({"traceMemory": "the cart was mended", "summary": "a mended cart"})
    )

    (kept,) = answer(capsys, "distill", "--commit", folder)

    assert (written["outcome"], kept["outcome"]) == ("written", "kept")
    (row,) = answer(capsys, "show", work.ref, "--memory")
    assert (row["engine"], row["summary"]) == ("agent", "a mended cart")
    assert answer(capsys, "distill", "--now")[0]["candidates"] == 0
    (project,) = answer(capsys, "projects")
    summary = (
        Path(run(capsys, "consolidate", "--project", project["key"])[2].split()[-1])
        / "memory_summary.md"
    )
    assert summary.read_text().splitlines()[2:] == [f"- a mended cart (trace: {work.ref})"]


@pytest.mark.parametrize(
    "argv",
    [
        ["--jobs", "a", "--commit", "b"],
        ["--jobs", "a", "--engine", "llm"],
        ["--engine", "agent"],
        ["--limit", "many"],
        ["--commit", "not a folder"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused(
    argv: list[str], work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do instead."""
    try:
        code = main(["distill", *argv])
    except SystemExit as stop:
        code = int(stop.code or 0)

    assert code == 2
    assert capsys.readouterr().err


def test_a_project_that_nobody_knows_is_not_found(
    work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip of the finger must not look like a project without memories."""
    for command in ("distill", "consolidate"):
        code, _, err = run(capsys, command, "--project", "nowhere")

        assert (code, "recollect projects" in err) == (1, True)


def test_a_model_that_is_not_set_up_says_what_is_missing(
    work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was sent anywhere."""
    code, _, err = run(capsys, "distill", "--engine", "llm")

    assert code in (65, 69)
    assert "llm" in err
