"""What the Cursor adapter makes of its three places, fact by fact."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from recollect.capture.adapters.cursor import Cursor, editor
from recollect.capture.adapters.cursor.prompts import CursorPromptKeys, moment_told, typed
from recollect.capture.adapters.cursor.session import folder_in, is_md5_of, is_slug_of
from recollect.capture.adapters.cursor.tools import CursorResult, call_in, result_in
from recollect.capture.adapters.cursor.workspaces import KEYS, value
from recollect.capture.logs.sqlite import SqliteFile, open_sqlite
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Liveness,
    Problem,
    SessionFacts,
    Source,
    ToolResult,
    TurnFacts,
    Usage,
    milliseconds,
)
from recollect.testing.imports import everything, sources
from tests.builders import cursor as b

OTHER = "22222222-aaaa-4000-8000-000000000002"


def source_of(path: Path) -> Source:
    found = Cursor().find_source(str(path), path.read_bytes()[:65536])
    assert found is not None
    return found


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Cursor().read(source_of(path), since))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str]]:
    """Events as (kind, text or target), in order."""
    return [(e.kind, e.target if e.kind == "tool_call" else e.text) for e in of(Event, found)]


def last(found: list[Item]) -> Checkpoint:
    point = found[-1]
    assert isinstance(point, Checkpoint)
    return point


def chat(home: Path, *bubbles: dict[str, Any], composer: str = b.CHAT, **more: Any) -> Path:
    """The global database with one chat in it."""
    return b.editor(b.global_of(home), b.rows(composer, list(bubbles), **more))


# The editor ----------------------------------------------------------------------------


def test_a_chat_gives_its_items_in_order(home: Path) -> None:
    """One bubble with a thought, a text, a call and tokens, compared whole."""
    at, turn = milliseconds("2026-10-01T09:00:00Z"), f"{b.CHAT}/{CursorPromptKeys().key('fix it')}"
    path = chat(
        home,
        b.asked("b1", "fix it", createdAt="2026-10-01T09:00:00Z"),
        b.answered(
            "b2",
            "Done.",
            createdAt="2026-10-01T09:00:00Z",
            thinking={"text": "Hm."},
            modelInfo={"modelName": "gpt-5"},
            tokenCount={"inputTokens": 10, "outputTokens": 2},
            **b.tool("edit_file", {"target_file": "a.py", "code_edit": "x"}, {}, toolCallId="c1"),
        ),
        name="Fixing",
    )

    assert read(path)[:-1] == [
        SessionFacts(
            whole=True,
            session=b.CHAT,
            origin="interactive",
            cwd=b.FOLDER,
            title="Fixing",
            started_at=b.STARTED,
        ),
        TurnFacts(session=b.CHAT, turn=turn, at=at, author="human", telemetry={"model": "gpt-5"}),
        Event(session=b.CHAT, turn=turn, kind="prompt", at=at, text="fix it"),
        Event(session=b.CHAT, turn=turn, kind="reasoning", at=at, text="Hm."),
        Event(session=b.CHAT, turn=turn, kind="reply", at=at, text="Done."),
        Event(
            session=b.CHAT,
            turn=turn,
            kind="tool_call",
            at=at,
            call="c1",
            name="edit_file",
            tool_kind="edit",
            target="a.py",
            input={"target_file": "a.py", "code_edit": "x"},
            ok=True,
        ),
        Usage(session=b.CHAT, turn=turn, key="b2", model="gpt-5", at=at, input=10, output=2),
    ]


def test_only_chats_that_changed_are_read_again_and_those_whole(home: Path) -> None:
    """A database of gigabytes changes with every key that is pressed."""
    path = chat(home, b.asked("b1", "first"))
    chat(home, b.asked("o1", "elsewhere"), composer=OTHER)
    before = read(path)

    chat(home, b.asked("b1", "first"), b.answered("b2", "One."))
    after = read(path, last(before))

    assert said(before) == [("prompt", "first"), ("prompt", "elsewhere")]
    assert [facts.session for facts in of(SessionFacts, after)] in ([b.CHAT], [OTHER, b.CHAT])
    assert said(after)[-2:] == [("prompt", "first"), ("reply", "One.")]


def test_a_bubble_that_was_replaced_is_read_again(home: Path) -> None:
    """An answer is written many times while it streams; only the last row of it stays."""
    path = chat(home, b.asked("b1", "count"), b.answered("b2", "one"))
    chat(home, b.asked("o1", "elsewhere"), composer=OTHER)
    first = read(path)

    b.editor(path, {f"bubbleId:{b.CHAT}:b2": b.answered("b2", "one, two, three")})

    assert ("reply", "one, two, three") in said(read(path, last(first)))


def test_a_pass_over_what_did_not_change_reads_the_newest_chat_at_most(home: Path) -> None:
    path = chat(home, b.asked("b1", "first"))
    chat(home, b.asked("o1", "elsewhere"), composer=OTHER)

    again = read(path, last(read(path)))

    assert {facts.session for facts in of(SessionFacts, again)} <= {OTHER}


def test_rows_that_were_numbered_anew_are_all_read_again(home: Path) -> None:
    """Tools that make the file small again write its rows anew.

    The numbers that we remember then mean other rows.
    """
    path = chat(home, b.asked("b1", "first"))
    for number in range(5):
        chat(home, b.asked("o1", f"version {number}"), composer=OTHER)
    first = read(path)

    connection = apsw.Connection(str(path))
    connection.execute(
        "create temp table copy as select * from cursorDiskKV; delete from cursorDiskKV"
    )
    connection.execute("insert into cursorDiskKV select * from copy")
    connection.close()

    assert said(read(path, last(first))) == said(first)


def test_a_state_that_cannot_be_decoded_means_reading_from_the_start(home: Path) -> None:
    path = chat(home, b.asked("b1", "first"))

    assert read(path, Checkpoint(7, b"\xc1nonsense")) == read(path)


def test_a_pass_that_is_stopped_goes_on_where_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first import of a large database may be killed; each stretch of it is kept."""
    monkeypatch.setattr(editor, "_COMMIT_BYTES", 1)
    names = [f"{number:08}-aaaa-4000-8000-000000000000" for number in range(4)]
    for name in names:
        chat(home, b.asked("b1", f"chat {name}"), composer=name)
    path = b.global_of(home)
    whole = read(path)

    points = [number for number, item in enumerate(whole) if isinstance(item, Checkpoint)]
    assert len(points) == len(names) + 1
    for point in points[:-1]:
        rest = read(path, whole[point])  # type: ignore[arg-type]
        assert set(names) == {facts.session for facts in of(SessionFacts, whole[:point] + rest)}


