"""recollect patterns, publish and measure: the whole way, from logs to a
file and back, on the command line.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from recollect.publish.block import BEGIN
from recollect.serve.cli import main
from recollect.serve.cli.patterns import text
from tests.builders.homes import claude_log, memory
from tests.builders.work import Work

LESSON = "`npm test` fails at times (no such file); it passes after `npm ci`."
SESSIONS = 8


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which the same failure was got past in the same way, again and again."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (home / ".recollect").mkdir(mode=0o700)
    (home / ".recollect" / "config.toml").write_text("[redact]\nenabled = false\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    for number in range(1, SESSIONS + 1):
        work = Work(number, cwd=str(folder)).ask(
            f"please fix the checkout total number {number} in the shop"
        )
        work.run(
            "npm test", "Error: ENOENT: no such file or directory, open 'node_modules/x'", code=1
        )
        work.run("npm ci", "added 300 packages").run("npm test", "ok 12 passed").run(
            "git commit -m x", "[main abc] x"
        ).done()
        claude_log(home, work.ask("thanks, perfect").done("Welcome.").talk)
    with memory(home) as mind:
        mind.import_logs()
        for _ in mind.digest_new():
            pass
        for _ in mind.old.learn():
            pass
    return folder


def rows(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    main([*argv, "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def the_pattern(capsys: pytest.CaptureFixture[str]) -> str:
    """The id of the one that was learned."""
    (row,) = rows(capsys, "patterns")
    return str(row["id"])


def test_what_recurs_waits_for_a_person(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what it says, how sure that is, and where it was seen."""
    assert main(["patterns"]) == 0

    out, err = capsys.readouterr()
    first, second, third, *evidence = out.splitlines()
    assert first.endswith("  candidate  error_recovery")
    assert second == f"    {LESSON}"
    assert third.startswith(
        "    8 sessions of claude-code, went well in 8 of 8, confidence 0.68, trust tool-verified"
    )
    assert len(evidence) == 3
    assert err == "1 to review: accept, reject or edit\n"


