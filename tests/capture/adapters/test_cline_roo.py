"""What the adapter of Cline and Roo makes of tasks and sessions, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.cline_roo import ClineRoo
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Problem,
    SessionFacts,
    Source,
    TurnFacts,
    Usage,
)
from recollect.testing import everything, imported
from tests.builders import cline_roo as b


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tasks" / b.TASK


def source_of(path: Path) -> Source:
    root = str(path.parent.parent)
    return next(source for source in ClineRoo().sources(root) if source.path == str(path))


def read(path: Path) -> list[Item]:
    return list(ClineRoo().read(source_of(path), None))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str | None]]:
    """Events as (kind, text or target), in order."""
    return [(e.kind, e.target if e.kind == "tool_call" else e.text) for e in of(Event, found)]


def calls(found: list[Item]) -> list[tuple[str, str | None, bool | None]]:
    return [(e.name, e.output, e.ok) for e in of(Event, found) if e.kind == "tool_call"]


def test_a_task_gives_its_items_in_order(folder: Path) -> None:
    """The screen tells the turns, the record of what was sent tells the tool."""
    shown = [
        b.say("text", "read it"),
        b.request(10, 5, 20, 30, 0.25),
        b.shown_tool("readFile", path="a.py"),
        b.say("text", "Done."),
    ]
    sent = [
        b.asked_for("read it"),
        b.assistant(b.use("read_file", "toolu_1", path="a.py")),
        b.result("toolu_1", "x = 1"),
    ]
    path = b.write_task(folder, b.timed(shown), sent)

    found = read(path)

    session, turn, at = b.TASK, f"{b.TASK}/{b.START}", b.START
    assert found == [
        SessionFacts(whole=True, session=session, origin="interactive", cwd=b.CWD, started_at=at),
        TurnFacts(session=session, turn=turn, at=at, author="human"),
        Event(session=session, turn=turn, kind="prompt", at=at, text="read it"),
        Usage(
            session=session,
            turn=turn,
            key=f"{session}/{at + 1000}",
            at=at + 1000,
            input=10,
            cache_read=20,
            cache_write=30,
            output=5,
            cost_usd=0.25,
        ),
        Event(
            session=session,
            turn=turn,
            kind="tool_call",
            at=at + 2000,
            call="toolu_1",
            name="read_file",
            tool_kind="read",
            target="a.py",
            input={"path": "a.py"},
            output="x = 1",
            ok=True,
        ),
        Event(session=session, turn=turn, kind="reply", at=at + 3000, text="Done."),
        Checkpoint(path.stat().st_size),
    ]


def test_words_that_stayed_partial_were_said(folder: Path) -> None:
    """Cline never takes the mark from the text before a tool.

    Only an action that stayed so was not done.
    """
    shown = [
        b.say("task", "go"),
        b.say("text", "I look first.", partial=True),
        {**b.shown_tool("readFile", path="a.py"), "partial": True},
        b.say("reasoning", "Hm.", partial=True),
    ]

    assert said(read(b.write_task(folder, b.timed(shown)))) == [
        ("prompt", "go"),
        ("reply", "I look first."),
        ("reasoning", "Hm."),
    ]


def test_a_choice_that_was_made_is_a_prompt(folder: Path) -> None:
    """It stands in the question alone; an answer in words comes as a message."""
    chosen = json.dumps({"question": "Which?", "options": ["red", "blue"], "selected": "blue"})
    open_ended = json.dumps({"question": "Why?", "suggest": [{"answer": "taste"}]})
    shown = [
        b.say("task", "paint"),
        b.ask("followup", chosen),
        b.ask("followup", open_ended),
        b.say("user_feedback", "no reason"),
    ]

    assert said(read(b.write_task(folder, b.timed(shown)))) == [
        ("prompt", "paint"),
        ("reply", "Which?\n- red\n- blue"),
        ("prompt", "blue"),
        ("reply", "Why?\n- taste"),
        ("prompt", "no reason"),
    ]


def test_what_the_program_adds_to_a_prompt_is_left_out(folder: Path) -> None:
    """Tags, files and the description of the environment are not a person's words."""
    file = "<file_content path='a.py'>\nx\n</file_content>"
    text = f"<feedback>\nnot so\n</feedback>\n{file}\n{b.ENVIRONMENT}"

    assert said(
        read(b.write_task(folder, b.timed([b.say("task", "go"), b.say("user_feedback", text)])))
    )[1] == (
        "prompt",
        "not so",
    )


