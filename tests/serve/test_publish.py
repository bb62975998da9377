"""recollect publish: the whole way, from a note to a file and back, on the command line."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from tests.builders.homes import claude_log, memory
from tests.builders.work import Work

LESSON = "`npm test` fails with ENOENT until `npm ci` has run"


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which somebody worked once."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (home / ".recollect").mkdir(mode=0o700)
    (home / ".recollect" / "config.toml").write_text("[redact]\nenabled = false\n")
    monkeypatch.setenv("RECOLLECT_HOME", str(home / ".recollect"))
    work = Work(1, cwd=str(folder)).ask("please fix the checkout total").run("npm test", "ok")
    claude_log(home, work.done("Fixed.").talk)
    with memory(home) as mind:
        mind.import_logs()
    return folder


def accept(text: str) -> str:
    """A person types a note about the project they stand in; its reference."""
    with Memory.open() as mind:
        project = mind.projects.of(".")
        notes = mind._shared.store().notes
        return notes.add(text, project=project, category="constraint", author="person").ref


def reject(ref: str) -> None:
    """A person takes it back."""
    with Memory.open() as mind:
        mind._shared.store().notes.reject(ref)


def test_the_whole_way_from_a_note_to_a_file_and_back(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Type it, look, write, check, take it back."""
    assert main(["publish"]) == 1
    assert capsys.readouterr().err.startswith("Nothing is accepted in this project yet.")

    ref = accept(LESSON)
    assert main(["publish"]) == 0
    out, err = capsys.readouterr()
    assert f"+- {LESSON} ({ref})" in out.splitlines()
    assert err.endswith("Nothing was written. To write it: recollect publish --apply\n")
    assert main(["publish", "--check"]) == 1
    assert os.listdir(shop) == []

    assert main(["publish", "--apply"]) == 0
    assert LESSON in (shop / "AGENTS.md").read_text()
    assert main(["publish", "--check"]) == 0

    reject(ref)
    assert main(["publish", "--check"]) == 1
    assert main(["publish", "--apply"]) == 0
    assert os.listdir(shop) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["publish", "--target", "NOTES"], 'There is no target "NOTES".'),
        (
            ["publish", "--all", "--target", "AGENTS.md"],
            "--all does not go with --project or --target.",
        ),
        (["publish", "--project", "nowhere"], "There is no folder"),
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


def test_a_block_that_was_changed_by_hand_is_refused_without_a_person(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the two ways out."""
    accept(LESSON)
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
    accept(LESSON)
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
    accept(LESSON)
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
    ref = accept(LESSON)
    main(["publish", "--apply"])
    reject(ref)
    monkeypatch.chdir(tmp_path)

    assert main(["publish", "--all", "--apply"]) == 0

    assert os.listdir(shop) == []
    assert main(["publish", "--all"]) == 1


def test_a_folder_that_is_gone_keeps_no_other_from_being_brought_up_to_date(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """People delete work trees.

    What they retired has to go from the files that are left all the same.
    """
    ref = accept(LESSON)
    main(["publish", "--apply"])
    gone = str(tmp_path / "a folder that was")
    with memory(tmp_path / "home") as mind:
        mind._shared.store().db.execute(
            """
            insert into publications (folder, path, target, hash, refs, made, at)
            select ?, path, target, hash, refs, made, at from publications
            """,
            (gone,),
        )
    reject(ref)
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
    accept(f"the token is {secret}")

    main(["publish", "--apply"])

    assert secret not in (shop / "AGENTS.md").read_text()
    assert "the token is [REDACTED:" in (shop / "AGENTS.md").read_text()
