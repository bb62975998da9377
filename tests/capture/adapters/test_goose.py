"""What the goose adapter makes of a database and of the files before it, fact by fact."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.goose import Goose
from recollect.memory import Memory
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
from recollect.model.sessions import SessionDetail
from tests.builders import goose as b
from tests.builders.homes import memory

AT = b.START * 1000
TURN = f"{AT}-636987526906"


def source(path: Path) -> Source:
    found = Goose().find_source(str(path), path.read_bytes()[: 1 << 16])
    assert found is not None
    return found


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Goose().read(source(path), since))


def items(tmp_path: Path, *messages: dict[str, Any], **about: Any) -> list[Item]:
    """What a database with one session of these messages gives."""
    return read(b.database(tmp_path / "sessions.db", (b.session(**about), list(messages))))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in of(Event, found) if event.kind != "tool_call"]


def prompts(found: list[Item]) -> list[str]:
    return [text for kind, text in said(found) if kind == "prompt"]


def sessions(found: list[Item]) -> list[str]:
    return [facts.session for facts in of(SessionFacts, found)]


def checkpoint(found: list[Item]) -> Checkpoint:
    assert isinstance(found[-1], Checkpoint)
    return found[-1]


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought, call, result, reply, tokens."""
    found = items(tmp_path, *b.talk())

    known: dict[str, Any] = {"session": b.SESSION, "turn": TURN}
    assert found[:-1] == [
        SessionFacts(
            whole=True,
            session=b.SESSION,
            origin="interactive",
            cwd="/home/ada/garden",
            title="Watering the garden",
            started_at=AT,
            meta={
                "session_type": "user",
                "provider": "anthropic",
                "model": "claude-sonnet-4",
                "mode": "auto",
            },
        ),
        TurnFacts(**known, at=AT, author="human"),
        Event(**known, kind="prompt", at=AT, text="water the roses"),
        Event(**known, kind="reasoning", at=AT + 10_000, text="Where are they?"),
        Event(**known, kind="reply", at=AT + 10_000, text="Let me look."),
        Event(
            **known,
            kind="tool_call",
            at=AT + 10_000,
            call="call_1",
            name="developer__shell",
            tool_kind="shell",
            target="ls beds",
            input={"command": "ls beds"},
        ),
        ToolResult(**known, call="call_1", at=AT + 20_000, output="roses\n", ok=True),
        Event(**known, kind="reply", at=AT + 30_000, text="They are wet."),
        Usage(**known, key=b.SESSION, model="claude-sonnet-4", at=AT, input=4_000, output=200),
    ]


# Tokens ---------------------------------------------------------------------------


def test_the_totals_stand_with_the_first_turn(tmp_path: Path) -> None:
    """The last one is another each time, and what was used must not move."""
    found = items(tmp_path, b.user("one"), b.user("two"))

    assert [usage.turn for usage in of(Usage, found)] == [of(TurnFacts, found)[0].turn]


def test_the_last_call_counts_where_no_total_is_kept(tmp_path: Path) -> None:
    """Old versions knew nothing else: it is less than was used, and not nothing."""
    found = items(
        tmp_path, *b.talk(), accumulated_input_tokens=None, accumulated_output_tokens=None
    )

    assert [(usage.input, usage.output) for usage in of(Usage, found)] == [(1_000, 50)]


@pytest.mark.parametrize("wrong", ["many", -5, 1.5e300, None])
def test_tokens_that_are_none_cost_nothing_else(tmp_path: Path, wrong: Any) -> None:
    """Any program may have written to the file."""
    about = dict.fromkeys(
        ("input_tokens", "output_tokens", "accumulated_input_tokens", "accumulated_output_tokens"),
        wrong,
    )

    found = items(tmp_path, *b.talk(), **about)

    assert of(Usage, found) == []
    assert prompts(found) == ["water the roses"]


# Who speaks -----------------------------------------------------------------------


def test_a_result_is_no_prompt_even_with_words_beside_it(tmp_path: Path) -> None:
    """Results come in the user's name; what stands beside one is the program's."""
    found = items(
        tmp_path,
        b.user("go"),
        b.assistant(b.request()),
        b.user(b.response(), "The tool took long."),
    )

    assert prompts(found) == ["go"]


