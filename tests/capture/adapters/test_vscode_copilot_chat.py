"""What the adapter makes of chats in VS Code, fact by fact."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.vscode_copilot_chat import VscodeCopilotChat
from recollect.memory import Memory
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Liveness,
    Problem,
    SessionFacts,
    Source,
    TurnFacts,
    Usage,
)
from tests.builders import vscode_copilot_chat as b
from tests.capture.adapters.items import of, taken_from_others


def read(path: Path) -> list[Item]:
    source = VscodeCopilotChat().find_source(str(path), path.read_bytes()[: 1 << 16])
    return list(
        VscodeCopilotChat().read(
            source or Source("vscode-copilot-chat", str(path), appended=False), None
        )
    )


def items(folder: Path, *requests: dict[str, Any], **more: Any) -> list[Item]:
    """What a chat of these requests gives."""
    return read(b.document(b.window(folder), b.chat(*requests, **more)))


def said(found: list[Item]) -> list[tuple[str, str]]:
    """Events as (kind, text or tool), in order."""
    return [(e.kind, e.name if e.kind == "tool_call" else e.text) for e in of(Event, found)]


def calls(found: list[Item]) -> list[Event]:
    return [event for event in of(Event, found) if event.kind == "tool_call"]


# The conversation


def test_a_request_is_a_turn(tmp_path: Path) -> None:
    """The common case, whole: what was asked, thought and answered, and the tokens."""
    found = items(
        tmp_path,
        b.request(
            1,
            "count the stamps",
            {"kind": "thinking", "value": "A list."},
            b.words("There are "),
            {"kind": "inlineReference", "inlineReference": {"fsPath": "/home/ada/shop/stamps.csv"}},
            b.words(" with twelve."),
            result=b.result(promptTokens=50, outputTokens=7, resolvedModel="claude-sonnet-4-5"),
            modelState={"value": 1, "completedAt": b.START + 69_000},
        ),
    )

    about: dict[str, Any] = {"session": b.CHAT, "turn": "request_1"}
    at = b.START + 60_000
    assert found[:-1] == [
        SessionFacts(
            whole=True,
            session=b.CHAT,
            origin="interactive",
            cwd="/home/ada/shop",
            title="Stamps",
            started_at=b.START,
            meta={"responder": "GitHub Copilot", "location": "panel"},
        ),
        TurnFacts(
            **about,
            at=at,
            author="human",
            telemetry={"model": "claude-sonnet-4.5", "duration_ms": 9000, "first_words_ms": 700},
        ),
        Event(**about, kind="prompt", at=at, text="count the stamps"),
        Event(**about, kind="reasoning", text="A list."),
        Event(
            **about, kind="reply", at=b.START + 69_000, text="There are `stamps.csv` with twelve."
        ),
        Usage(**about, key="request_1", model="claude-sonnet-4-5", at=at, input=50, output=7),
    ]


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({"isCanceled": True}, ("abort", "")),
        ({"modelState": {"value": 2}}, ("abort", "")),
        ({"modelState": {"value": 3}}, ("error", "failed")),
        (
            {"result": {"errorDetails": {"message": "Too many requests", "code": "rateLimited"}}},
            ("error", "Too many requests"),
        ),
        ({"result": {"errorDetails": {"message": "Canceled", "code": "canceled"}}}, ("abort", "")),
        (
            {"result": {"errorDetails": {"message": "Canceled", "responseIsIncomplete": True}}},
            ("abort", ""),
        ),
    ],
)
def test_a_turn_may_end_badly(tmp_path: Path, more: dict[str, Any], end: tuple[str, str]) -> None:
    assert said(items(tmp_path, b.request(1, "go", b.words("Well"), **more)))[-1] == end


def test_a_click_is_not_typed(tmp_path: Path) -> None:
    """A person pressed a button; the words are VS Code's."""
    found = items(tmp_path, b.request(1, '@agent Continue: "Go on?"', confirmation="Continue"))

    assert [turn.author for turn in of(TurnFacts, found)] == ["system"]


def test_a_request_that_waits_to_be_removed_is_no_longer_part_of_the_chat(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.request(1, "a"),
        b.request(2, "b", shouldBeRemovedOnSend={"requestId": "request_2"}),
    )

    assert of(Liveness, found) == [Liveness(session=b.CHAT, turn="request_2", live=False)]


