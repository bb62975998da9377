"""Whoever else is on the machine, and whatever lies in a
project's folder: neither gets in our way.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.settings import Settings
from recollect.store import spool
from tests.builders.homes import claude_log
from tests.builders.work import Work

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="users, links and pipes are others there"
)

# As agents are told to call it: by its path.
COMMAND = os.path.join(sysconfig.get_path("scripts"), "recollect")
NOBODY = 65_534
# The hook's own limit, and what starting Python takes on a busy machine.
SOON_SECONDS = 3.0


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-shared-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def remembered(home: Path, folder: str, own: Path) -> Memory:
    """A memory at `own` of one piece of work in a folder, ready to be told."""
    claude_log(
        home,
        Work(1, cwd=folder)
        .ask("why does the kumquat lose a cent in the basket?")
        .run("pytest -q", "2 passed")
        .talk,
    )
    mind = Memory(Settings(str(own), str(own / "recollect.db"), {"redact.enabled": False}))
    mind.import_logs()
    list(mind.make_ready())
    mind.close()
    return mind


def hook(
    own: Path, event: str, passed: bytes, *, cwd: Path | bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """`recollect hook` as an agent starts it; it must end well and soon, whatever it says."""
    environ = {"HOME": str(own.parent), "RECOLLECT_HOME": str(own), "PATH": os.environ["PATH"]}
    started = time.monotonic()
    done = subprocess.run(
        [COMMAND, "hook", "claude-code", event],
        input=passed, env=environ, cwd=cwd, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - started < SOON_SECONDS
    return done


def at_start(folder: str) -> bytes:
    return json.dumps(
        {"session_id": "s", "cwd": folder, "transcript_path": "/none.jsonl", "source": "startup"}
    ).encode()


# Another user


def test_another_user_can_read_nothing_of_ours(home: Path, shared: Path) -> None:
    """The store, its log, the spool and the token are for one person."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    pytest.importorskip("mcp", reason="the token is the MCP server's")
    from recollect.serve.mcp.http import TOKEN_FILE, ensure_token

    own = shared / "own"
    remembered(home, "/srv/shop", own)
    ensure_token(str(own / TOKEN_FILE))
    told = hook(own, "SessionStart", at_start("/srv/shop"))
    (shared / "open").write_text("control")

    def reads(path: Path) -> bool:
        return (
            subprocess.run(
                ["cat", path], user=NOBODY, group=NOBODY, capture_output=True, check=False
            ).returncode
            == 0
        )

    files = [path for path in own.rglob("*") if path.is_file()]
    assert b"kumquat" in told.stdout
    assert {"recollect.db", "recollect.db.spool", TOKEN_FILE} <= {path.name for path in files}
    assert reads(shared / "open")
    assert [path.name for path in files if reads(path)] == []
    # Nor were they kept out by the folder alone.
    assert {path.stat().st_mode & 0o077 for path in [own, *own.rglob("*")]} == {0}


