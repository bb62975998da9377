"""What the Antigravity adapter makes of a conversation, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture.adapters.antigravity import Antigravity
from recollect.capture.logs.protobuf import MalformedMessage, ProtobufMessage
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
    milliseconds,
)
from tests.builders import antigravity as b
from tests.capture.adapters.items import of


def read(root: Path, since: Checkpoint | None = None) -> list[Item]:
    """What the one conversation under a root gives."""
    (source,) = Antigravity().sources(str(root))
    return list(Antigravity().read(source, since))


def items(root: Path, *steps: b.Record) -> list[Item]:
    b.transcript(root, *steps)
    return read(root)


def said(found: list[Item]) -> list[tuple[str, str]]:
    return [(event.kind, event.name or event.text) for event in of(Event, found)]


def joined(found: list[Item]) -> dict[str, str | None]:
    """The output of each call by its target; orphans by their name."""
    calls = {event.call: event.target or event.name for event in of(Event, found) if event.call}
    orphans = {
        event.name: event.output
        for event in of(Event, found)
        if event.kind == "tool_call" and not event.call
    }
    return {calls[result.call]: result.output for result in of(ToolResult, found)} | orphans


def test_a_conversation_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought, words, call, result, tokens."""
    b.database(
        tmp_path,
        b.generation(100, 9, cached=50, steps=(1,)),
        place=b.workspace("file:///home/ada/shop", "main"),
    )
    found = items(
        tmp_path,
        b.asks(
            0,
            "run the tests",
            "The user changed setting `Model Selection` from None to Gemini 3.1 Pro (High).",
        ),
        b.answers(
            1,
            "I run them.",
            b.call("run_command", CommandLine="pytest", Cwd="/tmp/x"),
            thinking="With pytest.",
        ),
        b.step(2, "RUN_COMMAND", "The command failed with exit code: 1\nOutput:\n1 failed"),
    )

    at = {second: milliseconds(b.clock(second)) for second in range(3)}
    here = {"session": b.SESSION, "turn": f"{b.SESSION}/0"}
    assert found[:-1] == [
        SessionFacts(
            session=b.SESSION,
            cwd=b.FOLDER,
            git_branch="main",
            meta={"model": "Gemini 3.1 Pro (High)"},
        ),
        TurnFacts(**here, at=at[0], author="human"),
        Event(**here, kind="prompt", at=at[0], text="run the tests"),
        Event(**here, kind="reasoning", at=at[1], text="With pytest."),
        Event(**here, kind="reply", at=at[1], text="I run them."),
        Event(
            **here,
            kind="tool_call",
            at=at[1],
            call="1.0",
            name="run_command",
            tool_kind="shell",
            target="pytest",
            input={"CommandLine": "pytest", "Cwd": "/tmp/x"},
        ),
        ToolResult(
            **here,
            call="1.0",
            at=at[2],
            output="The command failed with exit code: 1\nOutput:\n1 failed",
            ok=False,
            exit_code=1,
        ),
        Usage(
            **here,
            key=f"{b.SESSION}/0",
            model="gemini-3-flash-a",
            at=1_782_982_800_000,
            input=100,
            cache_read=50,
            output=9,
        ),
    ]


# Prompts


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            "<USER_REQUEST>\nmend "
            "it\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nnoon\n</ADDITIONAL_METADATA>",
            "mend it",
        ),
        ("mend it\n<ADDITIONAL_METADATA>\nnoon\n</ADDITIONAL_METADATA>", "mend it"),
        ("mend it", "mend it"),
    ],
)
def test_a_prompt_is_what_stands_in_the_request(tmp_path: Path, content: str, text: str) -> None:
    found = items(tmp_path, b.step(0, "USER_INPUT", content, source="USER_EXPLICIT"))

    assert said(found) == [("prompt", text)]


@pytest.mark.parametrize(
    ("source", "author"), [("USER_EXPLICIT", "human"), ("SYSTEM", "system"), ("MODEL", "agent")]
)
def test_the_source_tells_who_asked(tmp_path: Path, source: str, author: str) -> None:
    found = items(tmp_path, b.step(0, "USER_INPUT", "go", source=source))

    assert of(TurnFacts, found)[0].author == author


def test_what_the_host_tells_the_model_is_passed_over(tmp_path: Path) -> None:
    steps = [
        b.step(1, kind, "x", source="SYSTEM")
        for kind in ("CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE")
    ]
    found = items(tmp_path, b.asks(0, "go"), *steps)

    assert said(found) == [("prompt", "go")]
    assert of(Problem, found) == []