def test_early_chats_are_made_of_plain_texts(tmp_path: Path) -> None:
    """Of 2024: a message is a string, and there are neither ids nor times."""
    early = {
        "message": "what is a monad",
        "response": ["A monoid"],
        "responseErrorDetails": {"message": "Off topic"},
    }
    found = items(tmp_path, early)

    assert said(found) == [
        ("prompt", "what is a monad"),
        ("reply", "A monoid"),
        ("error", "Off topic"),
    ]
    assert {event.turn for event in of(Event, found)} == {f"{b.CHAT}/request-0"}


def test_a_window_that_was_only_opened_leaves_nothing(tmp_path: Path) -> None:
    assert [type(item) for item in items(tmp_path)] == [Checkpoint]


# Tools


def test_a_call_is_joined_from_what_was_shown_and_what_the_model_asked(tmp_path: Path) -> None:
    """The ids differ by a suffix; what came back may be a tree that was rendered for the model."""
    tree = {
        "node": {
            "children": [
                {"text": "12"},
                {"children": [{"text": "3 blue", "lineBreakBefore": True}]},
            ]
        }
    }
    found = items(
        tmp_path,
        b.request(
            1,
            "count",
            b.invocation("c1", "copilot_readFile"),
            result=b.result(
                b.round_of("", c1=("read_file", {"filePath": "/a"})), given_back={"c1": tree}
            ),
        ),
    )

    assert calls(found) == [
        Event(
            session=b.CHAT,
            turn="request_1",
            kind="tool_call",
            call="c1",
            name="read_file",
            tool_kind="read",
            target="/a",
            input={"filePath": "/a"},
            output="12\n3 blue",
            ok=True,
        )
    ]


def test_a_call_that_was_not_shown_is_told_all_the_same(tmp_path: Path) -> None:
    rounds = b.round_of(
        "", c1=("read_file", {"filePath": "/a"}), c2=("manage_todo_list", {"operation": "read"})
    )
    found = items(
        tmp_path,
        b.request(
            1,
            "go",
            b.invocation("c1", "copilot_readFile"),
            b.words("Done."),
            result=b.result(rounds),
        ),
    )

    assert said(found)[1:] == [
        ("tool_call", "read_file"),
        ("tool_call", "manage_todo_list"),
        ("reply", "Done."),
    ]


def test_with_other_ids_on_the_screen_calls_are_joined_by_tool_and_target(tmp_path: Path) -> None:
    """Until early 2026 the screen had ids of its own.

    Calls that ran side by side are shown in the order they ended.
    """
    asked = b.round_of(
        "I read.",
        c1=("read_file", {"filePath": "/a"}),
        c2=("read_file", {"filePath": "/b"}),
        c3=("get_errors", {}),
        c4=("grep_search", {"query": "x"}),
    )
    found = items(
        tmp_path,
        b.request(
            1,
            "go",
            b.words("I read."),
            b.invocation("ui-1", "copilot_readFile", invocationMessage="Reading [](file:///b)"),
            b.invocation("ui-2", "copilot_readFile", invocationMessage="Reading [](file:///a)"),
            b.invocation("c4", "copilot_findTextInFiles"),
            b.words("Read."),
            result=b.result(
                asked,
                given_back={"c1": "A", "c2": "B", "c4": "Applying patch failed with error: x"},
            ),
        ),
    )

    assert [(call.call, call.target, call.output, call.ok) for call in calls(found)] == [
        ("c2", "/b", "B", True),
        ("c3", None, None, None),
        ("c1", "/a", "A", True),
        ("c4", "x", "Applying patch failed with error: x", False),
    ]
    assert [text for kind, text in said(found) if kind == "reply"] == ["I read.", "Read."]


def test_what_a_tool_calls_itself_is_not_told_again(tmp_path: Path) -> None:
    """The screen shows a page being fetched twice: the tool of the model,
    and the one of VS Code that it uses.
    """
    outer = b.invocation("ui-1", "copilot_fetchWebPage")
    inner = b.invocation("ui-2", "vscode_fetchWebPage_internal")
    asked = b.round_of(
        "", c1=("fetch_webpage", {"query": "stamps", "urls": ["https://stamps.example"]})
    )

    (call,) = calls(items(tmp_path, b.request(1, "go", outer, inner, result=b.result(asked))))

    assert (call.call, call.target) == ("c1", "https://stamps.example")