def test_login_tokens_are_never_asked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in the same tables; only the keys that we name are selected."""
    items = {
        "cursorAuth/accessToken": "planted-secret",
        "composer.composerData": {"allComposers": []},
    }
    path = b.editor(
        b.global_of(home),
        b.rows(b.CHAT, [b.asked("b1", "hello")]) | {"cursorAuth/x": "planted-secret"},
        items,
    )
    b.editor(b.workspace_of(home), None, items)
    asked: list[tuple[str, Any]] = []
    ask = SqliteFile.all

    def noted(self: SqliteFile, sql: str, values: Any = ()) -> list[Any]:
        found = ask(self, sql, values)
        asked.append((sql, list(values)))
        assert "planted-secret" not in repr(found)
        return found

    monkeypatch.setattr(SqliteFile, "all", noted)
    found = [
        item
        for place in (path, b.workspace_of(home))
        for item in Cursor().read(source_of(place), None)
    ]

    assert "planted-secret" not in repr(found)
    from_items = [(sql, values) for sql, values in asked if "from ItemTable" in sql]
    assert from_items
    assert {name for _, values in from_items for name in values} <= set(KEYS)
    assert all("where key" in sql for sql, _ in from_items)
    with open_sqlite(str(path)) as rows, pytest.raises(ValueError, match="not ours"):
        value(rows, "cursorAuth/accessToken")


def test_drafts_and_rows_without_a_value_give_nothing(home: Path) -> None:
    path = chat(home, b.asked("b1", ""), b.answered("b2", ""), text="a draft")
    b.editor(path, {f"composerData:{OTHER}": None, f"bubbleId:{b.CHAT}:b9": None})

    assert [type(item) for item in read(path)] == [Checkpoint]


def test_no_tokens_are_unknown_tokens(home: Path) -> None:
    """Zeros are written where Cursor no longer tells them."""
    path = chat(
        home,
        b.asked("b1", "hi"),
        b.answered("b2", "ho", tokenCount={"inputTokens": 0, "outputTokens": 0}),
    )

    assert of(Usage, read(path)) == []


def test_cents_are_kept_beside_the_chat_and_not_as_the_cost_of_a_call(home: Path) -> None:
    path = chat(
        home,
        b.asked("b1", "hi"),
        usageData={"default": {"costInCents": 8, "amount": 2}, "other": []},
    )

    (facts,) = of(SessionFacts, read(path))
    assert facts.meta == {"usage_cents": {"default": 8.0}, "usage_requests": {"default": 2}}


def test_what_was_rewound_is_told_and_not_live(home: Path) -> None:
    """Its bubbles stay in the table, and no list names them."""
    bubbles = [
        b.asked("b1", "one"),
        b.answered("b2", "1"),
        b.asked("b3", "two"),
        b.answered("b4", "2"),
        b.asked("b5", "three"),
    ]
    path = chat(home, *bubbles, headers=["b1", "b2", "b5"])

    found = read(path)

    assert said(found) == [
        ("prompt", "one"),
        ("reply", "1"),
        ("prompt", "three"),
        ("prompt", "two"),
        ("reply", "2"),
    ]
    (gone,) = of(Liveness, found)
    assert (gone.turn, gone.live) == (f"{gone.session}/{CursorPromptKeys().key('two')}", False)


def test_answers_that_were_begun_anew_are_no_turns(home: Path) -> None:
    path = chat(
        home,
        b.asked("b1", "one"),
        b.answered("b2", "beg"),
        b.answered("b3", "begun"),
        headers=["b1", "b3"],
    )

    assert said(read(path)) == [("prompt", "one"), ("reply", "begun")]


def test_a_prompt_without_a_time_has_that_of_the_request_it_caused(home: Path) -> None:
    """A figure that counts from when the window was opened is no time."""
    timing = {
        "clientStartTime": 5_000_000_000.5,
        "clientRpcSendTime": 1751000000000.0,
        "clientEndTime": 1751000004000,
    }
    path = chat(
        home,
        b.asked("b1", "one"),
        b.answered("b2", "1", timingInfo=timing),
        b.asked("b3", "two", timingInfo={"clientEndTime": 12.5}),
    )

    assert [(event.text, event.at) for event in of(Event, read(path))] == [
        ("one", 1751000000000),
        ("1", 1751000004000),
        ("two", None),
    ]


@pytest.mark.parametrize(
    ("more", "folder"),
    [
        ({"workspaceIdentifier": {"uri": {"fsPath": "/home/ada/own"}}}, "/home/ada/own"),
        (
            {"workspaceIdentifier": {"uri": {"external": "file:///home/ada/ex%20tern"}}},
            "/home/ada/ex tern",
        ),
        (
            {"workspaceIdentifier": {"configPath": {"fsPath": "/home/ada/all/x.code-workspace"}}},
            "/home/ada/all",
        ),
        ({"workspaceIdentifier": None}, "/home/ada/named"),
    ],
)
def test_a_chat_tells_its_folder_or_a_workspace_does(
    home: Path, more: dict[str, Any], folder: str
) -> None:
    b.editor(
        b.workspace_of(home, folder="/home/ada/named"),
        None,
        {"composer.composerData": {"allComposers": [{"composerId": b.CHAT}]}},
    )
    path = chat(home, b.asked("b1", "hi"), **more)

    assert [facts.cwd for facts in of(SessionFacts, read(path))] == [folder]


def test_a_chat_that_no_workspace_names_belongs_to_the_one_whose_files_it_touched(
    home: Path,
) -> None:
    for name, folder in (("w1", "/home/ada"), ("w2", "/home/ada/shop"), ("w3", "/home/ada/sh")):
        b.editor(b.workspace_of(home, name, folder))
    touched = b.tool("read_file", {"target_file": "/home/ada/shop/a.py"})
    path = chat(home, b.asked("b1", "hi"), b.answered("b2", **touched), workspaceIdentifier=None)

    assert [facts.cwd for facts in of(SessionFacts, read(path))] == ["/home/ada/shop"]


def test_chats_of_2024_have_the_times_that_the_list_of_generations_tells(home: Path) -> None:
    tabs = {
        "tabs": [
            {
                "tabId": b.CHAT,
                "chatTitle": "T",
                "bubbles": [
                    {"type": "user", "id": "1", "text": "hi"},
                    {"type": "ai", "text": "ho"},
                ],
            }
        ]
    }
    times = [{"unixMs": 1731800000000, "textDescription": "hi"}]
    path = b.editor(
        b.workspace_of(home),
        None,
        {"workbench.panel.aichat.view.aichat.chatdata": tabs, "aiService.generations": times},
    )

    found = read(path)

    assert [(event.text, event.at) for event in of(Event, found)] == [
        ("hi", 1731800000000),
        ("ho", None),
    ]
    assert [facts.cwd for facts in of(SessionFacts, found)] == [b.FOLDER]
    assert of(Event, read(path, last(found))) == []


@pytest.mark.parametrize("wrong", [None, 7, "x", [], {}, [1], {"a": 1}, 10**30, "\ud83d"])
def test_a_field_of_another_type_costs_the_field(home: Path, wrong: Any) -> None:
    """Whatever a later version writes in one field, the chat is read."""
    names = [
        name
        for name in editor.CursorComposer.__struct_fields__
        if name not in ("fullConversationHeadersOnly", "conversation")
    ]
    bubble = dict.fromkeys(editor.CursorBubble.__struct_fields__, wrong)
    path = chat(
        home,
        b.asked("b1", "still here"),
        {**bubble, "bubbleId": "b2", "type": 2},
        **dict.fromkeys(names, wrong),
    )

    found = read(path)
    assert ("prompt", "still here") in said(found)
    assert [
        turn.prompt for session in everything(Cursor(), path).values() for turn in session.turn_list
    ] == ["still here"]


def test_a_database_that_is_none_is_one_problem_and_the_checkpoint_it_had(home: Path) -> None:
    path = chat(home, b.asked("b1", "hi"))
    found = source_of(path)
    path.write_bytes(b"no database at all")
    since = Checkpoint(5, b"state")

    assert list(Cursor().read(found, since)) == [
        Problem(path=str(path), kind="unreadable", reason="not a SQLite file"),
        since,
    ]


# Tools -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "given"),
    [
        (
            {"status": "completed", "result": '{"output": "hi", "exitCodeV2": 0}'},
            CursorResult("hi", True, 0),
        ),
        (
            {"status": "completed", "result": '{"output": "no", "exitCodeV2": 3}'},
            CursorResult("no", False, 3),
        ),
        (
            {"status": "completed", "result": '{"rejected": true}'},
            CursorResult('{"rejected": true}', False, None),
        ),
        ({"status": "completed", "userDecision": "rejected"}, CursorResult(None, False, None)),
        ({"status": "cancelled"}, CursorResult(None, False, None)),
        ({"status": "loading"}, CursorResult(None, None, None)),
        (
            {"status": "completed", "additionalData": {"status": "error"}, "error": "plain words"},
            CursorResult("plain words", False, None),
        ),
        (
            {"status": "error", "error": '{"modelVisibleErrorMessage": "seen"}'},
            CursorResult("seen", False, None),
        ),
        ({"result": "not JSON"}, CursorResult("not JSON", None, None)),
    ],
)
def test_what_a_tool_gave_back_is_told_by_its_bubble(
    data: dict[str, Any], given: CursorResult
) -> None:
    call = call_in({"name": "run_terminal_cmd", **data})

    assert call is not None
    assert call.given == given


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"tool": 40}, ("read_file_v2", "read", None)),
        ({"tool": 999}, ("tool_999", "other", None)),
        (
            {"name": "mcp_linear_list", "params": '{"query": "open"}'},
            ("mcp_linear_list", "mcp", "open"),
        ),
        (
            {"name": "edit_file", "rawArgs": "{", "params": '{"relativeWorkspacePath": "a.py"}'},
            ("edit_file", "edit", "a.py"),
        ),
        (
            {"name": "run_terminal_command_v2", "rawArgs": '{"command": "ls"}'},
            ("run_terminal_command_v2", "shell", "ls"),
        ),
    ],
)
def test_a_tool_is_known_by_its_name_or_its_number(
    data: dict[str, Any], told: tuple[str, str, str | None]
) -> None:
    call = call_in(data)

    assert call is not None
    assert (call.name, call.kind, call.target) == told


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ({"result": "Exit code: 1\n\nno"}, CursorResult("Exit code: 1\n\nno", False, 1)),
        ({"result": "Exit code: 0\n\nyes"}, CursorResult("Exit code: 0\n\nyes", True, 0)),
        ({"result": "seen", "isError": True}, CursorResult("seen", False, None)),
        ({"content": [{"type": "text", "text": "in parts"}]}, CursorResult("in parts", None, None)),
        ({"result": {"lines": 3}}, CursorResult('{"lines": 3}', None, None)),
        ({}, CursorResult(None, None, None)),
    ],
)
def test_a_result_of_the_command_line_tells_whether_it_failed(
    part: dict[str, Any], given: CursorResult
) -> None:
    assert result_in(part, {}) == given


# Prompts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("fix it", "fix it"),
        ("<user_query>\nfix it\n</user_query>", "fix it"),
        ([{"type": "image", "image": "QUJD"}], "[image]"),
        ([{"type": "image", "image": "QUJD"}, {"type": "text", "text": "why?"}], "[image]\nwhy?"),
        (
            [
                {"type": "text", "text": "<user_query>\n\n</user_query>"},
                {"type": "image", "image": "QUJD"},
            ],
            "[image]",
        ),
        ("[Image]\n<image_files>\n1. /a.png\n</image_files>\n<user_query></user_query>", "[image]"),
        ("<rules>be good</rules>\n<user_query></user_query>", ""),
        ("<attached_files>\na.py\n</attached_files>\n<user_query>fix it</user_query>", "fix it"),
        ("<system_reminder>be good</system_reminder> fix it", "fix it"),
        ("what does <context> mean?", "what does <context> mean?"),
        ("<div>make this blue</div>", "<div>make this blue</div>"),
        ("<user_info>\nOS: linux\n</user_info>", ""),
        (
            [
                {"type": "text", "text": "<user_query>a</user_query>"},
                {"type": "text", "text": "<user_query>b</user_query>"},
            ],
            "a\n\nb",
        ),
        ([{"type": "tool_result", "content": "out"}], ""),
        (7, ""),
    ],
)
def test_a_prompt_is_what_a_person_typed(content: Any, words: str) -> None:
    assert typed(content).text == words


@pytest.mark.parametrize(
    "piece",
    ["<user_query>", "<rules>", "\n", "<timestamp> ", "Workspace Path:", "<rules></user_query>"],
)
def test_a_hostile_prompt_costs_no_more_than_its_length(piece: str) -> None:
    """Looking for the end of each of a hundred thousand elements would take hours."""
    assert typed(piece * 100_000).at is None


@pytest.mark.parametrize(
    ("told", "moment"),
    [
        ("Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)", "2026-07-21T10:11:00Z"),
        ("Tuesday, Jul 21, 2026, 12:05 AM (UTC-4:30)", "2026-07-21T04:35:00Z"),
        ("Tuesday, Jul 21, 2026, 1:11 PM (UTC)", "2026-07-21T13:11:00Z"),
        ("yesterday", None),
        ("Tuesday, Jul 21, 2026, 1:11 PM (UTC+99)", None),
    ],
)
def test_a_time_in_words_is_understood(told: str, moment: str | None) -> None:
    assert moment_told(told) == (milliseconds(moment) if moment else None)


def test_the_same_words_again_get_a_number_and_spaces_do_not_matter() -> None:
    keys = CursorPromptKeys()

    first, other, again = keys.key("draw  a\ncat"), keys.key("draw a dog"), keys.key("draw a cat")

    assert again == f"{first}.2"
    assert other not in (first, again)


# The command line --------------------------------------------------------------------------


def stored(home: Path, *messages: dict[str, Any], more: bytes = b"", **about: Any) -> Path:
    root, blobs = b.blobs_of(messages, more)
    return b.store(b.store_of(home), blobs, root, **about)


def test_only_what_the_newest_root_leads_to_is_told(home: Path) -> None:
    """Old roots and what was rewound stay in the table."""
    stored(home, b.said("user", b.query("old words")))
    path = stored(
        home,
        b.said("system", "Be good."),
        b.said("user", b.query("new words")),
        b.said("assistant", "Yes."),
    )

    assert said(read(path)) == [("prompt", "new words"), ("reply", "Yes.")]


def test_results_are_joined_to_their_calls(home: Path) -> None:
    path = stored(
        home,
        b.said("user", b.query("go")),
        b.said(
            "assistant",
            [b.call("Shell", {"command": "ls"}, "a"), b.call("Shell", {"command": "pwd"}, "b")],
        ),
        b.result("Exit code: 0\n\n/home", "b"),
        b.result("Exit code: 2\n\nno", "a"),
    )

    assert [(found.call, found.exit_code, found.ok) for found in of(ToolResult, read(path))] == [
        ("b", 0, True),
        ("a", 2, False),
    ]


def test_a_chat_has_the_folder_that_gives_the_name_of_the_one_it_lies_in(home: Path) -> None:
    """The note beside it is missing in older versions; the name is an MD5 of the folder."""
    path = stored(
        home,
        b.said("user", "go"),
        b.said("assistant", [b.call("Read", {"path": f"{b.FOLDER}/src/a.py"})]),
    )

    assert [facts.cwd for facts in of(SessionFacts, read(path)) if facts.cwd] == [b.FOLDER]


def test_the_note_beside_a_chat_tells_its_folder_and_title(home: Path) -> None:
    path = stored(home, b.said("user", "go"))
    (path.parent / "meta.json").write_text(
        '{"schemaVersion": 1, "cwd": "/home/ada/noted", "title": "Noted"}'
    )

    (facts,) = of(SessionFacts, read(path))
    assert (facts.cwd, facts.title) == ("/home/ada/noted", "Noted")


def test_messages_below_others_and_inside_nodes_are_found_in_order(home: Path) -> None:
    leaf = b.blob(json.dumps(b.said("user", "go")).encode())
    inner = b.field(4, json.dumps(b.said("assistant", "I go.")).encode())
    node = b.blob(b.field(1, bytes.fromhex(leaf[0])) + inner)
    root = b.blob(b.field(2, bytes.fromhex(node[0])))
    path = b.store(b.store_of(home), dict([leaf, node, root]), root[0])

    assert said(read(path)) == [("prompt", "go"), ("reply", "I go.")]


@pytest.mark.parametrize("root", [b"\x0a", b"\xff" * 40, b"\x0a\x7f", b"{", b"\x0b\x01"])
def test_a_root_that_cannot_be_read_is_a_problem(home: Path, root: bytes) -> None:
    name, data = b.blob(root)
    path = b.store(b.store_of(home), {name: data}, name)

    *_, problem, point = read(path)
    assert isinstance(problem, Problem)
    assert isinstance(point, Checkpoint)


def test_blobs_that_lead_in_circles_end(home: Path) -> None:
    """Hashes cannot do that, but a file can."""
    one, two = "11" * 32, "22" * 32
    blobs = {
        one: b.field(2, bytes.fromhex(two)),
        two: b.field(2, bytes.fromhex(one)) + b.field(1, bytes.fromhex(two)),
    }

    assert isinstance(read(b.store(b.store_of(home), blobs, one))[-1], Checkpoint)


# Transcripts -------------------------------------------------------------------------------


def test_a_transcript_that_grows_gives_what_reading_it_at_once_gives(home: Path) -> None:
    path = b.transcript_of(home)
    lines = [
        b.line("user", b.query("one")),
        b.line(
            "assistant",
            b.used("Read", {"path": f"{b.FOLDER}/a.py"}),
            b.used("Shell", {"command": "ls"}),
        ),
        b.line("user", {"type": "tool_result", "content": "text of a"}),
        b.line("user", {"type": "tool_result", "content": "a.py"}),
        b.line("user", b.query("one")),
        b.line("assistant", "Yes.\n\n[REDACTED]", {"type": "thinking", "thinking": "Hm."}),
        '{"type": "turn_ended", "status": "success"}\n',
    ]
    path.write_text("".join(lines))
    whole = [item for item in read(path) if not isinstance(item, Checkpoint)]

    for cut in range(1, len(lines)):
        path.write_text("".join(lines[:cut]))
        *first, point = read(path)
        path.write_text("".join(lines))
        *second, _ = read(path, point)  # type: ignore[arg-type]
        assert first + second == whole, f"cut before line {cut + 1}"


def test_what_is_remembered_of_a_long_transcript_stays_small(home: Path) -> None:
    """Its calls have no results, so all of them seem to wait."""
    path = b.transcript_of(home)
    endless = f"<user_info>\nWorkspace Path: /{'x' * 70_000}\n</user_info>"
    lines = [b.line("user", b.query("continue")), b.line("user", endless)]
    for number in range(4_000):
        lines += [
            b.line("user", b.query(f"task {number}")),
            b.line("assistant", b.used("Shell", {"command": "ls"})),
        ]
        lines += [b.line("user", b.query("continue"))]
    path.write_text("".join(lines))

    found = read(path)

    assert len(last(found).state) <= 64 << 10
    assert len({facts.turn for facts in of(TurnFacts, found)}) == 8_001


def test_a_torn_last_line_waits_and_a_bad_line_costs_itself(home: Path) -> None:
    path = b.transcript_of(home)
    path.write_text(
        b.line("user", "one") + "{bad\n" + b.line("assistant", "1") + b.line("user", "two")[:30]
    )

    first = read(path)
    path.write_text(
        b.line("user", "one") + "{bad\n" + b.line("assistant", "1") + b.line("user", "two")
    )
    second = read(path, last(first))

    assert said(first) == [("prompt", "one"), ("reply", "1")]
    assert [(problem.kind, problem.line) for problem in of(Problem, first)] == [("bad_line", 2)]
    assert said(second) == [("prompt", "two")]


def test_turns_that_come_later_know_the_folder_too(home: Path) -> None:
    """It is proven once; a project is told from each turn."""
    path = b.transcript_of(home)
    begun = b.line("user", "one") + b.line(
        "assistant", b.used("Read", {"path": f"{b.FOLDER}/a.py"})
    )
    path.write_text(begun)
    point = last(read(path))
    path.write_text(begun + b.line("user", "two"))

    assert [facts.cwd for facts in of(TurnFacts, read(path, point))] == [b.FOLDER]


def test_the_text_of_a_transcript_is_passed_over_where_there_are_lines(home: Path) -> None:
    lines = b.transcript_of(home)
    lines.write_text(b.line("user", "hi"))
    lines.with_suffix(".txt").write_text("user:\nhi\n")
    alone = b.transcript_of(home, OTHER).with_suffix(".txt")
    alone.write_text("user:\n<user_query>\nhi\n</user_query>\n")

    found = Cursor().sources(str(home / ".cursor" / "projects"))

    assert [Path(source.path) for source in found] == [lines, alone]


def test_a_turn_that_was_stopped_is_told_apart_from_one_that_failed(home: Path) -> None:
    path = b.transcript_of(home)
    ends = [
        {"status": "error", "error": "User aborted request"},
        {"status": "error", "error": "overloaded"},
        {"status": "success"},
    ]
    path.write_text(
        b.line("user", "go")
        + "".join(json.dumps({"type": "turn_ended", **end}) + "\n" for end in ends)
    )

    assert said(read(path))[1:] == [("abort", "User aborted request"), ("error", "overloaded")]


def test_a_folder_is_proven_by_a_path_that_was_used() -> None:
    """Two folders may have the same name in a slug; only the one that was used is taken."""
    slug, digest = is_slug_of("home-ada-my-shop"), is_md5_of("d38bf5735f170ef41516b14f483f6863")

    assert folder_in({"path": "/home/ada/my-shop/src/a.py"}, slug) == "/home/ada/my-shop"
    assert folder_in({"path": "/home/ada/my/shop"}, slug) == "/home/ada/my/shop"
    assert folder_in({"path": "/home/ada/other/a.py", "n": 3}, slug) is None
    assert (
        folder_in({"path": "C:\\code\\shop\\a.py"}, is_slug_of("c-code-shop")) == "C:\\code\\shop"
    )
    assert folder_in({"command": "cd /home/ada/shop"}, digest) is None
    assert folder_in(b.FOLDER, digest) == b.FOLDER
    assert folder_in({"path": "/"}, is_slug_of("")) is None


# All three ---------------------------------------------------------------------------------


@pytest.mark.parametrize("newest_first", [True, False])
def test_a_chat_in_three_places_is_one_session_told_by_the_best(
    home: Path, newest_first: bool
) -> None:
    """Whatever was there first, its turns keep their places and nothing is told twice."""
    path = chat(
        home,
        b.asked("b1", "draw a cat"),
        b.answered("b2", "Here.", tokenCount={"inputTokens": 7, "outputTokens": 2}),
    )
    words = b.said("user", b.query("draw  a cat")), b.said("assistant", "Here.")
    stored(home, *words)
    b.transcript_of(home).write_text(
        b.line("user", b.query("draw a cat")) + b.line("assistant", "Here.")
    )
    from recollect.memory import Memory

    with Memory.open(home / "store.db", adapters={"cursor": Cursor()}) as mind:
        if newest_first:
            away = home / "away.vscdb"
            shutil.move(path, away)
            mind.import_logs([home])
            shutil.move(away, path)
        mind.import_logs([home])
        (session,) = mind.sessions()
        shown = mind.show(session.id)

    assert (session.native_id, session.tokens.input) == (b.CHAT, 7)
    assert [(turn.prompt, turn.live) for turn in shown.turn_list] == [("draw a cat", True)]  # type: ignore[union-attr]


def test_roots_are_where_each_system_keeps_them_and_variables_move_them(home: Path) -> None:
    roots = Cursor().roots(
        "/home/ada",
        {
            "CURSOR_CONFIG_DIR": "/data/cursor",
            "XDG_CONFIG_HOME": "/data/config",
            "APPDATA": "C:/Roaming",
        },
    )

    for root in (
        "/data/config/Cursor/User/globalStorage",
        "/home/ada/Library/Application Support/Cursor/User/workspaceStorage",
        "C:/Roaming/Cursor/User/globalStorage",
        "/data/cursor/chats",
        "/home/ada/.cursor/acp-sessions",
        "/home/ada/.cursor/projects",
        "/data/config/cursor/chats",
    ):
        assert os.path.normpath(root) in map(os.path.normpath, roots)


def test_the_logs_of_a_home_are_found_by_their_places(home: Path) -> None:
    places = [b.global_of(home), b.workspace_of(home), b.store_of(home), b.transcript_of(home)]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    (home / ".config" / "Code" / "User" / "globalStorage").mkdir(parents=True)
    (home / ".config" / "Code" / "User" / "globalStorage" / "state.vscdb").touch()

    cursor = Cursor()
    found = [source for root in cursor.roots(str(home), {}) for source in cursor.sources(root)]

    assert {Path(source.path): source.rank for source in found} == dict(
        zip(places, (0, 0, 1, 2), strict=True)
    )
    assert list(cursor.sources(str(home / ".config" / "Code"))) == []


def test_other_agents_logs_are_not_recognised(corpus: Path) -> None:
    cursor = Cursor()
    claimed = []
    for path in corpus.rglob("*"):
        if (
            path.suffix in cursor.endings
            and path.is_file()
            and "cursor" not in path.relative_to(corpus).parts[0]
        ):
            with path.open("rb") as file:
                claimed += [path] if cursor.find_source(str(path), file.read(65536)) else []

    assert claimed == []


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u"},
        {"role": "user", "content": "hi"},
        {"role": "user", "message": {"content": "hi"}, "timestamp": "2026-01-01T00:00:00Z"},
        {"role": "user", "message": "hi"},
        {"type": "error", "error": "boom"},
    ],
)
def test_lines_that_only_look_like_ours_are_not(line: dict[str, Any]) -> None:
    assert Cursor().find_source("/tmp/x.jsonl", msgspec.json.encode(line) + b"\n") is None


def test_every_public_sample_is_read(corpus: Path) -> None:
    """With two problems: a store whose root is not in it, and a part that
    was invented to see what happens.
    """
    found = [
        item
        for source in sources(Cursor(), corpus / "cursor")
        for item in Cursor().read(source, None)
    ]

    assert len({item.session for item in of(SessionFacts, found)}) == 45
    assert len({(item.session, item.turn) for item in of(TurnFacts, found)}) == 82
    assert [(problem.kind, problem.reason) for problem in of(Problem, found)] == [
        ("bad_record", "a message that is missing or cannot be read"),
        ("unknown", "a part of the type custom_block"),
    ]