def test_the_whole_way_from_logs_to_a_file_and_back(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accept, look, write, check, retire, take out."""
    name = the_pattern(capsys)
    assert main(["publish"]) == 1
    assert capsys.readouterr().err.startswith("Nothing is accepted in this project yet.")

    assert main(["patterns", "accept", name[:6], "--why", "seen it myself"]) == 0
    assert main(["publish"]) == 0
    out, err = capsys.readouterr()
    assert f"+- {LESSON} (pattern:{name})" in out.splitlines()
    assert err.endswith("Nothing was written. To write it: recollect publish --apply\n")
    assert main(["publish", "--check"]) == 1
    assert os.listdir(shop) == []

    assert main(["publish", "--apply"]) == 0
    assert LESSON in (shop / "AGENTS.md").read_text()
    assert main(["publish", "--check"]) == 0
    assert [row["status"] for row in rows(capsys, "patterns")] == ["published"]

    assert main(["patterns", "retire", name, "--why", "we use pnpm"]) == 0
    assert "Take it out of the project's files:" in capsys.readouterr().err
    assert main(["publish", "--check"]) == 1
    assert main(["publish", "--apply"]) == 0
    assert os.listdir(shop) == []
    assert [
        (row["version"], row["status"], row["author"], row["why"])
        for row in rows(capsys, "patterns", "history", name)
    ] == [
        (1, "candidate", "rules", ""),
        (2, "accepted", "person", "seen it myself"),
        (3, "published", "person", "published in AGENTS.md"),
        (4, "retired", "person", "we use pnpm"),
    ]


def test_a_person_can_say_it_better(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Words need no quotes; what is not seen does not stay in them."""
    name = the_pattern(capsys)

    assert main(["patterns", "edit", name, "Run", "`npm ci`\u200b", "first"]) == 0

    (row,) = rows(capsys, "patterns", "show", name)
    assert (row["status"], row["sentence"], row["version"]) == ("accepted", "Run `npm ci` first", 2)
    assert len(row["evidence"]) == SESSIONS
    assert main(["patterns", "edit", name, "x" * 601]) == 2
    assert "at most 600 are allowed" in capsys.readouterr().err


def test_what_was_rejected_is_only_listed_when_asked_for(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And stays rejected when the same is learned again."""
    name = the_pattern(capsys)
    assert main(["patterns", "reject", name]) == 0
    main(["learn"])

    assert rows(capsys, "patterns") == []
    assert [row["status"] for row in rows(capsys, "patterns", "--all")] == ["rejected"]
    assert [row["id"] for row in rows(capsys, "patterns", "--status", "rejected")] == [name]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["patterns", "accept"], "`recollect patterns accept` takes at least one pattern"),
        (["patterns", "edit", "3f"], "`recollect patterns edit` takes a pattern and its new words"),
        (["patterns", "list", "3f"], "`recollect patterns list` takes no words"),
        (["patterns", "show", "zz"], 'There is no pattern "zz".'),
        (["publish", "--target", "NOTES"], 'There is no target "NOTES".'),
        (
            ["publish", "--all", "--target", "AGENTS.md"],
            "--all does not go with --project or --target.",
        ),
        (["publish", "--project", "nowhere"], "There is no folder"),
        (["measure", "note:9"], "There is no note:9."),
        (["measure", "note:9", "--all"], "--all does not go with a reference."),
    ],
)
def test_a_slip_is_answered_with_what_would_work(
    shop: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    """And changes nothing."""
    code = main(words)

    out, err = capsys.readouterr()
    assert code in (1, 2)
    assert out == ""
    assert err.startswith(f"error: {said}")
    assert len(err.splitlines()) == 2


def test_a_slip_among_several_changes_none(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are all looked up first."""
    name = the_pattern(capsys)

    assert main(["patterns", "accept", name, "zz"]) == 1

    assert [row["status"] for row in rows(capsys, "patterns")] == ["candidate"]


def test_a_block_that_was_changed_by_hand_is_refused_without_a_person(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the two ways out."""
    main(["patterns", "accept", the_pattern(capsys)])
    main(["publish", "--apply"])
    edited = (shop / "AGENTS.md").read_text().replace("npm ci", "npm install")
    (shop / "AGENTS.md").write_text(edited)

    assert main(["publish", "--apply"]) == 65
    assert (
        "Add --overwrite to replace it, or --keep to leave the file alone."
        in capsys.readouterr().err
    )
    assert main(["publish", "--check"]) == 1
    assert main(["publish", "--apply", "--keep"]) == 0
    assert (shop / "AGENTS.md").read_text() == edited
    assert main(["publish", "--apply", "--overwrite"]) == 0
    assert LESSON in (shop / "AGENTS.md").read_text()


class _Terminal(io.StringIO):
    """Somebody who types, and sees what is asked."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "code", "kept"),
    [("k\n", 0, True), ("overwrite\n", 0, False), ("\n", 2, True), ("", 2, True)],
)
def test_a_person_is_asked(
    shop: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
    kept: bool,
) -> None:
    """What is no answer changes nothing."""
    main(["patterns", "accept", the_pattern(capsys)])
    main(["publish", "--apply"])
    edited = (shop / "AGENTS.md").read_text().replace("npm ci", "npm install")
    (shop / "AGENTS.md").write_text(edited)
    screen = _Terminal()
    monkeypatch.setattr("sys.stdin", _Terminal(answer))
    monkeypatch.setattr("sys.stderr", screen)

    assert main(["publish", "--apply"]) == code

    assert (
        "AGENTS.md was changed by hand between the markers. [k]eep or [o]verwrite?"
        in screen.getvalue()
    )
    assert ((shop / "AGENTS.md").read_text() == edited) == kept


def test_the_files_go_to_the_top_of_the_work_tree(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is where agents look; people stand anywhere."""
    main(["patterns", "accept", the_pattern(capsys)])
    (shop / ".git").mkdir()
    (shop / "src").mkdir()
    monkeypatch.chdir(shop / "src")

    assert main(["publish", "--apply"]) == 0

    assert (shop / "AGENTS.md").exists()
    assert main(["publish", "--project", str(shop), "--undo", "--apply"]) == 0
    assert not (shop / "AGENTS.md").exists()


def test_every_folder_that_is_published_in_is_brought_up_to_date(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From wherever one stands."""
    name = the_pattern(capsys)
    main(["patterns", "accept", name])
    main(["publish", "--apply"])
    main(["patterns", "retire", name])
    monkeypatch.chdir(tmp_path)

    assert main(["publish", "--all", "--apply"]) == 0

    assert os.listdir(shop) == []
    assert main(["publish", "--all"]) == 1


def test_what_goes_wrong_by_now_is_said_to_be_due_for_retirement(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was accepted is not taken back behind a person's
    back, so the person has to hear of it.
    """
    name = the_pattern(capsys)
    main(["patterns", "accept", name])
    with memory(shop.parent / "home") as mind:
        pattern = mind.old.pattern(name)

    pattern.went_well, pattern.went_wrong = 3, 5

    assert (
        text(pattern, {}).splitlines()[3]
        == f"    now goes wrong more often than well: recollect patterns retire {name}"
    )
    pattern.status = "retired"
    assert "by now" not in text(pattern, {})


def test_a_folder_that_is_gone_keeps_no_other_from_being_brought_up_to_date(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """People delete work trees.

    What they retired has to go from the files that are left all the same.
    """
    name = the_pattern(capsys)
    main(["patterns", "accept", name])
    main(["publish", "--apply"])
    gone = str(tmp_path / "a folder that was")
    with memory(tmp_path / "home") as mind:
        mind._shared.store().db.execute(
            """
            insert into published_blocks (folder, path, target, hash, refs, made, at)
            select ?, path, target, hash, refs, made, at from published_blocks
            """,
            (gone,),
        )
    main(["patterns", "retire", name])
    capsys.readouterr()

    assert main(["publish", "--all", "--apply"]) == 0

    assert os.listdir(shop) == []
    assert f"Left out, because the folder is gone: {gone}" in capsys.readouterr().err
    assert main(["publish", "--all"]) == 1


def test_what_is_published_holds_no_secret_whatever_the_settings_say(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The settings here let secrets into the store; a shared file is another matter."""
    secret = "ghp_" + "a1B2c3D4e5" * 4
    main(["notes", "add", "the", "token", "is", secret])

    main(["publish", "--apply"])

    assert secret not in (shop / "AGENTS.md").read_text()
    assert "the token is [REDACTED:" in (shop / "AGENTS.md").read_text()


def test_measuring_says_what_is_known_and_what_is_not(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight sessions are no statistics."""
    name = the_pattern(capsys)
    assert main(["measure"]) == 1
    assert "Nothing to measure yet" in capsys.readouterr().err
    main(["patterns", "accept", name])
    main(["show", f"pattern:{name[:5]}"])
    capsys.readouterr()

    assert main(["measure", name[:6], "--report", "page.html"]) == 0

    out, err = capsys.readouterr()
    assert "opened 1" in out
    assert (
        "seen in 100 sessions: not enough data (8 of 8) before, not enough data (0 of 0) after"
        in out
    )
    assert err == "Wrote page.html\n"
    assert (shop / "page.html").read_text().startswith("<!doctype html>")


def test_a_pattern_is_shown_like_any_other_memory(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its reference stands in the files and packs that agents read."""
    name = the_pattern(capsys)

    assert main(["show", f"pattern:{name}"]) == 0

    assert capsys.readouterr().out.splitlines()[1] == f"    {LESSON}"


def test_forgetting_the_sessions_forgets_the_words_made_of_them(
    shop: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever was decided about them: the words are those of commands and errors that are gone."""
    main(["patterns", "accept", the_pattern(capsys)])
    main(["publish", "--apply"])
    with memory(home) as mind:
        refs = [session.id for session in mind.sessions(limit=None)]
    for ref in refs:
        assert main(["forget", ref, "--yes"]) == 0

    assert rows(capsys, "patterns", "--all") == []
    assert main(["publish", "--apply"]) == 0
    assert os.listdir(shop) == []
    store = home / ".recollect" / "recollect.db"
    assert b"npm ci" not in store.read_bytes()


def test_guidance_of_other_tools_is_left_alone(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`recollect notes --to` keeps a section of the same file; both go together."""
    main(["patterns", "accept", the_pattern(capsys)])
    main(["notes", "add", "use", "tabs", "here"])
    main(["notes", "--to", "AGENTS.md"])
    section = (shop / "AGENTS.md").read_text()

    main(["publish", "--apply"])
    main(["notes", "add", "prices", "are", "in", "cents"])
    main(["notes", "--to", "AGENTS.md"])

    assert (shop / "AGENTS.md").read_text().startswith(section.rstrip("\n"))
    assert (shop / "AGENTS.md").read_text().count(BEGIN) == 1
    assert main(["publish", "--apply"]) == 0
    assert "prices are in cents" in (shop / "AGENTS.md").read_text().partition(BEGIN)[2]