def test_a_heading_that_a_person_typed_is_theirs(folder: Path) -> None:
    """The program's reminder of the list of steps begins with a
    heading too, on a line of its own.
    """
    typed = "Add a `# Todo list` to the page:\n# TODO list\n- buy milk"
    reminder = "\n\n\t\t# TODO LIST UPDATE REQUIRED - You MUST include it.\n- [ ] one"

    shown = b.timed([b.say("task", typed), b.say("user_feedback", "go on" + reminder)])

    assert said(read(b.write_task(folder, shown))) == [("prompt", typed), ("prompt", "go on")]


@pytest.mark.parametrize(
    "text",
    [
        "<read_file>" * 20_000,
        "<task " * 30_000,
        "<feedback>" * 20_000,
        "<thinking>a" + " " * 200_000 + "b",
        "\n" * 200_000,
    ],
)
def test_what_is_opened_and_never_closed_takes_no_time(folder: Path, text: str) -> None:
    """A search to the end of the text from each of these places would take minutes."""
    sent = [
        b.asked_for("go"),
        b.assistant(text),
        b.user(f"[ERROR]{text}"),
        b.assistant("done"),
        b.user(text),
    ]
    b.write_task(folder, None, sent)

    found = read(folder / "api_conversation_history.json")

    assert ("reply", "done") in said(found)


def test_a_command_has_the_output_that_was_shown_when_nothing_else_is_known(folder: Path) -> None:
    """It comes in pieces, and does not tell how the command ended."""
    shown = [b.say("task", "go"), b.ask("command", "make"), b.say("command_output", "one"),
    b.say("checkpoint_created"),
             b.say("command_output", "two"), b.say("completion_result", "ok")]  # fmt: skip

    assert calls(read(b.write_task(folder, b.timed(shown)))) == [
        ("execute_command", "one\ntwo", None)
    ]


@pytest.mark.parametrize(
    ("output", "ok"),
    [
        ("x = 1", True),
        ("The tool execution failed with the following error:\n<error>\ngone\n</error>", False),
        ("The user denied this operation.", False),
    ],
)
def test_a_result_in_words_tells_whether_its_call_went_well(
    folder: Path, output: str, ok: bool
) -> None:
    """Even calls with an id are often answered by text, in their order."""
    sent = [
        b.asked_for("read"),
        b.assistant(b.use("read_file", "toolu_1", path="a.py")),
        b.user(f"[read_file for 'a.py'] Result:\n{output}"),
    ]
    shown = [b.say("task", "read"), b.shown_tool("readFile", path="a.py")]

    assert calls(read(b.write_task(folder, b.timed(shown), sent))) == [("read_file", output, ok)]


def test_calls_are_found_by_their_path_though_some_were_never_run(folder: Path) -> None:
    """A model asks for several at once, of which only the first is run, and asks again."""
    skipped = (
        "Tool [read_file] was not executed because a tool has already been used in this message."
    )
    sent = [
        b.asked_for("read"),
        b.assistant(b.use("read_file", "t1", path="a.py"), b.use("read_file", "t2", path="b.py")),
        b.user("[read_file for 'a.py'] Result:\nA", skipped),
        b.assistant("<read_file>\n<path>b.py</path>\n</read_file>"),
        b.user("[read_file for 'b.py'] Result:", "B"),
    ]
    shown = [
        b.say("task", "read"),
        b.shown_tool("readFile", path="a.py"),
        b.shown_tool("readFile", path="b.py"),
    ]

    assert calls(read(b.write_task(folder, b.timed(shown), sent))) == [
        ("read_file", "A", True),
        ("read_file", "B", True),
    ]


def test_a_call_that_is_shown_twice_is_not_taken_for_the_next(folder: Path) -> None:
    """A model that names its files in full, and a file that was shown again after a failure."""
    given = {name: f"{b.CWD}/{name}" for name in ("a.md", "b.md")}
    sent = [b.asked_for("write")]
    for name, path in given.items():
        sent += [
            b.assistant(b.use("write_to_file", name, absolutePath=path, content="x")),
            b.result(name, f"saved {name}"),
        ]
    shown = [
        b.say("task", "write"),
        *(b.shown_tool("newFileCreated", path=name) for name in ("a.md", "a.md", "b.md")),
    ]

    found = calls(read(b.write_task(folder, b.timed(shown), sent)))

    assert [output for _, output, _ in found] == ["saved a.md", None, "saved b.md"]


