"""What the adapter makes of chats in VS Code, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.vscode_copilot_chat import VscodeCopilotChat
from recollect.memory import Memory
from recollect.model import Checkpoint, Event, Item, Liveness, Problem, SessionFacts, Source, TurnFacts, Usage
from tests.builders import vscode_copilot_chat as b


def read(path: Path) -> list[Item]:
    source = VscodeCopilotChat().find_source(str(path), path.read_bytes()[: 1 << 16])
    return list(VscodeCopilotChat().read(source or Source("vscode-copilot-chat", str(path), appended=False), None))


def items(folder: Path, *requests: dict[str, Any], **more: Any) -> list[Item]:
    """What a chat of these requests gives."""
    return read(b.document(b.window(folder), b.chat(*requests, **more)))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


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
            session=b.CHAT, origin="interactive", cwd="/home/ada/shop", title="Stamps", started_at=b.START,
            meta={"responder": "GitHub Copilot", "location": "panel"},
        ),
        TurnFacts(
            **about, at=at, author="human",
            telemetry={"model": "claude-sonnet-4.5", "duration_ms": 9000, "first_words_ms": 700},
        ),
        Event(**about, kind="prompt", at=at, text="count the stamps"),
        Event(**about, kind="reasoning", text="A list."),
        Event(**about, kind="reply", at=b.START + 69_000, text="There are `stamps.csv` with twelve."),
        Usage(**about, key="request_1", model="claude-sonnet-4-5", at=at, input=50, output=7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({"isCanceled": True}, ("abort", "")),
        ({"modelState": {"value": 2}}, ("abort", "")),
        ({"modelState": {"value": 3}}, ("error", "failed")),
        ({"result": {"errorDetails": {"message": "Too many requests", "code": "rateLimited"}}}, ("error", "Too many requests")),
        ({"result": {"errorDetails": {"message": "Canceled", "code": "canceled"}}}, ("abort", "")),
    ],
)
def test_a_turn_may_end_badly(tmp_path: Path, more: dict[str, Any], end: tuple[str, str]) -> None:
    assert said(items(tmp_path, b.request(1, "go", b.words("Well"), **more)))[-1] == end


def test_a_click_is_not_typed(tmp_path: Path) -> None:
    """A person pressed a button; the words are VS Code's."""
    found = items(tmp_path, b.request(1, '@agent Continue: "Go on?"', confirmation="Continue"))

    assert [turn.author for turn in of(TurnFacts, found)] == ["system"]


def test_a_request_that_waits_to_be_removed_is_no_longer_part_of_the_chat(tmp_path: Path) -> None:
    found = items(tmp_path, b.request(1, "a"), b.request(2, "b", shouldBeRemovedOnSend={"requestId": "request_2"}))

    assert of(Liveness, found) == [Liveness(session=b.CHAT, turn="request_2", live=False)]


def test_early_chats_are_made_of_plain_texts(tmp_path: Path) -> None:
    """Of 2024: a message is a string, and there are neither ids nor times."""
    early = {"message": "what is a monad", "response": ["A monoid"], "responseErrorDetails": {"message": "Off topic"}}
    found = items(tmp_path, early)

    assert said(found) == [("prompt", "what is a monad"), ("reply", "A monoid"), ("error", "Off topic")]
    assert {event.turn for event in of(Event, found)} == {"request-0"}


def test_a_window_that_was_only_opened_leaves_nothing(tmp_path: Path) -> None:
    assert [type(item) for item in items(tmp_path)] == [Checkpoint]


# Tools


def test_a_call_is_joined_from_what_was_shown_and_what_the_model_asked(tmp_path: Path) -> None:
    """The ids differ by a suffix; what came back may be a tree that was rendered for the model."""
    tree = {"node": {"children": [{"text": "12"}, {"children": [{"text": "3 blue", "lineBreakBefore": True}]}]}}
    found = items(
        tmp_path,
        b.request(
            1,
            "count",
            b.invocation("c1", "copilot_readFile"),
            result=b.result(b.round_of("", c1=("read_file", {"filePath": "/a"})), given_back={"c1": tree}),
        ),
    )

    assert calls(found) == [
        Event(
            session=b.CHAT, turn="request_1", kind="tool_call", call="c1", name="read_file", tool_kind="read", target="/a",
            input={"filePath": "/a"}, output="12\n3 blue", ok=True,
        )
    ]  # fmt: skip


