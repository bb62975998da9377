"""What the Grok adapter makes of grok-cli's database: what is new
in it, and whole sessions at that.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from recollect.capture.adapters.grok import Grok
from recollect.capture.logs import databases
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Problem,
    SessionFacts,
    ToolResult,
    TurnFacts,
    Usage,
)
from tests.builders import grok as b
from tests.capture.adapters.items import of, prompts, said, troubles
from tests.golden_logs import make_database

SESSION, OTHER = "a1b2c3d4e5f6", "ffffffffffff"


def home(root: Path, *rows: str, schema: str = b.SCHEMA, wal: bool = False) -> Path:
    """A home of grok-cli with these rows in its database."""
    make_database(root / "grok.db", ("-- wal\n" if wal else "") + schema + "".join(rows))
    return root


def add(root: Path, *rows: str) -> None:
    """The program goes on."""
    connection = apsw.Connection(str(root / "grok.db"))
    connection.execute("".join(rows))
    connection.close()


def read(root: Path, since: Checkpoint | None = None) -> list[Item]:
    (source,) = Grok().sources(str(root))
    return list(Grok().read(source, since))


def last(found: list[Item]) -> Checkpoint:
    assert isinstance(found[-1], Checkpoint)
    return found[-1]


def sessions(found: list[Item]) -> list[str]:
    return [facts.session for facts in of(SessionFacts, found)]


def talk(session: str = SESSION, at: float = 5) -> tuple[str, ...]:
    """A session with one turn."""
    user = b.cli_message(1, "user", "count the crates", at, session)
    return b.cli_session(session, at), user, b.cli_message(2, "assistant", "One.", at, session)


def test_a_session_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole. A turn is written when it has ended, after what it cost."""
    call = {
        "type": "tool-call",
        "toolCallId": "x1",
        "toolName": "bash",
        "input": {"command": "ls yard"},
    }
    result = {
        "type": "tool-result",
        "toolCallId": "x1",
        "toolName": "bash",
        "output": {"type": "text", "value": "crate"},
    }
    thought, words = (
        {"type": "reasoning", "text": "In the yard."},
        {"type": "text", "text": "Looking."},
    )

    found = read(
        home(
            tmp_path,
            b.cli_session(at=6),
            b.cli_usage(100, 5, 4.9, cost_micros=1500),
            b.cli_message(1, "user", "count the crates", 5),
            b.cli_message(2, "assistant", [thought, words, call], 5),
            b.cli_message(3, "tool", [result], 5),
            b.cli_message(4, "assistant", "One.", 6),
        )
    )

    told: dict[str, Any] = {"session": SESSION, "turn": f"{SESSION}/1"}
    at = b.START_MS + 5000
    assert found[:-1] == [
        SessionFacts(
            session=SESSION,
            cwd="/home/ada/shop",
            title="Count crates",
            started_at=b.START_MS,
            meta={
                "model": "grok-4",
                "mode": "agent",
                "status": "active",
                "cwd_last": "/home/ada/shop",
                "program": "grok-cli",
            },
        ),
        TurnFacts(**told, at=at, author="human"),
        Event(**told, kind="prompt", at=at, text="count the crates"),
        Event(**told, kind="reasoning", at=at, text="In the yard."),
        Event(**told, kind="reply", at=at, text="Looking."),
        Event(
            **told,
            kind="tool_call",
            at=at,
            call="x1",
            name="bash",
            tool_kind="shell",
            target="ls yard",
            input={"command": "ls yard"},
        ),
        ToolResult(**told, call="x1", at=at, output="crate", ok=True),
        Event(**told, kind="reply", at=at + 1000, text="One."),
        Usage(
            **told,
            key=f"{SESSION}/usage/1",
            model="grok-4",
            at=at - 100,
            input=100,
            output=5,
            cost_usd=0.0015,
        ),
    ]


# What is new -----------------------------------------------------------------------------


