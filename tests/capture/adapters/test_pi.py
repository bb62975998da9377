"""What the Pi adapter makes of a session, fact by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.pi import Pi
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
from tests.builders import pi as b
from tests.capture.adapters.items import (
    authors,
    live_prompts,
    of,
    prompts,
    said,
    spent,
    taken_from_others,
    troubles,
)


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Pi().read(Source("pi", str(path)), since))


def items(folder: Path, *entries: dict[str, Any]) -> list[Item]:
    """What a session of these entries gives, linked one to the next."""
    return read(b.log(folder, [b.header(), *b.linked(*entries)]))


def test_a_turn_is_a_prompt_and_what_was_done_about_it(tmp_path: Path) -> None:
    """The common case, whole: prompt, thought, reply, call, result and tokens."""
    found = items(
        tmp_path, b.user(), b.assistant(b.thinking("Look."), "I look.", b.call()), b.result()
    )

    turn = of(TurnFacts, found)[0].turn
    about: dict[str, Any] = {"session": b.SESSION, "turn": turn}
    assert found[:-1] == [
        SessionFacts(session=b.SESSION, cwd="/home/ada/shop", started_at=b.at(0)),
        TurnFacts(**about, at=b.at(1), author="human"),
        Event(**about, kind="prompt", at=b.at(1), text="count the crates"),
        Event(**about, kind="reasoning", at=b.at(2), text="Look."),
        Event(**about, kind="reply", at=b.at(2), text="I look."),
        Event(
            **about,
            kind="tool_call",
            at=b.at(2),
            call="toolu_1",
            name="bash",
            tool_kind="shell",
            target="ls crates",
            input={"command": "ls crates"},
        ),
        Usage(
            **about,
            key=f"{b.at(2)}/10/100/20/5",
            model="claude-sonnet-4-5",
            at=b.at(2),
            input=10,
            cache_read=100,
            cache_write=20,
            output=5,
            cost_usd=0.01,
        ),
        ToolResult(**about, call="toolu_1", at=b.at(3), output="one\ntwo", ok=True),
    ]


def test_a_failed_command_has_its_exit_code(tmp_path: Path) -> None:
    """It stands in the last line of the output."""
    found = items(
        tmp_path,
        b.user(),
        b.assistant(b.call()),
        b.result("no\n\nCommand exited with code 2", failed=True),
    )

    (result,) = of(ToolResult, found)
    assert (result.ok, result.exit_code) == (False, 2)


def test_a_file_that_ends_like_a_failed_command_has_no_exit_code(tmp_path: Path) -> None:
    """Only the result of a call that failed is the program's own words."""
    found = items(
        tmp_path, b.user(), b.assistant(b.call()), b.result("log\n\nCommand exited with code 2")
    )

    (result,) = of(ToolResult, found)
    assert (result.ok, result.exit_code) == (True, None)


def test_a_command_of_the_person_is_a_call_with_its_result(tmp_path: Path) -> None:
    """What is run with `!` is not asked for by the model, but it is what was done."""
    found = items(
        tmp_path,
        b.user(),
        b.message("bashExecution", command="ls", output="a\n", exitCode=1, cancelled=False),
    )

    (call,) = [event for event in of(Event, found) if event.kind == "tool_call"]
    assert (call.name, call.target, call.output, call.ok, call.exit_code) == (
        "!",
        "ls",
        "a\n",
        False,
        1,
    )


def test_errors_and_aborts_are_told(tmp_path: Path) -> None:
    """An answer that broke off says why."""
    found = items(
        tmp_path,
        b.user(),
        b.assistant(stopReason="error", errorMessage="529 overloaded"),
        b.assistant("I lo", stopReason="aborted", errorMessage="Request was aborted"),
    )

    assert said(found)[1:] == [
        ("error", "529 overloaded"),
        ("reply", "I lo"),
        ("abort", "Request was aborted"),
    ]


def test_what_extensions_and_the_host_say_is_not_said_by_a_person(tmp_path: Path) -> None:
    """Only what somebody typed is a prompt."""
    found = items(
        tmp_path,
        b.user("buy oil"),
        b.entry("custom_message", customType="x", content="The shop closes at six."),
        b.message("custom", "Mind the budget."),
        b.message("hookMessage", "Mind the budget."),
        b.message("developer", "Mind the budget."),
        b.message("fileMention", "lamp.md"),
    )

    assert prompts(found) == ["buy oil"]
    assert troubles(found) == []


def test_names_and_settings_are_of_the_session(tmp_path: Path) -> None:
    """The last of them holds."""
    found = items(
        tmp_path,
        b.entry("model_change", provider="openai", modelId="gpt-5"),
        b.entry("thinking_level_change", thinkingLevel="high"),
        b.entry("session_info", name="Crates"),
        b.entry("title_change", title="All crates"),
    )

    facts = of(SessionFacts, found)
    assert [fact.title for fact in facts if fact.title] == ["Crates", "All crates"]
    assert [fact.meta for fact in facts if fact.meta] == [
        {"provider": "openai", "model": "gpt-5"},
        {"thinking_level": "high"},
    ]


