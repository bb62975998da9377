"""What the Gemini CLI adapter makes of a chat, fact by fact."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture.adapters.gemini_cli import GeminiCli
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
    milliseconds,
)
from tests.builders import gemini_cli as b
from tests.capture.adapters.items import of, prompts


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    """What a file gives, found as a person's pointing at it finds it."""
    source = GeminiCli().find_source(str(path), path.read_bytes())
    return list(GeminiCli().read(source or Source("gemini-cli", str(path), appended=False), since))


def items(tmp_path: Path, *records: b.Record) -> list[Item]:
    """What a log of these records gives, its header put before them."""
    return read(b.log(tmp_path, b.header(), *records))


def said(found: list[Item]) -> list[tuple[str, str]]:
    return [(event.kind, event.name or event.text) for event in of(Event, found)]


def undone(found: list[Item]) -> list[str]:
    return [item.turn for item in of(Liveness, found) if not item.live]


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought, words, call, tokens."""
    thought = {"subject": "Planning", "description": "One character.", "timestamp": b.clock(2)}
    edit = {"file_path": "till.py", "old_string": "-", "new_string": "+"}
    done = b.call("c1", "replace", edit, "Modified.", timestamp=b.clock(4))
    spent = b.tokens(900, 30, cached=800, thoughts=12, tool=5)
    found = items(
        tmp_path,
        b.user("u1", [{"text": "mend the till"}], 1),
        b.answer("g1", "I mend it.", 3, thoughts=[thought], toolCalls=[done], tokens=spent),
    )

    at = {second: milliseconds(b.clock(second)) for second in range(5)}
    here = {"session": b.SESSION, "turn": "u1"}
    assert found[:-1] == [
        SessionFacts(session=b.SESSION, started_at=at[0]),
        TurnFacts(**here, at=at[1], author="human"),
        Event(**here, kind="prompt", at=at[1], text="mend the till"),
        Event(**here, kind="reasoning", at=at[2], text="**Planning**\nOne character."),
        Event(**here, kind="reply", at=at[3], text="I mend it."),
        Event(
            **here,
            kind="tool_call",
            at=at[4],
            call="c1",
            name="replace",
            tool_kind="edit",
            target="till.py",
            input=edit,
            output="Modified.",
            ok=True,
        ),
        Usage(
            **here,
            key=f"{b.SESSION}/g1",
            model="gemini-3-flash-preview",
            at=at[3],
            input=105,
            cache_read=800,
            output=42,
            reasoning=12,
        ),
    ]


# What replaces and what undoes


def test_a_message_that_comes_again_stays_in_its_place(tmp_path: Path) -> None:
    """The agent writes a message once more when one of its tools is done."""
    found = items(
        tmp_path,
        b.user("u1", "list"),
        b.answer("g1", "", toolCalls=[b.call("c1", "list_directory", {}, status="executing")]),
        b.answer("g2", "One file."),
        b.answer(
            "g1",
            "",
            toolCalls=[b.call("c1", "list_directory", {}, "till.py")],
            tokens=b.tokens(10, 1),
        ),
    )

    assert said(found) == [
        ("prompt", "list"),
        ("tool_call", "list_directory"),
        ("reply", "One file."),
    ]
    assert [(call.output, call.ok) for call in of(Event, found) if call.kind == "tool_call"] == [
        ("till.py", True)
    ]
    assert len(of(Usage, found)) == 1


def test_rewinding_undoes_a_prompt_and_all_after_it(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", "blue"),
        b.user("u2", "green"),
        b.answer("g2", "It is green.", tokens=b.tokens(10, 1)),
        {"$rewindTo": "u2"},
        b.user("u3", "red"),
    )

    assert prompts(found) == ["blue", "green", "red"]
    assert undone(found) == ["u2"]
    assert len(of(Usage, found)) == 1, "what was spent on it was spent"


def test_rewinding_to_what_is_not_known_undoes_everything(tmp_path: Path) -> None:
    """That is what the agent itself does when it loads such a log."""
    found = items(tmp_path, b.user("u1", "blue"), {"$rewindTo": "nothing"}, b.user("u2", "red"))

    assert undone(found) == ["u1"]


def test_what_a_stopped_request_left_is_undone(tmp_path: Path) -> None:
    """The list is exchanged for one without its end."""
    first = [b.user("u1", "blue"), b.answer("g1", "It is blue.")]
    found = items(
        tmp_path, *first, b.user("u2", "green"), {"$set": {"messages": first}}, b.user("u3", "red")
    )

    assert undone(found) == ["u2"]


def test_a_history_written_anew_is_no_news(tmp_path: Path) -> None:
    """To save room the agent writes all messages down again, under new ids and with outputs cut."""
    listed = b.answer(
        "g1", "Two.", toolCalls=[b.call("c1", "list_directory", {}, "a\nb")], tokens=b.tokens(10, 1)
    )
    again = [b.user("x1", "list"), b.answer("x2", "Two.", model=None, tokens=None)]
    found = items(
        tmp_path,
        b.user("u1", "list"),
        listed,
        *again,
        {"$set": {"messages": again}},
        b.user("u2", "sort"),
    )

    assert said(found) == [
        ("prompt", "list"),
        ("reply", "Two."),
        ("tool_call", "list_directory"),
        ("prompt", "sort"),
    ]
    assert undone(found) == ["x1"], "it may have been stored while the log did not tell yet"


def test_a_rewind_to_a_copy_undoes_the_original(tmp_path: Path) -> None:
    again = [b.user("x1", "list"), b.answer("x2", "Two.", model=None)]
    found = items(
        tmp_path,
        b.user("u1", "list"),
        b.answer("g1", "Two."),
        *again,
        {"$set": {"messages": again}},
        {"$rewindTo": "x1"},
    )

    assert "u1" in undone(found)


def test_prompts_that_were_summarised_are_still_part_of_the_talk(tmp_path: Path) -> None:
    """The summary is told as a compaction, not as something a person said."""
    kept = [
        b.user("s1", "<state_snapshot>all of it</state_snapshot>"),
        b.answer("s2", "Got it.", model=None),
    ]
    found = items(
        tmp_path,
        b.user("u1", "list"),
        b.answer("g1", "Two."),
        *kept,
        {"$set": {"messages": kept}},
        b.user("u2", "sort"),
    )

    assert prompts(found) == ["list", "sort"]
    assert undone(found) == []
    assert ("compaction", "<state_snapshot>all of it</state_snapshot>") in said(found)


def test_the_same_words_twice_are_two_prompts(tmp_path: Path) -> None:
    """Where ids are kept, a message with the words of one that was dropped is no copy of it."""
    later = [b.user("u2", "go on"), b.answer("g2", "Done.")]
    found = items(
        tmp_path,
        b.user("u1", "go on"),
        b.answer("g1", "Half."),
        *later,
        {"$set": {"messages": later}},
    )

    assert prompts(found) == ["go on", "go on"]
    assert undone(found) == []


def test_a_message_that_comes_back_after_a_rewind_is_live_again(tmp_path: Path) -> None:
    found = items(tmp_path, b.user("u1", "blue"), {"$rewindTo": "u1"}, b.user("u1", "blue"))

    assert undone(found) == []


def test_many_changes_take_time_in_proportion(tmp_path: Path) -> None:
    """A hostile log must not make an import wait."""
    many = [b.user(f"u{number}", "x") for number in range(5_000)]
    changes = [{"$rewindTo": "nothing"}, {"$set": {"messages": []}}] * 5_000
    began = time.process_time()

    items(tmp_path, *many, *changes)

    assert time.process_time() - began < 3


# Whose words


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b.user("u1", "plain"), "plain"),
        (b.user("u1", [{"text": "a"}, {"text": "b"}]), "a\nb"),
        (b.user("u1", "long instructions", displayContent=[{"text": "/tidy"}]), "/tidy"),
        (
            b.user(
                "u1",
                "read @a\n--- Content from referenced files ---\nsecret\n--- End of content ---",
            ),
            "read @a",
        ),
        (b.user("u1", [{"text": "<hook_context>x</hook_context>\n\nask"}]), "ask"),
        (b.user("u1", "<session_context>where we are</session_context>"), None),
        (b.user("u1", "Please continue."), None),
        (
            b.user(
                "u1",
                "Here is the user's editor context as a JSON object. This is for your information "
                "only.",
            ),
            None,
        ),
        (b.user("u1", "System: Potential loop detected. Details: none"), None),
        (b.user("u1", [b.response("c1", "read_file", "x")]), None),
        (b.user("u1", ""), None),
        (
            b.user(
                "u1", [{"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]
            ),
            "see\n[image]",
        ),
    ],
)
def test_only_what_a_person_typed_is_a_prompt(
    tmp_path: Path, message: b.Record, expected: str | None
) -> None:
    assert prompts(items(tmp_path, message)) == ([expected] if expected else [])


def test_words_of_our_own_are_no_prompt(tmp_path: Path) -> None:
    """At the start of a conversation they stand in a message of their own,
    and before the prompt of `gemini -p`.
    """
    context = '<hook_context>&lt;recalled by="recollect"&gt;note:7&lt;/recalled&gt;</hook_context>'

    assert prompts(items(tmp_path, b.user("u1", context), b.user("u2", f"{context}\n\nask"))) == [
        "ask"
    ]


def test_a_session_that_is_continued_in_its_first_minute_loses_nothing(tmp_path: Path) -> None:
    """The file for the new start has the name of the old one: a second header, an empty
    list, and then the old list once more.

    That list is without prompts that begin with a hook's words: the agent
    takes those for words of its own.
    """
    context = b.user("u0", "<session_context>where we are</session_context>")
    asked = b.user("u1", "<hook_context>x</hook_context>\n\nask")
    found = items(
        tmp_path,
        asked,
        b.answer("g1", "Yes."),
        b.header(startTime=b.clock(30)),
        {"$set": {"messages": [context]}},
        {"$set": {"sessionId": b.SESSION}},
        {"$set": {"messages": [context, b.answer("g1", "Yes.", model=None)]}},
        b.user("u2", "go on", 31),
    )

    assert (prompts(found), undone(found)) == (["ask", "go on"], [])
    assert of(SessionFacts, found)[0].started_at == milliseconds(b.START)


def test_a_chat_in_which_nobody_said_anything_is_no_session(tmp_path: Path) -> None:
    """The agent leaves one at every start, also when it is started to continue another chat."""
    context = b.user("u1", "<session_context>where we are</session_context>")

    (checkpoint,) = items(tmp_path, {"$set": {"messages": [context]}})

    assert isinstance(checkpoint, Checkpoint)


def test_a_notice_is_an_error_an_abort_or_nothing(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", "go"),
        {**b.user("i1", "Request cancelled."), "type": "info"},
        {**b.user("i2", "Update available."), "type": "info"},
        {**b.user("i3", "Slow."), "type": "warning"},
        {**b.user("i4", "[API Error: quota]"), "type": "error"},
    )

    assert said(found)[1:] == [("abort", "Request cancelled."), ("error", "[API Error: quota]")]


# Tools


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            b.call(
                "c1", "run_shell_command", {"command": "x"}, "Output: no\nExit Code: 127\nSignal: 0"
            ),
            (False, 127),
        ),
        (
            b.call(
                "c1",
                "run_shell_command",
                {"command": "x"},
                "Output: Exit Code: 3 says who\nExit Code: 0",
            ),
            (True, 0),
        ),
        (b.call("c1", "read_file", {"path": "x"}, "Exit Code: 3"), (True, None)),
        (b.call("c1", "write_file", {}, "no", status="cancelled"), (False, None)),
        (b.call("c1", "write_file", {}, "no", status="error"), (False, None)),
        (b.call("c1", "write_file", {}, status="awaiting_approval"), (None, None)),
    ],
)
def test_a_call_tells_how_it_ended(
    tmp_path: Path, call: b.Record, expected: tuple[bool | None, int | None]
) -> None:
    found = items(tmp_path, b.user("u1", "go"), b.answer("g1", "", toolCalls=[call]))

    assert [
        (event.ok, event.exit_code) for event in of(Event, found) if event.kind == "tool_call"
    ] == [expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"result": [b.response("c1", "f", "told"), b.response("c2", "f", "another's")]}, "told"),
        ({"result": "plain"}, "plain"),
        ({"result": {"functionResponse": {"id": "c1", "response": {"error": "bad"}}}}, "bad"),
        (
            {
                "result": [
                    b.response("c1", "f", "<untrusted_context>\nfrom outside\n</untrusted_context>")
                ]
            },
            "from outside",
        ),
        ({"resultDisplay": "shown"}, "shown"),
        ({"resultDisplay": {"fileDiff": "+a"}}, "+a"),
        ({}, None),
    ],
)
def test_the_output_is_what_the_model_was_told(
    tmp_path: Path, more: b.Record, expected: str | None
) -> None:
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.answer("g1", "", toolCalls=[{"id": "c1", "name": "f", **more}]),
    )

    assert [event.output for event in of(Event, found) if event.kind == "tool_call"] == [expected]


def test_a_call_known_by_its_parts_alone_is_joined_with_its_answer(tmp_path: Path) -> None:
    """A history that was written anew has no list of calls."""
    parts = [
        {"text": "hm", "thought": True},
        {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}},
    ]
    found = items(
        tmp_path,
        b.user("u1", "go"),
        b.answer("g1", parts),
        b.user("r1", [b.response("c1", "read_file", "x")]),
    )

    assert said(found)[1:] == [("reasoning", "hm"), ("tool_call", "read_file")]
    assert [(item.call, item.output) for item in found if type(item).__name__ == "ToolResult"] == [
        ("c1", "x")
    ]


# The session


def test_the_folder_is_noted_beside_the_chats(tmp_path: Path) -> None:
    path = b.log(tmp_path, b.header(directories=["/elsewhere"]), b.user("u1", "go"))
    (path.parent.parent / ".project_root").write_text(b.FOLDER + "\n")

    assert of(SessionFacts, read(path))[0].cwd == b.FOLDER


@pytest.mark.parametrize("given", ["/home/ada/shop/till/till.py", "/home/ada/shop"])
def test_a_folder_known_by_its_hash_is_found_above_the_files_in_it(
    tmp_path: Path, given: str
) -> None:
    """Old chats tell nothing else about their project."""
    path = b.document(
        tmp_path,
        b.user("u1", "go"),
        b.answer("g1", "", toolCalls=[b.call("c1", "read_file", {"path": given})]),
    )

    assert of(SessionFacts, read(path))[0].cwd == b.FOLDER


def test_a_folder_that_nothing_leads_to_is_not_invented(tmp_path: Path) -> None:
    path = b.document(
        tmp_path,
        b.user("u1", "go"),
        b.answer("g1", "", toolCalls=[b.call("c1", "read_file", {"path": "/x/y"})]),
    )

    assert of(SessionFacts, read(path))[0].cwd is None


def test_what_is_said_of_a_session_later_counts(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("u1", "go"),
        {"$set": {"summary": "first"}},
        {"$set": {"summary": "Mend", "directories": ["/a"]}},
    )

    assert of(SessionFacts, found) == [
        SessionFacts(
            session=b.SESSION,
            title="Mend",
            cwd="/a",
            started_at=milliseconds(b.START),
            meta={"directories": ["/a"]},
        )
    ]


def test_a_sub_agent_is_named_under_its_parent_and_prompted_by_an_agent(tmp_path: Path) -> None:
    main = b.log(tmp_path, b.header(), b.user("u1", "go"))
    path = main.parent / b.SESSION / "finder-1.jsonl"
    path.parent.mkdir()
    path.write_text(b.lines(b.header("finder-1", kind="subagent"), b.user("s1", "find it")))

    (source,) = [
        source for source in GeminiCli().sources(str(tmp_path)) if source.path == str(path)
    ]
    facts, turn, *_ = GeminiCli().read(source, None)

    assert isinstance(facts, SessionFacts)
    assert (facts.session, facts.parent, facts.origin) == (
        f"{b.SESSION}/finder-1",
        b.SESSION,
        "subagent",
    )
    assert isinstance(turn, TurnFacts)
    assert turn.author == "agent"


# Growth and trouble


def test_a_growing_log_gives_in_the_end_what_it_gives_at_once(tmp_path: Path) -> None:
    records = [
        b.header(),
        b.user("u1", "a"),
        b.answer("g1", "A"),
        {"$rewindTo": "u1"},
        b.user("u2", "b"),
    ]
    path = b.log(tmp_path, *records[:3])
    *_, checkpoint = read(path)
    assert isinstance(checkpoint, Checkpoint)
    assert checkpoint == Checkpoint(len(b.lines(*records[:3])))

    path = b.log(tmp_path, *records)
    assert read(path, checkpoint) == read(path)


def test_a_half_written_line_waits_for_the_next_run(tmp_path: Path) -> None:
    """The agent may be writing while we read; that is not a broken log."""
    path = b.log(tmp_path, b.header(), b.user("u1", "a"))
    whole = path.stat().st_size
    with path.open("a") as log:
        log.write('{"id":"u2","type":"us')

    found = read(path)

    assert prompts(found) == ["a"]
    assert of(Problem, found) == []
    assert found[-1] == Checkpoint(whole)


def test_a_bad_line_costs_that_line(tmp_path: Path) -> None:
    path = b.log(tmp_path, b.header(), b.user("u1", "a"))
    with path.open("a") as log:
        log.write(
            "{oops}\n"
            + b.lines({"type": "mystery"}, {"id": "m1", "type": "hologram"}, b.user("u2", "b"))
        )

    found = read(path)

    assert prompts(found) == ["a", "b"]
    assert [(problem.kind, problem.line) for problem in of(Problem, found)] == [
        ("bad_line", 3),
        ("unknown", None),
        ("unknown", None),
    ]


@pytest.mark.parametrize("text", ["", '{"sessionId"', "[]", "\0\1"])
def test_a_document_that_is_none_is_one_problem(tmp_path: Path, text: str) -> None:
    path = b.document(tmp_path)
    path.write_text(text)

    assert [problem.kind for problem in of(Problem, read(path))] == ["bad_record"]


def test_a_file_that_is_gone_is_one_problem_and_the_same_checkpoint() -> None:
    before = Checkpoint(7)

    problem, after = GeminiCli().read(
        Source("gemini-cli", "/nowhere/session-x.jsonl", appended=False), before
    )

    assert isinstance(problem, Problem)
    assert problem.kind == "unreadable"
    assert after == before


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = (
    "id", "type", "timestamp", "content", "displayContent", "thoughts", "toolCalls", "tokens",
    "model", "sessionId", "messages", "$set", "$rewindTo", "directories", "summary", "kind",
    "projectHash",
)  # fmt: skip


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(FIELDS), ANYTHING | st.sampled_from(["user", "gemini", "u1"])
        ),
        max_size=6,
    )
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_record_makes_the_adapter_raise(tmp_path: Path, records: list[b.Record]) -> None:
    found = items(tmp_path, b.user("u1", "go"), *records)

    assert isinstance(found[-1], Checkpoint)


# Where


def test_the_root_is_in_the_home_or_where_a_variable_says() -> None:
    assert GeminiCli().roots("/home/ada", {}) == ["/home/ada/.gemini/tmp"]
    assert GeminiCli().roots("/home/ada", {"GEMINI_CLI_HOME": "/data"}) == ["/data/.gemini/tmp"]


def test_a_chat_is_listed_once_and_a_log_before_the_document_it_came_from(tmp_path: Path) -> None:
    log = b.log(tmp_path, b.header())
    for name in (
        "session-2026-05-04T08-00-6f1c2a10.json",
        "session-2026-05-05T08-00-aaaaaaaa.json",
        "notes.json",
    ):
        (log.parent / name).write_text("{}")
    (log.parent.parent / "logs.json").write_text("[]")

    found = [Path(source.path).name for source in GeminiCli().sources(str(tmp_path))]

    assert found == [log.name, "session-2026-05-05T08-00-aaaaaaaa.json"]
    assert list(GeminiCli().sources(str(tmp_path / "tmp"))) == list(
        GeminiCli().sources(str(tmp_path))
    )


def test_the_home_of_a_fork_is_not_ours(tmp_path: Path) -> None:
    b.document(tmp_path / ".qwen", b.user("u1", "go"))

    assert list(GeminiCli().sources(str(tmp_path / ".qwen"))) == []
    assert list(GeminiCli().sources(str(tmp_path / ".qwen" / "tmp"))) == []


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("a.jsonl", b.header(), True),
        ("a.json", {**b.header(), "messages": []}, True),
        ("a.jsonl", {**b.header(), "type": "session"}, False),
        ("a.jsonl", {"sessionId": "x", "type": "user", "message": {}}, False),
        ("a.json", {**b.header(), "messages": [{"type": "qwen"}]}, False),
        ("a.json", {"sessionId": "x", "messages": []}, False),
        ("a.json", [b.header()], False),
    ],
)
def test_a_file_is_recognised_by_several_fields(name: str, value: Any, expected: bool) -> None:
    assert (
        GeminiCli().find_source(f"/somewhere/{name}", json.dumps(value).encode()) is not None
    ) == expected


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    taken = [
        path
        for path in corpus.rglob("*.json*")
        if path.is_file() and "gemini-cli" not in path.relative_to(corpus).parts[0]
        if GeminiCli().find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert taken == []


def test_every_sample_is_read_without_a_problem(corpus: Path) -> None:
    """But for one that is made up: it has a history instead of messages, and names no session."""
    files = [
        path
        for path in (corpus / "gemini-cli").rglob("*.json*")
        if path.name != "schema_drift.json"
    ]

    assert files
    for path in files:
        assert GeminiCli().find_source(str(path), path.read_bytes()) is not None
        assert of(Problem, read(path)) == []