def test_only_sessions_that_changed_are_read_again_and_whole(tmp_path: Path) -> None:
    """A database may hold years."""
    first = read(home(tmp_path, *talk(at=5), *talk(OTHER, at=9)))
    add(
        tmp_path,
        b.cli_message(3, "user", "again", 20),
        f"update sessions set updated_at = '{b.clock(20)}' where id = '{SESSION}'",
    )

    second = read(tmp_path, last(first))

    # The newest of before is looked at again: two changes may have the same time.
    assert (sessions(first), sessions(second)) == ([SESSION, OTHER], [OTHER, SESSION])
    assert prompts(second)[1:] == ["count the crates", "again"]
    assert last(second).position > last(first).position


def test_what_was_paid_is_news_even_if_the_session_does_not_say_so(tmp_path: Path) -> None:
    """grok-cli notes tokens without a word to the session."""
    first = read(home(tmp_path, *talk(at=5), *talk(OTHER, at=9)))
    add(tmp_path, b.cli_usage(70, 7, 10))

    second = read(tmp_path, last(first))

    assert sessions(second) == [SESSION, OTHER]
    assert [usage.input for usage in of(Usage, second)] == [70]


@pytest.mark.parametrize("state", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x80"])
def test_without_a_sound_state_everything_is_read(tmp_path: Path, state: bytes) -> None:
    """It may come from another version."""
    home(tmp_path, *talk(), *talk(OTHER))

    assert len(sessions(read(tmp_path, Checkpoint(10, state)))) == 2


def test_a_database_that_was_replaced_is_read_from_the_start(tmp_path: Path) -> None:
    """Its rows are then fewer than they were."""
    first = read(home(tmp_path, *talk(at=50), *talk(OTHER, at=60)))
    os.unlink(tmp_path / "grok.db")
    home(tmp_path, *talk("cccccccccccc", at=5))

    assert sessions(read(tmp_path, last(first))) == ["cccccccccccc"]


def test_an_import_that_is_stopped_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every stretch ends with a checkpoint that knows which sessions are told."""
    monkeypatch.setattr(databases, "_COMMIT_BYTES", 1)
    names = [f"{number:012}" for number in range(4)]
    whole = read(
        home(tmp_path, *(row for number, name in enumerate(names) for row in talk(name, at=number)))
    )

    points = of(Checkpoint, whole)
    after_second = sessions(read(tmp_path, points[1]))

    assert (len(points), after_second) == (5, names[1:])
    assert [point.position for point in points] == sorted(point.position for point in points)


def test_rows_in_the_write_ahead_log_are_seen(tmp_path: Path) -> None:
    """The program was not closed."""
    assert prompts(read(home(tmp_path, *talk(), wal=True))) == ["count the crates"]


def test_a_database_from_before_recaps_and_compactions_is_read(tmp_path: Path) -> None:
    """Its tables have less in them."""
    schema = b.SCHEMA[: b.SCHEMA.index("create table compactions")].replace(
        "recap_text text, recap_model text,", ""
    )

    found = read(home(tmp_path, *talk(), schema=schema.replace("recap_updated_at text, ", "")))

    assert said(found) == [("prompt", "count the crates"), ("reply", "One.")]


@pytest.mark.parametrize("data", [b"", b"not a database", b"SQLite format 3\x00" + b"\x00" * 84])
def test_what_is_no_database_is_one_problem(tmp_path: Path, data: bytes) -> None:
    """And the reading goes on next time from where it was."""
    (tmp_path / "grok.db").write_bytes(data)

    problem, checkpoint = read(
        tmp_path, Checkpoint(7, msgspec.msgpack.encode(databases.ReadMarks()))
    )

    assert isinstance(problem, Problem)
    assert (problem.kind, checkpoint) == (
        "unreadable",
        Checkpoint(7, msgspec.msgpack.encode(databases.ReadMarks())),
    )


def test_a_database_is_known_by_its_tables(tmp_path: Path) -> None:
    """A copy may have any name, and many programs have sessions and messages."""
    home(tmp_path, *talk())
    copy = tmp_path / "copy.db"
    os.rename(tmp_path / "grok.db", copy)
    make_database(
        tmp_path / "other.db",
        "create table sessions (id, title); create table messages (id, session_id)",
    )

    head = copy.read_bytes()[:100]
    assert Grok().find_source(str(tmp_path / "other.db"), head) is None
    found = Grok().find_source(str(copy), head)
    assert found is not None
    assert (found.companions, found.appended) == ((f"{copy}-wal",), False)


# Messages --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "text", "ok"),
    [
        ({"type": "text", "value": "crate"}, "crate", True),
        ({"type": "error-text", "value": "gone"}, "gone", False),
        ({"type": "json", "value": {"success": True, "output": "crate"}}, "crate", True),
        ({"type": "json", "value": {"success": False, "error": "gone"}}, "gone", False),
        ({"success": False, "output": "half", "error": "gone"}, "gone", False),
        ({"type": "json", "value": [1]}, '{"type":"json","value":[1]}', True),
        ({"type": "error-json", "value": [1]}, '{"type":"error-json","value":[1]}', False),
        ({"type": "content", "value": [{"type": "text", "text": "crate"}]}, "crate", True),
        ({"type": "execution-denied", "reason": "no"}, "no", False),
        ("crate", '"crate"', None),
        (None, "", None),
    ],
)
def test_what_a_tool_gave_back_is_found_in_every_shape(
    tmp_path: Path, output: Any, text: str, ok: bool | None
) -> None:
    """The AI SDK wraps values, and grok-cli has results of its own in them."""
    part = {"type": "tool-result", "toolCallId": "x1", "toolName": "bash", "output": output}

    (result,) = of(ToolResult, read(home(tmp_path, *talk(), b.cli_message(3, "tool", [part], 6))))

    assert (result.output, result.ok) == (text, ok)


def test_a_compaction_stands_before_what_came_after_it(tmp_path: Path) -> None:
    """Messages stay in the table; their number tells nothing of when it was."""
    compaction = b.row(
        "compactions",
        session_id=SESSION,
        first_kept_seq=2,
        summary="One.",
        tokens_before=900,
        created_at=b.clock(7),
    )
    later = b.row(
        "compactions", session_id=SESSION, first_kept_seq=3, summary="Two.", created_at=b.clock(30)
    )

    found = read(
        home(tmp_path, *talk(at=5), b.cli_message(3, "user", "again", 20), compaction, later)
    )

    assert said(found)[2:] == [("compaction", "One."), ("prompt", "again"), ("compaction", "Two.")]


def test_a_recap_is_paid_for_by_the_turn_before(tmp_path: Path) -> None:
    """Everything else is noted before its turn is written.

    What belongs to none goes to the last.
    """
    turns = [*talk(at=5), b.cli_message(3, "user", "again", 20)]
    bills = [
        b.cli_usage(1, 1, 4),
        b.cli_usage(2, 1, 6, source="recap"),
        b.cli_usage(3, 1, 19),
        b.cli_usage(4, 1, 30),
    ]

    found = of(Usage, read(home(tmp_path, *turns, *bills)))

    first, second = f"{SESSION}/1", f"{SESSION}/3"
    assert [(usage.input, usage.turn) for usage in found] == [
        (1, first),
        (2, first),
        (3, second),
        (4, second),
    ]


def test_a_bad_message_costs_that_message(tmp_path: Path) -> None:
    """The others are read, and what is not known is counted."""
    bad = b.row(
        "messages",
        session_id=SESSION,
        seq=3,
        role="assistant",
        message_json="{",
        created_at=b.clock(6),
    )
    odd = b.cli_message(
        4, "assistant", [{"type": "hologram"}, {"type": "text", "text": "Still here."}], 7
    )

    found = read(home(tmp_path, *talk(), bad, odd, b.cli_message(5, "ghost", "boo", 8)))

    assert said(found)[1:] == [("reply", "One."), ("reply", "Still here.")]
    assert troubles(found) == [
        ("bad_record", "a message is not JSON", 1),
        ("unknown", "part of a message hologram", 1),
        ("unknown", "message ghost", 1),
    ]