def linked(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def linked_hard(path: Path, victim: Path) -> None:
    os.link(victim, path)


def linked_to_nothing(path: Path, victim: Path) -> None:
    path.symlink_to(victim.with_name("new"))


def a_pipe(path: Path, victim: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path, victim: Path) -> None:
    path.mkdir()


def somebody_elses(path: Path, victim: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    path.write_text("")
    path.chmod(0o666)
    os.chown(path, NOBODY, NOBODY)


@pytest.mark.parametrize(
    "put", [linked, linked_hard, linked_to_nothing, a_pipe, a_folder, somebody_elses]
)
def test_a_spool_that_somebody_put_there_is_left_alone(
    home: Path, tmp_path: Path, put: Callable[[Path, Path], None]
) -> None:
    """In a shared folder anybody can: we neither write through it, nor
    believe what is in it, nor wait for it.
    """
    own, victim = tmp_path / "own", tmp_path / "victim"
    victim.write_text("mine")
    remembered(home, "/srv/shop", own)
    path = Path(spool.path_of(str(own / "recollect.db")))
    path.unlink(missing_ok=True)
    put(path, victim)

    told = hook(own, "SessionStart", at_start("/srv/shop"))

    assert b"kumquat" in told.stdout
    assert victim.read_text() == "mine"
    assert not victim.with_name("new").exists()
    assert spool.append(str(path), "a line") is False
    assert spool.read(str(path)) == b""


def test_doctor_says_when_others_can_read_the_spool(home: Path, tmp_path: Path) -> None:
    """It has the paths and times of somebody's work."""
    mind = remembered(home, "/srv/shop", tmp_path / "own")
    path = spool.path_of(mind.settings.store)
    spool.append(path, "[]")
    os.chmod(path, 0o644)

    with mind:
        found = {
            finding.name: finding.detail
            for finding in mind.store.doctor().findings
            if not finding.ok
        }

    assert found["permissions"] == f"other users can read {path}"


# A hostile folder


def pipe_for_git(folder: Path) -> None:
    os.mkfifo(folder / ".git")


def pipe_for_config(folder: Path) -> None:
    (folder / ".git").mkdir()
    os.mkfifo(folder / ".git" / "config")


def loop_for_git(folder: Path) -> None:
    (folder / ".git").symlink_to(folder / ".git")


def huge_git_file(folder: Path) -> None:
    with open(folder / ".git", "wb") as file:
        file.write(b"gitdir: ")
        file.truncate(8 << 30)


def huge_config(folder: Path) -> None:
    (folder / ".git").mkdir()
    with open(folder / ".git" / "config", "wb") as file:
        file.truncate(8 << 30)


def git_file_that_names_itself(folder: Path) -> None:
    (folder / ".git").write_text("gitdir: .git\n")


def endless_device(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config").symlink_to("/dev/zero")


def modules_of_ours(folder: Path) -> None:
    """Python puts the current folder first on its path, unless told not to."""
    for name in ("recollect", "apsw", "json", "os", "sitecustomize"):
        (folder / f"{name}.py").write_text("print('hostile'); raise SystemExit(7)\n")


def settings_of_ours(folder: Path) -> None:
    """Only the person's own settings count; a project has no say in where memories are kept."""
    for path in (folder / "config.toml", folder / ".recollect" / "config.toml"):
        path.parent.mkdir(exist_ok=True)
        path.write_text('[store]\npath = "hostile.db"\n')


FOLDERS = [
    pipe_for_git, pipe_for_config, loop_for_git, huge_git_file, huge_config,
    git_file_that_names_itself, endless_device,
    modules_of_ours, settings_of_ours,
]  # fmt: skip


@pytest.mark.parametrize("make", FOLDERS)
def test_a_hook_in_a_hostile_folder_says_what_it_would_anywhere(
    home: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """A pipe is not waited for, a device not read to its end, a module there
    not loaded, a setting there not obeyed.
    """
    folder = tmp_path / "project"
    folder.mkdir()
    remembered(home, str(folder), tmp_path / "own")
    make(folder)
    before = sorted(folder.rglob("*"))

    told = hook(tmp_path / "own", "SessionStart", at_start(str(folder)), cwd=folder)

    assert b"hostile" not in told.stdout
    assert told.stdout == b"" or b"kumquat" in told.stdout
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "folder",
    [
        b"/" + b"x" * 100_000, b"/" + b"a/" * 50_000, b"/tmp/\xff\xfe", b"/tmp/\\u0000",
        b"/tmp/\\ud800", b"../../../..", b"", b"~", b"//host/share", b"file:///etc",
    ],
)  # fmt: skip
def test_a_folder_that_cannot_be_is_silence(home: Path, tmp_path: Path, folder: bytes) -> None:
    """What an agent passes is not checked by anybody before us."""
    remembered(home, "/srv/shop", tmp_path / "own")
    passed = b'{"session_id": "s", "transcript_path": "/none.jsonl", "cwd": "' + folder + b'"}'

    assert hook(tmp_path / "own", "SessionStart", passed).stdout == b""


def test_a_hook_in_a_folder_whose_name_is_no_text_is_silence(home: Path, tmp_path: Path) -> None:
    """A file system takes any bytes."""
    remembered(home, "/srv/shop", tmp_path / "own")
    folder = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(folder)

    assert hook(tmp_path / "own", "SessionStart", at_start("/nowhere"), cwd=folder).stdout == b""


def test_a_hook_in_a_folder_that_is_gone_still_answers(home: Path, tmp_path: Path) -> None:
    """An agent may have deleted the folder it stands in."""
    remembered(home, "/srv/shop", tmp_path / "own")
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {COMMAND} hook claude-code SessionStart"

    done = subprocess.run(
        ["sh", "-c", script], input=at_start("/srv/shop"), capture_output=True, timeout=30,
        check=False,
        env={"HOME": str(tmp_path), "RECOLLECT_HOME": str(tmp_path / "own"),
        "PATH": os.environ["PATH"]},
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"kumquat" in done.stdout