def test_a_list_that_vs_code_itself_emptied_is_no_call(tmp_path: Path) -> None:
    """It does so whenever a request begins."""
    shown = [
        b.invocation(
            f"ui-{number}",
            "manage_todo_list",
            toolSpecificData={"kind": "todoList", "todoList": todo},
        )
        for number, todo in enumerate([[], [{"id": 1, "title": "Paint"}]])
    ]

    (call,) = calls(items(tmp_path, b.request(1, "go", *shown)))

    assert call.input == {"todoList": [{"id": 1, "title": "Paint"}]}


def test_fences_around_an_edit_are_not_words(tmp_path: Path) -> None:
    edit = [
        b.words("\n```\n"),
        {"kind": "undoStop", "id": "u"},
        {"kind": "codeblockUri", "uri": {"fsPath": "/a"}, "isEdit": True},
        {"kind": "textEditGroup", "uri": {"fsPath": "/a"}, "edits": []},
        b.words("\n```\n"),
    ]
    found = items(
        tmp_path,
        b.request(
            1,
            "go",
            b.words("First."),
            b.invocation("c1", "copilot_createFile"),
            *edit,
            b.words("Done."),
        ),
    )

    assert said(found)[1:] == [
        ("reply", "First."),
        ("tool_call", "copilot_createFile"),
        ("reply", "Done."),
    ]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ({}, (None, None)),
        ({"resultDetails": {"input": "{}", "output": "12"}}, (True, None)),
        ({"isConfirmed": {"type": 0}}, (False, None)),
        ({"isConfirmed": False}, (False, None)),
        ({"isComplete": False}, (None, None)),
        ({"resultDetails": {"input": "{}", "output": [], "isError": True}}, (False, None)),
        (
            {"toolSpecificData": {"kind": "terminal", "terminalCommandState": {"exitCode": 1}}},
            (False, 1),
        ),
        (
            {
                "toolSpecificData": {
                    "kind": "terminal",
                    "terminalCommandOutput": {"text": "Command exited with code 3"},
                }
            },
            (False, 3),
        ),
    ],
)
def test_how_a_call_went(tmp_path: Path, shown: dict[str, Any], expected: tuple[Any, Any]) -> None:
    (call,) = calls(
        items(tmp_path, b.request(1, "go", b.invocation("c1", "run_in_terminal", **shown)))
    )

    assert (call.ok, call.exit_code) == expected


@pytest.mark.parametrize(
    ("tool", "shown", "kind", "target"),
    [
        (
            "run_in_terminal",
            {"toolSpecificData": {"kind": "terminal", "commandLine": {"original": "ls"}}},
            "shell",
            "ls",
        ),
        (
            "copilot_readFile",
            {"invocationMessage": {"value": "Reading [](file:///home/ada/a%20b.txt#1-2)"}},
            "read",
            "/home/ada/a b.txt",
        ),
        (
            "copilot_replaceString",
            {"pastTenseMessage": "Edited [](file:///a.txt)"},
            "edit",
            "/a.txt",
        ),
        (
            "copilot_findTextInFiles",
            {"invocationMessage": {"value": "Searching for regex `blue|navy`"}},
            "search",
            "blue|navy",
        ),
        (
            "find",
            {"source": {"type": "mcp"}, "resultDetails": {"input": '{"query": "blue"}'}},
            "mcp",
            "blue",
        ),
    ],
)
def test_what_a_call_was_about_is_found_on_the_screen(
    tmp_path: Path, tool: str, shown: dict[str, Any], kind: str, target: str
) -> None:
    """Where nothing tells what the model asked for."""
    (call,) = calls(items(tmp_path, b.request(1, "go", b.invocation("c1", tool, **shown))))

    assert (call.tool_kind, call.target) == (kind, target)


def test_files_that_were_found_are_what_came_back(tmp_path: Path) -> None:
    """Where nothing tells what the model was given: a file of another
    machine has the path that it has there.
    """
    files = [
        {"uri": {"fsPath": "/a"}},
        {"path": "/C:/b c", "scheme": "file"},
        {"path": "/d", "scheme": "vscode-remote"},
    ]

    (call,) = calls(
        items(
            tmp_path,
            b.request(1, "go", b.invocation("c1", "copilot_findFiles", resultDetails=files)),
        )
    )

    assert call.output == "/a\nC:\\b c\n/d"


