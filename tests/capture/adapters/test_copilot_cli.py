"""What the Copilot CLI adapter makes of a session, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.copilot_cli import CopilotCli
from recollect.memory import Memory
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
)
from tests.builders import copilot_cli as b
from tests.capture.adapters.items import authors, of, said, spent

MODEL = "gpt-5-mini"


def read(path: Path, since: Checkpoint | None = None, **more: Any) -> list[Item]:
    return list(CopilotCli().read(Source("copilot-cli", str(path), **more), since))


def items(folder: Path, *events: dict[str, Any]) -> list[Item]:
    """What a session of these events gives, its start put before them."""
    return read(b.log(folder, [b.start(), *events]))


# The conversation


def test_a_turn_is_a_prompt_and_what_was_done_about_it(tmp_path: Path) -> None:
    """The common case, whole: prompt, thought, reply, call, result and tokens."""
    found = items(
        tmp_path,
        b.user("list the stamps"),
        b.message(
            "I look.",
            b.wish("c1", "bash", command="ls"),
            reasoningText="Where?",
            messageId="m1",
            outputTokens=9,
            model=MODEL,
        ),
        b.begun("c1", "bash", command="ls"),
        b.done("c1", "blue\n<exited with exit code 0>"),
    )

    about: dict[str, Any] = {"session": b.SESSION, "turn": b.name(1)}
    at = 1_777_885_200_000
    assert found[2:-1] == [
        TurnFacts(
            **about,
            at=at + 1000,
            author="human",
            cwd="/home/ada/shop",
            git_remote="https://github.com/ada/shop",
        ),
        Event(**about, kind="prompt", at=at + 1000, text="list the stamps"),
        Event(**about, kind="reasoning", at=at + 2000, text="Where?"),
        Event(**about, kind="reply", at=at + 2000, text="I look."),
        Event(
            **about,
            kind="tool_call",
            at=at + 2000,
            call="c1",
            name="bash",
            tool_kind="shell",
            target="ls",
            input={"command": "ls"},
        ),
        Usage(**about, key="m1", model=MODEL, at=at + 2000, output=9),
        ToolResult(
            **about,
            call="c1",
            at=at + 4000,
            output="blue\n<exited with exit code 0>",
            ok=True,
            exit_code=0,
        ),
    ]


def test_a_thought_that_is_told_twice_is_kept_once(tmp_path: Path) -> None:
    """An event of its own and the message after it say the same."""
    found = items(
        tmp_path,
        b.user("go"),
        b.event("assistant.reasoning", reasoningId="r", content="Hm."),
        b.message("Gone.", reasoningText="Hm."),
    )

    assert said(found) == [("prompt", "go"), ("reasoning", "Hm."), ("reply", "Gone.")]


@pytest.mark.parametrize(
    ("more", "author"),
    [
        ({}, "human"),
        ({"source": "user"}, "human"),
        ({"delivery": "steering"}, "human"),
        ({"isAutopilotContinuation": True}, "system"),
        ({"source": "schedule-3"}, "system"),
        ({"source": "agent-explore-1"}, "agent"),
    ],
)
def test_who_speaks_is_told_by_the_source(
    tmp_path: Path, more: dict[str, Any], author: str
) -> None:
    """Only what a person typed is a person's turn."""
    assert authors(items(tmp_path, b.user("go on", **more))) == [author]


def test_text_that_the_program_adds_begins_no_turn(tmp_path: Path) -> None:
    """Skills and instructions come as user messages, in the middle of the work."""
    found = items(
        tmp_path,
        b.user("<current_datetime>now</current_datetime> tidy up <reminder>plan</reminder>"),
        b.user("How to tidy", source="skill-tidy"),
        b.user("<skill-context name='tidy'>How to tidy</skill-context>"),
        b.message("Done."),
    )

    assert said(found) == [("prompt", "tidy up"), ("reply", "Done.")]
    assert {event.turn for event in of(Event, found)} == {b.name(1)}


