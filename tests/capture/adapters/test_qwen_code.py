"""What the Qwen Code adapter makes of a session, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture.adapters.claude_code import ClaudeCode
from recollect.capture.adapters.qwen_code import QwenCode
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
from tests.builders import qwen_code as b
from tests.capture.adapters.items import of, prompts


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    """What a file gives, found as a person's pointing at it finds it."""
    source = QwenCode().find_source(str(path), path.read_bytes())
    return list(QwenCode().read(source or Source("qwen-code", str(path), appended=False), since))


def items(home: Path, *records: b.Record) -> list[Item]:
    return read(b.log(home, *records))


def said(found: list[Item]) -> list[tuple[str, str]]:
    return [(event.kind, event.name or event.text) for event in of(Event, found)]


def undone(found: list[Item]) -> list[str]:
    return [item.turn for item in of(Liveness, found) if not item.live]


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought, words, call, tokens, result."""
    found = items(
        tmp_path,
        b.user("u1", "run the tests", gitBranch="main"),
        b.answer(
            "a1",
            "u1",
            {"text": "With pytest.", "thought": True},
            "I run them.",
            b.call("c1", "run_shell_command", {"command": "pytest"}),
            usageMetadata=b.used(1000, 60, cached=800, thoughts=20),
        ),
        b.result(
            "r1",
            "a1",
            "c1",
            "run_shell_command",
            {"output": "1 failed\nExit Code: 1"},
            status="success",
            durationMs=900,
        ),
    )

    at = {second: milliseconds(b.clock(second)) for second in range(5)}
    here = {"session": b.SESSION, "turn": "u1"}
    assert found[:-1] == [
        SessionFacts(
            session=b.SESSION,
            cwd=b.FOLDER,
            started_at=at[1],
            agent_version=b.VERSION,
            git_branch="main",
        ),
        TurnFacts(**here, at=at[1], author="human", cwd=b.FOLDER),
        Event(**here, kind="prompt", at=at[1], text="run the tests"),
        Event(**here, kind="reasoning", at=at[2], text="With pytest."),
        Event(**here, kind="reply", at=at[2], text="I run them."),
        Event(
            **here,
            kind="tool_call",
            at=at[2],
            call="c1",
            name="run_shell_command",
            tool_kind="shell",
            target="pytest",
            input={"command": "pytest"},
        ),
        Usage(
            **here,
            key="a1",
            model="qwen3-coder-plus",
            at=at[2],
            input=200,
            cache_read=800,
            output=60,
            reasoning=20,
        ),
        ToolResult(
            **here,
            call="c1",
            at=at[3],
            output="1 failed\nExit Code: 1",
            ok=False,
            exit_code=1,
            duration_ms=900,
        ),
    ]


# Branches


def test_a_branch_that_was_left_is_not_live(tmp_path: Path) -> None:
    """Going back makes a record whose parent is further up."""
    found = items(
        tmp_path,
        b.user("u1", "blue"),
        b.answer("a1", "u1", "Blue."),
        b.user("u2", "green", "a1"),
        b.answer("a2", "u2", "Green."),
        b.system("s1", "a1", "rewind", {"truncatedCount": 2}),
        b.user("u3", "red", "s1"),
    )

    assert prompts(found) == ["blue", "green", "red"]
    assert undone(found) == ["u2"]


def test_a_snapshot_at_the_end_is_not_where_the_talk_goes_on(tmp_path: Path) -> None:
    found = items(
        tmp_path, b.user("u1", "blue"), b.system("s1", None, "session_artifact_snapshot", {})
    )

    assert undone(found) == []


def test_what_comes_before_a_lost_record_was_not_left(tmp_path: Path) -> None:
    """The chain ends at the gap, but nobody went back."""
    found = items(tmp_path, b.user("u1", "blue"), b.user("u2", "red", "lost"))

    assert undone(found) == []


def test_records_that_are_each_others_parents_are_read(tmp_path: Path) -> None:
    found = items(tmp_path, b.user("u1", "blue", "u2"), b.user("u2", "red", "u1"))

    assert prompts(found) == ["blue", "red"]


def test_parts_of_one_message_are_counted_once(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.answer("a1", "u1", {"text": "Hm.", "thought": True}, usageMetadata=b.used(10, 2)),
        b.answer("a1", "u1", "Done.", usageMetadata=b.used(10, 4)),
    )

    assert said(found)[1:] == [("reasoning", "Hm."), ("reply", "Done.")]
    assert {usage.key for usage in of(Usage, found)} == {"a1"}


def test_a_fork_has_its_parent_and_the_keys_of_what_it_copied(tmp_path: Path) -> None:
    origin = {"forkedFrom": {"sessionId": "parent", "messageUuid": "u1"}}
    found = items(
        tmp_path,
        b.user("u1", "blue", **origin),
        b.answer("a1", "u1", "Blue.", usageMetadata=b.used(9, 1), **origin),
    )

    assert of(SessionFacts, found)[0].parent == "parent"
    assert (of(TurnFacts, found)[0].turn, of(Usage, found)[0].key) == ("u1", "a1")


def test_a_title_of_a_branch_that_was_left_is_none(tmp_path: Path) -> None:
    """One that is only repeated, on no branch, is still the title."""
    found = items(
        tmp_path,
        b.user("u1", "blue"),
        b.answer("a1", "u1", "Blue."),
        b.system("s1", "a1", "custom_title", {"customTitle": "Left"}),
        b.user("u2", "red", "u1"),
        b.system("s2", "u2", "custom_title", {"customTitle": "Repeated"}),
        b.answer("a2", "u2", "Red."),
    )

    assert [facts.title for facts in of(SessionFacts, found)] == [None, "Repeated"]


# Whose words


@pytest.mark.parametrize(
    ("record", "author", "text"),
    [
        (b.user("u1", "plain"), "human", "plain"),
        (b.user("u1", "plain", provenance="real_user"), "human", "plain"),
        (
            b.user("u1", "long", systemPayload={"displayText": "/tidy", "hookContext": "x"}),
            "human",
            "/tidy",
        ),
        (b.user("u1", "and hurry", subtype="mid_turn_user_message"), "human", "and hurry"),
        (b.user("u1", "<system-reminder>x</system-reminder>\n\nask"), "human", "ask"),
        (
            b.user(
                "u1",
                "ask\n<qwen:user-prompt-submit-context>\nx\n</qwen:user-prompt-submit-context>",
            ),
            "human",
            "ask",
        ),
        (b.user("u1", "read @a\n--- Content from referenced files ---\nx"), "human", "read @a"),
        (
            b.user(
                "u1", "<x/>", subtype="notification", systemPayload={"displayText": "It is done."}
            ),
            "system",
            "It is done.",
        ),
        (b.user("u1", "daily", subtype="cron", provenance="system"), "system", "daily"),
        (b.user("u1", "on", subtype="goal_runtime", provenance="goal_runtime"), "system", "on"),
        (b.user("u1", "find it", agentId="finder-1"), "agent", "find it"),
    ],
)
def test_a_prompt_is_by_a_person_a_host_or_an_agent(
    tmp_path: Path, record: b.Record, author: str, text: str
) -> None:
    found = items(tmp_path, record)

    assert [facts.author for facts in of(TurnFacts, found)] == [author]
    assert prompts(found) == [text]


@pytest.mark.parametrize("text", ["", "<system-reminder>only the host</system-reminder>"])
def test_a_message_without_a_person_s_words_is_no_turn(tmp_path: Path, text: str) -> None:
    assert of(TurnFacts, items(tmp_path, b.user("u1", text))) == []


def test_results_in_a_person_s_name_are_results(tmp_path: Path) -> None:
    """Older versions had no record of their own for them."""
    old = {**b.result("r1", "a1", "c1", "read_file", {"error": "gone"}), "type": "user"}
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.answer("a1", "u1", b.call("c1", "read_file", {"path": "a"})),
        old,
    )

    assert [(result.call, result.output, result.ok) for result in of(ToolResult, found)] == [
        ("c1", "gone", False)
    ]
    assert len(of(TurnFacts, found)) == 1


def test_a_result_that_comes_after_the_next_prompt_goes_to_its_own_turn(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.answer("a1", "u1", b.call("c1", "read_file", {"path": "a"})),
        b.user("u2", "and hurry", "a1", subtype="mid_turn_user_message"),
        b.result("r1", "u2", "c1", "read_file", {"output": "x"}),
    )

    assert of(ToolResult, found)[0].turn == "u1"


# What the host tells


def test_telemetry_is_not_counted_again(tmp_path: Path) -> None:
    event = {
        "event.name": "qwen-code.api_response",
        "input_token_count": 1000,
        "output_token_count": 60,
    }
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.system("s1", "u1", "ui_telemetry", {"uiEvent": event}),
        b.answer("a1", "s1", "Done.", usageMetadata=b.used(1000, 60)),
    )

    assert [usage.input for usage in of(Usage, found)] == [1000]


@pytest.mark.parametrize(
    ("used", "output", "reasoning"),
    [
        (b.used(100, 30, thoughts=10), 30, 10),
        (b.used(100, 30, thoughts=10, total=140), 40, 10),
        ({"promptTokenCount": 100, "candidatesTokenCount": 30, "thoughtsTokenCount": 10}, 40, 10),
    ],
)
def test_the_total_tells_whether_thoughts_are_part_of_the_output(
    tmp_path: Path, used: b.Record, output: int, reasoning: int
) -> None:
    """OpenAI-like services count them with it, Google's beside it."""
    (usage,) = of(
        Usage,
        items(tmp_path, b.user("u1", "go"), b.answer("a1", "u1", "Done.", usageMetadata=used)),
    )

    assert (usage.input, usage.output, usage.reasoning) == (100, output, reasoning)


