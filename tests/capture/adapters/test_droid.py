"""What the Droid adapter makes of a session, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.droid import Droid
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
from recollect.model.sessions import Tokens
from recollect.testing import everything, imported
from tests.builders import droid as b
from tests.capture.adapters.items import authors, of, prompts, said, taken_from_others, troubles


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Droid().read(Source("droid", str(path), appended=False), since))


def items(root: Path, *rows: dict[str, Any], beside: dict[str, Any] | None = None) -> list[Item]:
    """What a session of these rows gives, its start put before them."""
    return read(b.log(root, b.start(), *rows, beside=beside))


def test_a_turn_is_a_prompt_and_what_was_done_about_it(tmp_path: Path) -> None:
    """The common case, whole: prompt, thought, reply, call, result and the session's tokens."""
    found = items(
        tmp_path,
        b.user("<system-reminder>Today is Friday.</system-reminder>", "count the crates"),
        b.assistant({"type": "thinking", "thinking": "Look."}, "I look.", b.call()),
        b.user(b.result(is_error=False)),
        beside=b.settings(),
    )

    about: dict[str, Any] = {"session": b.SESSION, "turn": "m1"}
    at = b.START_MS
    meta = {"reasoning_effort": "high", "autonomy_mode": "auto-high", "assistant_active_ms": 60_000}
    assert found[:-1] == [
        SessionFacts(session=b.SESSION, cwd="/home/ada/shop", title="Crates", meta=meta),
        TurnFacts(**about, at=at + 1000, author="human"),
        Event(**about, kind="prompt", at=at + 1000, text="count the crates"),
        Event(**about, kind="reasoning", at=at + 2000, text="Look."),
        Event(**about, kind="reply", at=at + 2000, text="I look."),
        Event(
            **about,
            kind="tool_call",
            at=at + 2000,
            call="call_1",
            name="Execute",
            tool_kind="shell",
            target="ls crates",
            input={"command": "ls crates"},
        ),
        ToolResult(**about, call="call_1", at=at + 3000, output="one\ntwo", ok=True),
        Usage(
            **about,
            key=b.SESSION,
            model="claude-opus-4-5",
            at=at + 1000,
            input=100,
            cache_read=1000,
            cache_write=10,
            output=50,
            reasoning=20,
        ),
    ]


@pytest.mark.parametrize(
    ("output", "more", "expected"),
    [
        ("fine", {"is_error": False}, (True, None)),
        ("fine", {}, (None, None)),
        ("no\n\n[Process exited with code 2]", {"is_error": True}, (False, 2)),
        ("yes\n\n[Process exited with code 0]", {}, (True, 0)),
        ("Error: Command failed (exit code: 127)\nnot found", {}, (False, 127)),
    ],
)
def test_how_a_command_ended_is_read_from_its_result(
    tmp_path: Path, output: str, more: dict[str, Any], expected: tuple[bool | None, int | None]
) -> None:
    """Older versions say it in the text alone."""
    (result,) = of(
        ToolResult,
        items(tmp_path, b.user(), b.assistant(b.call()), b.user(b.result(output, **more))),
    )

    assert (result.ok, result.exit_code) == expected


def test_only_what_a_person_typed_is_a_prompt(tmp_path: Path) -> None:
    """Reminders, context for the model and notices come in the same role."""
    found = items(
        tmp_path,
        b.user("<system-reminder>House rules.</system-reminder>"),
        b.user("fix the gate"),
        b.user("[the files that are open]", visibility="llm_only"),
        b.user("Error: Connection error.", visibility="user_only"),
        b.user("Session saved.", visibility="user_only"),
    )

    assert said(found) == [("prompt", "fix the gate"), ("error", "Error: Connection error.")]


