"""What doctor notices, and that it leaves things as they are."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from recollect.model.reports import HealthCheck
from recollect.store import open_store
from recollect.store.sqlite import doctor
from recollect.store.sqlite.database import SCHEMA
from tests.store.conftest import Filled, facts, problem, turn


def fill(filled: Filled) -> None:
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one"), *turn("a", "k2", "two"))


def unwell(filled: Filled, *, verify: bool = False, home: Path | None = None) -> dict[str, str]:
    """What is not well, by name."""
    health = filled.store.doctor.examine(verify=verify, home=str(home) if home else None)
    assert health.ok == all(one.ok for one in health.findings)
    return {one.name: one.detail for one in health.findings if not one.ok}


def finding(filled: Filled, name: str) -> HealthCheck:
    return next(one for one in filled.store.doctor.examine().findings if one.name == name)


def test_a_sound_store_is_well(filled: Filled) -> None:
    """Nobody runs doctor twice if it cries wolf the first time."""
    fill(filled)
    before = filled.rows()

    assert unwell(filled, verify=True) == {}
    assert filled.rows() == before


def test_a_changed_body_is_noticed(filled: Filled) -> None:
    """A flipped bit in a body is invisible to SQLite: only the checksum tells."""
    fill(filled)
    filled.db.execute("update bodies set events = zeroblob(40) where id = 2")

    changed = {"bodies": "1 of 2 have changed since they were written: 2"}
    assert unwell(filled) == changed
    assert unwell(filled, verify=True) == changed


def test_without_verify_as_many_bodies_are_read_as_time_allows(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a large store, doctor still answers in a few seconds, and says how much it looked at."""
    fill(filled)
    monkeypatch.setattr(doctor, "SAMPLE_SECONDS", -1.0)

    assert finding(filled, "bodies").detail == "0 read, 2 more with --verify"


def test_bodies_and_index_rows_must_match(filled: Filled) -> None:
    """A turn missing from the index is there and cannot be found."""
    fill(filled)
    filled.db.execute("delete from turns_text where rowid = 1")
    filled.db.execute("insert into turns_text (rowid, prompt) values (77, 'nobody')")

    assert unwell(filled) == {
        "text index rows": "1 bodies without an index row, 1 index rows without a body"
    }


def test_a_broken_text_index_is_noticed(filled: Filled) -> None:
    """It can be made again, so it is told apart from damage to what cannot."""
    fill(filled)
    filled.db.execute("update turns_text_data set block = zeroblob(30) where id > 1000")

    found = finding(filled, "text index")

    assert not found.ok
    assert found.hint == "Try: recollect doctor --rebuild-text"
    assert finding(filled, "pages").ok


def test_rows_that_point_nowhere_are_noticed(filled: Filled) -> None:
    """They come from tools that write without foreign keys switched on."""
    fill(filled)
    filled.db.execute("pragma foreign_keys = off")
    filled.db.execute("delete from sessions")

    (said,) = unwell(filled).values()
    assert "2 in turns" in said
    assert "1 in undigested" in said


def test_files_open_to_others_are_noticed(filled: Filled) -> None:
    """The store holds what people said to their agents: it is nobody else's business."""
    fill(filled)
    os.chmod(filled.path, 0o644)

    assert unwell(filled) == {"permissions": f"other users can read {filled.path}"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_what_to_type_holds_for_any_folder(tmp_path: Path) -> None:
    """The usual folder on macOS has a blank in its name."""
    path = tmp_path / "Application Support" / "recollect.db"
    store = open_store(str(path))
    path.chmod(0o644)

    (hint,) = [one.hint for one in store.doctor.examine().findings if one.name == "permissions"]

    store.close()
    assert shlex.split(hint or "") == ["chmod", "600", str(path)]


def test_a_folder_of_ours_that_is_open_to_others_is_noticed(filled: Filled) -> None:
    """A folder that somebody chose, such as /tmp, is not ours to close: its
    files are closed, and that will do.
    """
    folder = filled.path.parent
    os.chmod(folder, 0o755)

    assert unwell(filled, home=folder) == {"permissions": f"other users can open {folder}"}
    assert unwell(filled, home=folder / "elsewhere") == {}
    assert unwell(filled) == {}


def test_sources_that_never_import_are_named(filled: Filled, tmp_path: Path) -> None:
    """A format that changed shows here first."""
    fill(filled)
    filled.keep("bad.jsonl", *[problem("bad.jsonl", f"line {number}") for number in range(150)])
    filled.db.execute("update sources set failure = 'cannot be read' where path = 'a.jsonl'")

    assert unwell(filled) == {
        "logs that cannot be read": "1: a.jsonl (cannot be read)",
        "logs with problems": "1 with 100 or more: bad.jsonl (100)",
    }


def test_a_vanished_log_is_no_fault(filled: Filled) -> None:
    """Agents delete their logs after a month; keeping what was in them is what we are for."""
    fill(filled)

    assert finding(filled, "logs deleted by their agents") == HealthCheck(
        name="logs deleted by their agents", ok=True, detail="1 of 1; their sessions are still here"
    )


def test_jobs_that_gave_up_are_named(filled: Filled) -> None:
    """Otherwise nobody would ever hear of them."""
    filled.store.jobs.enqueue("optimize", "text", at=0)
    for _ in range(2):
        filled.db.execute("update jobs set not_before = 0")
        lease = filled.store.jobs.take({"optimize": 60_000})
        assert lease is not None
        filled.store.jobs.fail(lease, "no room", most_tries=2)

    assert unwell(filled) == {"jobs": "1 gave up: optimize text: no room"}


def test_what_others_added_is_only_told(filled: Filled) -> None:
    """The file is the user's: a table of their own is welcome."""
    filled.db.execute("create table mine (a)")
    filled.db.execute("create index mine_too on turns (reply)")

    assert finding(filled, "added by other programs") == HealthCheck(
        name="added by other programs", ok=True, detail="index mine_too, table mine"
    )


def test_a_missing_index_is_a_fault(filled: Filled) -> None:
    """Everything would still work, only slower every day."""
    filled.db.execute("drop index usage_by_turn")

    assert finding(filled, "schema") == HealthCheck(
        name="schema",
        ok=False,
        detail="missing: index usage_by_turn",
        hint="Try: recollect doctor --repair",
    )
    assert filled.db.version() == SCHEMA