def test_a_failed_request_is_told_once(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.system(
            "s1",
            "u1",
            "ui_telemetry",
            {"uiEvent": {"event.name": "qwen-code.api_error", "error_message": "429"}},
        ),
        b.system(
            "s2", "s1", "turn_result", {"state": "error", "endedAt": 1, "error": {"message": "429"}}
        ),
    )

    assert said(found)[1:] == [("error", "429")]


def test_the_end_of_a_turn_is_telemetry(tmp_path: Path) -> None:
    end = {
        "state": "cancelled",
        "stopReason": "cancelled",
        "startedAt": 1_785_751_200_000,
        "endedAt": 1_785_751_203_000,
    }
    found = items(tmp_path, b.user("u1", "go"), b.system("s1", "u1", "turn_result", end))

    assert of(TurnFacts, found)[1].telemetry == {
        "state": "cancelled",
        "stop_reason": "cancelled",
        "duration_ms": 3000,
    }
    assert said(found)[1:] == [("abort", "")]


def test_what_is_told_of_a_session_is_kept(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.system("s1", None, "session_source", {"sourceType": "vscode"}),
        b.system("s2", "s1", "session_model", {"modelId": "qwen3-max", "authType": "openai"}),
        b.system("s3", "s2", "parent_session", {"parentSessionId": "above"}),
        b.user("u1", "go", "s3"),
        b.system("s4", "u1", "chat_compression", {"info": {}, "compressedHistory": []}),
    )

    assert [facts.meta for facts in of(SessionFacts, found) if facts.meta] == [
        {"source_type": "vscode"},
        {"model": "qwen3-max", "auth_type": "openai"},
    ]
    assert [facts.parent for facts in of(SessionFacts, found) if facts.parent] == ["above"]
    assert said(found)[-1] == ("compaction", "")