def test_the_totals_are_those_of_the_settings_whenever_they_come(tmp_path: Path) -> None:
    """They are written after the last line of an answer, so that the log is the same as before."""
    path = b.log(
        tmp_path,
        b.start(),
        b.user(),
        b.assistant(),
        beside=b.settings(tokenUsage={"inputTokens": 1}),
    )

    with imported(Droid(), tmp_path) as mind:
        path.with_name(f"{b.SESSION}.settings.json").write_text(json.dumps(b.settings()))
        report = mind.import_logs([tmp_path])
        session = mind.show(f"droid:{b.SESSION}")

    assert report.updated == 1
    assert session.tokens == Tokens(
        input=100, cache_read=1000, cache_write=10, output=50, reasoning=20
    )


def test_a_session_without_settings_has_no_tokens(tmp_path: Path) -> None:
    """An unknown figure is none."""
    assert of(Usage, items(tmp_path, b.user(), b.assistant())) == []


def test_totals_without_a_turn_are_not_told(tmp_path: Path) -> None:
    """There is nothing that they could belong to."""
    assert of(Usage, items(tmp_path, beside=b.settings())) == []


def test_a_subagent_is_a_session_of_its_own_below_its_caller(tmp_path: Path) -> None:
    """The one who wrote its task is an agent."""
    found = read(
        b.log(
            tmp_path,
            b.start("sub", callingSessionId=b.SESSION),
            b.user("Oil the hinge."),
            session="sub",
        )
    )

    (facts,) = of(SessionFacts, found)
    assert (facts.session, facts.parent, facts.origin) == (
        f"{b.SESSION}/sub",
        b.SESSION,
        "subagent",
    )
    assert authors(found) == ["agent"]


def test_a_fork_names_its_parent_and_keeps_the_keys_of_its_turns(tmp_path: Path) -> None:
    """It holds copies of the rows, with their ids."""
    parent = items(tmp_path, b.user(), b.assistant())
    fork = read(
        b.log(
            tmp_path,
            b.start("fork", parent=b.SESSION, forkedAtMessageId="m2"),
            b.user(),
            b.assistant(),
            session="fork",
        )
    )

    assert of(SessionFacts, fork)[0].parent == b.SESSION
    assert [facts.turn for facts in of(TurnFacts, fork)] == [
        facts.turn for facts in of(TurnFacts, parent)
    ]


def test_a_session_of_exec_is_headless(tmp_path: Path) -> None:
    """A tag in the settings says so."""
    found = items(tmp_path, b.user(), beside=b.settings(tags=[{"name": "exec"}]))

    assert of(SessionFacts, found)[0].origin == "headless"


def test_the_first_sessions_tell_their_folder_in_a_reminder(tmp_path: Path) -> None:
    """There was no field for it yet."""
    reminder = "<system-reminder>\n% pwd\n/home/ada/mill\n% ls\nwheel\n</system-reminder>"
    start = {"type": "session_start", "id": b.SESSION, "title": "New Session", "owner": "ada"}

    found = read(b.log(tmp_path, start, b.user(reminder, "grind")))

    assert [facts.cwd for facts in of(SessionFacts, found)] == [None, "/home/ada/mill"]
    assert prompts(found) == ["grind"]


# Places


def test_the_root_follows_the_environment() -> None:
    """The variable stands in for the home folder, not for the agent's."""
    assert Droid().roots("/home/ada", {}) == ["/home/ada/.factory/sessions"]
    assert Droid().roots("/home/ada", {"FACTORY_HOME_OVERRIDE": "/srv"}) == [
        "/srv/.factory/sessions"
    ]


def test_only_the_layout_of_droid_is_listed(tmp_path: Path) -> None:
    """Others name files by ids too; straight in the folder, settings tell which are ours."""
    nested = b.log(tmp_path, b.start())
    flat = tmp_path / "sessions" / f"{b.SESSION[:-1]}b.jsonl"
    flat.touch()
    flat.with_name(f"{b.SESSION[:-1]}b.settings.json").touch()
    for foreign in (
        flat.with_name(f"{b.SESSION[:-1]}c.jsonl"),
        nested.with_name("rollout.jsonl"),
        tmp_path / nested.name,
    ):
        foreign.touch()

    assert [source.path for source in Droid().sources(str(tmp_path))] == [str(flat), str(nested)]
    settings = str(nested).replace(".jsonl", ".settings.json")
    assert list(Droid().sources(str(tmp_path)))[1] == Source(
        "droid", str(nested), (settings,), appended=False
    )


