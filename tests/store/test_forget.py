"""What a person asked to forget is gone, and stays gone."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from recollect.errors import NotFound
from recollect.memory import Memory
from recollect.model.logs import Event, Item, ToolResult, TurnFacts
from recollect.model.reports import Forgotten, Scrubbed
from recollect.store import bodies
from recollect.store.sqlite.migrate import copy_to
from recollect.store.sqlite.salvage.repair import repair
from tests.store.conftest import START, Filled, facts, problem, turn

GONE = Scrubbed(text_index=True, pages=True, log=True)
# Where a text can be; each begins differently, so that none hides behind a
# shared beginning in the text index.
PLACES = (
    "prompt", "reply", "output", "command", "why", "title", "meta", "cwd", "problem", "late",
    "telemetry", "branch", "remote",
)  # fmt: skip
WORDS = {
    place: f"{chr(113 - number)}zq{place}marker{number}" for number, place in enumerate(PLACES)
}


def marked(log: str = "marked.jsonl", session: str = "s1") -> list[Item]:
    """A session that says a word of its own in every place there is."""
    w = WORDS
    return [
        facts(
            session, title=f"about {w['title']}", meta={"note": {"deep": [w["meta"]]}},
            cwd=f"/home/{w['cwd']}",
            git_branch=w["branch"], git_remote=f"github.com/{w['remote']}",
        ),
        *turn(
            session, f"{session}-1", f"please {w['prompt']}", f"I did {w['reply']}",
            command=f"run {w['command']}", why=w["why"],
            output=f"it says {w['output']} " + "and so on " * 2000, cwd=f"/home/{w['cwd']}",
            telemetry={"seen": w["telemetry"]},
        ),
        problem(log, f"cannot read {w['problem']}"),
    ]  # fmt: skip


def grown(session: str = "s1") -> list[Item]:
    """The same turn going on: a second part, and a call whose result comes later still."""
    key = f"{session}-1"
    return [
        Event(
            session=session, turn=key, kind="reply", at=START + 5000, text=f"more {WORDS['reply']}"
        ),
        Event(
            session=session,
            turn=key,
            kind="tool_call",
            at=START + 6000,
            call="late call",
            name="shell",
            tool_kind="shell",
        ),
    ]


def traces(filled: Filled) -> list[str]:
    """Every place where one of the words can still be found, in whatever form."""
    found = []
    for path in sorted(filled.path.parent.iterdir()):
        data = path.read_bytes()
        found += [
            f"{word} in the bytes of {path.name}"
            for word in WORDS.values()
            if word.encode() in data
        ]
    for number, events in filled.db.rows("select id, events from bodies"):
        plain = repr(bodies.unpack(events))
        found += [f"{word} in body {number}" for word in WORDS.values() if word in plain]
    words = filled.vocabulary()
    found += [
        f"{word} in the text index"
        for word in WORDS.values()
        for known in words
        if word[:12] in known
    ]
    return found


def fill(filled: Filled) -> None:
    filled.keep("marked.jsonl", *marked())
    filled.keep("marked.jsonl", *grown())
    late = ToolResult(
        session="s1",
        turn="s1-1",
        call="late call",
        at=START + 7000,
        output=f"late {WORDS['late']}",
        ok=False,
    )
    filled.keep("marked.jsonl", late)
    # The next turn closes the first, whose three parts become one.
    filled.keep("marked.jsonl", *turn("s1", "s1-2", "and another thing", minute=9))
    filled.keep(
        "other.jsonl",
        facts("s2", title="something else"),
        *turn("s2", "s2-1", "untouched question"),
    )


def test_a_forgotten_session_is_in_none_of_the_files(filled: Filled) -> None:
    """Not in a page, not in a free one, not in the log, not in the index, not in a
    backup: that is what the word means.
    """
    fill(filled)
    filled.db.execute("create index by_prompt on turns (prompt)")
    filled.db.execute("analyze")
    copy_to(filled.db.connection, f"{filled.path}.before-0002")
    assert {text.split(" ")[0] for text in traces(filled)} == set(WORDS.values())

    report = filled.store.forgetting.session_or_turn("codex:s1")

    assert report == Forgotten(
        sessions=["codex:s1"],
        turns=2,
        tool_calls=3,
        model_calls=2,
        files=[f"{filled.path}.before-0002"],
        scrubbed=GONE,
    )
    assert traces(filled) == []
    assert [one for one in filled.store.doctor.examine(verify=True).findings if not one.ok] == []
    assert filled.session_refs() == ["codex:s2"]
    filled.reopen()
    assert traces(filled) == []


def test_a_forgotten_turn_is_in_none_of_the_files(filled: Filled) -> None:
    """The rest of the session stays as it was; only what quoted the turn goes with it."""
    fill(filled)

    report = filled.store.forgetting.session_or_turn("codex:s1", 1)

    assert report == Forgotten(turns=1, tool_calls=2, model_calls=1, scrubbed=GONE)
    # What the session says of itself is not the turn's.
    own = {WORDS["meta"], WORDS["cwd"], WORDS["branch"], WORDS["remote"]}
    assert {text.split(" ")[0] for text in traces(filled)} <= own
    assert filled.turn_refs() == ["codex:s1#2", "codex:s2#1"]
    assert filled.db.rows("select ref, title from sessions order by id") == [
        ("codex:s1", None),
        ("codex:s2", "something else"),
    ]


def test_what_was_overwritten_long_ago_goes_too(filled: Filled) -> None:
    """An import replaces and merges rows without clearing their
    pages, which nobody asked it to do.
    """
    word = WORDS["meta"]
    filled.keep("a.jsonl", facts("a", meta={"note": f"{word} " * 2000}), *turn("a", "k1", "one"))
    filled.keep("a.jsonl", facts("a", meta={"note": "short"}), *turn("a", "k2", "two"))
    filled.db.execute("pragma wal_checkpoint(truncate)")
    assert word in filled.path.read_bytes().decode("latin-1")
    assert word not in repr(filled.rows())

    filled.store.forgetting.session_or_turn("codex:a", 1)

    assert traces(filled) == []


def test_what_is_forgotten_is_not_imported_again(filled: Filled) -> None:
    """The log is still on disk and the next import reads it; the tombstones stand in between."""
    fill(filled)
    before = filled.store.sources.known()["marked.jsonl"]
    filled.store.forgetting.session_or_turn("codex:s1")

    known = filled.store.sources.known()["marked.jsonl"]
    filled.keep("marked.jsonl", *marked()[:-1], *grown(), again=True)

    assert known == before
    assert filled.db.rows("select kind, name from tombstones") == [
        ("session", "codex:s1"), ("turn", "codex:s1-1"), ("turn", "codex:s1-2"),
    ]  # fmt: skip
    assert traces(filled) == []
    assert filled.session_refs() == ["codex:s2"]


def test_copies_in_forks_go_with_a_turn(filled: Filled) -> None:
    """A fork repeats the turns before it.

    Forgetting one and keeping its copy would forget nothing.
    """
    filled.keep(
        "a.jsonl",
        facts("a"),
        *turn("a", "k1", "the first zebraword"),
        *turn("a", "k2", "the second"),
    )
    filled.keep(
        "b.jsonl",
        facts("b", parent="a"),
        *turn("b", "k1", "the first zebraword"),
        *turn("b", "k3", "the third"),
    )

    planned = filled.store.forgetting.session_or_turn("codex:b", 1, dry_run=True)
    still_there = len(filled.turn_refs())
    done = filled.store.forgetting.session_or_turn("codex:b", 1)

    assert planned == Forgotten(
        turns=2, copies=["codex:a#1"], tool_calls=2, model_calls=1, dry_run=True
    )
    assert still_there == 4
    assert done == Forgotten(
        turns=2, copies=["codex:a#1"], tool_calls=2, model_calls=1, scrubbed=GONE
    )
    assert filled.turn_refs() == ["codex:a#2", "codex:b#2"]
    assert "zebraword" not in filled.vocabulary()
    assert [session.tokens.input for session in filled.sessions()] == [10, 10]


def test_sub_agents_go_with_their_session(filled: Filled) -> None:
    """They were told, and answered, the same content.

    A fork is a conversation of its own and stays.
    """
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one"))
    filled.keep("sub.jsonl", facts("a/x", parent="a", origin="subagent"), *turn("a/x", "x1", "two"))
    filled.keep(
        "deep.jsonl", facts("a/x/y", parent="a/x", origin="subagent"), *turn("a/x/y", "y1", "three")
    )
    filled.keep("fork.jsonl", facts("f", parent="a"), *turn("f", "f1", "four"))

    report = filled.store.forgetting.session_or_turn("codex:a")

    assert report.sessions == ["codex:a", "codex:a/x", "codex:a/x/y"]
    assert filled.session_refs() == ["codex:f"]


def test_a_turn_takes_the_sub_agents_that_began_in_it(filled: Filled) -> None:
    """What they were given to do is the turn's content; those of other turns are not."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one"), *turn("a", "k2", "two", minute=5))
    inside, outside = (
        facts("a/x", parent="a", origin="subagent"),
        facts("a/y", parent="a", origin="subagent"),
    )
    inside.started_at, outside.started_at = START + 1500, START + 301_000
    filled.keep("x.jsonl", inside, *turn("a/x", "x1", "three"))
    filled.keep("y.jsonl", outside, *turn("a/y", "y1", "four"))

    report = filled.store.forgetting.session_or_turn("codex:a", 1)

    assert report.sessions == ["codex:a/x"]
    assert filled.session_refs() == ["codex:a", "codex:a/y"]