def test_a_sub_agent_is_named_under_its_session_with_what_is_noted_of_it(tmp_path: Path) -> None:
    project = b.log(tmp_path, b.user("u1", "go")).parent.parent
    path = project / "subagents" / b.SESSION / "agent-count-2.jsonl"
    path.parent.mkdir(parents=True)
    agent = {"agentId": "count-2", "agentName": "Count", "isSidechain": True}
    spent = {
        **b.record("assistant", "f2", "f1", message={"role": "model", "parts": [{"text": "3"}]}),
        "usageMetadata": b.used(9, 1),
    }
    path.write_text(b.lines(b.user("f1", "count", **agent), {**spent, **agent}))
    noted = {
        "agentType": "Count",
        "description": "count it",
        "parentAgentId": "explore-1",
        "model": "qwen3-flash",
        "status": "done",
    }
    path.with_name("agent-count-2.meta.json").write_text(json.dumps(noted))

    (source,) = [source for source in QwenCode().sources(str(tmp_path)) if source.path == str(path)]
    found = list(QwenCode().read(source, None))

    facts = of(SessionFacts, found)[0]
    assert (facts.session, facts.parent) == (f"{b.SESSION}/count-2", f"{b.SESSION}/explore-1")
    assert (facts.origin, facts.title) == ("subagent", "count it")
    assert facts.meta == {"agent_type": "Count", "description": "count it", "status": "done"}
    assert of(Usage, found)[0].model == "qwen3-flash"