# The tree


def branched() -> list[dict[str, Any]]:
    """Red was asked for first; then somebody went back to the question and said blue."""
    return b.linked(
        b.user("paint the gate"),
        b.assistant("Which colour?"),
        b.user("red"),
        b.assistant("Red."),
        {**b.user("blue"), "parentId": "00000002"},
        b.assistant("Blue."),
    )


def test_a_branch_that_was_left_is_not_live(tmp_path: Path) -> None:
    """It stays in the log, and in the store, but not in the conversation."""
    found = read(b.log(tmp_path, [b.header(), *branched()]))

    assert prompts(found) == ["paint the gate", "red", "blue"]
    assert live_prompts(found) == ["paint the gate", "blue"]


def test_a_branch_can_be_taken_up_again(tmp_path: Path) -> None:
    """Going back to red leaves blue."""
    more = b.linked(
        {**b.user("red it is"), "parentId": "00000004"}, b.assistant("Red it stays."), first=7
    )

    found = read(b.log(tmp_path, [b.header(), *branched(), *more]))

    assert live_prompts(found) == ["paint the gate", "red", "red it is"]


def test_going_back_before_everything_leaves_everything(tmp_path: Path) -> None:
    """A second root is a conversation begun anew."""
    more = b.linked(
        {**b.user("start over"), "parentId": None}, b.assistant("A blank gate."), first=7
    )

    found = read(b.log(tmp_path, [b.header(), *branched(), *more]))

    assert live_prompts(found) == ["start over"]


def test_a_branch_off_what_an_earlier_pass_read_is_found(tmp_path: Path) -> None:
    """A checkpoint does not remember thousands of ids: the file is asked for the place again."""
    entries = branched()
    path = b.log(tmp_path, [b.header(), *entries[:4]])
    first = read(path)
    b.log(tmp_path, [b.header(), *entries])

    second = read(path, first[-1])

    assert prompts(second) == ["blue"]
    assert live_prompts([*first, *second]) == ["paint the gate", "blue"]


def test_what_is_spent_on_a_branch_that_was_left_is_spent(tmp_path: Path) -> None:
    """Tokens count whether or not their answer is still wanted."""
    found = read(b.log(tmp_path, [b.header(), *branched()]))

    assert spent(found) == (30, 300, 60, 15, 0)


def test_a_fork_shares_the_keys_of_what_it_copied(tmp_path: Path) -> None:
    """The store counts a call once, and knows the turns for the same."""
    entries = b.linked(b.user("paint the gate"), b.assistant("Which colour?"))
    b.log(tmp_path, [b.header(), *entries])
    parent = f"/home/ada/.pi/agent/sessions/--home-ada-shop--/{b.FILE}"
    b.log(
        tmp_path,
        [b.header("fork", parentSession=parent), *entries],
        name="2026-02-16T10-05-00-000Z_fork.jsonl",
    )

    told = everything(Pi(), tmp_path)

    assert {ref: session.parent for ref, session in told.items()} == {
        f"pi:{b.SESSION}": None,
        "pi:fork": f"pi:{b.SESSION}",
    }
    assert sum(session.tokens.output for session in told.values()) == 5


# Versions and descendants


def test_a_file_of_the_first_version_keeps_its_turns_when_it_is_brought_up_to_date(
    tmp_path: Path,
) -> None:
    """Pi gives ids to its entries and writes the file anew; nothing was said again by that."""
    entries = b.linked(
        b.user("sweep"),
        b.assistant("Swept."),
        b.user("sweep"),
        b.assistant("Again.", usage=b.spent(7)),
    )
    old = [
        {name: value for name, value in entry.items() if name not in ("id", "parentId")}
        for entry in entries
    ]
    b.log(tmp_path, [{**b.header(), "version": None}, *old])

    with imported(Pi(), tmp_path) as mind:
        before = mind.show(f"pi:{b.SESSION}")
        b.log(tmp_path, [b.header(), *entries])
        mind.import_logs([tmp_path])
        after = mind.show(f"pi:{b.SESSION}")

    assert [turn.prompt for turn in after.turn_list] == ["sweep", "sweep"]
    assert (after.tokens, after.turn_list) == (before.tokens, before.turn_list)


def test_a_title_may_stand_before_the_header(tmp_path: Path) -> None:
    """oh-my-pi keeps a line at the front for the title."""
    path = b.log(
        tmp_path,
        [{"type": "title", "title": "Oil"}, b.header(), *b.linked(b.user(), b.assistant())],
    )

    assert Pi().find_source(str(path), path.read_bytes()) == Source("pi", str(path))
    assert of(SessionFacts, read(path))[0] == SessionFacts(session=b.SESSION, title="Oil")


# Places


