"""recollect notes: what people do with notes on the command line."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.cli import main
from tests.builders import homes

FIELDS = [
    "ref", "category", "text", "project", "status", "trust", "author", "confidence", "session",
    "turn", "seen",
    "created_at", "seen_at", "valid_from", "valid_to", "superseded_by",
]  # fmt: skip


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, and a store that removes no
    secrets: that takes a while to get ready.
    """
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (home / ".recollect").mkdir(mode=0o700)
    (home / ".recollect" / "config.toml").write_text("[redact]\nenabled = false\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    return folder


def agent_says(home: Path, text: str, folder: Path) -> None:
    with homes.memory(home) as memory:
        memory.old.remember(text, folder=str(folder))


def rows(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    main(["notes", *argv, "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_person_adds_a_note_that_counts_at_once(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words need no quotes, and the category may be called what a model calls it."""
    assert main(["notes", "add", "use", "tabs", "here", "--category", "User_Preference"]) == 0

    out, err = capsys.readouterr()
    first, second, third = out.splitlines()
    assert first == f"note:1  active  preference  {shop}"
    assert second == "    use tabs here"
    assert third.startswith("    by person, trust user, seen 1 time, last 20")
    assert err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems only have names that are text")
def test_a_folder_may_be_called_by_bytes_that_are_no_text(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody unpacked an old archive there."""
    folder = Path(os.fsdecode(bytes(shop) + b"/caf\xe9"))
    folder.mkdir()
    monkeypatch.chdir(folder)

    assert main(["notes", "add", "use", "tabs"]) == 0

    assert [(row["text"], row["project"]) for row in rows(capsys)] == [("use tabs", f"{shop}/caf?")]
    assert main(["notes", "--project", str(folder)]) == 0


def test_notes_of_this_folder_are_listed_with_those_that_hold_everywhere(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is rejected or replaced, or of another project, is shown when asked for."""
    main(["notes", "add", "shop", "fact"])
    main(["notes", "add", "world", "fact", "--everywhere", "--category", "decision"])
    agent_says(home, "wrong fact", shop)
    agent_says(home, "farm fact", shop.parent)
    main(["notes", "reject", "note:3"])

    def texts(*argv: str) -> list[str]:
        return [row["text"] for row in rows(capsys, *argv)]

    assert texts() == texts("--project", str(shop)) == ["world fact", "shop fact"]
    assert texts("--everywhere") == texts("--category", "Decision") == ["world fact"]
    assert texts("--status", "rejected") == ["wrong fact"]
    assert texts("--all") == ["farm fact", "wrong fact", "world fact", "shop fact"]
    assert texts("--all", "--limit", "1") == ["farm fact"]


def test_notes_have_the_promised_fields(capsys: pytest.CaptureFixture[str]) -> None:
    [added] = rows(capsys, "add", "use tabs")
    [listed] = rows(capsys)
    [edited] = rows(capsys, "edit", "note:1", "use", "spaces")

    assert list(added) == FIELDS
    assert listed == added
    assert (edited["ref"], edited["text"]) == ("note:2", "use spaces")


def test_several_notes_are_judged_at_once_or_not_at_all(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip in the second reference must not leave the first half done."""
    agent_says(home, "one", shop)
    agent_says(home, "two", shop)

    refused = main(["notes", "accept", "note:1", "note:9"])
    before = [row["status"] for row in rows(capsys)]
    accepted = [
        (row["ref"], row["status"], row["trust"]) for row in rows(capsys, "accept", "note:1", "2")
    ]

    assert (refused, before) == (1, ["candidate", "candidate"])
    assert accepted == [("note:1", "active", "user"), ("note:2", "active", "user")]


def test_forgetting_a_note_asks_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["notes", "add", "use tabs"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))

    unasked = main(["notes", "forget", "note:1"])
    capsys.readouterr()
    done = main(["notes", "forget", "note:1", "--yes"])

    assert (unasked, done) == (2, 0)
    assert capsys.readouterr().out == "forgot note:1: use tabs\n"
    assert main(["forget", "note:1", "--yes"]) == 2
    assert "Try: recollect notes forget note:1" in capsys.readouterr().err
    assert main(["notes"]) == 1


@pytest.mark.parametrize(
    "argv", [["add"], ["accept"], ["edit", "note:1"], ["list", "note:1"], ["forget"]]
)
def test_what_is_missing_is_said(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notes", *argv]) == 2

    assert f"`recollect notes {argv[0]}` takes" in capsys.readouterr().err


def test_no_notes_are_no_error_but_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["notes", "add", "use tabs"])

    assert main(["notes", "--status", "rejected"]) == 1
    assert "All of them: recollect notes --all" in capsys.readouterr().err


def test_a_note_is_shown_counted_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever references are taken, and wherever everything is meant."""
    main(["notes", "add", "use tabs"])
    capsys.readouterr()

    main(["show", "note:1"])
    shown = capsys.readouterr().out
    main([])
    overview = capsys.readouterr().out
    main(["export", "--notes"])
    exported = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    refused = main(["export", "--notes", "tabs"])

    assert shown.splitlines()[1] == "    use tabs"
    assert "1 note: recollect notes --all" in overview.splitlines()
    assert exported == rows(capsys, "--all")
    assert refused == 2


def test_notes_are_kept_in_a_file_of_ones_own(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a person said, and nothing that only an agent did.

    What was rejected leaves the file again.
    """
    main(["notes", "add", "use tabs", "--category", "preference"])
    agent_says(home, "use spaces", shop)
    file = shop / "docs" / "AGENTS.md"
    capsys.readouterr()

    wrote = main(["notes", "--to", str(file)])
    said = capsys.readouterr().err
    text = file.read_text()
    again = main(["notes", "--to", str(file)])
    said_again = capsys.readouterr().err
    listed = [row["text"] for row in rows(capsys, "--to", str(file))]

    assert (wrote, again) == (0, 0)
    assert f"Wrote {file}" in said
    assert f"{file} is up to date." in said_again
    assert listed == ["use spaces", "use tabs"]
    assert text.splitlines()[-1] == "- **[preference]** use tabs *(confidence: 100%)*"
    assert text.startswith("## Auto-extracted memories\n\n### Session memories — 20")

    main(["notes", "reject", "note:1"])
    main(["notes", "--to", str(file)])
    main(["notes", "--to", str(file), "--status", "rejected"])
    assert file.read_text() == "## Auto-extracted memories\n"


def test_only_a_list_is_written_to_a_file(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notes", "add", "use tabs", "--to", "AGENTS.md"]) == 2

    assert "--to writes a list" in capsys.readouterr().err
    assert not (shop / "AGENTS.md").exists()
