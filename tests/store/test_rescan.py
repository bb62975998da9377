"""Scanning the store again takes out what an older table of secrets let in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from recollect.model.logs import Checkpoint, Event
from recollect.model.reports import Rescanned, Scrubbed
from recollect.redact import table_version
from recollect.store import bodies
from recollect.store.sqlite import rescan as module
from recollect.store.sqlite.capture.content import LEAD_CHARACTERS
from tests.store.conftest import START, Filled, facts, problem, turn

SECRET = "zxsecret0123456789"
TAG = "[REDACTED:test:1]"
GONE = Scrubbed(text_index=True, pages=True, log=True)


class Redactor:
    """Knows one secret, and the name of a field whose value is one whatever it looks like."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.counts: dict[str, int] = {}
        self.calls = 0
        self.stop_after = stop_after

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        self.calls += 1
        if self.stop_after is not None and self.calls > self.stop_after:
            raise KeyboardInterrupt
        return [self._redact(text) for text in texts]

    def _redact(self, text: str) -> str:
        if SECRET in text:
            self.counts["test"] = self.counts.get("test", 0) + text.count(SECRET)
            return text.replace(SECRET, TAG)
        return (
            text.replace('"password":"hushword"', f'"password":"{TAG}"')
            if '"password":"hushword"' in text
            else text
        )


def fill(filled: Filled) -> None:
    """The secret in every place that holds text; in a prompt so that a lead ends inside it."""
    prompt = "x" * (LEAD_CHARACTERS - 10) + f" {SECRET} and on"
    filled.keep(
        "a.jsonl",
        facts(
            "a",
            title=f"use {SECRET}",
            cwd=f"/home/{SECRET}",
            meta={"deep": [SECRET]},
            git_remote=f"https://{SECRET}@host/x",
        ),
        *turn(
            "a",
            "k1",
            prompt,
            f"used {SECRET}",
            command=f"login {SECRET}",
            output=f"ok {SECRET}",
            telemetry={"s": SECRET},
            folder=f"/srv/{SECRET}",
        ),
        problem("a.jsonl", f"bad line {SECRET}"),
    )
    filled.keep(
        "a.jsonl",
        Event(session="a", turn="k1", kind="reply", at=START, text="a second part, without it"),
    )
    filled.keep("b.jsonl", facts("b"), *turn("b", "k2", "harmless", cwd=f"/home/{SECRET}/shop"))
    filled.keep("c.jsonl", facts("c"), *turn("c", "k3", "by name only"))
    events = bodies.unpack(filled.db.value("select events from bodies order by id desc limit 1"))
    events[1][bodies.INPUT] = {"password": "hushword"}
    packed = bodies.pack(events)
    filled.db.execute(
        "update bodies set events = ?, checksum = ? where id = (select max(id) from bodies)",
        (packed, bodies.checksum(packed)),
    )
    filled.db.execute(
        "update sources set state = ? where path = 'b.jsonl'", (b"\x93" + SECRET.encode(),)
    )
    filled.store.text_index.rebuild()


def test_a_secret_leaves_every_place_and_every_file(filled: Filled) -> None:
    """Replacing it in the rows and leaving it in free pages would be of no use to anybody."""
    fill(filled)
    assert SECRET[:9] in filled.db.value("select prompt from turns where key = 'k1'")

    report = filled.store.rescan.run(Redactor())

    assert report == Rescanned(
        turns=3, turns_changed=2, sessions_changed=1, other_rows_changed=3,
        redactions=report.redactions,
        version=table_version(), scrubbed=GONE,
    )  # fmt: skip
    for path in filled.path.parent.iterdir():
        assert SECRET[:9].encode() not in path.read_bytes()
        assert b"hushword" not in path.read_bytes()
    plain = repr(
        [bodies.unpack(events) for (events,) in filled.db.rows("select events from bodies")]
    )
    assert SECRET not in plain
    assert "hushword" not in plain
    assert plain.count(TAG) == 8
    assert not [word for word in filled.vocabulary() if word.startswith(("zxsecret", "hushword"))]
    assert [one for one in filled.store.doctor.examine(verify=True).findings if not one.ok] == []
    assert (
        filled.db.value("select value from store_info where name = 'redaction_version'")
        == table_version()
    )
    sql = "select title, cwd, git_remote, meta from sessions where ref = 'codex:a'"
    assert filled.db.row(sql) == (
        f"use {TAG}", f"/home/{TAG}", f"https://{TAG}@host/x", f'{{"deep":["{TAG}"]}}',
    )  # fmt: skip
    # The adapter's own notes cannot be rewritten, so the log is read
    # from its start when it next grows.
    source = filled.store.sources.find("b.jsonl")
    assert source is not None
    assert source.checkpoint == Checkpoint(0, b"")


def test_a_log_is_known_by_the_name_that_an_import_gives_it(filled: Filled) -> None:
    """An import takes secrets out of paths; with them still there, it would not find its logs."""
    filled.keep(f"/srv/{SECRET}/a.jsonl", facts("a"), *turn("a", "k1", "harmless"))

    filled.store.rescan.run(Redactor())

    assert filled.store.sources.find(f"/srv/{TAG}/a.jsonl") is not None
    for path in filled.path.parent.iterdir():
        assert SECRET[:9].encode() not in path.read_bytes()


def test_what_is_clean_is_not_written(filled: Filled) -> None:
    """A second scan finds nothing, changes nothing, and has nothing to scrub."""
    fill(filled)
    filled.store.rescan.run(Redactor())
    before = filled.rows()

    report = filled.store.rescan.run(Redactor())

    assert report == Rescanned(turns=3, version=table_version())
    assert filled.rows() == before


def test_the_text_index_is_what_an_import_would_have_made(filled: Filled) -> None:
    """Searches must not notice that a turn was rewritten."""
    fill(filled)

    filled.store.rescan.run(Redactor())
    after = filled.text_index()
    filled.store.text_index.rebuild()

    assert after == filled.text_index()


def test_a_scan_that_was_stopped_goes_on(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large store takes minutes; people close their laptops."""
    monkeypatch.setattr(module, "BATCH_ROWS", 1)
    fill(filled)
    with pytest.raises(KeyboardInterrupt):
        filled.store.rescan.run(Redactor(stop_after=2))
    told: list[Any] = []

    report = filled.store.rescan.run(
        Redactor(), progress=lambda done, total, _: told.append((done, total))
    )

    assert (report.turns, report.resumed, report.scrubbed) == (2, True, GONE)
    assert told == [(1, 2), (2, 2)]
    for path in filled.path.parent.iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_projects_that_differed_in_a_secret_only_become_one(filled: Filled) -> None:
    """A remote with a token in it is the same remote."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one", cwd=f"/srv/{SECRET}"))
    filled.keep("b.jsonl", facts("b"), *turn("b", "k2", "two", cwd=f"/srv/{TAG}"))

    filled.store.rescan.run(Redactor())

    (project,) = filled.store.projects.all()
    assert (project.key, project.turns) == (f"/srv/{TAG}", 2)