def test_a_call_that_was_not_shown_is_told_all_the_same(tmp_path: Path) -> None:
    rounds = b.round_of("", c1=("read_file", {"filePath": "/a"}), c2=("manage_todo_list", {"operation": "read"}))
    found = items(tmp_path, b.request(1, "go", b.invocation("c1", "copilot_readFile"), b.words("Done."), result=b.result(rounds)))

    assert said(found)[1:] == [("tool_call", "read_file"), ("tool_call", "manage_todo_list"), ("reply", "Done.")]


def test_with_other_ids_on_the_screen_the_side_of_the_model_is_told(tmp_path: Path) -> None:
    """Older versions showed calls under ids of their own: nothing can be joined, and nothing is told twice."""
    edit = {"kind": "textEditGroup", "uri": {"fsPath": "/a"}, "edits": [[{"text": "y"}]]}
    found = items(
        tmp_path,
        b.request(
            1,
            "go",
            b.words("I edit."),
            b.invocation("ui-1", "copilot_replaceString"),
            edit,
            b.words("Edited."),
            result=b.result(b.round_of("I edit.", c1=("replace_string_in_file", {"filePath": "/a"}))),
        ),
    )

    assert said(found)[1:] == [("reply", "I edit."), ("tool_call", "replace_string_in_file"), ("reply", "Edited.")]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ({}, (True, None)),
        ({"isConfirmed": {"type": 0}}, (False, None)),
        ({"isConfirmed": False}, (False, None)),
        ({"isComplete": False}, (None, None)),
        ({"resultDetails": {"input": "{}", "output": [], "isError": True}}, (False, None)),
        ({"toolSpecificData": {"kind": "terminal", "terminalCommandState": {"exitCode": 1}}}, (False, 1)),
        ({"toolSpecificData": {"kind": "terminal", "terminalCommandOutput": {"text": "Command exited with code 3"}}}, (False, 3)),
    ],
)
def test_how_a_call_went(tmp_path: Path, shown: dict[str, Any], expected: tuple[Any, Any]) -> None:
    (call,) = calls(items(tmp_path, b.request(1, "go", b.invocation("c1", "run_in_terminal", **shown))))

    assert (call.ok, call.exit_code) == expected


@pytest.mark.parametrize(
    ("tool", "shown", "kind", "target"),
    [
        ("run_in_terminal", {"toolSpecificData": {"kind": "terminal", "commandLine": {"original": "ls"}}}, "shell", "ls"),
        (
            "copilot_readFile",
            {"invocationMessage": {"value": "Reading [](file:///home/ada/a%20b.txt#1-2)"}},
            "read",
            "/home/ada/a b.txt",
        ),
        ("copilot_replaceString", {"pastTenseMessage": "Edited [](file:///a.txt)"}, "edit", "/a.txt"),
        ("find", {"source": {"type": "mcp"}, "resultDetails": {"input": '{"query": "blue"}'}}, "mcp", "blue"),
    ],
)
def test_what_a_call_was_about_is_found_on_the_screen(
    tmp_path: Path, tool: str, shown: dict[str, Any], kind: str, target: str
) -> None:
    """Where nothing tells what the model asked for."""
    (call,) = calls(items(tmp_path, b.request(1, "go", b.invocation("c1", tool, **shown))))

    assert (call.tool_kind, call.target) == (kind, target)


def test_edits_without_a_tool_are_calls(tmp_path: Path) -> None:
    """So it was before chats had tools; where a tool made them they are not told again."""
    edit = {"kind": "textEditGroup", "uri": {"fsPath": "/a"}, "edits": [[{"text": "one"}, {"text": "two"}]]}

    (alone,) = calls(items(tmp_path, b.request(1, "go", edit)))
    (made,) = calls(items(tmp_path, b.request(1, "go", b.invocation("c1", "copilot_createFile"), edit)))

    assert (alone.name, alone.tool_kind, alone.target, alone.input) == (
        "textEditGroup",
        "edit",
        "/a",
        {"path": "/a", "content": "one\ntwo"},
    )
    assert made.name == "copilot_createFile"


def test_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    task = {"kind": "subagent", "agentName": "Explore", "description": "Look", "prompt": "Look at it.", "result": "It leaks."}
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
    assert said(inside) == [("prompt", "Look at it."), ("tool_call", "copilot_readFile"), ("reply", "It leaks.")]
    assert of(SessionFacts, inside)[0] == SessionFacts(
        session=f"{b.CHAT}/c1", parent=b.CHAT, origin="subagent", cwd="/home/ada/shop"
    )
    assert said([item for item in found if getattr(item, "session", "") == b.CHAT])[1:] == [
        ("tool_call", "runSubagent"),
        ("reply", "Leaky."),
    ]


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
    assert [(usage.model, usage.input, usage.output) for usage in of(Usage, found)] == [(None, 9, 2)]


