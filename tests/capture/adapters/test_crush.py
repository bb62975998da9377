"""What the Crush adapter makes of a database, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.capture.adapters.crush import Crush
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Problem,
    SessionFacts,
    Source,
    ToolResult,
    TurnFacts,
    Usage,
)
from recollect.testing import everything, imported
from tests.builders import crush as b
from tests.capture.adapters.items import of, said, taken_from_others

FIRST = b.START * 1000


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Crush().read(Source("crush", str(path), (f"{path}-wal",), appended=False), since))


def items(tmp_path: Path, *messages: b.Fields, **session: Any) -> list[Item]:
    """What a session of these messages gives."""
    return read(
        b.write_database(
            tmp_path / "shop" / ".crush" / "crush.db", (b.session(**session), list(messages))
        )
    )


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought,
    call, result, reply, what was paid.
    """
    found = items(
        tmp_path,
        b.user("u1", 1, "water the roses"),
        b.assistant(
            "a1",
            2,
            b.part("reasoning", thinking="Dry."),
            b.call("t1", "bash", command="pump"),
            reason="tool_use",
        ),
        b.message(
            "r1", "tool", 3, b.result("t1", "on", start_time=FIRST + 2000, end_time=FIRST + 2700)
        ),
        b.assistant("a2", 4, "They are wet."),
        cost=0.25,
        prompt_tokens=4000,
    )

    at = {"session": b.SESSION, "turn": "u1"}
    assert found[:-1] == [
        SessionFacts(
            session=b.SESSION,
            origin="interactive",
            cwd=str(tmp_path / "shop"),
            title="Watering the garden",
            started_at=FIRST,
            meta={"last_prompt_tokens": 4000, "model": "claude-sonnet-4", "provider": "anthropic"},
        ),
        TurnFacts(**at, at=FIRST + 1000, author="human"),
        Event(**at, kind="prompt", at=FIRST + 1000, text="water the roses"),
        Event(**at, kind="reasoning", at=FIRST + 2000, text="Dry."),
        Event(
            **at,
            kind="tool_call",
            at=FIRST + 2000,
            call="t1",
            name="bash",
            tool_kind="shell",
            target="pump",
            input={"command": "pump"},
        ),
        ToolResult(**at, call="t1", at=FIRST + 3000, output="on", ok=True, duration_ms=700),
        Event(**at, kind="reply", at=FIRST + 4000, text="They are wet."),
        TurnFacts(**at, telemetry={"stop_reason": "end_turn"}),
        Usage(**at, key=b.SESSION, model="claude-sonnet-4", at=FIRST, cost_usd=0.25),
    ]
    assert isinstance(found[-1], Checkpoint)


# Sessions and what they cost ------------------------------------------------------


def test_a_sub_agent_is_a_session_of_its_parent_and_its_cost_is_in_the_parents(
    tmp_path: Path,
) -> None:
    """Crush adds what a sub-agent cost to its parent when it is done."""
    kid = b.session("a1$$t1", parent_session_id=b.SESSION, cost=0.1)
    grandchild = b.session("k1$$t2", parent_session_id="a1$$t1", cost=0.05)
    path = b.write_database(
        tmp_path / ".crush" / "crush.db",
        (b.session(cost=0.4), [b.user("u1", 1, "go")]),
        (kid, [b.user("k1", 2, "look")]),
        (grandchild, [b.user("g1", 3, "look closer")]),
    )

    told = everything(Crush(), tmp_path)

    assert {ref: (one.parent, one.origin, one.cost_usd) for ref, one in told.items()} == {
        f"crush:{b.SESSION}": (None, "interactive", 0.4),
        f"crush:{b.SESSION}/a1$$t1": (f"crush:{b.SESSION}", "subagent", None),
        "crush:a1$$t1/k1$$t2": (f"crush:{b.SESSION}/a1$$t1", "subagent", None),
    }
    assert [item.author for item in of(TurnFacts, read(path)) if item.turn == "k1"] == ["agent"]