def test_a_project_that_only_the_forgotten_session_was_about_goes_too(filled: Filled) -> None:
    """A folder's name can say as much as a prompt."""
    filled.keep(
        "a.jsonl",
        facts("a"),
        *turn("a", "k1", "one", cwd="/home/ada/affair"),
        *turn("a", "k2", "two"),
    )
    filled.keep("b.jsonl", facts("b"), *turn("b", "k3", "three"))

    filled.store.forgetting.session_or_turn("codex:a")

    assert [project.key for project in filled.store.projects.all()] == ["/home/ada/shop"]


def test_the_number_of_a_forgotten_last_turn_is_remembered(filled: Filled) -> None:
    """Notes cite turns by number, so it may not be given to another one."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one"), *turn("a", "k2", "two"))

    filled.store.forgetting.session_or_turn("codex:a", 2)

    filled.keep("a.jsonl", *turn("a", "k3", "three"))
    assert filled.turn_refs() == ["codex:a#1", "codex:a#3"]


def test_a_reader_in_the_way_is_reported_and_the_work_finished_later(filled: Filled) -> None:
    """A process that reads an old state keeps that state in the log.

    Saying "gone" then would be a lie.
    """
    fill(filled)
    reader = apsw.Connection(str(filled.path), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("begin")
    reader.execute("select count(*) from turns").fetchall()
    filled.db.connection.set_busy_timeout(10)

    report = filled.store.forgetting.session_or_turn("codex:s1")
    unwell = [one.name for one in filled.store.doctor.examine().findings if not one.ok]
    reader.close()
    finished = filled.store.upkeep.optimize()

    assert report.scrubbed is not None
    assert (report.scrubbed.complete, report.scrubbed.log) == (False, False)
    assert "reads an older state" in report.scrubbed.detail
    assert unwell == ["freed space wiped"]
    assert finished.scrubbed == GONE
    assert not filled.store.scrub.is_pending()
    assert traces(filled) == []


def test_who_is_killed_before_the_files_are_scrubbed_leaves_that_to_a_job(filled: Filled) -> None:
    """The rows are gone by then, so that nobody would think of the words in the files."""
    fill(filled)
    copy_to(filled.db.connection, f"{filled.path}.before-0002")

    class Killed(BaseException):
        """Nothing is caught, and nothing is done after it."""

    def die(connection: apsw.Connection, statement: str, values: object) -> bool:
        if statement == "vacuum":
            raise Killed
        return True

    filled.db.connection.exec_trace = die
    with pytest.raises(Killed):
        filled.store.forgetting.session_or_turn("codex:s1", 1)
    filled.db.connection.exec_trace = None
    filled.reopen()
    with Memory.open(filled.path) as memory:
        memory.jobs.work()

    assert not filled.store.scrub.is_pending()
    assert not os.path.exists(f"{filled.path}.before-0002")
    assert [one.name for one in filled.store.doctor.examine().findings if not one.ok] == []
    again = filled.store.forgetting.session_or_turn("codex:s1", 1)
    assert (again.turns, again.scrubbed) == (0, None)
    with pytest.raises(NotFound, match="has no turn 9"):
        filled.store.forgetting.session_or_turn("codex:s1", 9)


def test_damaged_copies_go_as_well(filled: Filled, tmp_path: Path) -> None:
    """A repair keeps the damaged file; forgetting has to think of it."""
    fill(filled)
    filled.close()
    data = bytearray(filled.path.read_bytes())
    data[:16] = b"not a database!!"
    filled.path.write_bytes(data)
    damaged = repair(str(filled.path)).damaged_copy
    filled.reopen()

    report = filled.store.forgetting.session_or_turn("codex:s1")

    assert damaged is not None
    assert report.files == [damaged]
    assert not os.path.exists(damaged)
    assert traces(filled) == []


def test_forgetting_what_is_not_there_is_an_error(filled: Filled) -> None:
    """A mistyped name must not pass for success."""
    fill(filled)

    with pytest.raises(NotFound):
        filled.store.forgetting.session_or_turn("codex:nobody")
    with pytest.raises(NotFound):
        filled.store.forgetting.session_or_turn("codex:s1", 99)


def test_a_turn_that_still_grows_stays_forgotten(filled: Filled) -> None:
    """The agent may go on with the turn after it was forgotten; more of it is not wanted either."""
    filled.keep("a.jsonl", facts("a"), *turn("a", "k1", "one zebraword"))
    filled.store.forgetting.session_or_turn("codex:a", 1)

    more = [
        TurnFacts(session="a", turn="k1"),
        Event(session="a", turn="k1", kind="reply", text="more zebraword"),
    ]
    filled.keep("a.jsonl", *more)

    assert filled.db.rows("select * from turns") == []
    assert filled.vocabulary() == set()