def test_a_request_that_was_edited_stays_as_one_that_was_taken_back(tmp_path: Path) -> None:
    """VS Code cuts the list and asks again; until the log is compacted it still has both."""
    operations = [
        b.snapshot(b.chat(b.request(1, "first"))),
        b.push([b.request(2, "with a tpyo", b.words("What?"))], "requests"),
        b.push([b.request(3, "without")], "requests", cut=1),
    ]
    found = read(b.log(b.window(tmp_path), *operations))

    assert said(found) == [("prompt", "first"), ("prompt", "with a tpyo"), ("reply", "What?"), ("prompt", "without")]
    assert of(Liveness, found) == [Liveness(session=b.CHAT, turn="request_2", live=False)]


def test_a_compacted_log_changes_nothing(tmp_path: Path) -> None:
    """It is then one snapshot; what was taken back is gone from it, and stays in the store."""
    folder = b.window(tmp_path)
    path = b.log(folder, b.snapshot(b.chat(b.request(1, "a"), b.request(2, "b"))), b.push([b.request(3, "c")], "requests", cut=1))
    with Memory.open(str(tmp_path / "store.db"), adapters={"vscode-copilot-chat": VscodeCopilotChat()}) as memory:
        memory.import_logs([str(tmp_path)])
        path.write_text(json.dumps(b.snapshot(b.chat(b.request(1, "a"), b.request(3, "c")))) + "\n")
        memory.import_logs([str(tmp_path)])
        (session,) = memory.sessions()
        turns = memory.show(session.id).turn_list

    assert [(turn.prompt, turn.live) for turn in turns] == [("a", True), ("b", False), ("c", True)]


def test_a_half_written_operation_waits(tmp_path: Path) -> None:
    path = b.log(b.window(tmp_path), b.snapshot(b.chat(b.request(1, "a"))), b.push([b.request(2, "b")], "requests"))
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
    shown = b.invocation("c1", "x", resultDetails={}, toolSpecificData={"kind": "terminal"}, invocationMessage="", source={})
    parts = [{**shown, name: junk} for name in shown] + [
        {"kind": "thinking", "value": junk},
        {"kind": "inlineReference", "name": junk},
    ]
    requests = [{**full, name: junk} for name in full] + [b.request(2, "parts", *parts)]

    found = items(tmp_path, *requests, b.request(3, "still here"))

    assert said(found)[-1] == ("prompt", "still here")


# Where chats are


def test_an_exported_chat_has_the_same_id_when_it_is_exported_again(tmp_path: Path) -> None:
    """Exports have none of their own; what they begin with stands for it, and their requests count once."""
    exported = b.chat(b.request(1, "a", result=b.result(promptTokens=5, outputTokens=1)))
    del exported["sessionId"]
    longer = {**exported, "requests": [*exported["requests"], b.request(2, "b")]}

    first = read(b.document(tmp_path, exported, "chat.json"))
    second = read(b.document(tmp_path, longer, "again.json"))

    (session,) = {facts.session for facts in of(SessionFacts, first + second)}
    assert session.startswith("export-")
    assert [usage.key for usage in of(Usage, first + second)] == ["request_1", "request_1"]


@pytest.mark.parametrize(
    ("workspace", "cwd"),
    [
        ({"folder": "file:///home/ada/a%20shop"}, "/home/ada/a shop"),
        ({"workspace": "file:///home/ada/all.code-workspace"}, "/home/ada"),
        ({"folder": "vscode-remote://ssh-remote%2Bshed/srv/shed"}, "/srv/shed"),
        ({}, None),
    ],
)
def test_the_folder_of_a_window_is_told_beside_its_chats(tmp_path: Path, workspace: dict[str, str], cwd: str | None) -> None:
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
    roots = VscodeCopilotChat().roots("/home/ada", {"VSCODE_PORTABLE": "/stick/data", "APPDATA": "C:/Roaming"})

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

    with Memory.open(str(tmp_path / "store.db"), adapters={"vscode-copilot-chat": VscodeCopilotChat()}) as memory:
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
    """Among them are traces of Visual Studio, which has the same assistant and another format."""
    adapter = VscodeCopilotChat()

    assert not [
        path
        for path in corpus.rglob("*.json*")
        if path.name.endswith(adapter.endings) and adapter.find_source(str(path), path.read_bytes()[: 1 << 16])
    ]