def test_a_person_may_write_about_a_tag(tmp_path: Path) -> None:
    """And a hostile prompt may be full of them, which takes no time."""
    found = items(
        tmp_path,
        b.user("what is <reminder> for?"),
        b.user("<reminder>" * 100_000),
        b.user("<reminder " * 100_000),
    )

    assert [text[:23] for _, text in said(found)] == [
        "what is <reminder> for?",
        "<reminder><reminder><re",
        "<reminder <reminder <re",
    ]


def test_nobody_types_in_a_session_that_another_one_left_behind(tmp_path: Path) -> None:
    found = read(
        b.log(
            tmp_path, [b.start(detachedFromSpawningParentSessionId="before"), b.user("look back")]
        )
    )

    assert of(SessionFacts, found)[0].parent == "before"
    assert of(SessionFacts, found)[0].origin == "headless"
    assert authors(found) == ["system"]


def test_what_was_taken_back_is_marked(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("one"),
        b.user("two"),
        b.user("three"),
        b.event("session.snapshot_rewind", upToEventId=b.name(2)),
    )

    assert of(Liveness, found) == [
        Liveness(session=b.SESSION, turn=b.name(2), live=False),
        Liveness(session=b.SESSION, turn=b.name(3), live=False),
    ]


def test_a_turn_knows_where_it_took_place(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("here"),
        b.event("session.context_changed", cwd="/home/ada/cellar"),
        b.user("there"),
    )

    assert [(turn.cwd, turn.git_remote) for turn in of(TurnFacts, found)] == [
        ("/home/ada/shop", "https://github.com/ada/shop"),
        ("/home/ada/cellar", None),
    ]
    assert [facts.cwd for facts in of(SessionFacts, found) if facts.cwd] == ["/home/ada/shop"]