# Growth and trouble


def test_a_growing_session_gives_in_the_end_what_it_gives_at_once(tmp_path: Path) -> None:
    records = [b.user("u1", "blue"), b.answer("a1", "u1", "Blue."), b.user("u2", "red", None)]
    *_, checkpoint = read(b.log(tmp_path, *records[:2]))
    assert isinstance(checkpoint, Checkpoint)

    path = b.log(tmp_path, *records)
    assert read(path, checkpoint) == read(path)
    assert undone(read(path)) == ["u1"]


def test_records_that_were_glued_together_are_two(tmp_path: Path) -> None:
    """An append that was interrupted leaves out the end of a line.

    The same letters in a text are left alone.
    """
    path = b.log(tmp_path, b.user("u1", 'say }{"uuid":'), b.answer("a1", "u1", "Done."))
    path.write_text(path.read_text().replace("}\n{", "}{"))

    found = read(path)

    assert said(found) == [("prompt", 'say }{"uuid":'), ("reply", "Done.")]
    assert of(Problem, found) == []


def test_a_half_written_line_waits_for_the_next_run(tmp_path: Path) -> None:
    path = b.log(tmp_path, b.user("u1", "go"))
    whole = path.stat().st_size
    with path.open("a") as log:
        log.write('{"uuid":"a1","par')

    found = read(path)

    assert of(Problem, found) == []
    assert found[-1] == Checkpoint(whole)


def test_a_bad_line_costs_that_line(tmp_path: Path) -> None:
    path = b.log(tmp_path, b.user("u1", "go"))
    strange = [
        {"type": "hologram"},
        b.system("s1", "u1", "moonlight"),
        b.record("dream", "d1", "s1"),
        b.user("u2", "on", "d1"),
    ]
    with path.open("a") as log:
        log.write("{oops}\n" + b.lines(*strange))

    found = read(path)

    assert prompts(found) == ["go", "on"]
    assert [problem.reason.partition(":")[0] for problem in of(Problem, found)] == [
        "not JSON",
        "record hologram",
        "system record moonlight",
        "record dream",
    ]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = (
    *b.user("u1", "go"), "subtype", "systemPayload", "usageMetadata", "toolCallResult", "agentId",
    "forkedFrom", "model",
)  # fmt: skip
TYPES = st.sampled_from(
    ["user", "assistant", "tool_result", "system", "turn_result", "custom_title"]
)


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING | TYPES), max_size=6))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_record_makes_the_adapter_raise(tmp_path: Path, changes: list[b.Record]) -> None:
    found = items(tmp_path, *({**b.user("u1", "go"), **change} for change in changes))

    assert isinstance(found[-1], Checkpoint)


# The documents of 2025


