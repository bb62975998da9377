"""What the OpenHands adapter makes of conversations, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.openhands import OpenHands
from recollect.capture.adapters.openhands import folder as folders
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
from recollect.testing import everything, imported
from tests.builders import openhands as b


def source_of(folder: Path) -> Source:
    (found,) = OpenHands().sources(str(folder.parent))
    return found


def read(folder: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(OpenHands().read(source_of(folder), since))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def prompts(found: list[Item]) -> list[str]:
    return [event.text for event in of(Event, found) if event.kind == "prompt"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "conversations" / b.FOLDER


def test_a_conversation_gives_its_items_in_order(folder: Path) -> None:
    """The common case, whole: session, turn, prompt, call, result, reply, tokens."""
    usage = {"agent": b.metrics(("resp-1", 100, 10, 60, 20), ("resp-9", 150, 5, 90, 0))}
    b.conversation(
        folder,
        [
            b.message("list the files"),
            b.run("ls", "call_1"),
            b.printed("a b", "call_1"),
            b.finish("Two."),
        ],
        b.state(usage),
    )

    found = read(folder)

    session, turn, at = b.SESSION, b.name(0), 1777885200000
    facts = {
        "model": "claude-sonnet-4-5",
        "reasoning_effort": "high",
        "confirmation_policy": "NeverConfirm",
    }
    assert found[:-1] == [
        SessionFacts(
            session=session,
            origin="interactive",
            cwd=b.CWD,
            meta={**facts, "execution_status": "finished"},
        ),
        TurnFacts(session=session, turn=turn, at=at, author="human"),
        Event(session=session, turn=turn, kind="prompt", at=at, text="list the files"),
        Event(
            session=session,
            turn=turn,
            kind="tool_call",
            at=at + 1000,
            call="call_1",
            name="terminal",
            tool_kind="shell",
            target="ls",
            input={"command": "ls", "is_input": False},
        ),
        ToolResult(
            session=session,
            turn=turn,
            call="call_1",
            at=at + 2000,
            output="a b",
            ok=True,
            exit_code=0,
        ),
        Event(session=session, turn=turn, kind="reply", at=at + 3000, text="Two."),
        Usage(
            session=session,
            turn=turn,
            key="resp-1",
            model="claude-sonnet-4-5",
            at=at + 1000,
            input=20,
            cache_read=60,
            cache_write=20,
            output=10,
            cost_usd=0.01,
        ),
        Usage(
            session=session,
            turn=turn,
            key="resp-9",
            model="claude-sonnet-4-5",
            at=at + 3000,
            input=60,
            cache_read=90,
            output=5,
            cost_usd=0.01,
        ),
    ]


def test_a_conversation_that_goes_on_gives_its_last_two_turns_again(folder: Path) -> None:
    """A folder of thousands of files is not read anew for each of them."""
    b.conversation(folder, [b.message(f"prompt {number}") for number in range(5)])
    checkpoint = read(folder)[-1]
    assert isinstance(checkpoint, Checkpoint)
    b.write_event(folder, 5, b.message("prompt 5"))

    found = read(folder, checkpoint)

    assert prompts(found) == ["prompt 3", "prompt 4", "prompt 5"]
    assert found[-1].position > checkpoint.position


def test_a_result_that_comes_after_the_next_prompt_goes_to_its_call(folder: Path) -> None:
    """A person may speak while a command runs."""
    b.conversation(folder, [b.message("run it"), b.run("make", "call_1"), b.message("how long?")])
    checkpoint = read(folder)[-1]
    assert isinstance(checkpoint, Checkpoint)
    b.write_event(folder, 3, b.printed("made", "call_1"))

    (result,) = of(ToolResult, read(folder, checkpoint))

    assert (result.turn, result.output) == (b.name(0), "made")


def test_an_event_that_is_being_written_is_waited_for(folder: Path) -> None:
    """A folder looks the same when a file in it becomes whole, so
    the source has to be tried again.
    """
    b.conversation(
        folder, [b.message("say hello"), b.message("Hello.", "agent"), b.message("thanks")]
    )
    path = next(iter((folder / "events").glob("event-00001-*")))
    whole = path.read_bytes()

    path.write_bytes(whole[:30])
    with imported(OpenHands(), folder.parent) as mind:
        assert [report.outcome for report in mind.source_reports] == ["failed"]
        path.write_bytes(whole)
        mind.import_logs([folder.parent])
        told = mind.show(f"openhands:{b.SESSION}")

    assert told == everything(OpenHands(), folder.parent)[f"openhands:{b.SESSION}"]


def test_what_was_left_behind_is_undone(folder: Path) -> None:
    """Somebody went back to the first answer and on from there."""
    events = [
        b.message("red"),
        b.message("done", "agent"),
        b.message("green"),
        b.message("done", "agent"),
        b.message("blue"),
    ]
    parents: list[str | None] = [None, b.name(0), b.name(1), b.name(2), b.name(1)]
    linked = [{**event, "parent_id": parent} for event, parent in zip(events, parents, strict=True)]
    b.conversation(folder, linked, b.state(leaf_event_id=b.name(4)))

    found = read(folder)

    assert [(item.turn, item.live) for item in of(Liveness, found)] == [
        (b.name(0), True),
        (b.name(2), False),
        (b.name(4), True),
    ]
    assert found[-1].state == b""


def test_going_back_alone_is_noticed(folder: Path) -> None:
    """No event tells of it, only the state beside them."""
    b.conversation(
        folder,
        [
            b.message("red"),
            b.message("done", "agent"),
            b.message("green"),
            b.message("done", "agent"),
        ],
    )
    checkpoint = read(folder)[-1]
    assert isinstance(checkpoint, Checkpoint)
    (folder / "base_state.json").write_text(json.dumps(b.state(leaf_event_id=b.name(1))))

    found = read(folder, checkpoint)

    assert [(item.turn, item.live) for item in of(Liveness, found)] == [
        (b.name(0), True),
        (b.name(2), False),
    ]


def test_a_state_that_is_one_event_behind_undoes_nothing(folder: Path) -> None:
    """It is written after the event."""
    b.conversation(folder, [b.message("red"), b.message("green")], b.state(leaf_event_id=b.name(0)))

    assert of(Liveness, read(folder)) == []


def test_a_state_that_is_broken_costs_its_facts_until_it_is_whole(folder: Path) -> None:
    """It is written over in place, many times a minute."""
    b.conversation(folder, [b.message("hello")])
    (folder / "base_state.json").write_text('{"id": "')

    found = read(folder)

    assert [(problem.kind, Path(problem.path).name) for problem in of(Problem, found)] == [
        ("bad_record", "base_state.json")
    ]
    assert prompts(found) == ["hello"]
    assert found[-1].state == b""


def test_tokens_of_a_sub_agent_are_counted_once(folder: Path) -> None:
    """They stand in its own state and in that of the conversation that started it."""
    used = b.metrics(("resp-sub", 40, 4, 0, 0))
    b.conversation(folder, [b.message("check")], b.state({"task:task_1": used}))
    child = folder / "subagents" / "0190aa00bb00cc00dd00ee00ff000077"
    b.conversation(
        child,
        [b.message("check fruit"), b.message("ok", "agent", llm_response_id="resp-sub")],
        b.state({"agent": used}),
    )

    told = everything(OpenHands(), folder.parent)

    own = f"openhands:{b.SESSION}/0190aa00-bb00-cc00-dd00-ee00ff000077"
    assert {ref: session.tokens.input for ref, session in told.items()} == {
        f"openhands:{b.SESSION}": 0,
        own: 40,
    }
    assert (told[own].parent, told[own].origin) == (f"openhands:{b.SESSION}", "subagent")
    assert [turn.author for turn in told[own].turn_list] == ["agent"]


def test_what_a_list_of_calls_does_not_explain_is_counted_as_one(folder: Path) -> None:
    """A total may be larger than its parts, and in a snapshot it has none."""
    used = b.metrics(("resp-1", 40, 4, 0, 0))
    used["accumulated_token_usage"]["prompt_tokens"] = 100
    b.conversation(folder, [b.message("hello")], b.state({"agent": used}))

    assert [(usage.key, usage.input) for usage in of(Usage, read(folder))] == [
        ("resp-1", 40),
        (f"{b.SESSION}/agent", 60),
    ]


def test_tokens_wait_for_the_first_turn(folder: Path) -> None:
    """A turn of nobody, made for their sake, would stay in front of the first one."""
    b.conversation(
        folder,
        [b.event("SystemPromptEvent")],
        b.state({"agent": b.metrics(("resp-1", 40, 4, 0, 0))}),
    )

    with imported(OpenHands(), folder.parent) as mind:
        b.write_event(folder, 1, b.message("hello"))
        mind.import_logs([folder.parent])
        told = mind.show(f"openhands:{b.SESSION}")

    assert told == everything(OpenHands(), folder.parent)[f"openhands:{b.SESSION}"]


def test_a_cache_that_is_larger_than_the_prompt_was_told_apart_from_it(folder: Path) -> None:
    """So do agents behind the Agent Client Protocol."""
    b.conversation(
        folder, [b.message("hello")], b.state({"agent": b.metrics(("resp-1", 30, 4, 90, 0))})
    )

    (usage,) = of(Usage, read(folder))

    assert (usage.input, usage.cache_read) == (30, 90)


def test_large_conversations_are_committed_bit_by_bit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import that is killed goes on where it was, with the turns it has not told."""
    monkeypatch.setattr(folders, "_COMMIT_BYTES", 1)
    calls = [(f"resp-{number}", 10, 1, 0, 0) for number in range(4)]
    talk = [
        b.message(f"prompt {n // 2}")
        if n % 2 == 0
        else b.message("ok", "agent", llm_response_id=f"resp-{n // 2}")
        for n in range(8)
    ]
    b.conversation(folder, talk, b.state({"agent": b.metrics(*calls)}))
    found = read(folder)
    points = [number for number, item in enumerate(found) if isinstance(item, Checkpoint)]
    assert len(points) == 4

    stopped = found[: points[1]]
    rest = read(folder, found[points[1]])

    whole = {usage.key: usage.turn for usage in of(Usage, found)}
    assert {usage.key: usage.turn for usage in of(Usage, stopped + rest)} == whole
    assert set(prompts(stopped + rest)) == {"prompt 0", "prompt 1", "prompt 2", "prompt 3"}