def test_edits_without_a_tool_are_calls(tmp_path: Path) -> None:
    """So it was before chats had tools; where a tool made them they are not told again."""
    edit = {
        "kind": "textEditGroup",
        "uri": {"fsPath": "/a"},
        "edits": [[{"text": "one"}, {"text": "two"}]],
    }

    (alone,) = calls(items(tmp_path, b.request(1, "go", edit)))
    (made,) = calls(
        items(tmp_path, b.request(1, "go", b.invocation("c1", "copilot_createFile"), edit))
    )

    assert (alone.name, alone.tool_kind, alone.target, alone.input) == (
        "textEditGroup",
        "edit",
        "/a",
        {"path": "/a", "content": "one\ntwo"},
    )
    assert made.name == "copilot_createFile"


def test_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    task = {
        "kind": "subagent",
        "agentName": "Explore",
        "description": "Look",
        "prompt": "Look at it.",
        "result": "It leaks.",
    }
    found = items(
        tmp_path,
        b.request(
            1,
            "look",
            b.invocation("c1", "runSubagent", toolSpecificData=task),
            b.invocation("c2", "copilot_readFile", subAgentInvocationId="c1"),
            b.words("Leaky."),
        ),
    )

    inside = [item for item in found if getattr(item, "session", "") == f"{b.CHAT}/c1"]
    assert said(inside) == [
        ("prompt", "Look at it."),
        ("tool_call", "copilot_readFile"),
        ("reply", "It leaks."),
    ]
    assert of(SessionFacts, inside)[0] == SessionFacts(
        session=f"{b.CHAT}/c1", parent=b.CHAT, origin="subagent", cwd="/home/ada/shop"
    )
    assert said([item for item in found if getattr(item, "session", "") == b.CHAT])[1:] == [
        ("tool_call", "runSubagent"),
        ("reply", "Leaky."),
    ]


def test_early_sub_agents_only_said_that_they_were_some(tmp_path: Path) -> None:
    """What they were asked and came to is then told by the model's call."""
    asked = b.round_of("", c1=("runSubagent", {"description": "Look", "prompt": "Look at it."}))
    shown = [
        b.invocation("ui-1", "runSubagent"),
        b.invocation("ui-2", "copilot_readFile", fromSubAgent=True),
    ]
    found = items(
        tmp_path,
        b.request(1, "look", *shown, result=b.result(asked, given_back={"c1": "It leaks."})),
    )

    inside = [item for item in found if getattr(item, "session", "") == f"{b.CHAT}/ui-1"]
    assert said(inside) == [
        ("prompt", "Look at it."),
        ("tool_call", "copilot_readFile"),
        ("reply", "It leaks."),
    ]


# Tokens


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {
                "result": b.result(promptTokens=50, outputTokens=7),
                "completionTokens": 90,
                "promptTokens": 50,
            },
            [(50, 0, 90)],
        ),
        ({"result": {"usage": {"promptTokens": 50, "completionTokens": 7}}}, [(50, 0, 7)]),
        ({"promptTokens": 50, "completionTokens": 7, "modelState": {"value": 2}}, [(50, 0, 7)]),
        (
            {
                "modelTotals": [
                    {"model": "fern", "inputTokens": 100, "cachedTokens": 70, "outputTokens": 8},
                    {"model": "moss", "inputTokens": 10, "cachedTokens": 0, "outputTokens": 2},
                ],
                "promptTokens": 999,
            },
            [(30, 70, 8), (10, 0, 2)],
        ),
    ],
)
def test_tokens_are_told_in_several_places(
    tmp_path: Path, more: dict[str, Any], expected: list[tuple[int, int, int]]
) -> None:
    """The last model call's beside those of all of them, or, since
    late 2026, totals for each model.
    """
    found = of(Usage, items(tmp_path, b.request(1, "go", **more)))

    assert [(usage.input, usage.cache_read, usage.output) for usage in found] == expected


def test_which_model_auto_came_to_is_told_elsewhere(tmp_path: Path) -> None:
    part = {"kind": "autoModeResolution", "resolvedModel": "fern-2"}
    found = items(
        tmp_path,
        b.request(1, "go", part, modelId="copilot/auto", completionTokens=5, copilotCredits=1.5),
    )

    assert [usage.model for usage in of(Usage, found)] == ["fern-2"]
    assert of(TurnFacts, found)[0].telemetry == {"model": "fern-2", "copilot_credits": 1.5}


# Operation logs


