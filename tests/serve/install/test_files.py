"""Other programs' files: written whole or not at all, and only where the user alone may write."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from recollect.errors import FileRefused, FileUnwritable
from recollect.serve.install.files import BACKUP, Draft


def copy_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def write(
    path: str | Path, text: str | None, *, project: str | None = None, copy: bool = True
) -> None:
    """Change one file, the way a command does."""
    draft = Draft(project)
    draft.put(str(path), text, copy=copy)
    draft.write()


def test_nothing_is_written_before_write(home: Path) -> None:
    """A later file may be refused, and then none may have changed."""
    draft = Draft()
    draft.put(str(home / "a" / "settings.json"), "{}")

    assert list(home.iterdir()) == []
    assert draft.read(str(home / "a" / "settings.json")) == "{}"
    assert draft.write() == [str(home / "a" / "settings.json")]
    assert (home / "a" / "settings.json").read_text() == "{}"


def test_the_first_state_is_kept_beside_the_file(home: Path) -> None:
    """Only the first one is without us."""
    path = home / "settings.json"
    path.write_bytes(b"\xef\xbb\xbftheirs\r\n")

    write(path, "ours")
    write(path, "ours again")

    assert path.read_text() == "ours again"
    assert copy_of(path).read_bytes() == b"\xef\xbb\xbftheirs\r\n"
    assert Draft().backup(str(path)) == "\ufefftheirs\r\n"


def test_a_file_without_us_needs_no_copy(home: Path) -> None:
    """After an uninstall nothing of ours lies around."""
    path = home / "settings.json"
    path.write_text("theirs")

    write(path, "ours")
    write(path, "theirs", copy=False)

    assert [found.name for found in home.iterdir()] == ["settings.json"]


def test_a_file_that_goes_takes_the_folders_it_was_alone_in(home: Path) -> None:
    """We made them; what others have in theirs stays."""
    (home / "agent").mkdir()
    (home / "agent" / "theirs").write_text("")
    path = home / "agent" / "skills" / "recollect" / "SKILL.md"

    write(path, "ours")
    write(path, None)

    assert [str(found.relative_to(home)) for found in home.rglob("*")] == ["agent", "agent/theirs"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_the_mode_of_a_file_is_kept(home: Path, mode: int) -> None:
    """Settings may hold keys, and then others may not read them."""
    path = home / "settings.json"
    path.write_text("theirs")
    path.chmod(mode)

    write(path, "ours")

    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(copy_of(path).stat().st_mode) == mode


def test_a_link_to_a_users_settings_is_followed(home: Path) -> None:
    """Many keep their settings in a folder of their own and link to it."""
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "settings.json").write_text("theirs")
    (home / "settings.json").symlink_to("dotfiles/settings.json")

    write(home / "settings.json", "ours")

    assert (home / "settings.json").is_symlink()
    assert (home / "dotfiles" / "settings.json").read_text() == "ours"


@pytest.mark.parametrize("link", ["settings.json", ".agent", "settings.json" + BACKUP])
def test_a_link_out_of_a_project_is_refused(home: Path, tmp_path: Path, link: str) -> None:
    """Whoever wrote the project chose where it leads: to a shell's start file, for one."""
    project, victim = tmp_path / "project", home / "victim"
    folder = project / ".agent"
    victim.mkdir()
    (victim / "settings.json").write_text("theirs")
    if link == ".agent":
        project.mkdir()
        folder.symlink_to(victim)
    else:
        folder.mkdir(parents=True)
        (folder / link).symlink_to(victim / "settings.json")
        if link != "settings.json":
            (folder / "settings.json").write_text("the project's")

    with pytest.raises(FileRefused):
        write(str(folder / "settings.json"), "ours", project=str(project))

    assert (victim / "settings.json").read_text() == "theirs"
    assert [path.name for path in victim.iterdir()] == ["settings.json"]


def test_a_link_inside_a_project_is_followed(tmp_path: Path) -> None:
    """It leads nowhere that the project could not write itself."""
    (tmp_path / "real.json").write_text("theirs")
    (tmp_path / "settings.json").symlink_to("real.json")

    write(tmp_path / "settings.json", "ours", project=str(tmp_path))

    assert (tmp_path / "real.json").read_text() == "ours"


def test_links_that_lead_round_in_a_circle_are_refused(tmp_path: Path) -> None:
    """A project may hold them, and `doctor` has to look past."""
    (tmp_path / ".agent").symlink_to(".agent")

    with pytest.raises(FileRefused, match="symbolic links"):
        Draft(str(tmp_path)).read(str(tmp_path / ".agent" / "settings.json"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("name", ["settings.json", "."])
def test_what_everybody_may_write_is_refused(home: Path, name: str) -> None:
    """Another user would decide what the agent runs in our name."""
    (home / "settings.json").write_text("theirs")
    (home / name).chmod(0o777)

    with pytest.raises(FileRefused, match="Every user of this machine can write"):
        Draft().put(str(home / "settings.json"), "ours")


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["settings.json", "."])
def test_what_belongs_to_somebody_else_is_refused(home: Path, name: str) -> None:
    """A second user of the machine, or a person who runs this as root by mistake."""
    (home / "settings.json").write_text("theirs")
    os.chown(home / name, 12345, 12345)

    with pytest.raises(FileRefused, match="belongs to another user"):
        Draft().read(str(home / "settings.json"))


def test_only_plain_text_files_are_changed(home: Path) -> None:
    """A pipe would hang us, another encoding would be garbled."""
    os.mkfifo(home / "pipe")
    (home / "other").write_text("ü", encoding="utf-16")
    (home / "folder").mkdir()

    for name in ("pipe", "other", "folder"):
        with pytest.raises(FileRefused):
            Draft().read(str(home / name))


def test_a_change_by_another_program_in_the_meantime_is_not_lost(home: Path) -> None:
    """Agents write their settings while they run."""
    path = home / "settings.json"
    path.write_text("theirs")
    draft = Draft()
    draft.put(str(path), "ours")
    path.write_text("theirs, newer")

    with pytest.raises(FileRefused, match="Another program changed"):
        draft.write()

    assert path.read_text() == "theirs, newer"
    assert not copy_of(path).exists()


def test_a_path_through_a_file_cannot_be_written(home: Path) -> None:
    """It says which path and what to do, and is no stack trace."""
    (home / "file").write_text("")

    with pytest.raises(FileUnwritable) as refused:
        write(str(home / "file" / "settings.json"), "ours")

    assert refused.value.exit_code == 74


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_folder_stops_everything_before_the_first_write(home: Path) -> None:
    """Half an integration is worse than none."""
    (home / "closed").mkdir(mode=0o500)
    draft = Draft()
    draft.put(str(home / "open" / "settings.json"), "ours")
    draft.put(str(home / "closed" / "settings.json"), "ours")

    with pytest.raises(FileUnwritable, match="read-only"):
        draft.write()

    assert not (home / "open").exists()
