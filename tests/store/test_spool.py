"""The lines that hooks leave beside the store: none is lost, none counts
twice, and nobody else's file is touched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.store import spool
from recollect.store.sqlite.injections import Injections
from tests.store.conftest import Filled

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="needs links, pipes and owners as POSIX has them"
)


@pytest.fixture
def path(filled: Filled) -> str:
    """Where the spool of the store is."""
    return spool.path_of(str(filled.path))


def line(number: int = 1, refs: str = "codex:a#1", **values: Any) -> str:
    """What a hook leaves."""
    known = {
        "id": f"{number}-77", "at": 1_000 + number, "agent": "codex", "event": "PreToolUse",
        "session": "codex:now",
        "folder": "/home/ada/shop", "project": None, "refs": refs, "fault": None, **values,
    }  # fmt: skip
    return json.dumps(list(known.values()))


def offered(filled: Filled) -> list[Any]:
    return filled.db.rows(
        "select at, face, event, agent, session, project, refs from injections order by at"
    )


def test_a_line_becomes_a_row_of_each_table(filled: Filled, path: str) -> None:
    """What was offered, and when the hook last ran; the project only if there is one."""
    assert spool.append(path, line(1))
    assert spool.append(path, line(2, refs="", event="SessionStart", fault="BusyError"))
    assert spool.append(path, line(3, refs="note:1 codex:a#2", project=99))

    assert Injections(filled.db).drain() == 3

    assert offered(filled) == [
        (1_001, "hook", "PreToolUse", "codex", "codex:now", None, "codex:a#1"),
        (1_003, "hook", "PreToolUse", "codex", "codex:now", None, "note:1 codex:a#2"),
    ]
    assert Injections(filled.db).hook_runs() == {
        ("codex", "PreToolUse"): (1_003, None),
        ("codex", "SessionStart"): (1_002, "BusyError"),
    }
    assert Injections(filled.db).drain() == 0


def test_a_hook_that_runs_well_again_has_no_fault(filled: Filled, path: str) -> None:
    """Whatever the order of the lines: the newest decides."""
    for one in (line(3), line(1, fault="CorruptError"), line(2, fault="BusyError")):
        spool.append(path, one)
    Injections(filled.db).drain()

    assert Injections(filled.db).hook_runs() == {("codex", "PreToolUse"): (1_003, None)}


def test_it_is_the_users_alone(path: str) -> None:
    """Whatever the umask: it names folders and sessions."""
    before = os.umask(0)
    try:
        spool.append(path, line())
    finally:
        os.umask(before)

    assert os.name == "nt" or os.stat(path).st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "torn",
    [
        '["1-77", 100',
        "",
        "\x00\x00\x00",
        "[]",
        '{"id": 1}',
        "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
        "[" * 9_999,
        f'["1-77", {1 << 63}, "codex", "Stop", "s", "/", null, "", null]',
        f'["1-77", 100, "codex", "Stop", "s", "/", {1 << 63}, "codex:a#1", null]',
    ],
)
def test_a_line_that_is_torn_costs_itself(filled: Filled, path: str, torn: str) -> None:
    """A disk that was full, a version that wrote something else."""
    spool.append(path, line(1))
    spool.append(path, torn)
    spool.append(path, line(2))

    assert Injections(filled.db).drain() == 2


def test_a_last_line_without_its_end_is_passed_over(filled: Filled, path: str) -> None:
    """The power failed while it was written."""
    spool.append(path, line(1))
    with open(path, "a") as file:
        file.write(line(2)[:20])

    assert Injections(filled.db).drain() == 1


def test_what_somebody_took_and_died_over_counts_once(filled: Filled, path: str) -> None:
    """Between taking a spool away and deleting it its rows may have been kept, or not."""
    spool.append(path, line(1))
    content = Path(path).read_bytes()
    Injections(filled.db).drain()
    Path(f"{path}.4711-1").write_bytes(content)
    Path(f"{path}.4711-2").write_bytes(line(2).encode() + b"\n")

    Injections(filled.db).drain()

    assert [row[0] for row in offered(filled)] == [1_001, 1_002]
    assert [entry.name for entry in filled.path.parent.iterdir() if "spool" in entry.name] == []


def test_no_line_is_lost_while_others_take_the_spool_away(filled: Filled, path: str) -> None:
    """Hooks run while imports do.

    A line that is written into a spool that was just taken is written again.
    """
    writers = 4
    code = (
        "import sys; from recollect.store import spool; from tests.store.test_spool import line\n"
        "print(sum(spool.append(sys.argv[1], line(int(sys.argv[2]) * 1000 + n)) for n in "
        "range(500)))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, path, str(number)], stdout=subprocess.PIPE, text=True
        )
        for number in range(writers)
    ]
    ended = threading.Event()
    counts: list[str] = []

    def wait() -> None:
        counts.extend(process.communicate()[0].strip() for process in processes)
        ended.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    drains = 0
    while not ended.is_set():
        Injections(filled.db).drain()
        drains += 1
    waiter.join()
    Injections(filled.db).drain()

    assert counts == ["500"] * writers
    assert drains > 5
    assert len(offered(filled)) == 500 * writers


def test_two_may_take_it_at_once(filled: Filled, path: str) -> None:
    """Both read the same and one deletes it first; neither minds."""
    for number in range(200):
        spool.append(path, line(number))
    code = (
        "import sys\n"
        "from recollect.store import open_store\n"
        ""
        "store = open_store(sys.argv[1]); store.injections.drain()"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(filled.path)], stderr=subprocess.PIPE)
        for _ in range(4)
    ]

    assert [process.communicate()[1] for process in processes] == [b""] * 4
    assert len(offered(filled)) == 200


def test_a_spool_that_nobody_takes_does_not_grow_for_ever(filled: Filled, path: str) -> None:
    """A store may be gone for months while its hooks go on."""
    Path(path).write_bytes(b"x" * (spool.MOST_BYTES + 1))

    assert not spool.append(path, line())
    assert os.path.getsize(path) == spool.MOST_BYTES + 1
    assert (Injections(filled.db).drain(), os.path.exists(path)) == (0, False)
    assert spool.append(path, line())


# What is not ours


def link(path: str, elsewhere: Path) -> None:
    elsewhere.write_text("somebody's letters\n")
    os.symlink(elsewhere, path)


def dangling(path: str, elsewhere: Path) -> None:
    os.symlink(elsewhere, path)


def second_name(path: str, elsewhere: Path) -> None:
    elsewhere.write_text("somebody's letters\n")
    os.link(elsewhere, path)


def pipe(path: str, elsewhere: Path) -> None:
    os.mkfifo(path)


def folder(path: str, elsewhere: Path) -> None:
    os.mkdir(path)


def of_somebody_else(path: str, elsewhere: Path) -> None:
    Path(path).write_text(line() + "\n")
    try:
        os.chown(path, 65534, 65534)
    except PermissionError:
        pytest.skip("only root can give a file away")


@posix
@pytest.mark.parametrize("put", [link, dangling, second_name, pipe, folder, of_somebody_else])
@pytest.mark.parametrize("aside", ["", ".4711-1"], ids=["in its place", "put aside"])
def test_what_is_not_our_file_is_left_alone(
    filled: Filled, path: str, tmp_path: Path, put: Callable[[str, Path], None], aside: str
) -> None:
    """Neither written, nor read, nor moved, nor waited for.

    A link could lead to any file of the user.
    """
    elsewhere = tmp_path / "letters"
    put(path + aside, elsewhere)
    before = os.lstat(path + aside), elsewhere.exists() and elsewhere.read_bytes()

    added, read, drained = (
        aside == "" and spool.append(path, line()),
        spool.read(path + aside),
        Injections(filled.db).drain(),
    )

    assert (added, read, drained, offered(filled)) == (False, b"", 0, [])
    after = os.lstat(path + aside), elsewhere.exists() and elsewhere.read_bytes()
    assert (after[0].st_ino, after[0].st_size, after[1]) == (
        before[0].st_ino,
        before[0].st_size,
        before[1],
    )


def test_no_folder_is_made_for_it(tmp_path: Path) -> None:
    """Where there is no store there is nothing to note down."""
    assert not spool.append(spool.path_of(str(tmp_path / "nowhere" / "recollect.db")), line())
    assert spool.take(spool.path_of(str(tmp_path / "nowhere" / "recollect.db")), "1") == []
    assert not (tmp_path / "nowhere").exists()