# Tools


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"success": True, "result": {"content": "ok"}}, (True, None, "ok")),
        (
            {"success": True, "result": {"content": "no\n<exited with exit code 2>"}},
            (False, 2, "no\n<exited with exit code 2>"),
        ),
        (
            {
                "success": True,
                "result": {"content": "x", "contents": [{"type": "shell_exit", "exitCode": 3}]},
            },
            (False, 3, "x"),
        ),
        (
            {"success": True, "result": {"content": "x"}, "shellExecution": {"exitCode": 4}},
            (False, 4, "x"),
        ),
        (
            {"success": False, "error": {"message": "rejected", "code": "denied"}},
            (False, None, "rejected"),
        ),
        (
            {"result": {"contents": [{"type": "text", "text": "of a server"}]}},
            (None, None, "of a server"),
        ),
    ],
)
def test_a_result_says_how_a_call_went(
    tmp_path: Path, data: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    """A command that failed is reported as a success of the tool; its exit code knows better."""
    found = items(
        tmp_path,
        b.user("go"),
        b.begun("c1", "bash", command="x"),
        b.event("tool.execution_complete", toolCallId="c1", **data),
    )

    (result,) = of(ToolResult, found)
    assert (result.ok, result.exit_code, result.output) == expected


def test_an_edit_keeps_what_it_changed(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch"
    found = items(
        tmp_path,
        b.user("go"),
        b.message("", {"toolCallId": "c1", "name": "apply_patch", "arguments": patch}),
        b.message("", b.wish("c2", "str_replace_editor", command="view", path="/a.txt")),
        b.message("", b.wish("c3", "shop-find", name="blue") | {"mcpServerName": "shop"}),
    )

    calls = [
        (call.tool_kind, call.target, call.input)
        for call in of(Event, found)
        if call.kind == "tool_call"
    ]
    assert calls == [
        ("edit", "a.txt", {"patch": patch}),
        ("read", "/a.txt", {"command": "view", "path": "/a.txt"}),
        ("mcp", "blue", {"name": "blue"}),
    ]


def test_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    """It writes into its parent's log.

    Newer versions mark it with its id, older ones with the call that started it.
    """
    found = items(
        tmp_path,
        b.user("look"),
        b.message("", b.wish("t1", "task", description="Look", prompt="Look at it.")),
        b.event(
            "subagent.started",
            "agent-7",
            toolCallId="t1",
            agentName="explore",
            agentDisplayName="Look",
        ),
        b.user("Look at it.", "agent-7"),
        b.message("I see.", agent="agent-7", messageId="m2", outputTokens=3),
        b.event(
            "assistant.message",
            content="Older.",
            parentToolCallId="t9",
            messageId="m3",
            outputTokens=4,
        ),
        b.message("Seen."),
    )

    parents = {
        facts.session: facts.parent
        for facts in of(SessionFacts, found)
        if facts.origin == "subagent"
    }
    assert parents == {f"{b.SESSION}/agent-7": b.SESSION, f"{b.SESSION}/t9": b.SESSION}
    of_agent = [item for item in found if getattr(item, "session", "") == f"{b.SESSION}/agent-7"]
    assert said(of_agent) == [("prompt", "Look at it."), ("reply", "I see.")]
    assert [usage.session for usage in of(Usage, found)] == [
        f"{b.SESSION}/agent-7",
        f"{b.SESSION}/t9",
    ]


# Tokens


def test_without_a_shutdown_the_messages_count(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("go"),
        b.message("a", messageId="m1", outputTokens=5),
        b.message("b", messageId="m2", outputTokens=6),
    )

    assert spent(found) == (0, 0, 0, 11, 0)


def test_a_shutdown_adds_what_the_messages_did_not_tell(tmp_path: Path) -> None:
    """What was written is in both; what was read includes the cached."""
    found = items(
        tmp_path,
        b.user("go"),
        b.message("a", messageId="m1", outputTokens=5, model=MODEL),
        b.shutdown({MODEL: b.usage(100, 8, cached=60, stored=10, reasoned=2)}),
    )

    assert spent(found) == (30, 60, 10, 8, 2)


def test_a_shutdown_is_right_also_when_messages_do_not_name_their_model(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("go"),
        b.message("a", messageId="m1", outputTokens=5),
        b.shutdown({MODEL: b.usage(100, 4), "claude-haiku-4.5": b.usage(10, 3)}),
    )

    assert spent(found) == (110, 0, 0, 7, 0)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        # Begun anew, though every figure is larger: more than the first and what was
        # written since would be told otherwise.
        (b.usage(300, 55), (400, 0, 0, 95, 0)),
        # Carried over.
        (b.usage(300, 95), (300, 0, 0, 95, 0)),
        # Begun anew, and smaller.
        (b.usage(50, 52), (150, 0, 0, 92, 0)),
    ],
)
def test_a_session_that_was_resumed_counts_both_runs(
    tmp_path: Path, second: dict[str, Any], expected: tuple[int, ...]
) -> None:
    """The figures of a shutdown begin at zero when a session is
    resumed, or go on: the messages tell which.
    """
    first = [
        b.user("go"),
        b.message("a", messageId="m1", outputTokens=30, model=MODEL),
        b.shutdown({MODEL: b.usage(100, 40)}),
    ]
    again = [
        b.event("session.resume"),
        b.user("on"),
        b.message("b", messageId="m2", outputTokens=50, model=MODEL),
    ]

    assert spent(items(tmp_path, *first, *again, b.shutdown({MODEL: second}))) == expected


def test_the_parts_of_one_answer_are_counted_once(tmp_path: Path) -> None:
    """Each has the figure of the whole model call."""
    parts = [
        b.message(
            "a",
            messageId=f"m{n}",
            apiCallId="call",
            chunkIndex=n,
            chunkCount=2,
            outputTokens=7,
            model=MODEL,
        )
        for n in (0, 1)
    ]
    found = items(tmp_path, b.user("go"), *parts, b.shutdown({MODEL: b.usage(10, 9)}))

    assert spent(found) == (10, 0, 0, 9, 0)