def test_a_checkpoint_is_a_compaction_and_an_error_an_error(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.asks(0, "go"),
        b.step(1, "CHECKPOINT", "so far", source="SYSTEM"),
        b.step(2, "ERROR_MESSAGE", "overloaded"),
    )

    assert said(found)[1:] == [("compaction", "so far"), ("error", "overloaded")]


# Calls and what they gave


def test_results_are_joined_in_order_and_by_kind(tmp_path: Path) -> None:
    """There are no ids; a call that gave nothing back must not take the result of the next one."""
    found = items(
        tmp_path,
        b.asks(0, "go"),
        b.answers(
            1,
            None,
            b.call("view_file", AbsolutePath="a"),
            b.call("run_command", CommandLine="ls"),
            b.call("ask", question="why"),
        ),
        b.step(2, "RUN_COMMAND", "The command completed successfully.\nOutput:\nx"),
        b.step(3, "GENERIC", "because"),
        b.step(4, "GREP_SEARCH", "found"),
        b.answers(5, "Done."),
        b.step(6, "VIEW_FILE", "too late"),
    )

    assert joined(found) == {
        "ls": "The command completed successfully.\nOutput:\nx",
        "why": "because",
        "grep_search": "found",
        "view_file": "too late",
    }


def test_two_calls_of_a_kind_are_answered_in_turn(tmp_path: Path) -> None:
    calls = [b.call("view_file", AbsolutePath="a"), b.call("view_file", AbsolutePath="b")]
    found = items(
        tmp_path,
        b.asks(0, "go"),
        b.answers(1, None, *calls),
        b.step(2, "VIEW_FILE", "A"),
        b.step(3, "VIEW_FILE", "B"),
    )

    assert joined(found) == {"a": "A", "b": "B"}


def test_arguments_are_unpacked_and_edits_named_as_others_name_them(tmp_path: Path) -> None:
    chunk = {"TargetContent": "-", "ReplacementContent": "+"}
    calls = [
        b.call("replace_file_content", TargetFile="a", **chunk),
        b.call("multi_replace_file_content", TargetFile="b", ReplacementChunks=[chunk]),
        b.call("write_to_file", TargetFile="c", CodeContent="x", Overwrite=True),
        {"name": "view_file", "args": json.dumps({"AbsolutePath": "not JSON"})},
    ]
    found = items(tmp_path, b.asks(0, "go"), b.answers(1, None, *calls))

    assert [(event.tool_kind, event.input) for event in of(Event, found)[1:]] == [
        ("edit", {"TargetFile": "a", "old_string": "-", "new_string": "+"}),
        ("edit", {"TargetFile": "b", "edits": [{"old_string": "-", "new_string": "+"}]}),
        ("edit", {"TargetFile": "c", "content": "x", "Overwrite": True}),
        ("read", {"AbsolutePath": "not JSON"}),
    ]


@pytest.mark.parametrize(
    ("content", "status", "expected"),
    [
        ("The command completed successfully.\nOutput:\nexit code: 3", "DONE", (True, 0)),
        ("The command failed with exit code: 2\nOutput:", "DONE", (False, 2)),
        ("Output:\nexit code: 2", "DONE", (True, None)),
        ("no", "ERROR", (False, None)),
        ("no", "CANCELED", (False, None)),
        ("still", "RUNNING", (None, None)),
    ],
)
def test_a_step_tells_how_it_ended(
    tmp_path: Path, content: str, status: str, expected: tuple[bool | None, int | None]
) -> None:
    call = b.call("run_command", CommandLine="x")
    found = items(
        tmp_path,
        b.asks(0, "go"),
        b.answers(1, None, call),
        b.step(2, "RUN_COMMAND", content, status=status),
    )

    assert [(result.ok, result.exit_code) for result in of(ToolResult, found)] == [expected]


def test_a_command_in_the_background_ends_with_a_message(tmp_path: Path) -> None:
    """It is told by the name of its task alone."""
    words = 'Task id "t/1" finished with result:\nThe command failed with exit code: 2'
    message = f"<SYSTEM_MESSAGE>\n{words}\n</SYSTEM_MESSAGE>"
    found = items(
        tmp_path,
        b.asks(0, "go"),
        b.answers(1, None, b.call("run_command", CommandLine="make")),
        b.step(
            2,
            "RUN_COMMAND",
            "Tool is running as a background task with task id: t/1",
            status="RUNNING",
        ),
        b.asks(3, "meanwhile"),
        b.step(4, "SYSTEM_MESSAGE", message, source="SYSTEM"),
    )

    assert [
        (result.turn, result.call, result.ok, result.exit_code) for result in of(ToolResult, found)
    ] == [
        (f"{b.SESSION}/0", "1.0", None, None),
        (f"{b.SESSION}/0", "1.0", False, 2),
    ]


