"""A damaged store is salvaged, page by page, and the damaged file kept."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import NotFound, StoreError, StoreTooNew, StoreTooOld
from recollect.model.reports import RepairReport
from recollect.store import open_store
from recollect.store.sqlite.database import Database
from recollect.store.sqlite.doctor import Doctor
from recollect.store.sqlite.salvage.pages import PageFile, PageTree
from recollect.store.sqlite.salvage.repair import repair
from tests.store.conftest import Filled, facts, turn

SESSIONS, TURNS = 12, 8
TABLES = ("sources", "projects", "sessions", "turns", "bodies", "tool_calls", "usage")


def fill(filled: Filled) -> None:
    """Enough for every table to have pages above its leaves."""
    for session in range(SESSIONS):
        noise = " ".join(f"w{(session * 977 + number * 7919) % 100_003:x}" for number in range(600))
        name = f"s{session}"
        items = [
            item
            for number in range(TURNS)
            for item in turn(
                name,
                f"{name}-{number}",
                f"question {number} {noise[:1200]}",
                output=noise,
                minute=number,
            )
        ]
        filled.keep(f"log{session}.jsonl", facts(name, title=f"session {session}"), *items)
    filled.db.execute("create table mine (a, b)")
    filled.db.execute("insert into mine values (1, 'kept')")
    filled.db.execute("create index mine_by_a on mine (a)")
    filled.store.upkeep.redaction_key()


def damage(path: Path, change: Callable[[bytearray], Any]) -> bytes:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return bytes(data)


def page_size(data: bytes | bytearray) -> int:
    return int.from_bytes(data[16:18], "big")


def zero(number: int) -> Callable[[bytearray], Any]:
    def change(data: bytearray) -> None:
        size = page_size(data)
        data[(number - 1) * size : number * size] = bytes(size)

    return change


def root_of(path: Path, name: str) -> int:
    db = Database(str(path))
    try:
        return int(db.value("select rootpage from sqlite_schema where name = ?", (name,)))
    finally:
        db.close()


def leaf_of(path: Path, name: str, index: int = 3) -> int:
    """A leaf page of a table, by walking it."""
    with PageFile(str(path)) as file:
        cells = file.walk(root_of(path, name), PageTree(), index=False)
        return list(dict.fromkeys(cell.page for cell in cells))[index]


def stored(path: Path, tables: tuple[str, ...] = TABLES) -> dict[str, list[Any]]:
    db = Database(str(path))
    try:
        return {table: sorted(db.rows(f"select * from {table}")) for table in tables}
    finally:
        db.close()


def healthy(path: Path) -> None:
    db = Database(str(path))
    try:
        assert [one for one in Doctor(db).examine(verify=True).findings if not one.ok] == []
    finally:
        db.close()


def test_a_sound_store_is_left_alone(filled: Filled) -> None:
    """Repair is the first thing that people try; it must do no harm."""
    fill(filled)
    filled.close()
    before = filled.path.read_bytes()

    report = repair(str(filled.path))

    assert report == RepairReport(path=str(filled.path), sound=True)
    assert filled.path.read_bytes() == before


def test_a_text_index_that_is_not_well_is_made_again(filled: Filled) -> None:
    """It is only a view of the bodies, so nothing is lost and nothing moves."""
    fill(filled)
    before = filled.text_index()
    filled.db.execute("delete from turns_text where rowid < 20")
    filled.close()

    report = repair(str(filled.path))
    filled.reopen()

    assert report == RepairReport(
        path=str(filled.path), sound=True, text_rebuilt=True,
        notes=["text index rows: 19 bodies without an index row, 0 index rows without a body"],
    )  # fmt: skip
    assert filled.text_index() == before


def test_the_rebuilt_index_is_the_one_that_capture_made(filled: Filled) -> None:
    """Also for a turn in several parts, whose later parts repeat its prompt."""
    from recollect.model.logs import Event

    fill(filled)
    filled.keep("log0.jsonl", Event(session="s0", turn="s0-7", kind="reply", text="a second part"))
    filled.keep("log0.jsonl", Event(session="s0", turn="s0-7", kind="error", text="a third part"))
    before = filled.text_index()

    count = filled.store.text_index.rebuild()

    assert count == SESSIONS * TURNS + 2
    assert filled.text_index() == before


@pytest.mark.parametrize(
    "header", [b"not a database!!", bytes(100), b"\xff" * 100], ids=["words", "zeros", "ones"]
)
def test_a_bad_header_costs_nothing(filled: Filled, header: bytes) -> None:
    """SQLite will not open such a file at all, and every row is still in it."""
    fill(filled)
    filled.close()
    before = stored(filled.path)

    damaged = damage(filled.path, lambda data: data.__setitem__(slice(0, len(header)), header))
    report = repair(str(filled.path))

    assert stored(filled.path) == before
    assert stored(filled.path, ("mine",)) == {"mine": [(1, "kept")]}
    assert (report.sound, report.lost, report.sources_to_read_again) == (False, {}, 0)
    assert report.damaged_copy is not None
    assert Path(report.damaged_copy).read_bytes() == damaged
    healthy(filled.path)


def test_a_lost_first_page_costs_only_what_was_added_by_others(filled: Filled) -> None:
    """Without the list of tables their pages are told apart by what is on them."""
    fill(filled)
    filled.close()
    before = stored(filled.path)

    damage(filled.path, zero(1))
    report = repair(str(filled.path))

    content = TABLES[1:]
    assert stored(filled.path, content) == {table: before[table] for table in content}
    assert "the list of tables was damaged" in report.notes
    # The indexes are lost with it, so nobody can say that nothing is missing.
    assert report.sources_to_read_again == SESSIONS
    healthy(filled.path)


@pytest.mark.parametrize("table", ["bodies", "turns"])
def test_a_lost_root_costs_no_row(filled: Filled, table: str) -> None:
    """One page in the middle hides a whole table from SQLite; its leaves are all there."""
    fill(filled)
    filled.close()
    before = stored(filled.path)

    damage(filled.path, zero(root_of(filled.path, table)))
    report = repair(str(filled.path))

    assert stored(filled.path) == before
    assert (report.lost_pages, report.lost, report.sources_to_read_again) == (1, {}, 0)
    healthy(filled.path)


def test_lost_turns_are_told_again_from_indexes_and_bodies(filled: Filled) -> None:
    """A turn keeps its number and its words.

    What only its own row said comes with the next import.
    """
    fill(filled)
    filled.close()
    before = stored(filled.path)

    damage(filled.path, zero(leaf_of(filled.path, "turns")))
    report = repair(str(filled.path))

    after = stored(filled.path)
    assert [row[:4] + row[10:] for row in after["turns"]] == [
        row[:4] + row[10:] for row in before["turns"]
    ]
    assert after["bodies"] == before["bodies"]
    assert report.rebuilt["turns"] > 0
    assert 0 < report.sources_to_read_again < SESSIONS
    healthy(filled.path)


def test_lost_bodies_mean_that_their_logs_are_read_again(filled: Filled) -> None:
    """The index of bodies says whose they were, so the other logs need not be read."""
    fill(filled)
    filled.close()
    before = stored(filled.path)

    damage(filled.path, zero(leaf_of(filled.path, "bodies")))
    report = repair(str(filled.path))

    after = stored(filled.path)
    db = Database(str(filled.path))
    again = {path for (path,) in db.rows("select path from sources where size_bytes = -1")}
    gone = {
        path
        for (path,) in db.rows(
            """
            select distinct path from turns
              join sessions on sessions.id = turns.session
              join sources on sources.id = sessions.source
             where turns.id not in (select turn from bodies)
            """
        )
    }
    db.close()
    assert after["turns"] == before["turns"]
    assert report.lost == {"bodies": len(before["bodies"]) - len(after["bodies"])}
    assert again == gone != set()
    assert (
        report.next_steps[0]
        == f"Run `recollect import`. Logs to read again from their start: {len(again)}"
    )


def test_a_body_that_is_not_what_was_written_is_dropped(filled: Filled) -> None:
    """A checksum that does not match means that nobody knows what was
    said: better to read the log again.
    """
    fill(filled)
    filled.db.execute("update bodies set events = zeroblob(50) where id = 5")
    filled.close()

    report = repair(str(filled.path))

    assert report.lost == {"bodies": 1}
    assert report.sources_to_read_again == 1
    healthy(filled.path)


def test_tool_calls_are_told_again_from_bodies(filled: Filled) -> None:
    """They are in the bodies too, so a lost page of them costs nothing."""
    fill(filled)
    filled.close()
    before = stored(filled.path)

    damage(filled.path, zero(root_of(filled.path, "tool_calls")))
    repair(str(filled.path))

    assert stored(filled.path) == before


def test_a_cut_file_keeps_what_is_left(filled: Filled) -> None:
    """A full disk, a broken copy: the end is missing."""
    fill(filled)
    filled.close()
    sessions = stored(filled.path, ("sessions",))

    damage(filled.path, lambda data: data.__delitem__(slice(len(data) * 2 // 3, None)))
    report = repair(str(filled.path))

    assert [row[1] for row in stored(filled.path)["sessions"]] == [
        row[1] for row in sessions["sessions"]
    ]
    assert report.kept["bodies"] > 0
    healthy(filled.path)


def test_committed_work_in_the_log_is_salvaged_too(filled: Filled) -> None:
    """The newest session may be in the write-ahead log only."""
    fill(filled)
    filled.db.execute("pragma wal_checkpoint(truncate)")
    filled.db.execute("pragma wal_autocheckpoint = 0")
    filled.keep("newest.jsonl", facts("newest"), *turn("newest", "n1", "the newest question"))
    crashed = filled.path.parent / "crashed.db"
    crashed.write_bytes(filled.path.read_bytes())
    (filled.path.parent / "crashed.db-wal").write_bytes(Path(f"{filled.path}-wal").read_bytes())
    before = filled.rows()

    damage(crashed, lambda data: data.__setitem__(slice(0, 16), b"not a database!!"))
    repair(str(crashed))

    assert stored(crashed) == {table: sorted(before[table]) for table in TABLES}
    assert not Path(f"{crashed}-wal").exists()


def test_forgotten_turns_do_not_come_back(filled: Filled) -> None:
    """A repair looks at pages that nothing leads to; what was there before may not return by it."""
    fill(filled)
    filled.store.forgetting.session_or_turn("codex:s3")
    filled.close()

    damage(filled.path, zero(1))
    repair(str(filled.path))
    filled.reopen()

    assert filled.db.value("select count(*) from sessions") == SESSIONS - 1
    assert filled.db.value("select count(*) from tombstones") == TURNS + 1
    assert filled.db.value("select count(*) from turns where key glob 's3-*'") == 0


def test_a_file_that_never_was_a_store_is_not_touched(tmp_path: Path) -> None:
    """A wrong --store must not rename somebody's thesis."""
    other = tmp_path / "thesis.txt"
    other.write_bytes(b"It was a dark and stormy night. " * 2000)
    foreign = tmp_path / "foreign.db"
    apsw.Connection(str(foreign)).execute("create table cats (name)")
    before = sorted(path.name for path in tmp_path.iterdir())

    for path in (other, foreign):
        with pytest.raises(StoreError):
            repair(str(path))
    with pytest.raises(NotFound):
        repair(str(tmp_path / "nothing.db"))

    assert sorted(path.name for path in tmp_path.iterdir()) == before