def test_a_call_with_a_record_of_its_own_is_counted_by_it(tmp_path: Path) -> None:
    """Newest versions tell every call whole.

    Then what messages and compactions tell is in it already.
    """
    found = items(
        tmp_path,
        b.user("go"),
        b.call(1, b.usage(17, 7, cached=5, reasoned=3), MODEL),
        b.message("a", messageId="m1", outputTokens=7, model=MODEL),
        b.call(2, b.usage(30, 4), MODEL, agent="agent-7"),
        b.event(
            "session.compaction_complete",
            success=True,
            compactionTokensUsed=b.usage(30, 4)["usage"],
        ),
    )

    assert spent(found) == (42, 5, 0, 11, 3)
    assert [usage.session for usage in of(Usage, found)] == [b.SESSION, f"{b.SESSION}/agent-7"]


def test_a_shutdown_adds_what_no_record_told(tmp_path: Path) -> None:
    """The figures go on when a session is resumed, as 1.0.102 does it.

    After that a message may count again.
    """
    found = items(
        tmp_path,
        b.user("go"),
        b.call(1, b.usage(17, 7, cached=5), MODEL),
        b.shutdown({MODEL: b.usage(17, 7, cached=5)}),
        b.event("session.resume"),
        b.user("on"),
        b.call(2, b.usage(17, 7, cached=5), MODEL),
        b.shutdown({MODEL: b.usage(40, 15, cached=11)}),
        b.message("a", messageId="m1", outputTokens=2, model=MODEL),
    )

    assert spent(found) == (29, 11, 0, 17, 0)


def test_what_is_not_money_is_told_beside_the_tokens(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.event("session.usage_checkpoint", totalNanoAiu=5, totalPremiumRequests=0.33),
        b.event("session.shutdown", totalNanoAiu=7, totalPremiumRequests=1, modelMetrics={}),
    )

    metas = [facts.meta for facts in of(SessionFacts, found) if facts.meta]
    assert metas == [
        {"premium_requests": 0.33, "nano_aiu": 5},
        {"premium_requests": 1, "nano_aiu": 7},
    ]
    assert not of(Usage, found)


# Growing and broken logs


def test_a_half_written_line_waits_for_the_next_run(tmp_path: Path) -> None:
    path = b.log(tmp_path, [b.start(), b.user("one")])
    whole = path.read_text() + b.lines([b.message("two")], 2)
    path.write_text(whole[:-30])

    *first, checkpoint = read(path)
    path.write_text(whole)
    *second, _ = read(path, checkpoint)

    assert said(first) == [("prompt", "one")]
    assert said(second) == [("reply", "two")]


GROWING = [
    b.start(),
    b.user("look"),
    b.event("assistant.reasoning", reasoningId="r", content="Hm."),
    b.message(
        "",
        b.wish("t1", "task", prompt="Look at it."),
        reasoningText="Hm.",
        messageId="m1",
        outputTokens=5,
        model=MODEL,
    ),
    b.event("subagent.started", "agent-7", toolCallId="t1", agentName="explore"),
    b.user("Look at it.", "agent-7"),
    b.message("", b.wish("c2", "view", path="/a"), agent="agent-7", messageId="m2", outputTokens=3),
    b.done("c2", "text", agent="agent-7"),
    b.done("t1", "seen"),
    b.message("a", messageId="m3", apiCallId="x", chunkIndex=0, chunkCount=2, outputTokens=7),
    b.message("b", messageId="m4", apiCallId="x", chunkIndex=1, chunkCount=2, outputTokens=7),
    b.shutdown({MODEL: b.usage(100, 30, cached=20)}),
    b.event("session.resume"),
    b.user("again"),
    b.message("c", messageId="m5", outputTokens=4),
    b.shutdown({MODEL: b.usage(90, 9)}),
]


