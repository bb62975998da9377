"""What the Amp adapter makes of a thread, fact by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.amp import Amp
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    SessionFacts,
    Source,
    ToolResult,
    TurnFacts,
    Usage,
)
from recollect.testing import everything, imported
from tests.builders import amp as b
from tests.capture.adapters.items import (
    authors,
    of,
    prompts,
    said,
    spent,
    taken_from_others,
    troubles,
)


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Amp().read(Source("amp", str(path), appended=False), since))


def items(root: Path, *messages: dict[str, Any], **more: Any) -> list[Item]:
    """What a thread of these messages gives."""
    return read(b.log(root, b.thread(*messages, **more)))


def test_a_turn_is_a_prompt_and_what_was_done_about_it(tmp_path: Path) -> None:
    """The common case, whole: thread, prompt, thought, reply, call, tokens, result and credits."""
    found = items(
        tmp_path,
        b.user(at=1),
        b.assistant(
            {"type": "thinking", "thinking": "Look."}, "I look.", b.call(), usage=b.usage()
        ),
        b.user(b.result()),
    )

    about: dict[str, Any] = {"session": b.THREAD, "turn": f"{b.THREAD}/0"}
    assert found[:-1] == [
        SessionFacts(
            session=b.THREAD,
            cwd="/home/ada/shop",
            title="Crates",
            started_at=b.CREATED_MS,
            agent_version="0.0.1760000000",
            git_branch="main",
            git_sha="c0ffee",
            git_remote="https://git.example/ada/shop",
            meta={"mode": "smart", "client": "CLI", "os": "linux"},
        ),
        TurnFacts(**about, at=b.sent(1), author="human"),
        Event(**about, kind="prompt", at=b.sent(1), text="count the crates"),
        Event(**about, kind="reasoning", text="Look."),
        Event(**about, kind="reply", text="I look."),
        Event(
            **about,
            kind="tool_call",
            call="toolu_1",
            name="Bash",
            tool_kind="shell",
            target="ls crates",
            input={"cmd": "ls crates"},
        ),
        Usage(
            **about,
            key=f"{b.THREAD}/1",
            model="claude-sonnet-4-5",
            at=b.sent(1),
            input=10,
            cache_read=100,
            cache_write=20,
            output=5,
        ),
        ToolResult(**about, call="toolu_1", output="one\ntwo", ok=True, exit_code=0),
        TurnFacts(**about, telemetry={"credits": 1.5}),
    ]


def test_an_answer_has_a_time_only_where_its_cost_tells_one(tmp_path: Path) -> None:
    """A missing time is never made up.

    A price is one of some day, so what it took is told for the prompt's.
    """
    timed = b.usage(timestamp="2025-10-09T08:53:25.000Z")
    ledger = {
        "events": [{"timestamp": "2025-10-09T08:53:26.000Z", "fromMessageId": 0, "toMessageId": 2}]
    }

    found = items(
        tmp_path,
        b.user(at=1),
        b.assistant("one", usage=timed),
        b.assistant("two", usage=b.usage()),
        b.assistant("three", usage=b.usage()),
        usageLedger=ledger,
    )

    assert [event.at for event in of(Event, found)[1:]] == [b.sent(5), b.sent(6), None]
    assert [usage.at for usage in of(Usage, found)] == [b.sent(5), b.sent(6), b.sent(1)]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"status": "done", "result": {"output": "fine", "exitCode": 0}}, (True, 0, "fine")),
        ({"status": "done", "result": {"output": "no", "exitCode": 2}}, (False, 2, "no")),
        (
            {"status": "done", "result": {"absolutePath": "/a", "content": "1: a"}},
            (True, None, "1: a"),
        ),
        ({"status": "done", "result": {"diff": "+a"}}, (True, None, "+a")),
        ({"status": "done", "result": "plain"}, (True, None, "plain")),
        ({"status": "done", "result": [{"uri": "a"}]}, (True, None, '[{"uri":"a"}]')),
        ({"status": "error", "error": {"message": "no such file"}}, (False, None, "no such file")),
        ({"status": "error", "error": "no such file"}, (False, None, "no such file")),
        ({"status": "cancelled", "result": {"output": "so far"}}, (False, None, "so far")),
        ({"status": "rejected-by-user"}, (False, None, "")),
        ({"status": "in-progress", "progress": {}}, (None, None, "")),
        ({}, (None, None, "")),
    ],
)
def test_how_a_run_ended_is_its_status(
    tmp_path: Path, run: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    """Tools have results of their own shapes; commands have an exit code."""
    result = {"type": "tool_result", "toolUseID": "toolu_1", "run": run}

    (told,) = of(ToolResult, items(tmp_path, b.user(at=1), b.assistant(b.call()), b.user(result)))

    assert (told.ok, told.exit_code, told.output) == expected


def test_an_openai_model_has_its_new_input_in_the_wrong_place(tmp_path: Path) -> None:
    """It is written down as put into the cache, which those models do not tell."""
    usage = b.usage(
        "gpt-5-codex", inputTokens=0, cacheCreationInputTokens=900, cacheReadInputTokens=50
    )

    assert spent(items(tmp_path, b.user(at=1), b.assistant(usage=usage))) == (900, 50, 0, 5, 0)


def test_credits_are_not_dollars(tmp_path: Path) -> None:
    """They are kept as what they are: for each turn, and for the thread by its ledger."""
    ledger = {"events": [{"credits": 1.5}, {"credits": 2.25}, {"credits": None}]}

    found = items(
        tmp_path,
        b.user(at=1),
        b.assistant(usage=b.usage()),
        b.assistant(usage=b.usage()),
        usageLedger=ledger,
    )

    assert of(SessionFacts, found)[0].meta["ledger_credits"] == 3.75
    assert of(TurnFacts, found)[-1].telemetry == {"credits": 3.0}
    assert [usage.cost_usd for usage in of(Usage, found)] == [None, None]


def test_answers_that_broke_off_say_so(tmp_path: Path) -> None:
    """Cancelled by the person, or failed."""
    found = items(
        tmp_path,
        b.user(at=1),
        b.assistant("I lo", state={"type": "cancelled"}),
        b.assistant(state={"type": "error", "error": {"message": "overloaded"}}, content=[]),
    )

    assert said(found)[1:] == [("reply", "I lo"), ("abort", ""), ("error", "overloaded")]


def test_a_thread_below_another_is_a_session_below_it(tmp_path: Path) -> None:
    """The one who wrote its task is an agent."""
    found = items(tmp_path, b.user("Oil the hinge."), id="T-sub", mainThreadID=b.THREAD)

    (facts,) = of(SessionFacts, found)
    assert (facts.session, facts.parent, facts.origin) == (
        f"{b.THREAD}/T-sub",
        b.THREAD,
        "subagent",
    )
    assert authors(found) == ["agent"]


def test_a_thread_that_was_handed_over_names_its_parent(tmp_path: Path) -> None:
    """Those that it was handed on to do not count."""
    relations = [
        {"type": "handoff", "role": "child", "threadID": "T-c"},
        {"type": "handoff", "role": "parent", "threadID": "T-p"},
    ]

    assert (
        of(SessionFacts, items(tmp_path, b.user(at=1), relationships=relations))[0].parent == "T-p"
    )


def test_the_shared_folder_is_believed_before_the_old_one_of_the_extension(tmp_path: Path) -> None:
    """The same thread may still be where it was before it moved."""
    whole = b.thread(
        b.user("plan", at=1), b.assistant("A plan."), b.user("draw", at=9), b.assistant("Drawn.")
    )
    b.log(tmp_path, whole)
    b.log(tmp_path, {**whole, "messages": whole["messages"][:2]}, "threads3")

    (session,) = everything(Amp(), tmp_path).values()

    assert [turn.prompt for turn in session.turn_list if turn.live] == ["plan", "draw"]


# Places


def test_the_roots_follow_the_environment() -> None:
    """Amp asks XDG on every system; the editors have their own places."""
    roots = Amp().roots("/home/ada", {})

    assert roots[0] == "/home/ada/.local/share/amp/threads"
    assert "/home/ada/.config/Code/User/globalStorage/sourcegraph.amp/threads3" in roots
    assert (
        "/home/ada/Library/Application Support/Cursor/User/globalStorage/sourcegraph.amp/threads3"
        in roots
    )
    assert Amp().roots("/home/ada", {"XDG_DATA_HOME": "/srv"})[0] == "/srv/amp/threads"


def test_only_threads_are_listed(tmp_path: Path) -> None:
    """Beside them are prompts, settings and secrets."""
    own, old = b.log(tmp_path, b.thread()), b.log(tmp_path, b.thread(), "threads3")
    for name in ("secrets.json", "session.json", "T-1.json", "threads/index.json"):
        (tmp_path / name).write_text("{}")

    assert list(Amp().sources(str(tmp_path))) == [
        Source("amp", str(own), appended=False),
        Source("amp", str(old), appended=False, rank=1),
    ]
    assert list(Amp().sources(str(tmp_path / "threads"))) == [
        Source("amp", str(own), appended=False)
    ]


def test_a_single_file_is_known_by_its_name_and_fields(tmp_path: Path) -> None:
    """Any JSON might have messages."""
    path = b.log(tmp_path, b.thread(b.user(at=1)))

    assert Amp().find_source(str(path), path.read_bytes()) == Source(
        "amp", str(path), appended=False
    )
    assert Amp().find_source(str(path), b'{"id": "T-1", "messages": []}') is None
    assert Amp().find_source(str(tmp_path / "chat.json"), path.read_bytes()) is None


def test_logs_of_others_are_not_taken(corpus: Path) -> None:
    """Look-alikes exist."""
    assert list(taken_from_others(Amp(), corpus)) == []


# Growth and trouble


def test_a_thread_that_grows_gives_what_it_gives_at_once(tmp_path: Path) -> None:
    """It is written anew each time, and a turn that comes again is the same turn."""
    messages = (
        b.user(at=1),
        b.assistant(b.call(), usage=b.usage()),
        b.user(b.result()),
        b.assistant(usage=b.usage()),
    )
    b.log(tmp_path, b.thread(*messages[:2]))

    with imported(Amp(), tmp_path) as mind:
        b.log(tmp_path, b.thread(*messages))
        mind.import_logs([tmp_path])
        grown = mind.show(f"amp:{b.THREAD}")

    assert grown == everything(Amp(), tmp_path)[f"amp:{b.THREAD}"]


def test_a_half_written_thread_waits(tmp_path: Path) -> None:
    """It is a problem now, and read when it is whole."""
    path = b.log(tmp_path, b.thread(b.user(at=1)))
    path.write_text(path.read_text()[:200])

    found = read(path)

    assert [kind for kind, _, _ in troubles(found)] == ["bad_record"]
    assert found[-1] == Checkpoint(0)


@pytest.mark.parametrize("wrong", [None, 7, [], {}, "", [7], {"a": 1}, 1e308])
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, wrong: Any) -> None:
    """Nobody promises us this format."""
    found = items(
        tmp_path,
        b.user("water the roses", at=1),
        {"role": "assistant", "content": wrong, "usage": wrong, "state": wrong, "messageId": wrong},
        {"role": wrong, "content": wrong},
        b.user(b.result(wrong, status=wrong, error=wrong)),
        b.assistant(
            {"type": "tool_use", "id": wrong, "name": wrong, "input": wrong},
            "They are wet.",
            usage={"model": wrong},
        ),
        env={"initial": wrong},
        usageLedger=wrong,
        relationships=wrong,
        mainThreadID=wrong if not isinstance(wrong, str) else None,
    )

    assert prompts(found) == ["water the roses"]
    assert ("reply", "They are wet.") in said(found)


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """New kinds of parts come with new versions; the rest is read."""
    found = items(
        tmp_path,
        b.user(at=1),
        b.assistant({"type": "smell"}, {"type": "smell"}),
        {"role": "oracle"},
    )

    assert prompts(found) == ["count the crates"]
    assert troubles(found) == [("unknown", "part smell", 2), ("unknown", "role oracle", 1)]


def test_a_thread_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    """Where there was a checkpoint, it is given back."""
    found = read(tmp_path / "T-gone.json", Checkpoint(7, b"x"))

    assert [kind for kind, _, _ in troubles(found)] == ["unreadable"]
    assert found[-1] == Checkpoint(7, b"x")