# Tokens and place


def test_tokens_go_to_the_turn_of_their_step(tmp_path: Path) -> None:
    b.database(
        tmp_path,
        b.generation(10, 1, answer="first", steps=(1,)),
        b.generation(20, 2, steps=(3, 4)),
        b.generation(5, 1),
    )
    found = items(tmp_path, b.asks(0, "a"), b.answers(1, "A"), b.asks(2, "b"), b.answers(3, "B"))

    assert [(usage.key, usage.turn, usage.input) for usage in of(Usage, found)] == [
        ("first", f"{b.SESSION}/0", 10),
        (f"{b.SESSION}/1", f"{b.SESSION}/2", 20),
        (f"{b.SESSION}/2", f"{b.SESSION}/0", 5),
    ]


def test_tokens_that_are_ahead_of_the_transcript_wait_for_it(tmp_path: Path) -> None:
    """Both are written at their own pace; a turn that tokens were given to keeps them."""
    b.database(tmp_path, b.generation(10, 1, steps=(1,)), b.generation(20, 2, steps=(3,)))
    steps = [b.asks(0, "a"), b.answers(1, "A"), b.asks(2, "b"), b.answers(3, "B")]

    assert [usage.turn for usage in of(Usage, items(tmp_path, *steps[:2]))] == [f"{b.SESSION}/0"]
    assert [usage.turn for usage in of(Usage, items(tmp_path, *steps))] == [
        f"{b.SESSION}/0",
        f"{b.SESSION}/2",
    ]


def test_tokens_in_the_steps_are_counted_where_the_database_has_none(tmp_path: Path) -> None:
    steps = [
        b.asks(0, "a"),
        b.answers(1, "A", input_tokens=7, cache_read_tokens=3, output_tokens=2),
    ]
    assert [
        (usage.input, usage.cache_read, usage.output)
        for usage in of(Usage, items(tmp_path, *steps))
    ] == [(7, 3, 2)]

    b.database(tmp_path, b.generation(10, 1, steps=(1,)))
    assert [usage.input for usage in of(Usage, items(tmp_path, *steps))] == [10]


def test_without_a_database_the_folder_is_that_of_a_command(tmp_path: Path) -> None:
    scratch = b.call(
        "run_command", CommandLine="ls", Cwd="/home/ada/.gemini/antigravity-cli/scratch"
    )
    found = items(
        tmp_path,
        b.asks(0, "go"),
        b.answers(1, None, scratch, b.call("run_command", CommandLine="ls", Cwd=b.FOLDER)),
    )

    assert of(SessionFacts, found)[0].cwd == b.FOLDER


def test_a_database_that_is_none_costs_the_tokens_alone(tmp_path: Path) -> None:
    b.database(tmp_path).write_bytes(b"no database")
    found = items(tmp_path, b.asks(0, "go"))

    assert said(found) == [("prompt", "go")]
    assert [problem.kind for problem in of(Problem, found)] == ["bad_record"]


def test_rows_that_are_no_messages_are_counted(tmp_path: Path) -> None:
    b.database(tmp_path, b"\x0a\x7f", b"\xff", b.generation(10, 1, steps=(0,)), place=b"\x0f")
    found = items(tmp_path, b.asks(0, "go"))

    assert [(problem.kind, problem.count) for problem in of(Problem, found)] == [("bad_record", 3)]
    assert [usage.input for usage in of(Usage, found)] == [10]


def test_rows_that_a_damaged_file_gives_again_and_again_are_read_once(tmp_path: Path) -> None:
    """SQLite believes the numbers of rows to be in order, and looks for those after the last."""
    path = b.database(tmp_path, *[b.generation(10, 1, steps=(0,))] * 4)
    data = bytearray(path.read_bytes())
    connection = apsw.Connection(str(path))
    page_bytes = connection.pragma("page_size")
    root = connection.execute(
        "select rootpage from sqlite_schema where name = 'gen_metadata'"
    ).fetchone()[0]
    connection.close()
    page = memoryview(data)[(root - 1) * page_bytes : root * page_bytes]
    for cell in range(4):
        at = int.from_bytes(page[8 + 2 * cell : 10 + 2 * cell], "big")
        # The length of the row and then its number, each in one byte.
        page[at + 1] = 7 - cell
    path.write_bytes(data)

    found = items(tmp_path, b.asks(0, "go"))

    assert [(problem.kind, problem.count) for problem in of(Problem, found)] == [("bad_record", 1)]
    assert len(of(Usage, found)) == 1