def test_input_is_with_the_cache_where_roo_names_the_protocol(folder: Path) -> None:
    """Without it, tokens are as the provider counts them.

    So are those of a version that did not add them up.
    """
    shown = [
        b.say("text", "go"),
        b.request(100, 1, 60, 10),
        b.request(100, 1, 60, 10, apiProtocol="openai"),
        b.request(5, 1, 60, 10, apiProtocol="anthropic"),
    ]

    assert [usage.input for usage in of(Usage, read(b.write_task(folder, b.timed(shown))))] == [
        100,
        30,
        5,
    ]


def test_what_a_restored_checkpoint_removed_is_counted(folder: Path) -> None:
    """The requests are gone, their sum is left."""
    removed = json.dumps({"tokensIn": 7, "tokensOut": 8, "cost": 0.5})
    shown = [b.say("task", "go"), b.say("deleted_api_reqs", removed)]

    (usage,) = of(Usage, read(b.write_task(folder, b.timed(shown))))

    assert (usage.input, usage.output, usage.cost_usd) == (7, 8, 0.5)


def test_the_oldest_requests_tell_their_tokens_when_they_end(folder: Path) -> None:
    """Two messages, one request."""
    ended = json.dumps({"tokensIn": 7, "tokensOut": 8})
    shown = [
        b.say("task", "go"),
        b.say("api_req_started", "{}"),
        b.say("text", "hm"),
        b.say("api_req_finished", ended),
    ]

    (usage,) = of(Usage, read(b.write_task(folder, b.timed(shown), screen="claude_messages.json")))

    assert (usage.key, usage.input) == (f"{b.TASK}/{b.START + 1000}", 7)


def test_a_model_is_named_by_the_message_or_the_task(folder: Path) -> None:
    """Cline says it with each message, older versions beside the task, Roo in the environment."""
    shown = b.timed(
        [b.say("task", "go"), b.request(1, 1), {**b.request(1, 1), "modelInfo": {"modelId": "own"}}]
    )
    used = {
        "model_usage": [
            {"ts": b.START, "model_id": "first"},
            {"ts": b.START + 5000, "model_id": "second"},
        ]
    }
    named = [
        b.user(
            "<user_message>go</user_message>",
            "<environment_details>\n<model>gpt-5</model>\n</environment_details>",
        )
    ]

    beside = read(b.write_task(folder, shown, metadata=used))
    within = read(b.write_task(folder.with_name("other"), shown, named))

    assert [usage.model for usage in of(Usage, beside)] == ["first", "own"]
    assert [usage.model for usage in of(Usage, within)] == ["gpt-5", "own"]


def test_a_subtask_is_started_by_its_parent(folder: Path) -> None:
    """Nobody typed its first prompt; whoever interrupts it is a person."""
    shown = [b.say("text", "do the half"), b.say("user_feedback", "faster")]
    path = b.write_task(
        folder,
        b.timed(shown),
        history={"id": b.TASK, "parentTaskId": "77", "workspace": "/home/ada/shop"},
    )

    found = read(path)

    facts = of(SessionFacts, found)[0]
    assert (facts.parent, facts.origin, facts.cwd) == ("77", "subagent", "/home/ada/shop")
    assert [turn.author for turn in of(TurnFacts, found)] == ["agent", "human"]


def test_the_product_is_told_by_the_folder(tmp_path: Path) -> None:
    """The three extensions write the same files."""
    products = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
    for number, product in enumerate(products):
        b.write_task(
            tmp_path / "globalStorage" / product / "tasks" / str(number),
            b.timed([b.say("task", "go")]),
        )

    told = everything(ClineRoo(), tmp_path / "globalStorage")

    assert [session.meta["product"] for _, session in sorted(told.items())] == [
        "cline",
        "roo",
        "kilo",
    ]


