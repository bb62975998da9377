"""recollect jobs run embed, with the encoder that comes with the package."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from tests.builders.homes import claude_log, small_talk


@pytest.fixture
def stored(home: Path) -> str:
    """A store with 20 turns, made by a command."""
    claude_log(home, small_talk(1, 20, "the migration deadlocks when two workers start"))
    path = str(home / "store.db")
    with Memory.open(path) as memory:
        memory.import_logs([home])
    return path


def test_embedding_says_what_it_did(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    """How many, with what, and what is left."""
    assert main(["jobs", "run", "embed", "--limit", "5", "--json", "--store", stored]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["jobs", "run", "embed", "--store", stored]) == 0
    second = capsys.readouterr().out

    assert {**first, "seconds": 0, "pieces": 0} == {
        "turns": 5, "pieces": 0, "seconds": 0, "encoder": "static:recollect-static-256",
        "remaining": 15,
    }  # fmt: skip
    assert second.startswith("15 turns embedded in ")
    assert "to go" not in second


def test_again_makes_everything_anew(stored: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For somebody who does not trust what is there."""
    main(["jobs", "run", "embed", "--store", stored])
    main(["jobs", "run", "embed", "--store", stored])
    assert "Every turn is embedded already" in capsys.readouterr().out

    main(["jobs", "run", "embed", "--again", "--store", stored])

    assert "20 turns embedded" in capsys.readouterr().out


def test_nothing_imported_is_said_with_the_next_step(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing to embed before the first import."""
    assert main(["jobs", "run", "embed", "--store", str(home / "none.db")]) == 1

    assert "Try: recollect import" in capsys.readouterr().err


def test_an_import_embeds_in_the_background(home: Path) -> None:
    """Nobody has to ask for it: the process that import leaves behind does it."""
    claude_log(home, small_talk(1, 20, "the migration deadlocks"))
    path = home / "store.db"

    assert (
        subprocess.call(
            [sys.executable, "-m", "recollect", "import", str(home), "--store", str(path)]
        )
        == 0
    )

    deadline = time.monotonic() + 60
    with Memory.open(path) as memory:
        while memory.jobs.all() and time.monotonic() < deadline:
            time.sleep(0.05)
        store = memory._shared.store()
        assert (store.vectors.waiting(), store.vectors.encoder()) == (
            0,
            "static:recollect-static-256",
        )


@pytest.mark.parametrize("wait", [["--wait"], []])
def test_an_import_embeds_with_another_model_for_one_run(
    home: Path,
    wait: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """To try a model nobody wants to edit a file; the next run is as ever.

    Without `--wait` it is another process that embeds, and it uses the same.
    """
    claude_log(home, small_talk(1, 2, "the migration deadlocks"))
    path = str(home / "store.db")
    # Nobody listens there, and the error names the address.
    monkeypatch.setenv("RECOLLECT_EMBED_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RECOLLECT_EMBED_DIMENSIONS", "64")

    main(["import", *wait, "--provider", "remote", "--model", "any", "--store", path])
    error, end = "", time.monotonic() + 30
    while "127.0.0.1:9" not in error and time.monotonic() < end:
        with Memory.open(path) as memory:
            error = " ".join(str(job.error) for job in memory.jobs.all() if job.kind == "embed")
        time.sleep(0.05)
    main(["jobs", "run", "embed", "--store", path])

    assert "127.0.0.1:9" in error
    assert "with static:recollect-static-256" in capsys.readouterr().out


def test_a_model_that_is_not_there_is_said_before_anything_is_read(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a job nobody would see it."""
    path, missing = str(home / "store.db"), str(home / "missing.onnx")

    code = main(["import", "--provider", "onnx", "--model", missing, "--store", path])

    assert (code != 0, f"There is no {missing}" in capsys.readouterr().err) == (True, True)
    assert not Path(path).exists()


def test_an_import_that_waits_says_how_many_sessions_it_analyzed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading a log is half of it; an import that leaves the rest to the background has none."""
    path = str(home / "store.db")
    reports = []
    for number, wait in ((1, ["--wait"]), (2, []), (3, ["--wait", "--dry-run"])):
        claude_log(home, small_talk(number, 2, "the migration deadlocks"))
        main(["import", *wait, "--json", "--store", path])
        reports.append(json.loads(capsys.readouterr().out)["analyzed"])

    assert reports == [1, 0, 0]