def test_a_log_is_replayed_to_what_a_person_saw(tmp_path: Path) -> None:
    found = read(
        b.log(
            b.window(tmp_path),
            b.snapshot(b.chat(customTitle=None)),
            b.put("Painting", "customTitle"),
            b.push([b.request(1, "paint it")], "requests"),
            b.push([b.words("Which")], "requests", 0, "response"),
            b.put(b.words("Which colour?"), "requests", 0, "response", 0),
            {"kind": 3, "k": ["requests", 0, "modelId"]},
            b.put(b.result(promptTokens=9, outputTokens=2), "requests", 0, "result"),
            b.put({"id": "agent"}, "inputState"),
        )
    )

    assert of(SessionFacts, found)[0].title == "Painting"
    assert said(found) == [("prompt", "paint it"), ("reply", "Which colour?")]
    assert [(usage.model, usage.input, usage.output) for usage in of(Usage, found)] == [
        (None, 9, 2)
    ]


def test_a_request_that_was_edited_stays_as_one_that_was_taken_back(tmp_path: Path) -> None:
    """VS Code cuts the list and asks again; until the log is compacted it still has both."""
    operations = [
        b.snapshot(b.chat(b.request(1, "first"))),
        b.push([b.request(2, "with a tpyo", b.words("What?"))], "requests"),
        b.push([b.request(3, "without")], "requests", cut=1),
    ]
    found = read(b.log(b.window(tmp_path), *operations))

    assert said(found) == [
        ("prompt", "first"),
        ("prompt", "with a tpyo"),
        ("reply", "What?"),
        ("prompt", "without"),
    ]
    assert of(Liveness, found) == [Liveness(session=b.CHAT, turn="request_2", live=False)]


def test_what_was_taken_back_stands_before_what_was_asked_later(tmp_path: Path) -> None:
    undated = b.request(9, "undated") | {"timestamp": None}
    operations = [
        b.snapshot(b.chat(b.request(1, "a"), b.request(4, "d"), b.request(3, "c"), undated)),
        b.push([b.request(5, "e")], "requests", cut=1),
        b.put({"requests": "none"}, "inputState"),
    ]
    found = read(b.log(b.window(tmp_path), *operations))

    assert said(found) == [("prompt", text) for text in ("a", "c", "d", "e", "undated")]
    assert [item.turn for item in of(Liveness, found)] == ["request_3", "request_4", "request_9"]


def test_a_log_of_many_operations_takes_no_time(tmp_path: Path) -> None:
    """A hostile one may go through the list of requests with each of them."""
    asked = [b.request(number, "a") for number in range(1000)]
    operations = [
        b.push([b.request(number, "b")], "requests", cut=1000) for number in range(1000, 10_000)
    ]
    path = b.log(
        b.window(tmp_path),
        b.snapshot(b.chat(*asked)),
        *operations,
        *[b.put({}, "inputState")] * 10_000,
    )

    began = time.process_time()
    found = read(path)

    assert time.process_time() - began < 5
    assert len(of(Liveness, found)) == 8999


def test_a_compacted_log_changes_nothing(tmp_path: Path) -> None:
    """It is then one snapshot; what was taken back is gone from it, and stays in the store."""
    folder = b.window(tmp_path)
    path = b.log(
        folder,
        b.snapshot(b.chat(b.request(1, "a"), b.request(2, "b"))),
        b.push([b.request(3, "c")], "requests", cut=1),
    )
    with Memory.open(
        str(tmp_path / "store.db"), adapters={"vscode-copilot-chat": VscodeCopilotChat()}
    ) as memory:
        memory.import_logs([str(tmp_path)])
        path.write_text(json.dumps(b.snapshot(b.chat(b.request(1, "a"), b.request(3, "c")))) + "\n")
        memory.import_logs([str(tmp_path)])
        (session,) = memory.sessions()
        turns = memory.show(session.id).turn_list

    assert [(turn.prompt, turn.live) for turn in turns] == [("a", True), ("b", False), ("c", True)]


def test_a_half_written_operation_waits(tmp_path: Path) -> None:
    path = b.log(
        b.window(tmp_path),
        b.snapshot(b.chat(b.request(1, "a"))),
        b.push([b.request(2, "b")], "requests"),
    )
    whole = path.read_text()
    path.write_text(whole[:-20])

    first = read(path)
    path.write_text(whole)

    assert said(first) == [("prompt", "a")]
    assert not of(Problem, first)
    assert said(read(path)) == [("prompt", "a"), ("prompt", "b")]


def test_operations_that_make_no_sense_are_counted(tmp_path: Path) -> None:
    path = b.log(
        b.window(tmp_path),
        b.snapshot(b.chat(b.request(1, "a"))),
        b.put("x", "requests", 9, "response"),
        b.push([1], "customTitle"),
        b.put("x", "requests", {"a": 1}, "response"),
        {"kind": 1, "k": [["a"]], "v": 1},
        {"kind": 9},
    )

    found = read(path)

    assert said(found) == [("prompt", "a")]
    assert [(p.kind, p.reason, p.count) for p in of(Problem, found)] == [
        ("bad_record", "an operation on something that is not there", 3),
        ("unknown", "operation 9", 1),
    ]