# Version 0


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / b.FOLDER


def test_running_totals_are_counted_by_what_they_rise(old: Path) -> None:
    """Calls that were asked for together repeat the same total."""
    b.old_conversation(
        old,
        [
            b.act("message", "user", content="go"),
            {**b.act("run", command="a"), **b.totals(100, 10, 40)},
            {**b.act("run", command="b"), **b.totals(100, 10, 40)},
            {**b.act("run", command="c"), **b.totals(250, 30, 100)},
        ],
    )

    found = [
        (usage.key, usage.input, usage.cache_read, usage.output) for usage in of(Usage, read(old))
    ]

    assert found == [(f"{b.SESSION}/1", 60, 40, 10), (f"{b.SESSION}/3", 90, 60, 20)]


def test_a_total_that_falls_began_again(old: Path) -> None:
    """So it does when a conversation is taken up without its state."""
    b.old_conversation(
        old,
        [
            b.act("message", "user", content="go"),
            {**b.act("run", command="a"), **b.totals(100, 10)},
            {**b.act("run", command="b"), **b.totals(30, 3)},
        ],
    )

    assert [usage.input for usage in of(Usage, read(old))] == [100, 30]


def test_totals_go_on_from_a_checkpoint(old: Path) -> None:
    """The first call of a new turn is not counted with all that was before it."""
    talk = [
        b.act("message", "user", content="go"),
        {**b.act("run", command="a"), **b.totals(100, 10)},
    ]
    b.old_conversation(
        old,
        [*talk, b.act("message", "user", content="on"), b.act("message", "user", content="and on")],
    )
    checkpoint = read(old)[-1]
    assert isinstance(checkpoint, Checkpoint)
    more = {"id": 4, "timestamp": b.clock(4), **b.act("run", command="b"), **b.totals(130, 12)}
    (old / "events" / "4.json").write_text(json.dumps(more))

    assert [usage.input for usage in of(Usage, read(old, checkpoint))] == [30]