@pytest.mark.parametrize("cut", range(1, len(GROWING)))
def test_two_steps_give_what_one_gives(tmp_path: Path, cut: int) -> None:
    """Wherever the first import stops, nothing is lost and nothing told twice."""
    at_once = read(b.log(tmp_path, GROWING))[:-1]
    path = b.log(tmp_path, GROWING[:cut])

    *first, checkpoint = read(path)
    path.write_text(b.lines(GROWING))
    *second, _ = read(path, checkpoint)

    assert first + second == at_once


def test_a_state_that_cannot_be_read_means_from_the_start(tmp_path: Path) -> None:
    path = b.log(tmp_path, [b.start(), b.user("one")])

    assert said(read(path, Checkpoint(200, b"\xc1"))) == [("prompt", "one")]


def test_bad_lines_and_unknown_types_cost_themselves(tmp_path: Path) -> None:
    path = b.log(
        tmp_path, [b.start(), b.user("one"), b.event("session.weather"), b.event("session.weather")]
    )
    path.write_text(path.read_text() + "{broken\n[1]\n" + b.lines([b.message("two")], 4))

    found = read(path)

    assert said(found) == [("prompt", "one"), ("reply", "two")]
    assert [(p.kind, p.line, p.count) for p in of(Problem, found)] == [
        ("bad_line", 5, 1),
        ("bad_record", 6, 1),
        ("unknown", None, 2),
    ]


@pytest.mark.parametrize("junk", [None, 7, "x", [1], {"a": [None]}, 1e300, True])
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, junk: Any) -> None:
    """Any field of any event may be something else one day."""
    events = []
    for one in GROWING[1:]:
        events += [{**one, "data": {**one["data"], name: junk}} for name in one["data"]] + [
            {**one, "agentId": junk}
        ]

    found = items(tmp_path, *events, b.user("still here"))

    assert said(found)[-1] == ("prompt", "still here")


def test_a_document_without_ids_has_keys_of_its_own(tmp_path: Path) -> None:
    """A turn is forgotten by its key in every session: one that is called
    `message-0` would take others along.
    """
    path = tmp_path / "session_1.json"
    path.write_text(
        json.dumps(
            {"sessionId": "s1", "chatMessages": [{"role": "user", "content": "count the beans"}]}
        )
    )
    found = read(path, appended=False)

    assert [facts.turn for facts in of(TurnFacts, found)] == ["s1/message-0"]


def test_the_state_stays_small_whatever_the_log_says(tmp_path: Path) -> None:
    flood = [
        b.message(
            "",
            *(b.wish(f"{n}-{m}" * 40, "task", prompt="x" * 5000) for m in range(40)),
            agent="a" * 300 + str(n),
        )
        for n in range(40)
    ]
    # Each of these letters takes four bytes.
    wide = [
        b.event(
            "session.context_changed",
            **dict.fromkeys(("cwd", "repository", "repositoryHost"), "\U0001f4ee" * 4000),
        ),
        *(
            b.message(
                "",
                agent="\U0001f4ee" * 190 + str(n),
                model="\U0001f4ee" * 190 + str(n),
                outputTokens=1,
            )
            for n in range(80)
        ),
    ]
    found = items(tmp_path, *(b.user("go") for _ in range(300)), *flood, *wide)

    assert len(of(Checkpoint, found)[-1].state) <= 64 << 10


def test_a_log_that_is_gone_is_one_problem(tmp_path: Path) -> None:
    found = read(tmp_path / "session-state" / "x" / "events.jsonl")

    assert [type(item) for item in found] == [Problem, Checkpoint]
    assert found[0].kind == "unreadable"  # type: ignore[union-attr]


# Where logs are