@pytest.mark.parametrize("text", ["", "nonsense", '{"requests": [{"mess', "[1]", "null"])
def test_a_document_that_is_none_is_one_problem(tmp_path: Path, text: str) -> None:
    path = b.window(tmp_path) / "x.json"
    path.write_text(text)

    assert [type(item) for item in read(path)] == [Problem, Checkpoint]


@pytest.mark.parametrize("junk", [None, 7, "x", [1], {"a": [None]}, 1e300, True])
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, junk: Any) -> None:
    """Any field of a request or of what was shown may be something else one day."""
    full = b.request(
        1,
        "go",
        result=b.result(b.round_of("", c1=("read_file", {}))),
        agent={},
        modeInfo={},
        variableData={},
        modelState={},
        usage={},
        isHidden={},
    )
    shown = b.invocation(
        "c1",
        "x",
        resultDetails={},
        toolSpecificData={"kind": "terminal"},
        invocationMessage="",
        source={},
    )
    parts = [{**shown, name: junk} for name in shown] + [
        {"kind": "thinking", "value": junk},
        {"kind": "inlineReference", "name": junk},
    ]
    requests = [{**full, name: junk} for name in full] + [b.request(2, "parts", *parts)]

    found = items(tmp_path, *requests, b.request(3, "still here"))

    assert said(found)[-1] == ("prompt", "still here")


# Where chats are


def test_an_exported_chat_has_the_same_id_when_it_is_exported_again(tmp_path: Path) -> None:
    """Exports have none of their own.

    What they begin with stands for it, and their requests count once.
    """
    exported = b.chat(b.request(1, "a", result=b.result(promptTokens=5, outputTokens=1)))
    del exported["sessionId"]
    longer = {**exported, "requests": [*exported["requests"], b.request(2, "b")]}

    first = read(b.document(tmp_path, exported, "chat.json"))
    second = read(b.document(tmp_path, longer, "again.json"))

    (session,) = {facts.session for facts in of(SessionFacts, first + second)}
    assert session.startswith("export-")
    assert [usage.key for usage in of(Usage, first + second)] == ["request_1", "request_1"]


def test_an_exported_chat_tells_its_folder_where_links_begin(tmp_path: Path) -> None:
    exported = b.chat(
        b.request(
            1, "a", {**b.words("b"), "baseUri": {"$mid": 1, "path": "/C:/shop/", "scheme": "file"}}
        )
    )

    assert of(SessionFacts, read(b.document(tmp_path, exported, "chat.json")))[0].cwd == "C:\\shop"


@pytest.mark.parametrize(
    ("workspace", "cwd"),
    [
        ({"folder": "file:///home/ada/a%20shop"}, "/home/ada/a shop"),
        ({"workspace": "file:///home/ada/all.code-workspace"}, "/home/ada"),
        ({"folder": "vscode-remote://ssh-remote%2Bshed/srv/shed"}, "/srv/shed"),
        ({}, None),
    ],
)
def test_the_folder_of_a_window_is_told_beside_its_chats(
    tmp_path: Path, workspace: dict[str, str], cwd: str | None
) -> None:
    folder = b.window(tmp_path, None)
    (folder.parent / "workspace.json").write_text(json.dumps(workspace))

    assert of(SessionFacts, read(b.document(folder, b.chat(b.request(1, "a")))))[0].cwd == cwd


def test_chats_are_found_for_all_windows(tmp_path: Path) -> None:
    adapter = VscodeCopilotChat()
    one = b.document(b.window(tmp_path), b.chat())
    empty = tmp_path / "globalStorage" / "emptyWindowChatSessions"
    empty.mkdir(parents=True)
    other = b.log(empty, b.snapshot(b.chat()))
    (one.parent.parent / "state.vscdb").touch()

    companions = (str(one.parent.parent / "workspace.json"),)
    document = Source(adapter.agent, str(one), companions, appended=False, rank=1)
    log = Source(adapter.agent, str(other), appended=False)
    assert sorted(adapter.sources(str(tmp_path)), key=lambda source: source.rank) == [log, document]
    assert list(adapter.sources(str(tmp_path / "workspaceStorage"))) == [document]
    assert list(adapter.sources(str(one.parent))) == [document]
    assert list(adapter.sources(str(empty))) == [log]
    assert not list(adapter.sources(str(tmp_path.parent)))