def test_what_only_the_agent_sees_is_no_prompt(tmp_path: Path) -> None:
    """A recipe behind a command, or notes about earlier calls, come in the user's name too."""
    hidden = b.shown(user=False)

    found = items(
        tmp_path,
        b.user("/autumn"),
        b.user("Rake, cut, cover.", metadata=hidden),
        b.assistant("Raked."),
    )

    assert said(found) == [("prompt", "/autumn"), ("reply", "Raked.")]


def test_a_summary_is_a_compaction_and_its_prompt_is_told_once(tmp_path: Path) -> None:
    """Goose hides the prompt it is working on and writes it again behind the summary."""
    found = items(
        tmp_path,
        b.user("tulips", metadata=b.shown(agent=False)),
        b.user("lilies", metadata=b.shown(user=False, agent=False)),
        b.user("They plant flowers.", metadata=b.shown(user=False)),
        b.assistant("Your context was compacted.", metadata=b.shown(user=False)),
        b.user("lilies"),
        b.assistant("Planted."),
    )

    assert said(found) == [
        ("prompt", "tulips"),
        ("prompt", "lilies"),
        ("compaction", "They plant flowers."),
        ("reply", "Planted."),
    ]


def test_a_compaction_changes_no_key(tmp_path: Path) -> None:
    """It writes all rows again, with new numbers; a turn must still be the same turn."""
    before = items(tmp_path / "before", b.user("tulips"), b.assistant("Planted."))
    hidden = [
        {**message, "metadata": b.shown(agent=False)}
        for message in (b.user("tulips"), b.assistant("Planted."))
    ]
    after = items(tmp_path / "after", *hidden)

    assert [turn.turn for turn in of(TurnFacts, before)] == [
        turn.turn for turn in of(TurnFacts, after)
    ]


def test_two_equal_prompts_of_one_second_are_two_turns(tmp_path: Path) -> None:
    """A key is made of time and text, and both may be the same."""
    row = {"row": {"created_timestamp": b.START}}

    found = items(tmp_path, {**b.user("again"), **row}, {**b.user("again"), **row})

    assert len({turn.turn for turn in of(TurnFacts, found)}) == 2


@pytest.mark.parametrize(
    ("kind", "origin", "author"),
    [
        ("user", "interactive", "human"),
        ("terminal", "interactive", "human"),
        ("acp", "interactive", "human"),
        ("scheduled", "headless", "system"),
        ("hidden", "headless", "human"),
        ("sub_agent", "subagent", "agent"),
        ("something_new", "interactive", "human"),
    ],
)
def test_the_sort_of_session_tells_who_began_it(
    tmp_path: Path, kind: str, origin: str, author: str
) -> None:
    """A schedule and an agent ask in the user's name."""
    found = items(tmp_path, b.user("go"), session_type=kind)

    assert [facts.origin for facts in of(SessionFacts, found)] == [origin]
    assert [turn.author for turn in of(TurnFacts, found)] == [author]


def test_a_name_that_everybody_gets_is_no_title(tmp_path: Path) -> None:
    """Goose calls a session something until it knows what it is about."""
    assert of(SessionFacts, items(tmp_path, *b.talk(), name="CLI Session"))[0].title is None


# Tools ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "ok", "exit_code"),
    [
        ({}, True, None),
        ({"isError": True}, False, None),
        ({"structuredContent": {"exit_code": 0}}, True, 0),
        ({"structuredContent": {"exit_code": 2}}, False, 2),
        ({"structuredContent": "odd", "isError": "odd"}, True, None),
    ],
)
def test_a_result_tells_how_a_call_went(
    tmp_path: Path, more: dict[str, Any], ok: bool, exit_code: int | None
) -> None:
    """The shell's exit code stands beside its text."""
    found = items(tmp_path, b.user("go"), b.assistant(b.request()), b.user(b.response(**more)))

    assert [(result.ok, result.exit_code) for result in of(ToolResult, found)] == [(ok, exit_code)]