@given(st.binary(max_size=40))
def test_bytes_are_a_message_or_malformed(data: bytes) -> None:
    try:
        fields = ProtobufMessage(data)
        assert [fields.inner(1).number(1), fields.text(2), fields.numbers(3)]
    except MalformedMessage:
        pass


# Without a transcript


def test_papers_are_all_that_is_left_of_old_conversations(tmp_path: Path) -> None:
    folder = tmp_path / "brain" / b.SESSION
    folder.mkdir(parents=True)
    (folder / "task.md").write_text("- [x] mend\n")
    (folder / "task.md.metadata.json").write_text(json.dumps({"updatedAt": b.clock(0)}))

    here = {"session": b.SESSION, "turn": f"{b.SESSION}/papers"}
    assert read(tmp_path) == [
        SessionFacts(session=b.SESSION),
        TurnFacts(**here, author="agent"),
        Event(**here, kind="reply", at=milliseconds(b.clock(0)), text="task.md\n\n- [x] mend\n"),
        Checkpoint(11),
    ]


def test_a_conversation_in_which_nothing_was_said_is_none(tmp_path: Path) -> None:
    b.database(tmp_path, place=b.workspace("file:///home/ada/shop", "main"))

    assert [type(item) for item in read(tmp_path)] == [Checkpoint]


def test_words_take_the_place_of_what_was_told_without_them(tmp_path: Path) -> None:
    """A conversation that has just begun may have a plan and a
    database before it has a transcript.
    """
    root = tmp_path / "antigravity-cli"
    b.database(root, b.generation(100, 9, steps=(1,)))
    with Memory.open(str(tmp_path / "store.db"), adapters={"antigravity": Antigravity()}) as memory:
        memory.import_logs([str(root)])
        (root / "brain" / b.SESSION).mkdir(parents=True)
        (root / "brain" / b.SESSION / "plan.md").write_text("mend it")
        memory.import_logs([str(root)])
        b.transcript(root, b.asks(0, "run the tests"), b.answers(1, "I run them."))
        memory.import_logs([str(root)])
        (session,) = memory.sessions()
        turns = memory.show(session.id).turn_list

    assert [turn.prompt for turn in turns if turn.live] == ["run the tests"]
    assert (session.tokens.input, session.tokens.output) == (100, 9)


def test_a_paper_that_cannot_be_read_costs_itself_alone(tmp_path: Path) -> None:
    folder = tmp_path / "brain" / b.SESSION
    folder.mkdir(parents=True)
    (folder / "plan.md").symlink_to("nowhere")
    (folder / "task.md").write_text("- [x] mend\n")

    found = read(tmp_path)

    assert said(found) == [("reply", "task.md\n\n- [x] mend\n")]
    assert [problem.kind for problem in of(Problem, found)] == ["bad_record"]


def test_a_database_alone_tells_tokens_and_place(tmp_path: Path) -> None:
    b.database(
        tmp_path,
        b.generation(10, 1, steps=(1,)),
        place=b.workspace("file:///home/ada/shop", "main"),
    )

    found = read(tmp_path)

    assert [(usage.turn, usage.input) for usage in of(Usage, found)] == [(f"{b.SESSION}/start", 10)]
    assert of(SessionFacts, found) == [
        SessionFacts(session=b.SESSION, cwd=b.FOLDER, git_branch="main")
    ]


def test_a_database_alone_that_is_none_is_one_problem_and_the_same_checkpoint(
    tmp_path: Path,
) -> None:
    b.database(tmp_path).write_bytes(b"no database")
    before = Checkpoint(7)

    problem, after = read(tmp_path, before)

    assert isinstance(problem, Problem)
    assert problem.kind == "unreadable"
    assert after == before


# Growth and trouble


def test_a_growing_transcript_gives_in_the_end_what_it_gives_at_once(tmp_path: Path) -> None:
    steps = [
        b.asks(0, "go"),
        b.answers(1, None, b.call("run_command", CommandLine="ls")),
        b.step(2, "RUN_COMMAND", "x"),
    ]
    *_, checkpoint = items(tmp_path, *steps[:2])
    assert isinstance(checkpoint, Checkpoint)

    b.transcript(tmp_path, *steps)
    assert read(tmp_path, checkpoint) == read(tmp_path)