def test_what_was_paid_stays_where_it_is_while_a_session_goes_on(tmp_path: Path) -> None:
    path = b.write_database(
        tmp_path / ".crush" / "crush.db", (b.session(cost=0.1), [b.user("u1", 1, "one")])
    )
    with imported(Crush(), tmp_path) as mind:
        b.write_database(
            path, (b.session(cost=0.3, updated_at=b.START + 90), [b.user("u2", 80, "two")])
        )
        mind.import_logs([tmp_path])

        shown: Any = mind.show(f"crush:{b.SESSION}")

    assert [turn.cost_usd for turn in shown.turn_list] == [0.3, None]


def test_a_session_without_messages_is_not_told(tmp_path: Path) -> None:
    """Titles are made in sessions of their own, which stay empty."""
    assert [type(item) for item in items(tmp_path, id_="title-1", parent_session_id=b.SESSION)] == [
        Checkpoint
    ]


@pytest.mark.parametrize("unit", [1, 1000], ids=["seconds", "milliseconds"])
def test_times_are_in_seconds_whatever_the_schema_says(tmp_path: Path, unit: int) -> None:
    message = b.user("u1", 1, "hi")
    message |= {"created_at": message["created_at"] * unit}

    found = items(tmp_path, message, created_at=b.START * unit)

    assert of(SessionFacts, found)[0].started_at == FIRST
    assert of(TurnFacts, found)[0].at == FIRST + 1000


def test_messages_of_the_same_second_keep_the_order_they_were_written_in(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("z", 1, "first"),
        b.assistant("y", 1, "second"),
        b.assistant("a", 1, "third"),
    )

    assert [text for _, text in said(found)] == ["first", "second", "third"]


# Who speaks -----------------------------------------------------------------------


def test_a_summary_is_a_compaction_and_going_on_after_it_is_no_prompt(tmp_path: Path) -> None:
    on = (
        "The previous session was interrupted because it got too long, "
        "the initial user request was: `plant`"
    )

    found = items(
        tmp_path,
        b.user("u1", 1, "plant"),
        b.assistant("s1", 2, "Half is planted.", is_summary_message=1),
        b.user("u2", 3, on),
        b.assistant("a2", 4, "All is planted."),
    )

    assert said(found) == [
        ("prompt", "plant"),
        ("compaction", "Half is planted."),
        ("reply", "All is planted."),
    ]
    assert {item.turn for item in of(Event, found)} == {"u1"}


def test_an_older_summary_is_known_from_its_session(tmp_path: Path) -> None:
    found = items(
        tmp_path, b.user("u1", 1, "plant"), b.assistant("s1", 2, "Half."), summary_message_id="s1"
    )

    assert said(found) == [("prompt", "plant"), ("compaction", "Half.")]


def test_a_command_that_a_person_ran_is_their_prompt(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", 1, b.part("shell_command", command="ls", output="no such", exit_code=2)),
    )

    assert said(found) == [("prompt", "!ls"), ("tool_call", "ls")]
    assert [(call.ok, call.exit_code) for call in of(Event, found)[1:]] == [(False, 2)]


def test_a_command_whose_end_is_not_told_may_have_failed(tmp_path: Path) -> None:
    found = items(tmp_path, b.user("u1", 1, b.part("shell_command", command="ls")))

    assert [call.ok for call in of(Event, found)[1:]] == [None]


def test_a_picture_is_a_mark(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user(
            "u1", 1, "look", b.part("binary", Path="/rose.png", MIMEType="image/png", Data="AAAA")
        ),
    )

    assert said(found) == [("prompt", "look\n[/rose.png]")]


def test_errors_and_aborts_are_told_apart(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", 1, "go"),
        b.message(
            "a1",
            "assistant",
            2,
            b.part("finish", reason="error", time=0, message="Failed", details="overloaded"),
        ),
        b.message(
            "a2",
            "assistant",
            3,
            b.part("finish", reason="canceled", time=0, message="Request cancelled"),
        ),
        b.message("a3", "assistant", 4, b.part("finish", reason="content_filter", time=0)),
    )

    assert said(found)[1:] == [
        ("error", "Failed\noverloaded"),
        ("abort", "Request cancelled"),
        ("error", "content_filter"),
    ]