def test_a_call_that_was_none_has_failed(tmp_path: Path) -> None:
    """The model may ask for what cannot be understood."""
    broken = {
        "type": "toolRequest",
        "id": "c1",
        "toolCall": {"status": "error", "error": "not JSON"},
    }

    found = items(tmp_path, b.user("go"), b.assistant(broken))

    assert [(call.name, call.ok, call.output) for call in of(Event, found)[1:]] == [
        ("invalid", False, "not JSON")
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("developer__shell", {"command": "ls"}, "shell"),
        ("developer__text_editor", {"command": "view", "path": "a"}, "read"),
        ("text_editor", {"command": "write", "path": "a"}, "edit"),
        ("summon__delegate", {"instructions": "count"}, "task"),
        ("github__list_issues", {}, "mcp"),
    ],
)
def test_the_tools_of_gooses_own_extensions_are_known(
    tmp_path: Path, name: str, arguments: dict[str, Any], kind: str
) -> None:
    """Their names look like those of somebody's server."""
    found = items(tmp_path, b.user("go"), b.assistant(b.request(name, **arguments)))

    assert [call.tool_kind for call in of(Event, found)[1:]] == [kind]


# What is new ----------------------------------------------------------------------


def two_sessions(path: Path) -> Path:
    return b.database(
        path,
        (b.session("20260202_1", updated_at="2026-02-02 02:41:00"), [b.user("one")]),
        (b.session("20260202_2", updated_at="2026-02-02 02:42:00"), [b.user("two")]),
    )