def test_a_document_of_2025_is_read_whole(tmp_path: Path) -> None:
    message = {
        "id": "m2", "timestamp": b.clock(2), "type": "qwen", "content": "Twelve.",
        "model": "qwen3-coder-plus",
        "tokens": {"input": 100, "output": 5, "cached": 40, "thoughts": 3, "tool": 0, "total": 108},
    }  # fmt: skip
    chat = {"sessionId": "s1", "projectHash": "0f", "startTime": b.clock(0), "messages": [
        {"id": "m1", "timestamp": b.clock(1), "type": "user", "content": "count"},
        message]}  # fmt: skip
    path = tmp_path / ".qwen" / "tmp" / "0f" / "chats" / "session-2025-10-01T08-00-s1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(chat))

    (source,) = QwenCode().sources(str(tmp_path / ".qwen"))
    found = list(QwenCode().read(source, None))

    assert QwenCode().find_source("/elsewhere/a.json", path.read_bytes()) is not None
    assert said(found) == [("prompt", "count"), ("reply", "Twelve.")]
    assert [
        (usage.key, usage.input, usage.cache_read, usage.output) for usage in of(Usage, found)
    ] == [("s1/m2", 60, 40, 8)]


# Where


def test_the_roots_are_in_the_home_or_where_a_variable_says() -> None:
    assert QwenCode().roots("/home/ada", {}) == ["/home/ada/.qwen/projects", "/home/ada/.qwen/tmp"]
    assert QwenCode().roots("/home/ada", {"QWEN_HOME": "/q"}) == ["/q/projects", "/q/tmp"]
    assert QwenCode().roots("/home/ada", {"QWEN_HOME": "/q", "QWEN_RUNTIME_DIR": "/r"}) == [
        "/r/projects",
        "/r/tmp",
    ]


def test_sessions_are_listed_from_every_folder_above_them(tmp_path: Path) -> None:
    path = b.log(tmp_path, b.user("u1", "go"))
    path.with_name(f"{b.SESSION}.ledger.jsonl").write_text("{}")
    archived = path.parent / "archive" / "old.jsonl"
    archived.parent.mkdir()
    archived.write_text("{}")

    for root in (tmp_path, tmp_path / ".qwen", tmp_path / ".qwen" / "projects"):
        assert [source.path for source in QwenCode().sources(str(root))] == [
            str(path),
            str(archived),
        ]


CLAUDE = {
    **b.user("u1", "go"),
    "version": "2.1.1",
    "userType": "external",
    "isSidechain": False,
    "message": {"role": "user", "content": "go"},
}
IFLOW = {**CLAUDE, "version": "0.3.7", "sessionId": "session-7a3d5b20"}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (b.user("u1", "go"), True),
        (b.answer("a1", None, "Done."), True),
        (b.system("s1", None, "ui_telemetry", {}), True),
        (CLAUDE, False),
        (IFLOW, False),
        ({**b.user("u1", "go"), "parentUuid": None, "version": None}, False),
        ({**b.user("u1", "go"), "type": "queue-operation"}, False),
        ({**b.system("s1", None, "x"), "userType": "external", "isSidechain": False}, False),
    ],
)
def test_a_session_is_told_from_claude_code_s_and_iflow_s(record: b.Record, expected: bool) -> None:
    """All three use the same envelope; only here a message has parts."""
    head = b.lines(record).encode()

    assert (QwenCode().find_source("/somewhere/a.jsonl", head) is not None) == expected
    if expected:
        assert ClaudeCode().find_source("/somewhere/a.jsonl", head) is None


def test_claude_code_does_not_take_iflow_for_its_own() -> None:
    assert ClaudeCode().find_source("/somewhere/a.jsonl", b.lines(IFLOW).encode()) is None


def test_a_first_line_longer_than_what_is_shown_is_recognised() -> None:
    picture = b.user("u1", "see " + "A" * 100_000)

    assert (
        QwenCode().find_source("/somewhere/a.jsonl", b.lines(picture).encode()[: 1 << 16])
        is not None
    )


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    taken = [
        path
        for path in corpus.rglob("*.json*")
        if path.is_file() and path.relative_to(corpus).parts[0] != "qwen-code"
        if QwenCode().find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert taken == []


def test_every_sample_is_read_without_a_problem(corpus: Path) -> None:
    files = list((corpus / "qwen-code").rglob("*.jsonl"))

    assert files
    for path in files:
        assert QwenCode().find_source(str(path), path.read_bytes()) is not None
        assert ClaudeCode().find_source(str(path), path.read_bytes()) is None
        assert of(Problem, read(path)) == []