# Tools ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "told", "ok", "code"),
    [
        ("done", {}, True, None),
        ("broken\nExit code 2\n\n<cwd>/shop</cwd>", {}, False, 2),
        ("Exit code 1", {}, False, 1),
        ("Exit code 1 was expected", {}, True, None),
        ("nothing here", {"failed": True}, False, None),
    ],
)
def test_a_command_that_failed_says_so_at_the_end_of_its_output(
    tmp_path: Path, content: str, told: b.Fields, ok: bool, code: int | None
) -> None:
    ran = b.result("t1", content, start_time=FIRST, end_time=FIRST, **told)

    found = items(tmp_path, b.user("u1", 1, "go"), b.message("r1", "tool", 2, ran))

    assert [(item.ok, item.exit_code) for item in of(ToolResult, found)] == [(ok, code)]


def test_only_a_command_has_an_exit_code(tmp_path: Path) -> None:
    """A file may well end with these words."""
    found = items(
        tmp_path,
        b.user("u1", 1, "go"),
        b.message("r1", "tool", 2, b.result("t1", "log\nExit code 1")),
    )

    assert [(item.ok, item.exit_code) for item in of(ToolResult, found)] == [(True, None)]


# A database that grows, and trouble -----------------------------------------------


def test_a_message_that_was_finished_meanwhile_is_read_again(tmp_path: Path) -> None:
    path = b.write_database(
        tmp_path / "crush.db",
        (b.session(), [b.user("u1", 1, "go"), b.message("a1", "assistant", 2, "Wor")]),
    )
    *_, point = read(path)
    assert isinstance(point, Checkpoint)

    b.write_database(
        path, (b.session(), [b.assistant("a1", 2, "Working.", updated_at=b.START + 100)])
    )

    assert said(read(path, point)) == [("prompt", "go"), ("reply", "Working.")]


def test_what_stands_in_the_write_ahead_log_is_read(tmp_path: Path) -> None:
    """Crush is seldom closed properly: most of a database may be there."""
    path = b.write_database(tmp_path / "crush.db", (b.session(), [b.user("u1", 1, "one")]))
    owner = apsw.Connection(str(path))
    owner.pragma("journal_mode", "wal")
    row = b.user("u2", 2, "two")
    owner.execute(
        "insert into messages (id, session_id, role, parts, created_at, updated_at) values (?, ?, "
        "'user', ?, ?, ?)",
        (row["id"], b.SESSION, row["parts"], row["created_at"], row["updated_at"]),
    )

    assert said(read(path)) == [("prompt", "one"), ("prompt", "two")]
    owner.close()


def test_the_tables_of_the_go_program_lack_some_columns(tmp_path: Path) -> None:
    path = b.write_database(
        tmp_path / ".opencode" / "opencode.db", (b.session(), [b.user("u1", 1, "hello")])
    )
    with apsw.Connection(str(path)) as connection:
        for table, column in (
            ("messages", "provider"),
            ("messages", "is_summary_message"),
            ("sessions", "summary_message_id"),
        ):
            connection.execute(f"alter table {table} drop column {column}")

    found = read(path)

    assert said(found) == [("prompt", "hello")]
    assert of(SessionFacts, found)[0].cwd == str(tmp_path)


def test_trouble_costs_no_more_than_its_message(tmp_path: Path) -> None:
    torn = b.message("b1", "assistant", 3) | {"parts": '[{"type":"te'}
    strange = b.message("b2", "assistant", 4, "fine", b.part("hologram")) | {"created_at": "soon"}
    odd = b.message("b3", "assistant", 5) | {
        "parts": json.dumps([None, 3, {"type": "text", "data": [1]}, {"type": {}}])
    }

    found = items(
        tmp_path, b.user("u1", 1, "go"), torn, strange, odd, b.message("b4", "narrator", 6)
    )

    assert said(found) == [("prompt", "go"), ("reply", "fine")]
    assert sorted((problem.kind, problem.count) for problem in of(Problem, found)) == [
        ("bad_record", 1),
        ("unknown", 1),
        ("unknown", 1),
        ("unknown", 1),
    ]


