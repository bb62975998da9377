"""What the Continue adapter makes of sessions, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.continue_dev import ContinueDev
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
)
from recollect.testing import imported
from tests.builders import continue_dev as b


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".continue" / "sessions"


def source_of(path: Path) -> Source:
    return next(
        source for source in ContinueDev().sources(str(path.parent)) if source.path == str(path)
    )


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(ContinueDev().read(source_of(path), since))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def test_a_session_gives_its_items_in_order(folder: Path) -> None:
    """The common case, whole."""
    call = b.tool_state("call_1", "read_file", "price = 10", filepath="prices.py")
    answer = b.assistant("It is 10.", promptLogs=[b.prompt_log("gpt-4.1")], toolCallStates=[call])
    path = b.write(folder, b.session([b.user("what is the price?"), answer], mode="agent"))

    found = read(path)

    assert found[:-1] == [
        SessionFacts(
            whole=True,
            session=b.SESSION,
            origin="interactive",
            cwd="/home/ada/shop",
            title="Prices with tax",
            started_at=1777885200000,
            meta={"mode": "agent"},
        ),
        TurnFacts(session=b.SESSION, turn=f"{b.SESSION}/u1", author="human"),
        Event(session=b.SESSION, turn=f"{b.SESSION}/u1", kind="prompt", text="what is the price?"),
        Event(session=b.SESSION, turn=f"{b.SESSION}/u1", kind="reply", text="It is 10."),
        Event(
            session=b.SESSION,
            turn=f"{b.SESSION}/u1",
            kind="tool_call",
            call="call_1",
            name="read_file",
            tool_kind="read",
            target="prices.py",
            input={"filepath": "prices.py"},
            output="price = 10",
            ok=True,
        ),
        SessionFacts(session=b.SESSION, meta={"model": "gpt-4.1"}),
    ]


def test_the_news_of_another_session_cost_a_look(folder: Path) -> None:
    """The list of sessions is written anew with every message of any of them."""
    path = b.write(folder, b.session([b.user("hello")]))
    checkpoint = read(path)[-1]
    assert isinstance(checkpoint, Checkpoint)
    (folder / "sessions.json").write_text(json.dumps([b.entry("another"), b.entry()]))

    assert read(path, checkpoint) == [checkpoint]


def test_a_date_that_comes_later_is_learned(folder: Path) -> None:
    """The list is written after the session."""
    path = b.write(folder, b.session([b.user("hello")]), entries=[])
    *first, checkpoint = read(path)
    assert isinstance(checkpoint, Checkpoint)
    (folder / "sessions.json").write_text(json.dumps([b.entry()]))

    *second, _ = read(path, checkpoint)

    assert [facts.started_at for facts in of(SessionFacts, first + second)] == [None, 1777885200000]


def test_a_session_that_goes_on_is_read_whole(folder: Path) -> None:
    """Its turns are known again by the ids of their prompts."""
    path = b.write(folder, b.session([b.user("hello"), b.assistant("Hi.")]))
    with imported(ContinueDev(), folder.parent) as mind:
        b.write(folder, b.session([b.user("hello"), b.assistant("Hi."), b.user("again", "u2")]))
        report = mind.import_logs([folder.parent])
        told = mind.show(f"continue:{b.SESSION}")

    assert report.turns == 1
    assert [turn.prompt for turn in told.turn_list] == ["hello", "again"]  # type: ignore[union-attr]
    assert path.exists()


def test_a_result_that_is_told_twice_is_kept_once(folder: Path) -> None:
    """It stands in the state of its call, and as a message."""
    states = [b.tool_state("call_1", "ls", "a b"), b.tool_state("call_2", "ls", None)]
    talk = [
        b.user("list"),
        b.assistant("", toolCallStates=states),
        b.tool("call_1", "a b"),
        b.tool("call_2", "c"),
    ]

    found = read(b.write(folder, b.session(talk)))

    assert [event.output for event in of(Event, found) if event.kind == "tool_call"] == [
        "a b",
        None,
    ]
    assert [(result.call, result.output) for result in of(ToolResult, found)] == [("call_2", "c")]


@pytest.mark.parametrize(
    ("status", "ok"),
    [("done", True), ("errored", False), ("canceled", False), ("calling", None), (7, None)],
)
def test_a_call_went_as_its_status_says(folder: Path, status: Any, ok: bool | None) -> None:
    """A call that somebody did not allow is one that failed."""
    talk = [
        b.user("list"),
        b.assistant("", toolCallStates=[b.tool_state("call_1", "ls", "x", status)]),
    ]

    (call,) = (
        event
        for event in of(Event, read(b.write(folder, b.session(talk))))
        if event.kind == "tool_call"
    )

    assert call.ok is ok


def test_tokens_are_those_of_the_messages_or_else_of_the_session(folder: Path) -> None:
    """The command line keeps a sum alone, the extension figures for each answer."""
    each = {"promptTokens": 100, "completionTokens": 9, "promptTokensDetails": {"cachedTokens": 70}}
    total = {"promptTokens": 500, "completionTokens": 30, "totalCost": 0.5}
    told = b.session([b.user("a"), b.assistant("b", message={"usage": each})], usage=total)
    untold = b.session(
        [b.user("a"), b.assistant("b")], key="5a1e0000-0000-4000-8000-000000000002", usage=total
    )
    path = b.write(folder, told, untold)

    found = of(Usage, read(path)) + of(Usage, read(path.with_name(f"{untold['sessionId']}.json")))

    assert [(usage.key, usage.input, usage.cache_read, usage.cost_usd) for usage in found] == [
        (f"{b.SESSION}/a1", 30, 70, None),
        (untold["sessionId"], 500, 0, 0.5),
    ]


def test_prompts_without_ids_are_told_apart_by_their_place(folder: Path) -> None:
    """The command line gives none, and people repeat themselves."""
    path = b.write(
        folder, b.session([b.user("go on", None), b.assistant("ok"), b.user("go on", None)])
    )

    turns = [facts.turn for facts in of(TurnFacts, read(path))]

    assert len(set(turns)) == 2
    assert turns == [facts.turn for facts in of(TurnFacts, read(path))]


def test_a_field_of_the_wrong_type_costs_the_field(folder: Path) -> None:
    """And an entry that is none costs itself."""
    talk = [
        b.user("hello"),
        7,
        {"message": ["x"]},
        {**b.assistant("Hi."), "toolCallStates": {"a": 1}, "promptLogs": 3, "reasoning": []},
    ]
    path = b.write(folder, b.session(talk, mode=[], chatModelTitle={}, usage="much"))  # type: ignore[list-item]

    found = read(path)

    assert [(event.kind, event.text) for event in of(Event, found)] == [
        ("prompt", "hello"),
        ("reply", "Hi."),
    ]
    assert [problem.kind for problem in of(Problem, found)] == ["bad_record", "unknown"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"sessionId": "x", "hist', b"\xff\xfe\x00", b"[" * 100_000, b"[]"]
)
def test_what_is_no_session_is_a_problem(folder: Path, data: bytes) -> None:
    """It may be being written; it is read again when it changes."""
    path = b.write(folder, b.session([]))
    path.write_bytes(data)

    problem, checkpoint = read(path)

    assert isinstance(problem, Problem)
    assert (problem.kind, type(checkpoint)) == ("bad_record", Checkpoint)


def test_a_session_that_is_gone_cannot_be_read(folder: Path) -> None:
    path = b.write(folder, b.session([]))
    source = source_of(path)
    path.unlink()

    problem, checkpoint = ContinueDev().read(source, None)

    assert isinstance(problem, Problem)
    assert (problem.kind, checkpoint) == ("unreadable", Checkpoint(0))


def test_a_variable_moves_the_folder() -> None:
    """Only the sessions are looked at: beside them are keys."""
    assert ContinueDev().roots("/home/ada", {}) == ["/home/ada/.continue/sessions"]
    assert ContinueDev().roots("/home/ada", {"CONTINUE_GLOBAL_DIR": "/c"}) == ["/c/sessions"]


def test_sessions_are_found_in_their_own_folder_alone(tmp_path: Path, folder: Path) -> None:
    """A folder of the name `sessions` is not enough."""
    path = b.write(folder, b.session([]))
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "one.json").write_text("{}")

    expected = [
        Source("continue", str(path), companions=(str(folder / "sessions.json"),), appended=False)
    ]
    assert (
        list(ContinueDev().sources(str(folder.parent)))
        == list(ContinueDev().sources(str(folder)))
        == expected
    )
    assert list(ContinueDev().sources(str(tmp_path))) == []
    assert ContinueDev().find_source(str(path), path.read_bytes()) == expected[0]
    assert (
        ContinueDev().find_source(
            str(folder / "sessions.json"), (folder / "sessions.json").read_bytes()
        )
        is None
    )


def test_a_session_of_before_the_end_of_2024_is_recognised_alone(tmp_path: Path) -> None:
    """Its document has the history first and the title last, and people keep single files."""
    talk = b.session([b.user("why is the tide late?"), b.assistant("The clock is.")])
    path = tmp_path / "0d6c0a9e-4a4e-4c8e-9b3f-3b1f0c2d5e6a.json"
    names = ("history", "title", "sessionId", "workspaceDirectory")
    path.write_text(json.dumps({name: talk[name] for name in names}))

    source = ContinueDev().find_source(str(path), path.read_bytes()[:64])
    assert source is not None
    assert [event.text for event in of(Event, list(ContinueDev().read(source, None)))] == [
        "why is the tide late?", "The clock is.",
    ]  # fmt: skip
    other = str(tmp_path / "history.json")
    assert ContinueDev().find_source(other, path.read_bytes()[:64]) is None


def test_the_public_samples_have_no_problems(corpus: Path) -> None:
    """And the logs of other agents are not taken for sessions."""
    for path in corpus.rglob("*.json"):
        with path.open("rb") as file:
            source = ContinueDev().find_source(str(path), file.read(1 << 16))
        if "continue" not in path.relative_to(corpus).parts:
            assert source is None, path
        elif source is not None:
            found = list(ContinueDev().read(source, None))
            assert of(Problem, found) == []
            assert of(TurnFacts, found)


def test_the_model_is_known_where_the_log_has_no_figures(folder: Path) -> None:
    """Most sessions of the editors have none; the calls for the answers still name it."""
    answer = b.assistant("It is 10.", promptLogs=[b.prompt_log("gpt-4.1")])
    path = b.write(folder, b.session([b.user("what is the price?"), answer]))

    with imported(ContinueDev(), path) as mind:
        (session,) = mind.sessions()

    assert (session.model, session.models, session.cost_usd) == ("gpt-4.1", ["gpt-4.1"], None)