def test_a_title_and_a_folder_stand_beside_the_log(tmp_path: Path) -> None:
    """Early logs do not say where they were written."""
    early = {"type": "session.start", "data": {"sessionId": b.SESSION, "producer": "copilot-agent"}}
    path = b.log(tmp_path, [early, b.user("go")])
    (path.parent / "workspace.yaml").write_text(
        "id: x\ncwd: /home/ada/garden\nrepository: ada/garden\nhost_type: github\nbranch: main\n"
        "summary: |-\n  The\n  roses\nname: 'Ada''s'\n"
    )

    (source,) = CopilotCli().sources(str(tmp_path))
    found = list(CopilotCli().read(source, None))

    assert source == Source(
        "copilot-cli", str(path), companions=(str(path.parent / "workspace.yaml"),)
    )
    assert of(SessionFacts, found)[-1] == SessionFacts(
        session=b.SESSION,
        cwd="/home/ada/garden",
        git_branch="main",
        git_remote="https://github.com/ada/garden",
        title="Ada's",
    )


def test_variables_move_the_home() -> None:
    adapter = CopilotCli()

    assert adapter.roots("/home/ada", {}) == [
        "/home/ada/.copilot/session-state",
        "/home/ada/.copilot/history-session-state",
    ]
    assert (
        adapter.roots("/home/ada", {"COPILOT_HOME": "/data/copilot"})[0]
        == "/data/copilot/session-state"
    )
    assert "/state/.copilot/session-state" in adapter.roots(
        "/home/ada", {"XDG_STATE_HOME": "/state"}
    )


def test_a_session_that_is_there_twice_is_told_by_its_folder(tmp_path: Path) -> None:
    """It was a flat file, and before that a document; both may have been left behind."""
    b.log(tmp_path, [b.start(), b.user("newest")])
    flat = tmp_path / "session-state" / f"{b.SESSION}.jsonl"
    flat.write_text(b.lines([b.start(), b.user("older")]))
    history = tmp_path / "history-session-state" / "session_1.json"
    history.parent.mkdir()
    history.write_text(
        json.dumps(
            {
                "sessionId": b.SESSION,
                "startTime": b.clock(0),
                "chatMessages": [{"role": "user", "content": "oldest"}],
            }
        )
    )

    with Memory.open(str(tmp_path / "store.db"), adapters={"copilot-cli": CopilotCli()}) as memory:
        memory.import_logs([str(tmp_path)])
        (session,) = memory.sessions()
        told = memory.show(session.id)

    assert [turn.prompt for turn in told.turn_list if turn.live] == ["newest"]


def test_a_log_is_known_by_its_first_event(tmp_path: Path) -> None:
    adapter = CopilotCli()
    first = b.lines([b.start()]).encode()

    assert adapter.find_source("/x/some.jsonl", first) == Source(
        "copilot-cli", "/x/some.jsonl", rank=1
    )
    assert adapter.find_source("/x/events.jsonl", b.lines([b.user("go")]).encode()) is not None
    assert adapter.find_source("/x/some.jsonl", b.lines([b.user("go")]).encode()) is None
    # VS Code leaves transcripts of its own chats in the same form.
    assert (
        adapter.find_source("/x/some.jsonl", b.lines([b.start(vscodeVersion="1.109")]).encode())
        is None
    )
    assert (
        adapter.find_source("/x/a.json", b'{"sessionId": "x", "startTime": "y", "messages": []}')
        is None
    )


def test_samples_of_other_agents_are_not_ours(corpus: Path) -> None:
    adapter = CopilotCli()
    found = [
        path
        for path in corpus.rglob("*.json*")
        if path.name.endswith(adapter.endings)
        and adapter.find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert found
    assert {path.relative_to(corpus).parts[0] for path in found} == {"copilot-cli"}


def test_the_public_samples_are_read(corpus: Path) -> None:
    """The one thing that is odd in them: results whose calls were cut out."""
    paths = sorted((corpus / "copilot-cli").rglob("*.jsonl"))
    problems = [problem for path in paths for problem in of(Problem, read(path))]

    assert {(problem.kind, problem.reason) for problem in problems} <= {
        ("bad_record", "the result of a tool call that is not in the log")
    }