def test_a_half_written_line_waits_for_the_next_run(tmp_path: Path) -> None:
    path = b.transcript(tmp_path, b.asks(0, "go"))
    whole = path.stat().st_size
    with path.open("a") as log:
        log.write('{"step_index":1,"sou')

    found = read(tmp_path)

    assert of(Problem, found) == []
    assert found[-1] == Checkpoint(whole)


def test_a_bad_line_costs_that_line(tmp_path: Path) -> None:
    path = b.transcript(tmp_path, b.asks(0, "go"))
    with path.open("a") as log:
        log.write(
            "{oops}\n"
            + b.lines(
                {"type": "hologram"},
                b.step(1, "MOONLIGHT", "full", source="SYSTEM"),
                b.answers(2, "Yes."),
            )
        )

    found = read(tmp_path)

    assert said(found) == [("prompt", "go"), ("reply", "Yes.")]
    assert [problem.reason.partition(":")[0] for problem in of(Problem, found)] == [
        "not JSON",
        "record hologram",
        "system step MOONLIGHT",
    ]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = (*b.answers(1, "x"), "thinking", "input_tokens")
TYPES = st.sampled_from(
    ["USER_INPUT", "PLANNER_RESPONSE", "RUN_COMMAND", "SYSTEM_MESSAGE", "CHECKPOINT"]
)


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING | TYPES), max_size=6))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_record_makes_the_adapter_raise(tmp_path: Path, changes: list[b.Record]) -> None:
    found = items(tmp_path, *({**b.answers(1, "x"), **change} for change in changes))

    assert isinstance(found[-1], Checkpoint)


# Where


def test_the_roots_are_what_is_kept_of_conversations_by_the_cli_and_the_editor() -> None:
    base = "/home/ada/.gemini"

    assert Antigravity().roots("/home/ada", {}) == [
        f"{base}/antigravity-cli/brain",
        f"{base}/antigravity-cli/conversations",
        f"{base}/antigravity/brain",
        f"{base}/antigravity/conversations",
    ]


def test_a_conversation_is_listed_once_by_the_fullest_file(tmp_path: Path) -> None:
    b.transcript(tmp_path, b.asks(0, "go"))
    full = b.transcript(tmp_path, b.asks(0, "go"), name="transcript_full.jsonl")
    (tmp_path / "brain" / b.SESSION / "task.md").write_text("x")
    beside = b.database(tmp_path)
    alone = b.database(tmp_path, session="alone")
    (tmp_path / "conversations" / "old.pb").write_bytes(b"encrypted")

    whole, bare = Antigravity().sources(str(tmp_path))

    assert whole == Source(
        "antigravity", str(full), companions=(str(beside), f"{beside}-wal"), appended=False
    )
    assert bare == Source(
        "antigravity", str(alone), companions=(f"{alone}-wal",), appended=False, rank=2
    )
    assert list(Antigravity().sources(str(tmp_path / "brain"))) == [whole]
    assert list(Antigravity().sources(str(tmp_path / "conversations"))) == [bare]


def test_files_are_recognised_by_their_fields_their_tables_or_their_place(tmp_path: Path) -> None:
    path = b.transcript(tmp_path, b.asks(0, "go"))
    database = b.database(tmp_path, session="alone")
    paper = tmp_path / "brain" / "old" / "task.md"
    paper.parent.mkdir()
    paper.write_text("x")
    find = Antigravity().find_source

    for file in (path, database):
        found = find(str(file), file.read_bytes())
        assert found is not None
        assert found.path == str(file)
    found = find(str(paper), b"x")
    assert found is not None
    assert found.path == str(paper.parent)
    beside = b.database(tmp_path)
    found = find(str(beside), beside.read_bytes())
    assert found is not None
    assert found.path == str(path), "it is part of a conversation that has words"
    assert find("/notes/task.md", b"x") is None
    assert (
        find("/somewhere/a.jsonl", b.lines({"type": "USER_INPUT", "content": "x"}).encode()) is None
    )
    assert find("/somewhere/a.db", b"SQLite format 3\0 create table messages") is None


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    taken = [
        path
        for path in corpus.rglob("*")
        if path.is_file()
        and path.name.endswith(Antigravity.endings)
        and path.relative_to(corpus).parts[0] != "antigravity"
        if Antigravity().find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert taken == []


def test_every_sample_is_read_without_a_problem(corpus: Path) -> None:
    """But for a paper outside of its place, which nothing tells from any other text."""
    files = list((corpus / "antigravity").rglob("*.jsonl"))

    assert files
    for path in files:
        source = Antigravity().find_source(str(path), path.read_bytes())
        assert source is not None
        assert of(Problem, list(Antigravity().read(source, None))) == []