def test_only_sessions_that_changed_are_read_again_and_those_whole(tmp_path: Path) -> None:
    """A database holds years; a pass costs what is new."""
    path = two_sessions(tmp_path / "sessions.db")
    since = checkpoint(read(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        b.add_message(connection, "20260202_2", b.assistant("done"), b.START + 99)
        connection.execute(
            "update sessions set updated_at = '2026-02-02 02:49:00' where id = '20260202_2'"
        )

    found = read(path, since)

    assert sessions(found) == ["20260202_2"]
    assert said(found) == [("prompt", "two"), ("reply", "done")]
    assert checkpoint(found).position > since.position


def test_rows_that_were_replaced_in_an_unchanged_session_are_seen(tmp_path: Path) -> None:
    """Compacting writes messages again and leaves the session's time alone."""
    path = two_sessions(tmp_path / "sessions.db")
    since = checkpoint(read(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("delete from messages where session_id = '20260202_1'")
        b.add_message(connection, "20260202_1", b.user("one, rewritten"), b.START)

    found = read(path, since)

    # The newest session is always looked at: its second may not be over.
    assert sessions(found) == ["20260202_1", "20260202_2"]
    assert prompts(found) == ["one, rewritten", "two"]


def test_a_session_without_messages_is_not_told(tmp_path: Path) -> None:
    """Goose makes one each time it is started."""
    assert [type(item) for item in items(tmp_path)] == [Checkpoint]


def test_a_message_that_was_taken_back_does_not_make_everything_new(tmp_path: Path) -> None:
    """Editing a prompt deletes what came after it: the newest row is
    gone, the database is the same.
    """
    path = two_sessions(tmp_path / "sessions.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        b.add_message(connection, "20260202_2", b.assistant("done"), b.START + 99)
    since = checkpoint(read(path))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("delete from messages where id = (select max(id) from messages)")

    assert said(read(path, since)) == [("prompt", "two")]


# Trouble --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no",
        "{}",
        "[1]",
        '["x"]',
        "[" * 50_000,
        '[{"type":"text","text":"\\ud800"}]',
        '[{"type":NaN}]',
        "null",
        7,
    ],
)
def test_a_message_that_is_none_costs_that_message(tmp_path: Path, content: Any) -> None:
    """The rest of the session is told."""
    found = items(
        tmp_path,
        b.user("before"),
        {**b.user("x"), "row": {"content_json": content}},
        b.user("after"),
    )

    told = prompts(found)
    assert (told[0], told[-1]) == ("before", "after")
    assert isinstance(found[-1], Checkpoint)


def test_a_file_that_is_no_database_is_one_problem(tmp_path: Path) -> None:
    """And the checkpoint stays what it was."""
    path = two_sessions(tmp_path / "sessions.db")
    since = checkpoint(read(path))
    path.write_bytes(b"\0" * 4096)

    found = list(Goose().read(Source("goose", str(path), appended=False), since))

    assert [(item.kind if isinstance(item, Problem) else item) for item in found] == [
        "unreadable",
        since,
    ]


def test_a_database_without_the_tables_is_one_problem(tmp_path: Path) -> None:
    """It may be one that goose has only just made."""
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table other (id)")

    found = list(Goose().read(Source("goose", str(path), appended=False), None))

    assert [item.kind for item in of(Problem, found)] == ["unreadable"]
    assert found[-1] == Checkpoint(0)


# The time before the database -----------------------------------------------------


def test_a_legacy_file_gives_the_same_turns_as_the_database_it_was_imported_to(
    tmp_path: Path,
) -> None:
    """The files may be there still, and a turn must be one turn."""
    old = read(b.legacy(tmp_path / f"{b.SESSION}.jsonl", b.talk()))
    new = items(tmp_path, *b.talk())

    assert of(TurnFacts, old) == of(TurnFacts, new)
    assert of(Event, old) == of(Event, new)


def test_what_a_legacy_file_tells_is_passed_over_where_the_database_has_it(tmp_path: Path) -> None:
    """In whichever order they are found."""
    folder = tmp_path / ".local" / "share" / "goose" / "sessions"
    b.legacy(folder / "20250801_101500.jsonl", [b.user("told twice"), b.user("lost")])
    with memory(tmp_path) as mind:
        mind.import_logs([folder])
        assert told(mind) == [("told twice", True), ("lost", True)]

        b.database(folder / "sessions.db", (b.session("20250801_101500"), [b.user("told twice")]))
        mind.import_logs([folder])
        assert told(mind) == [("told twice", True), ("lost", False)]


def told(mind: Memory) -> list[tuple[str, bool]]:
    session = mind.show("goose:20250801_101500")
    assert isinstance(session, SessionDetail)
    return [(turn.prompt, turn.live) for turn in session.turn_list]


def test_a_bad_line_of_a_legacy_file_costs_that_line(tmp_path: Path) -> None:
    """The lines around it are read."""
    path = b.legacy(tmp_path / "20250801_101500.jsonl", [b.user("one"), b.user("two")])
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join(
            [
                *lines[:2],
                "{broken",
                '{"role": "user", "created": 1, "content": 5}',
                lines[2],
                lines[0],
            ]
        )
        + "\n"
    )

    found = read(path)

    assert prompts(found) == ["one", "two"]
    assert [problem.kind for problem in of(Problem, found)] == ["bad_line", "bad_record", "unknown"]


# Where logs are -------------------------------------------------------------------


def test_the_root_is_where_the_system_keeps_data_unless_it_was_moved() -> None:
    """All systems, because a home may be a copy."""
    assert Goose().roots("/home/ada", {}) == [
        "/home/ada/.local/share/goose/sessions",
        "/home/ada/AppData/Roaming/Block/goose/data/sessions",
    ]
    assert Goose().roots("/home/ada", {"XDG_DATA_HOME": "/data"})[0] == "/data/goose/sessions"
    assert Goose().roots("/home/ada", {"GOOSE_PATH_ROOT": "/moved"}) == ["/moved/data/sessions"]


def test_sources_are_the_database_and_the_files_beside_it(tmp_path: Path) -> None:
    """A session could have any name; without the database only a time is one."""
    folder = tmp_path / "sessions"
    for name in ("20250801_101500.jsonl", "roses.jsonl"):
        b.legacy(folder / name, [])

    alone = [Path(found.path).name for found in Goose().sources(str(tmp_path))]
    b.database(folder / "sessions.db")
    found = list(Goose().sources(str(folder)))

    assert alone == ["20250801_101500.jsonl"]
    assert [(Path(one.path).name, one.rank, one.appended) for one in found] == [
        ("sessions.db", 0, False),
        ("20250801_101500.jsonl", 1, False),
        ("roses.jsonl", 1, False),
    ]
    assert found[0].companions == (f"{folder}/sessions.db-wal",)


def test_look_alikes_are_not_ours(tmp_path: Path) -> None:
    """Other agents have sessions and messages too."""
    other = tmp_path / "sessions.db"
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.executescript(
            "create table sessions (id, title); create table messages (id, session_id, role, parts)"
        )
    lines = tmp_path / "20250801_101500.jsonl"
    lines.write_text(
        json.dumps({"description": "x", "message_count": 1})
        + "\n"
        + json.dumps({"role": "user", "content": "hi"})
        + "\n"
    )

    assert [Goose().find_source(str(path), path.read_bytes()) for path in (other, lines)] == [
        None,
        None,
    ]


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    """Hundreds of public logs of other formats."""
    taken = [
        path
        for agent in sorted(corpus.iterdir())
        if agent.is_dir() and agent.name != "goose"
        for path in agent.rglob("*")
        if path.suffix in Goose.endings and path.is_file()
        if Goose().find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert taken == []
