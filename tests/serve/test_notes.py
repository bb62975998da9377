"""recollect memory: what people do with notes on the command line."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.cli import lists, main
from tests.builders import homes


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
        memory.notes.add(text, folder=str(folder), by="agent")


def rows(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    main(["memory", *argv, "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_person_adds_a_note_that_counts_at_once(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words need no quotes, and the category may be called what a model calls it."""
    assert main(["memory", "add", "use", "tabs", "here", "--category", "User_Preference"]) == 0

    out, err = capsys.readouterr()
    first, second, third = out.splitlines()
    assert re.fullmatch(rf"note:[a-z2-7]{{8}}  active  preference  {shop}  in the pack", first)
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

    assert main(["memory", "add", "use", "tabs"]) == 0

    assert [(row["text"], row["project"]) for row in rows(capsys, "list")] == [
        ("use tabs", f"{shop}/caf?")
    ]
    assert main(["memory", "list", "--project", str(folder)]) == 0


def ref_of(capsys: pytest.CaptureFixture[str], text: str) -> str:
    (row,) = rows(capsys, "list", text, "--all")
    return str(row["ref"])


def test_notes_of_this_folder_are_listed_with_those_that_hold_everywhere(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is rejected or replaced, or of another project, is shown when asked for."""
    farm = shop.parent / "farm"
    farm.mkdir()
    main(["memory", "add", "shop", "fact"])
    main(["memory", "add", "world", "fact", "--everywhere", "--category", "decision"])
    agent_says(home, "wrong fact", shop)
    agent_says(home, "farm fact", farm)
    main(["memory", "reject", ref_of(capsys, "wrong")])

    def texts(*argv: str) -> set[str]:
        return {row["text"] for row in rows(capsys, "list", *argv)}

    assert texts() == texts("--project", str(shop)) == {"world fact", "shop fact"}
    assert texts("--everywhere") == texts("--category", "Decision") == {"world fact"}
    assert texts("--status", "rejected") == {"wrong fact"}
    assert texts("--author", "agent", "--all") == {"farm fact", "wrong fact"}
    assert texts("--all") == {"farm fact", "wrong fact", "world fact", "shop fact"}
    assert len(texts("--all", "--limit", "1")) == 1


def test_a_long_list_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("one fact", "two facts", "three facts"):
        main(["memory", "add", text])
    capsys.readouterr()

    main(["memory", "list", "--limit", "2"])

    out, err = capsys.readouterr()
    following = re.search(r"2 of 3. The rest: recollect (memory list --limit 2 --cursor .+)", err)
    assert following is not None
    main(following[1].split())
    assert out.count("note:") + capsys.readouterr().out.count("note:") == 3


def test_the_rest_of_a_list_is_of_the_same_notes(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("shop one", "shop two"):
        agent_says(home, text, shop)
    options = ("shop", "--project", str(shop), "--status", "candidate")
    main(["memory", "list", *options, "--limit", "1"])

    following = re.search(r"The rest: recollect (.+)", capsys.readouterr().err)

    assert following is not None
    assert following[1].startswith(f"memory list shop --project {shop} --status candidate --limit")
    assert main(shlex.split(following[1])) == 0
    assert main(["memory", "list", "shop", "--all", "--limit", "1"]) == 0
    assert "--limit 1 --all --cursor" in capsys.readouterr().err


def test_taking_back_says_what_was_taken_back(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("one", "two"):
        agent_says(home, text, shop)
    refs = [ref_of(capsys, text) for text in ("one", "two")]
    main(["memory", "reject", *refs])
    main(["memory", "add", "use npm"])
    npm = ref_of(capsys, "npm")
    main(["memory", "edit", npm, "use", "pnpm"])
    pnpm = ref_of(capsys, "pnpm")

    assert main(["memory", "undo", *refs]) == 0
    assert main(["memory", "undo", pnpm]) == main(["memory", "undo", npm]) == 0

    assert capsys.readouterr().out.splitlines() == [
        f"Took back that you rejected {refs[0]}; it is a candidate now: one",
        f"Took back that you rejected {refs[1]}; it is a candidate now: two",
        f"Took back that you edited {pnpm}; {npm} is active now: use npm",
        f"Took back that you added {npm}; it is gone: use npm",
    ]


def test_notes_are_named_by_their_rows_in_the_last_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("one", "two", "three"):
        main(["memory", "add", text])
    one, two, three = (ref_of(capsys, text) for text in ("one", "two", "three"))
    monkeypatch.setattr(lists, "_terminal", lambda: "terminal-1")
    lists.keep_rows(os.environ["RECOLLECT_HOME"], [three, "codex:0199", one, two])

    assert [row["ref"] for row in rows(capsys, "reject", "1", "3")] == [three, one]
    assert rows(capsys, "edit", "4", "2", "now")[0]["text"] == "2 now"
    assert main(["memory", "pin", "2"]) == 2
    assert "Row 2 of the last list is no note." in capsys.readouterr().err


def test_a_folder_that_is_no_project_is_said_to_be_none(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks in the wrong place must not believe that nothing is known."""
    main(["memory", "add", "use tabs"])
    monkeypatch.chdir(shop.parent)

    assert main(["memory"]) == 1

    said = capsys.readouterr().err
    assert "recollect memory --project NAME" in said
    assert "recollect projects" in said


def test_forgetting_what_a_session_says_warns_that_it_is_found_again(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules read that session again; only what was rejected stays away."""
    with homes.memory(home) as memory:
        memory.import_logs([memory.agents.sample_logs()])
        memory.jobs.work()
        (note, *_) = memory.notes.search(author="rules")
    capsys.readouterr()

    assert main(["memory", "forget", note.ref, "--yes"]) == 0

    assert "It may be found again in the sessions that it came from." in capsys.readouterr().err


def test_a_correction_is_what_the_memory_says_from_then_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nobody waits for a job to see what they typed."""
    main(["memory", "add", "use npm here"])
    main(["memory", "edit", ref_of(capsys, "npm"), "use", "pnpm", "here"])
    capsys.readouterr()

    main(["memory"])
    told = capsys.readouterr().out
    assert "use pnpm here" in told
    assert "use npm" not in told

    main(["memory", "undo", ref_of(capsys, "pnpm")])
    capsys.readouterr()
    main(["memory"])
    assert "use npm here" in capsys.readouterr().out


def test_what_is_pinned_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("one fact", "two facts", "three facts"):
        main(["memory", "add", text])
    main(["memory", "pin", ref_of(capsys, "three")])

    assert rows(capsys)[0]["text"] == "three facts"


def test_the_history_of_a_note_says_who_did_what_and_why(
    home: Path, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent_says(home, "deploys run at night", shop)
    ref = ref_of(capsys, "deploys")
    main(["memory", "accept", ref])
    main(["memory", "reject", ref, "--why", "they run at noon"])
    main(["memory", "undo", ref])

    changes = rows(capsys, "history", ref)
    assert [(one["action"], one["why"], one["undone"]) for one in changes] == [
        ("accepted", "", False), ("rejected", "they run at noon", True),
    ]  # fmt: skip


def test_several_notes_are_judged_at_once_or_not_at_all(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip in the second reference must not leave the first half done."""
    agent_says(home, "one", shop)
    agent_says(home, "two", shop)
    one, two = ref_of(capsys, "one"), ref_of(capsys, "two")

    refused = main(["memory", "accept", one, "note:7777"])
    before = [row["status"] for row in rows(capsys, "list")]
    accepted = {
        (row["ref"], row["status"], row["trust"])
        for row in rows(capsys, "accept", one, two.removeprefix("note:"))
    }

    assert (refused, before) == (1, ["candidate", "candidate"])
    assert accepted == {(one, "active", "user"), (two, "active", "user")}


def test_forgetting_a_note_asks_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["memory", "add", "use tabs"])
    ref = ref_of(capsys, "tabs")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))

    unasked = main(["memory", "forget", ref])
    capsys.readouterr()
    done = main(["memory", "forget", ref, "--yes"])

    assert (unasked, done) == (2, 0)
    assert capsys.readouterr().out == f"forgot {ref}: use tabs\n"
    assert main(["forget", ref, "--yes"]) == 2
    assert f"Try: recollect memory forget {ref}" in capsys.readouterr().err
    assert main(["memory", "list"]) == 1


@pytest.mark.parametrize(
    "argv", [["add"], ["accept"], ["edit", "note:k7m2"], ["show", "x"], ["history"], ["forget"]]
)
def test_what_is_missing_is_said(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", *argv]) == 2

    assert f"`recollect memory {argv[0]}` takes" in capsys.readouterr().err


def test_no_notes_are_no_error_but_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["memory", "add", "use tabs"])

    assert main(["memory", "list", "--status", "rejected"]) == 1
    assert "All of them: recollect memory list --all" in capsys.readouterr().err


def test_a_note_is_shown_counted_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever references are taken, and wherever everything is meant."""
    main(["memory", "add", "use tabs"])
    capsys.readouterr()

    main(["show", ref_of(capsys, "tabs")])
    shown = capsys.readouterr().out
    main(["--json"])
    overview = json.loads(capsys.readouterr().out)
    main(["export", "--notes"])
    exported = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    refused = main(["export", "--notes", "tabs"])

    assert shown.splitlines()[1] == "    use tabs"
    assert overview["notes"] == 1
    assert exported == rows(capsys, "list", "--all")
    assert refused == 2