def test_a_task_of_which_only_the_messages_are_left_is_read_from_them(folder: Path) -> None:
    """Then turns are what stands in the tags of a person's words."""
    sent = [
        b.asked_for("say hello"),
        b.assistant(
            "<thinking>\nEasy.\n</thinking>\nHi.\n<attempt_completion>\n<result>Hello.</result>\n</attempt_completion>"
        ),
        b.user("[attempt_completion] Result:", "<feedback>\nlouder\n</feedback>", b.ENVIRONMENT),
        b.assistant(b.use("execute_command", "t1", command="echo HI")),
        b.result("t1", "Command executed. Exit code: 3\nOutput:\nHI"),
        b.user("[ERROR] You did not use a tool in your previous response!"),
    ]
    b.write_task(folder, None, sent)

    found = read(folder / "api_conversation_history.json")

    assert said(found) == [
        ("prompt", "say hello"),
        ("reasoning", "Easy."),
        ("reply", "Hi."),
        ("reply", "Hello."),
        ("prompt", "louder"),
        ("tool_call", "echo HI"),
    ]
    assert [(e.ok, e.exit_code) for e in of(Event, found) if e.kind == "tool_call"] == [(False, 3)]


def test_a_task_that_goes_on_is_read_whole(folder: Path) -> None:
    """Its turns are known again by the times of their prompts."""
    shown = b.timed([b.say("task", "go"), b.say("text", "ok"), b.say("user_feedback", "more")])
    b.write_task(folder, shown[:2])
    with imported(ClineRoo(), folder.parent.parent) as mind:
        b.write_task(folder, shown)
        assert mind.import_logs([folder.parent.parent]).turns == 1
        told = mind.show(f"cline-roo:{b.TASK}")

    assert told == everything(ClineRoo(), folder.parent.parent)[f"cline-roo:{b.TASK}"]


def test_a_field_of_the_wrong_type_costs_the_field(folder: Path) -> None:
    """And a message that is none costs itself."""
    shown: list[Any] = [
        {"ts": [], "type": "say", "say": "task", "text": "go", "images": 3},
        7,
        {"type": "say", "say": {}, "text": "x"},
        {"ts": 1, "type": "say", "say": "tool", "text": '{"tool": 5}'},
        {
            "ts": b.START,
            "type": "say",
            "say": "api_req_started",
            "text": '{"tokensIn": "many", "cost": []}',
            "modelInfo": 1,
        },
        {"ts": b.START, "type": "say", "say": "text", "text": "ok", "partial": "no"},
    ]

    found = read(b.write_task(folder, shown, [5, {"role": [], "content": {}}], [], "x"))  # type: ignore[list-item, arg-type]

    assert said(found) == [("prompt", "go"), ("reply", "ok")]
    assert [turn.turn for turn in of(TurnFacts, found)] == [f"{b.TASK}/message-0"]
    assert {problem.kind for problem in of(Problem, found)} == {"bad_record"}


@pytest.mark.parametrize(
    "data", [b"", b"[", b'[{"ts": 1, "say', b"\xff\xfe\x00", b"[" * 100_000, b"{}"]
)
def test_what_is_no_task_is_a_problem(folder: Path, data: bytes) -> None:
    """It may be being written; it is read again when it changes."""
    path = b.write_task(folder, [])
    path.write_bytes(data)

    found = read(path)

    assert [problem.kind for problem in of(Problem, found)] == ["bad_record"]
    assert found[-1] == Checkpoint(len(data))


# Cline's new sessions


def message(role: str, key: str, content: Any, at: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": key, "role": role, "ts": b.START + at, "content": content, **more}


def test_a_session_of_the_new_kind_gives_turns_tools_and_tokens(tmp_path: Path) -> None:
    """Input is told with what came from the cache."""
    metrics = {
        "inputTokens": 100,
        "outputTokens": 7,
        "cacheReadTokens": 60,
        "cacheWriteTokens": 10,
        "cost": 0.5,
    }
    path = b.write_session(
        tmp_path / "sessions" / "177_abc",
        [
            message("user", "m1", '<user_input mode="act">list</user_input>'),
            message(
                "assistant",
                "m2",
                [b.use("run_commands", "t1", commands=["ls", "pwd"])],
                1000,
                metrics=metrics,
                modelInfo={"id": "claude-sonnet-4-5"},
            ),
            message(
                "user",
                "m3",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"query": "ls", "result": "a"}],
                    }
                ],
                2000,
            ),
        ],
    )

    found = read(path)

    assert said(found) == [("prompt", "list"), ("tool_call", "ls pwd")]
    assert calls(found) == [("run_commands", "a", None)]
    assert of(Usage, found) == [
        Usage(
            session="177_abc",
            turn="177_abc/m1",
            key=f"m2@{b.START + 1000}",
            model="claude-sonnet-4-5",
            at=b.START + 1000,
            input=30,
            cache_read=60,
            cache_write=10,
            output=7,
            cost_usd=0.5,
        )
    ]


