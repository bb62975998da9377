"""Messages become turns, and a result finds its call."""

from __future__ import annotations

from recollect.capture.logs.dialogue import MOST_WAITING, Dialogue
from recollect.model.logs import Event, ToolResult, TurnFacts, Usage


def test_what_is_said_belongs_to_the_turn_that_is_going_on() -> None:
    talk = Dialogue("s")

    talk.prompt("p1", "fix the build", at=1)
    talk.say("reasoning", "")
    talk.say("reply", "done", at=2)

    assert talk.drain() == [
        TurnFacts(session="s", turn="p1", at=1, author="human"),
        Event(session="s", turn="p1", kind="prompt", at=1, text="fix the build"),
        Event(session="s", turn="p1", kind="reply", at=2, text="done"),
    ]
    assert talk.drain() == []


def test_what_comes_before_the_first_prompt_has_a_turn_of_its_own() -> None:
    talk = Dialogue("s")

    talk.say("error", "no network")

    assert talk.drain() == [
        TurnFacts(session="s", turn="s/start", author="system"),
        Event(session="s", turn="s/start", kind="error", text="no network"),
    ]


def test_a_late_result_goes_to_the_turn_of_its_call_even_in_the_next_run() -> None:
    first = Dialogue("s")
    first.prompt("p1", "run it")
    first.call("c1", "Bash", {"command": "make"})
    first.prompt("p2", "meanwhile")

    second = Dialogue("s", first.state)
    second.result("c1", "built", ok=True)
    second.result("c1", "again")

    assert second.drain() == [
        ToolResult(session="s", turn="p1", call="c1", output="built", ok=True),
        ToolResult(session="s", turn="p2", call="c1", output="again"),
    ]


def test_calls_without_an_answer_are_not_remembered_for_ever() -> None:
    talk = Dialogue("s")
    talk.prompt("p1", "go")

    for number in range(MOST_WAITING + 10):
        talk.call(f"c{number}", "Bash")
    talk.call("c" * 10_000, "Bash")

    assert len(talk.state.waiting) == MOST_WAITING
    assert "c9" not in talk.state.waiting


def test_tokens_that_nobody_used_are_not_told() -> None:
    talk = Dialogue("s")
    talk.begin("p1")
    talk.drain()

    talk.usage("s/1")
    talk.usage("s/2", cost_usd=0.5)

    assert talk.drain() == [Usage(session="s", turn="p1", key="s/2", cost_usd=0.5)]