def test_every_editor_of_the_family_is_looked_at() -> None:
    roots = VscodeCopilotChat().roots(
        "/home/ada", {"VSCODE_PORTABLE": "/stick/data", "APPDATA": "C:/Roaming"}
    )

    for root in (
        "/home/ada/.config/Code/User/workspaceStorage",
        "/home/ada/Library/Application Support/Code - Insiders/User/workspaceStorage",
        "C:/Roaming/VSCodium/User/globalStorage/emptyWindowChatSessions",
        "/home/ada/.vscode-server/data/User/workspaceStorage",
        "/stick/data/user-data/User/workspaceStorage",
    ):
        assert root in roots


def test_a_chat_that_is_there_in_both_forms_is_told_by_the_log(tmp_path: Path) -> None:
    folder = b.window(tmp_path)
    b.document(folder, b.chat(b.request(1, "a")))
    b.log(folder, b.snapshot(b.chat(b.request(1, "a"), b.request(2, "b"))))

    with Memory.open(
        str(tmp_path / "store.db"), adapters={"vscode-copilot-chat": VscodeCopilotChat()}
    ) as memory:
        memory.import_logs([str(tmp_path)])
        (session,) = memory.sessions()
        turns = memory.show(session.id).turn_list

    assert [(turn.prompt, turn.live) for turn in turns] == [("a", True), ("b", True)]


def test_look_alikes_are_not_ours() -> None:
    adapter = VscodeCopilotChat()

    assert adapter.find_source("/x/a.jsonl", json.dumps(b.snapshot(b.chat())).encode()) is not None
    assert adapter.find_source("/x/a.json", json.dumps(b.chat()).encode()) is not None
    assert adapter.find_source("/x/a.jsonl", json.dumps(b.chat()).encode()) is None
    assert adapter.find_source("/x/a.json", b'{"requests": [], "sessionId": "x"}') is None
    assert adapter.find_source("/x/a.jsonl", b'{"kind": 0, "v": {"pages": []}}') is None


def test_samples_of_others_are_not_ours(corpus: Path) -> None:
    assert not list(taken_from_others(VscodeCopilotChat(), corpus))


# Traces of Visual Studio


def test_what_spans_tell_is_a_conversation(tmp_path: Path) -> None:
    """Spans are written down when they end: the request comes last."""
    path = b.trace(
        tmp_path,
        b.chat_span(
            "c1",
            1,
            3,
            "Add a label.",
            b.answer("I read.", call="t1"),
            input_tokens="90",
            **{"cache_read.input_tokens": "60"},
        ),
        b.tool_span(
            "t1", 4, 6, "get_file", {"filename": "A.cs"}, '{"Value": {"Content": "class A"}}'
        ),
        b.chat_span("c2", 7, 9, "Add a label.", b.answer("There."), output_tokens="5"),
        b.request_span(0, 10),
    )
    about: dict[str, Any] = {"session": b.CONVERSATION, "turn": "r-1"}

    assert read(path)[:-1] == [
        SessionFacts(
            session=b.CONVERSATION,
            origin="interactive",
            started_at=b.START,
            agent_version="18.6.1",
            meta={"product": "Visual Studio", "mode": "Agent"},
        ),
        TurnFacts(
            **about,
            at=b.START,
            author="human",
            telemetry={"model": "fern-2", "mode": "Agent", "duration_ms": 10_000},
        ),
        Event(**about, kind="prompt", at=b.START, text="Add a label."),
        Event(**about, kind="reply", at=b.START + 3000, text="I read."),
        Usage(
            **about,
            key=f"{b.CONVERSATION}/c1",
            model="fern-2",
            at=b.START + 3000,
            input=30,
            cache_read=60,
        ),
        Event(
            **about,
            kind="tool_call",
            at=b.START + 4000,
            call="t1",
            name="get_file",
            tool_kind="read",
            target="A.cs",
            input={"filename": "A.cs"},
            output="class A",
            ok=True,
            duration_ms=2000,
        ),
        Event(**about, kind="reply", at=b.START + 9000, text="There."),
        Usage(**about, key=f"{b.CONVERSATION}/c2", model="fern-2", at=b.START + 9000, output=5),
    ]