def test_in_the_own_folder_an_old_session_needs_no_settings(tmp_path: Path) -> None:
    """The first versions did not write any."""
    flat = tmp_path / ".factory" / "sessions" / f"{b.SESSION}.jsonl"
    flat.parent.mkdir(parents=True)
    flat.touch()

    assert [source.path for source in Droid().sources(str(flat.parent))] == [str(flat)]


def test_a_single_file_is_known_by_its_first_line(tmp_path: Path) -> None:
    """What `droid exec` prints is another format, and not kept by the tool."""
    path = b.log(tmp_path, b.start(), b.user())
    printed = b'{"type":"system","subtype":"init","session_id":"s","cwd":"/tmp","model":"m"}\n'
    other = b'{"type":"session_start","id":"s","cwd":"/tmp","model":"m"}\n'

    assert Droid().find_source(str(path), path.read_bytes()) is not None
    assert Droid().find_source(str(path), printed) is None
    assert Droid().find_source(str(path), other) is None


def test_logs_of_others_are_not_taken(corpus: Path) -> None:
    """Look-alikes exist."""
    assert list(taken_from_others(Droid(), corpus)) == []


# Growth and trouble


def test_a_session_that_grows_gives_what_it_gives_at_once(tmp_path: Path) -> None:
    """It is read whole each time, and a turn that comes again is the same turn."""
    path = b.log(
        tmp_path,
        b.start(),
        b.user(),
        b.assistant(b.call()),
        b.user(b.result()),
        b.assistant(),
        beside=b.settings(),
    )
    whole = path.read_text()
    path.write_text(whole[: whole.index("tool_result")])

    with imported(Droid(), tmp_path) as mind:
        path.write_text(whole)
        mind.import_logs([tmp_path])
        grown = mind.show(f"droid:{b.SESSION}")

    assert grown == everything(Droid(), tmp_path)[f"droid:{b.SESSION}"]


@pytest.mark.parametrize("wrong", [None, 7, [], {}, "", [7], {"a": 1}, 1e308])
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, wrong: Any) -> None:
    """Nobody promises us this format."""
    found = items(
        tmp_path,
        b.user("water the roses"),
        {"type": "message", "message": wrong},
        b.message(
            "assistant",
            {"type": "tool_use", "id": wrong, "name": wrong, "input": wrong},
            "They are wet.",
        ),
        b.user(b.result(wrong, is_error=wrong)),
        {"type": "compaction_state", "summary": wrong},
        beside=b.settings(
            tokenUsage={"inputTokens": wrong, "thinkingTokens": wrong}, tags=wrong, model=wrong
        ),
    )

    assert prompts(found) == ["water the roses"]
    assert ("reply", "They are wet.") in said(found)


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """New kinds of rows come with new versions; the rest is read."""
    path = b.log(
        tmp_path,
        b.start(),
        b.user(),
        {"type": "dream"},
        {"type": "dream"},
        b.assistant({"type": "smell"}),
        beside={},
    )
    path.write_text(path.read_text() + "not json\n")
    path.with_name(f"{b.SESSION}.settings.json").write_text("{")

    found = read(path)

    assert prompts(found) == ["count the crates"]
    assert [(kind, count) for kind, _, count in troubles(found)] == [
        ("bad_line", 1),
        ("bad_record", 1),
        ("unknown", 2),
        ("unknown", 1),
    ]


def test_a_log_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    """Agents delete their logs while we look."""
    found = read(tmp_path / "gone.jsonl")

    assert [kind for kind, _, _ in troubles(found)] == ["unreadable"]
    assert found[-1] == Checkpoint(0)


def test_the_public_samples_are_read_whole(corpus: Path) -> None:
    """Three stores of sessions; what `exec` prints is passed by."""
    told = everything(Droid(), corpus / "droid")

    assert {ref: len(session.turn_list) for ref, session in told.items()} == {
        "droid:droid_s1": 1,
        "droid:droid_large": 2,
        "droid:droid_drift": 1,
    }