def test_an_error_is_the_result_of_its_action_or_stands_alone(old: Path) -> None:
    """Version 0 has one word for both."""
    b.old_conversation(
        old,
        [
            b.act("message", "user", content="go"),
            b.act("read", path="/x"),
            b.seen("error", "no such file", 1),
            b.seen("error", "the runtime died", 0),
        ],
    )

    found = read(old)

    assert [(result.call, result.ok) for result in of(ToolResult, found)] == [("1", False)]
    assert [event.text for event in of(Event, found) if event.kind == "error"] == [
        "the runtime died"
    ]


def test_a_repository_is_where_a_conversation_belongs(old: Path) -> None:
    """Its folder is one of a sandbox, which says little."""
    told = {
        "selected_repository": "ada/shop",
        "git_provider": "gitlab",
        "selected_branch": "dev",
        "trigger": "slack",
    }
    b.old_conversation(old, [b.act("message", "user", content="go")], told)

    facts = of(SessionFacts, read(old))[0]

    assert (facts.git_remote, facts.git_branch, facts.origin) == (
        "https://gitlab.com/ada/shop",
        "dev",
        "headless",
    )


def test_an_exported_trajectory_is_the_conversation_it_is_from(tmp_path: Path, old: Path) -> None:
    """With the folder there too, each turn is kept once, as the folder tells it."""
    talk = [
        b.act("message", "user", content="count"),
        {**b.act("run", command="wc"), **b.totals(100, 10)},
    ]
    b.old_conversation(old, talk, {"title": "Counting"})
    (tmp_path / f"trajectory-{b.FOLDER}.json").write_text(json.dumps(b.numbered(talk)))

    export = tmp_path / f"trajectory-{b.FOLDER}.json"
    alone = OpenHands().find_source(str(export), export.read_bytes())
    assert alone is not None
    assert {item.session for item in of(TurnFacts, list(OpenHands().read(alone, None)))} == {
        b.SESSION
    }

    with imported(OpenHands(), old.parent) as mind:
        mind.import_logs([export])
        told = mind.show(f"openhands:{b.SESSION}")

    assert told == everything(OpenHands(), old.parent)[f"openhands:{b.SESSION}"]


