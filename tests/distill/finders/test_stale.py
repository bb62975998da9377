"""Logs tell how it was; what the project's files speak against is not told."""

from __future__ import annotations

from pathlib import Path

from recollect.distill import finders, ranking
from recollect.model.record import SessionRecord
from tests.builders.records import FOLDER, edited, ran, session, turn


def told(folder: Path | None, *sessions: SessionRecord) -> list[str]:
    return [one.text for one in finders.find(sessions, folder)]


def write(folder: Path, name: str, text: str = "") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


LOAD = session(turn("Load it", *[ran("python tools/load.py --all")] * 2))


def test_a_command_whose_script_is_gone_is_not_told(tmp_path: Path) -> None:
    assert "Run: `python tools/load.py --all`" not in told(tmp_path, LOAD)

    write(tmp_path, "tools/load.py")

    assert "Run: `python tools/load.py --all`" in told(tmp_path, LOAD)


def test_without_the_folder_nothing_is_known(tmp_path: Path) -> None:
    """The logs may come from another machine."""
    for folder in (None, tmp_path / "elsewhere"):
        assert "Run: `python tools/load.py --all`" in told(folder, LOAD)


def test_a_script_that_left_its_package_leaves_the_line_too(tmp_path: Path) -> None:
    write(tmp_path, "web/package.json", '{"scripts": {"build": "vite build"}}')
    record = session(
        turn("Check it", ran("cd web && npm run build"), ran("cd web && npm run lint"))
    )

    assert "Checks in web: `npm run lint`, `npm run build`" in told(None, record)
    assert "Checks in web: `npm run build`" in told(tmp_path, record)


def test_commands_of_a_folder_that_is_gone_are_not_told(tmp_path: Path) -> None:
    record = session(turn("Check it", ran("cd web && make test")))

    assert "Checks in web: `make test`" in told(None, record)
    assert "Checks in web: `make test`" not in told(tmp_path, record)


def test_the_block_lists_no_file_that_is_gone(tmp_path: Path) -> None:
    calls = [edited(f"{tmp_path}/src/{name}.py") for name in ("drawer", "till")]
    record = session(turn("Fix it", *calls, ran("./old.sh"), ran("make till")))
    record = record._replace(folder=str(tmp_path))
    write(tmp_path, "src/till.py")

    found = ranking.remember((), [record], tmp_path)

    assert found.pack_block == ("Run most: `make till`", "Files: till.py")


def test_a_sentence_about_a_file_that_moved_is_not_told(tmp_path: Path) -> None:
    said = "The drawer must be opened in `src/drawer.py` because the till only works with it."
    record = session(turn("Why?", edited(f"{FOLDER}/src/drawer.py"), reply=said))

    assert said in told(None, record)
    assert said not in told(tmp_path, record)

    write(tmp_path, "src/drawer.py")

    assert said in told(tmp_path, record)


def test_a_file_that_was_never_there_says_nothing(tmp_path: Path) -> None:
    """A name in a sentence may be of another project, or of a thing that is no file."""
    said = (
        "The drawer must be opened by `Drawer.open` because the till only works with node.js here."
    )

    assert said in told(tmp_path, session(turn("Why?", reply=said)))


def test_what_was_said_on_another_branch_says_so(tmp_path: Path) -> None:
    """It may never have been merged."""
    write(tmp_path, ".git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path, ".git/refs/heads/faster-drawer", "0" * 40)
    write(tmp_path, ".git/config")
    said = "The drawer only accepts coins because the scanner is on another port."
    record = session(turn("Why?", reply=said), branch="faster-drawer")

    assert f"{said} (on branch `faster-drawer`)" in told(tmp_path, record)

    (tmp_path / ".git/refs/heads/faster-drawer").unlink()

    assert said in told(tmp_path, record)