def test_a_request_may_be_told_by_several_files_of_a_run(tmp_path: Path) -> None:
    """Whichever of them is named.

    A file of another run is another source, with the same conversation.
    """
    first = b.trace(
        tmp_path, b.chat_span("c1", 1, 3, "Add a label.", b.answer("I read.", call="t1"))
    )
    second = b.trace(
        tmp_path,
        b.tool_span("t1", 4, 6, "run_build", {}, "Built."),
        b.request_span(0, 10),
        begun="T02",
    )
    other = b.trace(tmp_path, b.request_span(90, 91, root="r-2"), run="bbbb")

    assert said(read(second)) == [
        ("prompt", "Add a label."),
        ("reply", "I read."),
        ("tool_call", "run_build"),
    ]
    with Memory.open(
        str(tmp_path / "store.db"), adapters={"vscode-copilot-chat": VscodeCopilotChat()}
    ) as memory:
        memory.import_logs([str(tmp_path)])
        (session,) = memory.sessions()
        turns = memory.show(session.id).turn_list
    assert [turn.prompt for turn in turns] == ["Add a label.", ""]
    adapter = VscodeCopilotChat()
    assert {source.path: source.companions for source in adapter.sources(str(tmp_path))} == {
        str(first): (str(second),),
        str(other): (),
    }


def test_a_call_that_failed_and_a_request_that_was_stopped(tmp_path: Path) -> None:
    found = read(
        b.trace(
            tmp_path,
            b.tool_span(
                "t1", 4, 6, "run_build", {}, None, status={"code": 2, "message": "No project."}
            ),
            b.request_span(0, 10, status={"code": 2, "message": "A task was canceled."}),
        )
    )

    assert [(call.output, call.ok) for call in calls(found)] == [("No project.", False)]
    assert said(found)[-1] == ("abort", "A task was canceled.")


def test_a_call_without_a_span_is_what_the_model_asked_for(tmp_path: Path) -> None:
    found = read(
        b.trace(tmp_path, b.chat_span("c1", 1, 3, "Build.", b.answer("", call="t1"), turn=None))
    )

    assert [(call.call, call.name, call.ok) for call in calls(found)] == [("t1", "get_file", None)]


def test_spans_of_other_things_are_passed_over_or_counted(tmp_path: Path) -> None:
    unheard = b.span("x1", "rerank", 1, 2, {"gen_ai.operation.name": "rerank"})
    found = read(
        b.trace(tmp_path, unheard, {"spanId": "x2", "attributes": "none"}, b.request_span(0, 10))
    )

    assert [(problem.kind, problem.reason) for problem in of(Problem, found)] == [
        ("unknown", "span rerank")
    ]
    assert len(of(TurnFacts, found)) == 1


@pytest.mark.parametrize("junk", [None, 7, "x", [1], {"a": [None]}, 1e300, True])
def test_a_field_of_a_span_may_be_anything(tmp_path: Path, junk: Any) -> None:
    whole = b.chat_span("c1", 1, 3, "Go.", b.answer("Well.", call="t1"), input_tokens="9")
    tool = b.tool_span("t1", 4, 6, "get_file", {}, "x")
    broken = [{**span, name: junk} for span in (whole, tool) for name in span]
    values = [
        {
            **span,
            "attributes": [
                {**one, "value": junk} if place == number else one
                for place, one in enumerate(span["attributes"])
            ],
        }
        for span in (whole, tool)
        for number in range(len(span["attributes"]))
    ]

    found = read(b.trace(tmp_path, *broken, *values, b.request_span(0, 10, root="r-9")))

    assert "r-9" in {facts.turn for facts in of(TurnFacts, found)}


def test_traces_are_among_temporary_files(tmp_path: Path) -> None:
    roots = VscodeCopilotChat().roots("/home/ada", {"TMP": "/t", "TEMP": "/t"})

    assert roots[-2:] == [
        "/t/VSGitHubCopilotLogs/traces",
        "/home/ada/AppData/Local/Temp/VSGitHubCopilotLogs/traces",
    ]
    path = b.trace(tmp_path, b.request_span(0, 1))
    adapter = VscodeCopilotChat()
    for folder in (path.parent, path.parent.parent, tmp_path):
        assert [source.path for source in adapter.sources(str(folder))] == [str(path)]
    head = path.read_bytes()
    assert adapter.find_source("/x/spans.jsonl", head) is None
    assert (
        adapter.find_source(
            "/x/a_VSGitHubCopilot_traces.jsonl", head.replace(b"vs-copilot", b"shop")
        )
        is None
    )