# Where logs are -------------------------------------------------------------------


def test_the_list_of_projects_tells_where_data_is(tmp_path: Path) -> None:
    share = tmp_path / ".local" / "share" / "crush"
    share.mkdir(parents=True)
    projects = [
        {
            "path": str(tmp_path / "shop"),
            "data_dir": str(tmp_path / "shop" / ".crush"),
            "last_accessed": "2026-02-02T00:00:00Z",
        },
        {"path": "/elsewhere/garden", "data_dir": ".crush"},
        {"path": 7},
        "nonsense",
    ]
    (share / "projects.json").write_text(json.dumps({"projects": projects}))

    own = Crush().roots(str(tmp_path), {"HOME": str(tmp_path)})
    copied = Crush().roots(str(tmp_path), {})

    assert own[:3] == [str(share), str(tmp_path / "shop" / ".crush"), "/elsewhere/garden/.crush"]
    # In a copy of somebody's home, what lies outside is not theirs.
    assert copied[:2] == [str(share), str(tmp_path / "shop" / ".crush")]
    assert "/elsewhere/garden/.crush" not in copied


def test_the_environment_moves_the_list_of_projects() -> None:
    roots = Crush().roots

    assert roots("/home/ada", {"CRUSH_GLOBAL_DATA": "/data"}) == ["/data"]
    assert roots("/home/ada", {"XDG_DATA_HOME": "/xdg"})[0] == "/xdg/crush"
    assert roots("/home/ada", {"LOCALAPPDATA": "/local"})[1] == "/local/crush"
    assert roots("/home/ada", {}) == [
        "/home/ada/.local/share/crush",
        "/home/ada/AppData/Local/crush",
    ]


def test_a_broken_list_of_projects_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "projects.json").write_text("{")

    assert Crush().roots("/home/ada", {"CRUSH_GLOBAL_DATA": str(tmp_path)}) == [str(tmp_path)]


def test_databases_are_found_in_projects(tmp_path: Path) -> None:
    for place in (".crush/crush.db", ".opencode/opencode.db"):
        b.write_database(tmp_path / place)

    assert [source.path for source in Crush().in_project(str(tmp_path))] == [
        str(tmp_path / ".crush" / "crush.db"),
        str(tmp_path / ".opencode" / "opencode.db"),
    ]
    assert [source.path for source in Crush().sources(str(tmp_path / ".opencode"))] == [
        str(tmp_path / ".opencode/opencode.db")
    ]
    assert list(Crush().in_project(str(tmp_path / "nowhere"))) == []


def test_a_database_is_known_anywhere_by_its_tables(tmp_path: Path) -> None:
    path, other = b.write_database(tmp_path / "copy.db"), tmp_path / "other.db"
    with apsw.Connection(str(other)) as connection:
        connection.execute(
            "create table sessions (id, title); create table messages (id, session_id, parts)"
        )

    found = {
        file: Crush().find_source(str(file), file.read_bytes()[:4096]) for file in (path, other)
    }

    assert found == {
        path: Source("crush", str(path), (f"{path}-wal",), appended=False),
        other: None,
    }


def test_logs_of_other_agents_are_not_ours(corpus: Path) -> None:
    assert list(taken_from_others(Crush(), corpus)) == []


def test_public_samples_are_read_without_a_problem(corpus: Path) -> None:
    with imported(Crush(), corpus / "crush") as mind:
        problems = [problem for report in mind.source_reports for problem in report.problems]
        told = [
            (session.id, session.turns, session.tool_calls)
            for session in mind.sessions(subagents=True)
        ]

    assert problems == []
    assert [(turns, calls) for _, turns, calls in sorted(told)] == [(17, 38), (1, 0), (1, 10)]