def test_the_roots_follow_the_environment() -> None:
    """Whoever moves Pi does not move those that were made from it."""
    default = [
        "/home/ada/.pi/agent/sessions",
        "/home/ada/.omp/agent/sessions",
        "/home/ada/.openclaw/agents",
    ]

    assert Pi().roots("/home/ada", {}) == default
    assert Pi().roots("/home/ada", {"PI_CODING_AGENT_DIR": "/srv/pi"}) == [
        "/srv/pi/sessions",
        *default[1:],
    ]
    assert Pi().roots("/home/ada", {"PI_CODING_AGENT_DIR": "~/pi"}) == [
        "/home/ada/pi/sessions",
        *default[1:],
    ]


def test_only_the_layout_of_pi_and_its_descendants_is_listed(tmp_path: Path) -> None:
    """Others have folders called sessions too."""
    own = b.log(tmp_path, [b.header()])
    claw = tmp_path / "agents" / "main" / "sessions" / "0c1a.jsonl"
    for path in (
        claw,
        own.with_name("0c1a.jsonl"),
        tmp_path / "sessions" / "0c1a.jsonl",
        tmp_path / "stray.jsonl",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert [source.path for source in Pi().sources(str(tmp_path))] == [str(own), str(claw)]
    assert [source.path for source in Pi().sources(str(tmp_path / "sessions"))] == [str(own)]
    assert [source.path for source in Pi().sources(str(tmp_path / "agents"))] == [str(claw)]


def test_logs_of_others_are_not_taken(corpus: Path) -> None:
    """Look-alikes exist."""
    assert list(taken_from_others(Pi(), corpus)) == []


# Growth and trouble


def test_a_half_written_line_waits_for_the_next_pass(tmp_path: Path) -> None:
    """The agent may be writing while we read; that is not a broken log."""
    entries = b.linked(
        b.user("sweep"), b.assistant("Swept."), b.user("mop"), b.assistant("Mopped.")
    )
    path = b.log(tmp_path, [b.header(), *entries])
    whole = path.read_text()
    path.write_text(whole[: whole.index("mop") + 1])

    first = read(path)
    path.write_text(whole)
    second = read(path, first[-1])

    assert (prompts(first), prompts(second)) == (["sweep"], ["mop"])
    assert [*first[:-1], *second[:-1]] == read(path)[:-1]


def test_a_state_that_cannot_be_read_means_reading_from_the_start(tmp_path: Path) -> None:
    """A checkpoint may come from another version, or be damaged."""
    path = b.log(tmp_path, [b.header(), *b.linked(b.user(), b.assistant())])

    assert read(path, Checkpoint(40, b"\xc1")) == read(path)


@pytest.mark.parametrize("wrong", [None, 7, [], {}, "", "x", [7], {"a": 1}])
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, wrong: Any) -> None:
    """Nobody promises us this format."""
    found = items(
        tmp_path,
        b.user("water the roses"),
        b.message("assistant", wrong, usage=wrong, stopReason=wrong),
        {"type": "message", "message": wrong},
        b.message("toolResult", wrong, toolCallId="toolu_1", isError=wrong),
        b.entry("compaction", summary=wrong),
        b.assistant(
            {"type": "toolCall", "id": wrong, "name": wrong, "arguments": wrong},
            "They are wet.",
            usage={"input": wrong},
        ),
    )

    assert prompts(found) == ["water the roses"]
    assert ("reply", "They are wet.") in said(found)
    assert authors(found) == ["human"]


def test_a_checkpoint_stays_small_whatever_the_log_says(tmp_path: Path) -> None:
    """Ids without end, and calls without answers."""
    endless = "x" * 100_000
    records = b.linked(
        b.user(),
        *(b.assistant(b.call(call_id="y" * 90 + str(number))) for number in range(400)),
        b.assistant(),
    )
    path = b.log(
        tmp_path,
        [
            b.header(endless),
            *records,
            {**b.user("mop"), "id": endless, "parentId": records[-1]["id"]},
        ],
    )

    found = read(path)

    assert prompts(found) == ["count the crates", "mop"]
    assert all(len(point.state) < 1 << 16 for point in of(Checkpoint, found))


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """New kinds of entries come with new versions; the rest is read."""
    path = b.log(
        tmp_path,
        [
            b.header(),
            *b.linked(
                b.user(), b.entry("dream"), b.entry("dream"), b.message("oracle"), b.assistant()
            ),
        ],
    )
    path.write_text(path.read_text() + "not json\n")

    found = read(path)

    assert prompts(found) == ["count the crates"]
    assert [(kind, count) for kind, _, count in troubles(found)] == [
        ("bad_line", 1),
        ("unknown", 2),
        ("unknown", 1),
    ]


def test_a_log_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    """Agents delete their logs while we look."""
    found = read(tmp_path / "gone.jsonl")

    assert [kind for kind, _, _ in troubles(found)] == ["unreadable"]
    assert isinstance(found[-1], Checkpoint)


def test_the_public_samples_are_read_whole(corpus: Path) -> None:
    """One real session of the first version, and a made-up one with a
    bad line and a type from the future.
    """
    told = everything(Pi(), corpus / "pi")

    assert {ref: len(session.turn_list) for ref, session in told.items()} == {
        "pi:d703a1a9-1b7b-4fb1-b512-c9738b1fe617": 88,
        "pi:pi-test-session-uuid": 2,
    }