class Sound:
    """The bytes of a sound store, its bodies, and the pages that each of them is on."""

    def __init__(self, folder: Path) -> None:
        made = Filled(folder / "sound.db")
        fill(made)
        made.close()
        self.bodies = stored(made.path, ("bodies",))["bodies"]
        self.bytes = made.path.read_bytes()
        root = root_of(made.path, "bodies")
        self.pages: dict[int | None, set[int]] = {}
        with _Watched(str(made.path)) as file:
            for cell in file.walk(root, PageTree(), index=False):
                self.pages[cell.rowid] = {cell.page, *file.read}
                file.read.clear()


class _Watched(PageFile):
    """Remembers which pages were read."""

    def __init__(self, path: str) -> None:
        self.read: list[int] = []
        super().__init__(path)

    def page(self, number: int) -> bytes:
        self.read.append(number)
        return super().page(number)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return Sound(tmp_path_factory.mktemp("sound"))


@settings(max_examples=20, deadline=None)
@given(
    place=st.floats(0, 1, exclude_max=True),
    length=st.integers(1, 8192),
    noise=st.binary(min_size=1, max_size=8),
)
def test_damage_anywhere_costs_only_what_it_hits(
    tmp_path_factory: pytest.TempPathFactory, sound: Sound, place: float, length: int, noise: bytes
) -> None:
    """Whatever happens to a page: the result is sound, and
    bodies on other pages are as they were.
    """
    size, begin = page_size(sound.bytes), int(place * len(sound.bytes))
    page = begin // size + 1
    end = min(begin + length, page * size)
    path = tmp_path_factory.mktemp("damaged") / "recollect.db"
    path.touch(mode=0o600)
    path.write_bytes(sound.bytes[:begin] + (noise * length)[: end - begin] + sound.bytes[end:])

    try:
        repair(str(path))
    except (StoreTooNew, StoreTooOld):
        # The damage happens to read as another version's number.
        assert page == 1
        return

    open_store(str(path)).close()
    healthy(path)
    kept = {row[0]: row for row in stored(path, ("bodies",))["bodies"]}
    assert [
        row[0]
        for row in sound.bodies
        if page not in sound.pages[row[0]] and kept.get(row[0]) != row
    ] == []