def test_a_fork_repeats_what_is_before_it_and_costs_nothing_twice(tmp_path: Path) -> None:
    """It holds copies of messages, with their ids."""
    talk = [
        message("user", "m1", "go"),
        message("assistant", "m2", "ok", 1000, metrics={"inputTokens": 50}),
    ]
    root = tmp_path / "sessions"
    b.write_session(root / "1_a", talk, {"started_at": "2026-05-04T09:00:00Z"})
    b.write_session(
        root / "2_b",
        talk,
        {"metadata": {"fork": {"forkedFromSessionId": "1_a"}}, "interactive": False},
    )

    told = everything(ClineRoo(), tmp_path)

    assert {ref: (s.parent, s.origin, s.tokens.input) for ref, s in told.items()} == {
        "cline-roo:1_a": (None, "interactive", 50),
        "cline-roo:2_b": ("cline-roo:1_a", "headless", 0),
    }


def test_what_the_program_says_in_a_persons_name_is_no_prompt(tmp_path: Path) -> None:
    """Reminders and summaries come in the role of the user."""
    path = b.write_session(
        tmp_path / "sessions" / "1_a",
        [
            message("user", "m1", "go"),
            message("user", "m2", "done?", metadata={"kind": "completion_reminder"}),
            message("user", "m3", "Earlier: went.", metadata={"kind": "compaction"}),
            message("user", "m4", "[TASK RESUMPTION] go on"),
        ],
    )

    assert said(read(path)) == [("prompt", "go"), ("compaction", "Earlier: went.")]


# Where they are


def test_every_editor_is_looked_at() -> None:
    """A home may be a copy from another system."""
    roots = ClineRoo().roots("/home/ada", {})

    for editor in (
        ".config/Code",
        ".config/Cursor",
        "Library/Application Support/VSCodium",
        "AppData/Roaming/Windsurf",
        ".vscode-server/data",
    ):
        for product in (
            "saoudrizwan.claude-dev",
            "rooveterinaryinc.roo-cline",
            "kilocode.kilo-code",
        ):
            assert f"/home/ada/{editor}/User/globalStorage/{product}/tasks" in roots
    assert roots[-2:] == ["/home/ada/.cline/data/tasks", "/home/ada/.cline/data/sessions"]


def test_variables_move_clines_own_folders() -> None:
    """Each below the one before."""
    roots = ClineRoo().roots

    assert roots("/h", {"CLINE_DIR": "/c"})[-2:] == ["/c/data/tasks", "/c/data/sessions"]
    assert roots("/h", {"CLINE_DATA_DIR": "/d"})[-2:] == ["/d/tasks", "/d/sessions"]
    assert roots("/h", {"CLINE_SESSION_DATA_DIR": "/s"})[-1] == "/s"


def test_any_file_of_a_task_leads_to_it(folder: Path, tmp_path: Path) -> None:
    """In whatever folder it is: people export tasks."""
    path = b.write_task(tmp_path / "export", b.timed([b.say("task", "go")]), [b.asked_for("go")])
    beside = tuple(
        str(path.with_name(f"{name}.json"))
        for name in ("api_conversation_history", "task_metadata", "history_item")
    )
    expected = Source("cline-roo", str(path), companions=beside, appended=False)

    for name in ("ui_messages.json", "api_conversation_history.json"):
        file = path.with_name(name)
        assert ClineRoo().find_source(str(file), file.read_bytes()) == expected


def test_what_only_looks_alike_is_not_ours(tmp_path: Path, corpus: Path) -> None:
    """Many agents have folders of these names."""
    (tmp_path / "sessions" / "one").mkdir(parents=True)
    (tmp_path / "sessions" / "one" / "messages.json").write_text("[]")
    assert list(ClineRoo().sources(str(tmp_path))) == []
    assert ClineRoo().find_source(str(tmp_path / "ui_messages.json"), b'[{"role": "user"}]') is None

    for path in corpus.rglob("*.json"):
        with path.open("rb") as file:
            assert ClineRoo().find_source(str(path), file.read(1 << 16)) is None, path