def test_each_line_of_a_benchmark_is_a_conversation(tmp_path: Path) -> None:
    """The same task is run many times, so the time is part of the name.

    What the benchmark answers nobody typed.
    """
    again = "Please continue working on the task on whatever approach you think is suitable."
    history = b.numbered(
        [b.act("message", "user", content="fix it"), b.act("message", "user", content=again)]
    )
    line = json.dumps(
        {"instance_id": "shop-12", "history": history, "metadata": {}, "test_result": {}}
    )
    output = tmp_path / "output.jsonl"
    output.write_text(line + "\n" + line[:40])

    source = OpenHands().find_source(str(output), output.read_bytes())
    assert source is not None
    *items, checkpoint = OpenHands().read(source, None)

    assert [(item.session, item.author) for item in of(TurnFacts, items)] == [
        ("shop-12-1777885200000", "human"),
        ("shop-12-1777885200000", "system"),
    ]
    assert checkpoint == Checkpoint(len(line) + 1, b"\0")


# Where they are


def test_variables_move_the_folders() -> None:
    """Each version has its own."""
    moved = {"OPENHANDS_CONVERSATIONS_DIR": "/c", "FILE_STORE_PATH": "/store"}

    assert OpenHands().roots("/home/ada", {}) == [
        "/home/ada/.openhands/conversations",
        "/home/ada/.openhands/sessions",
        "/home/ada/.openhands/users",
        "/home/ada/.openhands-state/sessions",
        "/home/ada/.openhands-state/users",
    ]
    assert OpenHands().roots("/home/ada", moved)[:3] == ["/c", "/store/sessions", "/store/users"]
    assert (
        OpenHands().roots("/home/ada", {"OPENHANDS_PERSISTENCE_DIR": "/p"})[0] == "/p/conversations"
    )


def test_any_file_of_a_conversation_leads_to_it(folder: Path) -> None:
    """Somebody may point at whatever lies there."""
    b.conversation(folder, [b.message("hello")])
    expected = source_of(folder)

    for path in (folder / "base_state.json", *(folder / "events").iterdir()):
        assert OpenHands().find_source(str(path), path.read_bytes()) == expected


def test_what_only_looks_alike_is_not_ours(tmp_path: Path, corpus: Path) -> None:
    """Other agents have sessions with events too."""
    (tmp_path / "sessions" / "one" / "events").mkdir(parents=True)
    (tmp_path / "sessions" / "one" / "events" / "notes.json").write_text("{}")
    assert list(OpenHands().sources(str(tmp_path))) == []

    for path in corpus.rglob("*"):
        if (
            "openhands" not in path.parts
            and path.is_file()
            and path.name.endswith(OpenHands.endings)
        ):
            with path.open("rb") as file:
                assert OpenHands().find_source(str(path), file.read(1 << 16)) is None, path


def test_a_conversation_without_events_has_facts(corpus: Path) -> None:
    """The vendor's own sample is one."""
    (state,) = (corpus / "openhands").rglob("base_state.json")
    source = OpenHands().find_source(str(state), state.read_bytes())
    assert source is not None

    facts, checkpoint = OpenHands().read(source, None)

    assert isinstance(facts, SessionFacts)
    assert (facts.session, facts.meta) == (
        "11111111-2222-3333-4444-555555555555",
        {
            "model": "gpt-4o-mini",
            "reasoning_effort": "high",
            "confirmation_policy": "NeverConfirm",
            "execution_status": "idle",
        },
    )
    assert checkpoint == Checkpoint(1)