# Dies just before the n-th time that a file gets a name or loses one.
REPAIRER = """
import os, signal, sys

from recollect.store.sqlite.salvage.repair import repair

left = int(sys.argv[2])

def hear(event, values):
    global left
    if event in ("os.link", "os.rename", "os.remove"):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hear)
repair(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can be killed like that there")
def test_who_is_killed_while_files_change_places_leaves_a_whole_one(
    filled: Filled, tmp_path: Path
) -> None:
    """Neither may there be no store at all, nor one without what its write-ahead log holds."""
    fill(filled)
    filled.store.scrub.empty_log()
    filled.db.execute("pragma wal_autocheckpoint = 0")
    filled.keep("late.jsonl", facts("late"), *turn("late", "k", "only in the log"))
    torn = {end: Path(f"{filled.path}{end}").read_bytes() for end in ("", "-wal")}
    filled.close()
    broken = bytearray(torn[""])
    zero(root_of(filled.path, "mine_by_a"))(broken)
    command = [sys.executable, "-c", REPAIRER, str(filled.path)]

    killed = 0
    for step in range(1, 20):
        for left in filled.path.parent.iterdir():
            left.unlink()
        for end, data in {"": bytes(broken), "-wal": torn["-wal"]}.items():
            Path(f"{filled.path}{end}").write_bytes(data)
            Path(f"{filled.path}{end}").chmod(0o600)
        code = subprocess.run([*command, str(step)]).returncode
        killed += code == -signal.SIGKILL
        repair(str(filled.path))

        filled.reopen()
        assert "codex:late#1" in filled.turn_refs(), f"killed at change {step}"
        assert len(filled.turn_refs()) == SESSIONS * TURNS + 1
        filled.close()
        if code == 0:
            break
    assert killed > 5
