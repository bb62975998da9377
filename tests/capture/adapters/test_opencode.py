"""What the OpenCode adapter makes of a database and of the files before it, fact by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.capture.adapters.opencode import OpenCode
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
)
from recollect.model.sessions import Tokens
from recollect.testing import everything, imported
from tests.builders import opencode as b
from tests.capture.adapters.items import of, said, taken_from_others

# What `opencode run` must not do.
DENIED = [
    {"permission": name, "pattern": "*", "action": "deny"}
    for name in ("question", "plan_enter", "plan_exit")
]


def read(source: Source, since: Checkpoint | None = None) -> list[Item]:
    return list(OpenCode().read(source, since))


def database(path: Path) -> Source:
    return next(
        source for source in OpenCode().sources(str(path.parent)) if source.path == str(path)
    )


def items(tmp_path: Path, *messages: b.Fields, **session: Any) -> list[Item]:
    """What a session of these messages gives, in a database."""
    return read(
        database(b.write_database(tmp_path / "opencode.db", (b.session(**session), list(messages))))
    )


def spent(found: list[Item]) -> list[tuple[int, int, int, int, int]]:
    return [(u.input, u.cache_read, u.cache_write, u.output, u.reasoning) for u in of(Usage, found)]


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought,
    call with its result, reply, tokens.
    """
    asked = b.user(1, "water the roses")
    done = b.assistant(
        2,
        b.thought("They look dry."),
        b.tool("bash", {"command": "pump --on"}, "pumping", metadata={"exit": 0}),
        "They are wet.",
        to=asked,
        tokens=b.tokens(10, 8, 3, 900, 50),
        cost=0.02,
    )

    found = items(tmp_path, asked, done)

    at = {"session": b.SESSION, "turn": asked["id"]}
    assert found[:-1] == [
        SessionFacts(
            whole=True,
            session=b.SESSION,
            origin="interactive",
            cwd="/home/ada/garden",
            title="Watering the garden",
            started_at=b.START,
            agent_version="1.1.30",
            meta={"agent": "build", "provider": "anthropic"},
        ),
        TurnFacts(**at, at=b.clock(1), author="human"),
        Event(**at, kind="prompt", at=b.clock(1), text="water the roses"),
        Event(**at, kind="reasoning", at=b.clock(2), text="They look dry."),
        Event(
            **at,
            kind="tool_call",
            at=b.clock(2),
            call="call_1",
            name="bash",
            tool_kind="shell",
            target="pump --on",
            input={"command": "pump --on"},
            output="pumping",
            ok=True,
            exit_code=0,
            duration_ms=500,
        ),
        Event(**at, kind="reply", at=b.clock(2), text="They are wet."),
        Usage(
            **at,
            key=done["id"],
            model="claude-sonnet-4-5",
            at=b.clock(2),
            input=10,
            cache_read=900,
            cache_write=50,
            output=8,
            reasoning=3,
            cost_usd=0.02,
        ),
        TurnFacts(**at, telemetry={"stop_reason": "stop", "duration_ms": 2000}),
    ]
    assert isinstance(found[-1], Checkpoint)


# Who a session is -----------------------------------------------------------------


def test_a_sub_agent_is_a_session_of_its_parent_and_is_asked_by_the_agent(tmp_path: Path) -> None:
    found = items(tmp_path, b.user(1, "find the hose"), id_="ses_child", parentID="ses_parent")

    assert of(SessionFacts, found)[0].session == "ses_parent/ses_child"
    assert of(SessionFacts, found)[0].parent == "ses_parent"
    assert of(SessionFacts, found)[0].origin == "subagent"
    assert of(TurnFacts, found)[0].author == "agent"


def test_a_run_without_a_terminal_is_known_by_what_it_must_not_ask(tmp_path: Path) -> None:
    """`opencode run` forbids questions and plan mode when it creates
    its session (since February 2026).
    """
    found = items(tmp_path, b.user(1, "hi"), permission=DENIED)

    assert of(SessionFacts, found)[0].origin == "headless"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"is it there?"', "is it there?"),
        ('"is \\"it\\" there?"', 'is "it" there?'),
        ('look "for it" there', 'look "for it" there'),
        ('"for it" and "for her"', '"for it" and "for her"'),
        ('"it"', '"it"'),
        ('"', '"'),
    ],
)
def test_what_was_given_to_a_run_is_told_without_its_quotes(
    tmp_path: Path, text: str, expected: str
) -> None:
    """`opencode run` puts quotes around every argument with a space in it."""
    found = items(tmp_path, b.user(1, text), permission=DENIED)

    assert [event.text for event in of(Event, found)] == [expected]


@pytest.mark.parametrize(
    "title", ["New session - 2026-02-02T02:40:00.000Z", "Child session - 2026-02-02T02:40:00.000Z"]
)
def test_a_title_that_nobody_gave_is_none(tmp_path: Path, title: str) -> None:
    found = items(tmp_path, b.user(1, "hi"), title=title)

    assert of(SessionFacts, found)[0].title is None


def test_a_session_without_messages_is_not_told(tmp_path: Path) -> None:
    assert [type(item) for item in items(tmp_path)] == [Checkpoint]


# Who speaks -----------------------------------------------------------------------


def test_synthetic_messages_belong_to_the_turn_that_goes_on(tmp_path: Path) -> None:
    """After a compaction OpenCode tells itself to continue, in the user's name."""
    asked = b.user(1, "plant the beds")
    squeezed = b.user(10, {"type": "compaction", "auto": True})
    on = b.user(12, b.text("Continue if you have next steps", synthetic=True))

    found = items(
        tmp_path,
        asked,
        squeezed,
        b.assistant(11, "Two of three beds are planted.", to=squeezed, summary=True),
        on,
        b.assistant(13, "All are planted.", to=on),
    )

    assert said(found) == [
        ("prompt", "plant the beds"),
        ("compaction", "Two of three beds are planted."),
        ("reply", "All are planted."),
    ]
    assert {item.turn for item in of(Event, found)} == {asked["id"]}


@pytest.mark.parametrize(
    ("fault", "prompts"),
    [
        (None, ["hello", "plant this"]),
        ({"name": "APIError"}, ["hello", "plant this", "plant this"]),
    ],
)
def test_a_prompt_that_did_not_fit_is_repeated_and_is_one(
    tmp_path: Path, fault: b.Fields | None, prompts: list[str]
) -> None:
    """Since March 2026 OpenCode sends it again after the compaction, without its pictures.

    Else a person did.
    """
    squeezed = b.user(10, {"type": "compaction", "auto": True, "overflow": True})
    again = b.user(12, "plant this", "[Attached image/png: rose.png]")

    found = items(
        tmp_path,
        b.user(1, "hello"),
        b.user(2, "plant this", {"type": "file", "mime": "image/png", "filename": "rose.png"}),
        squeezed,
        b.assistant(11, "We greeted.", to=squeezed, summary=True, error=fault),
        again,
        b.assistant(13, "Planted.", to=again),
    )

    assert [text.split("\n")[0] for kind, text in said(found) if kind == "prompt"] == prompts
    assert said(found)[-1] == ("reply", "Planted.")


def test_synthetic_and_ignored_parts_are_not_what_a_person_wrote(tmp_path: Path) -> None:
    reminder = b.text("<system-reminder>plan mode</system-reminder>", synthetic=True)

    found = items(tmp_path, b.user(1, "look", reminder, b.text("shown only", ignored=True)))

    assert said(found) == [("prompt", "look")]


def test_a_command_that_a_person_ran_is_their_prompt(tmp_path: Path) -> None:
    ran = b.user(1, b.text("The following tool was executed by the user", synthetic=True))

    found = items(tmp_path, ran, b.assistant(2, b.tool("bash", {"command": "ls"}, "roses"), to=ran))

    assert said(found) == [("prompt", "!ls"), ("tool_call", "ls")]
    assert of(TurnFacts, found)[0].author == "human"


def test_a_picture_is_a_mark_and_a_file_named_in_the_text_is_not_named_twice(
    tmp_path: Path,
) -> None:
    named = {
        "type": "file",
        "mime": "text/plain",
        "filename": "plan.md",
        "source": {"text": {"value": "@plan.md"}},
    }
    picture = {
        "type": "file",
        "mime": "image/png",
        "filename": "rose.png",
        "url": "data:image/png;base64,AAAA",
    }

    found = items(tmp_path, b.user(1, "follow @plan.md", named, picture))

    assert said(found) == [("prompt", "follow @plan.md\n[rose.png]")]


def test_an_answer_goes_to_the_prompt_that_it_names(tmp_path: Path) -> None:
    """A second prompt may be sent while the first one is still being answered."""
    first, second = b.user(1, "one"), b.user(2, "two")

    found = items(
        tmp_path,
        first,
        second,
        b.assistant(3, "to one", to=first),
        b.assistant(4, "to two", to=second),
    )

    assert [(item.turn, item.text) for item in of(Event, found) if item.kind == "reply"] == [
        (first["id"], "to one"),
        (second["id"], "to two"),
    ]


def test_errors_and_aborts_are_told_apart(tmp_path: Path) -> None:
    asked = b.user(1, "go")

    found = items(
        tmp_path,
        asked,
        b.assistant(2, to=asked, error={"name": "APIError", "data": {"message": "Overloaded"}}),
        b.assistant(
            3, to=asked, error={"name": "MessageAbortedError", "data": {"message": "Aborted"}}
        ),
        b.assistant(4, to=asked, error={"name": "MessageOutputLengthError", "data": {}}),
    )

    assert said(found)[1:] == [
        ("error", "Overloaded"),
        ("abort", "Aborted"),
        ("error", "MessageOutputLengthError"),
    ]


# Tools ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "ok", "output"),
    [
        ({"status": "completed", "output": ""}, True, ""),
        ({"status": "completed", "output": "no", "metadata": {"exit": 2}}, False, "no"),
        ({"status": "error", "error": "not found"}, False, "not found"),
        ({"status": "running"}, None, None),
        ({"status": "pending", "raw": "{"}, None, None),
    ],
)
def test_a_call_is_good_when_it_completed_and_its_command_did(
    tmp_path: Path, state: b.Fields, ok: bool | None, output: str | None
) -> None:
    asked = b.user(1, "go")
    call = {
        "type": "tool",
        "tool": "bash",
        "callID": "c",
        "state": {"input": {"command": "x"}, **state},
    }

    found = items(tmp_path, asked, b.assistant(2, call, to=asked))

    assert [
        (event.ok, event.output) for event in of(Event, found) if event.kind == "tool_call"
    ] == [(ok, output)]


def test_an_edit_is_told_in_the_words_that_others_use(tmp_path: Path) -> None:
    """What changed is found by these words, whoever made the change."""
    asked = b.user(1, "go")
    edit = b.tool("edit", {"filePath": "/a.py", "oldString": "x", "newString": "y"}, call="1")
    several = b.tool(
        "multiedit",
        {"filePath": "/a.py", "edits": [{"oldString": "x", "newString": "y"}]},
        call="2",
    )
    patch = b.tool(
        "apply_patch", {"patchText": "*** Begin Patch\n*** Add File: b.py\n+y"}, call="3"
    )

    found = items(tmp_path, asked, b.assistant(2, edit, several, patch, to=asked))

    calls = [event for event in of(Event, found) if event.kind == "tool_call"]
    assert [call.target for call in calls] == ["/a.py", "/a.py", "b.py"]
    assert [call.input for call in calls] == [
        {"filePath": "/a.py", "old_string": "x", "new_string": "y"},
        {"filePath": "/a.py", "edits": [{"old_string": "x", "new_string": "y"}]},
        {"patch": "*** Begin Patch\n*** Add File: b.py\n+y"},
    ]


# Tokens ---------------------------------------------------------------------------


def test_the_steps_of_a_message_are_added_up(tmp_path: Path) -> None:
    """A message holds the tokens of its last step only, though the cost of all of them."""
    asked = b.user(1, "go")
    steps = (b.step(b.tokens(10, 1, 0, 5)), b.step(b.tokens(20, 2, 0, 6)))

    found = items(
        tmp_path, asked, b.assistant(2, *steps, to=asked, tokens=b.tokens(20, 2, 0, 6), cost=0.03)
    )

    assert spent(found) == [(30, 11, 0, 3, 0)]
    assert of(Usage, found)[0].cost_usd == 0.03


@pytest.mark.parametrize(
    ("used", "second", "output"),
    [
        (b.tokens(10, 8, 3), 2, 8),
        (b.tokens(10, 8, 3, total=18), 2, 8),
        (b.tokens(10, 5, 3, total=18), 2, 8),
        (b.tokens(10, 5, 3), 6_000_000, 8),
        (b.tokens(10, 2, 6), 2, 8),
    ],
    ids=[
        "before April 2026",
        "the total has it",
        "the total lacks it",
        "after April 2026",
        "more thoughts than words",
    ],
)
def test_output_includes_reasoning_whatever_the_version(
    tmp_path: Path, used: b.Fields, second: int, output: int
) -> None:
    """The figure was with the reasoning until 1.3.15, and without it since."""
    asked = b.user(1, "go")

    found = items(tmp_path, asked, b.assistant(second, "ok", to=asked, tokens=used))

    assert [figures[3] for figures in spent(found)] == [output]


def test_a_cost_of_nothing_is_not_known(tmp_path: Path) -> None:
    """Those who pay by the month have 0 there."""
    asked = b.user(1, "go")

    found = items(tmp_path, asked, b.assistant(2, "ok", to=asked, cost=0))

    assert of(Usage, found)[0].cost_usd is None


# Reverts and forks ----------------------------------------------------------------


def test_what_was_taken_back_is_told_and_not_live(tmp_path: Path) -> None:
    kept, undone, after = b.user(1, "one"), b.user(10, "two"), b.user(20, "three")
    messages = [kept, b.assistant(2, to=kept), undone, b.assistant(11, to=undone), after]

    found = items(tmp_path, *messages, revert={"messageID": undone["id"]})

    assert of(Liveness, found) == [
        Liveness(session=b.SESSION, turn=one["id"], live=False) for one in (undone, after)
    ]


def test_a_turn_that_was_taken_back_in_part_is_live(tmp_path: Path) -> None:
    kept, undone = b.user(1, "one"), b.user(10, "two")
    answer = b.assistant(2, "First.", "Second.", to=kept)

    found = items(
        tmp_path,
        kept,
        answer,
        undone,
        revert={"messageID": answer["id"], "partID": answer["parts"][1]["id"]},
    )

    assert of(Liveness, found) == [Liveness(session=b.SESSION, turn=undone["id"], live=False)]


def test_a_fork_has_the_turns_of_its_origin_and_counts_only_its_own_tokens(tmp_path: Path) -> None:
    """A fork's messages are copies with new ids and old times; it does not say whose."""
    asked = b.user(1, "plant a tree")
    answer = b.assistant(2, "Planted.", to=asked, tokens=b.tokens(10, 5))
    copies = [dict(asked), dict(answer)]
    for number, copy in enumerate(copies, start=1):
        copy |= {
            "id": b.identifier("msg", b.clock(100), number),
            "parts": [b.text(part["text"]) for part in copy["parts"]],
        }
        copy["parts"][0]["id"] = b.identifier("prt", b.clock(100), number)
        copies[number - 1] = copy
    copies[1]["parentID"] = copies[0]["id"]
    own = b.user(101, "and a hedge")
    more = b.assistant(102, "Done.", to=own, tokens=b.tokens(20, 7))
    fork = b.session("ses_fork", time={"created": b.clock(100), "updated": b.clock(160)})

    path = b.write_database(
        tmp_path / "opencode.db", (b.session(), [asked, answer]), (fork, [*copies, own, more])
    )
    found = [item for item in read(database(path)) if getattr(item, "session", "") == "ses_fork"]

    assert of(SessionFacts, found)[0].parent == b.SESSION
    assert [item.turn for item in of(Event, found) if item.kind == "prompt"] == [
        asked["id"],
        own["id"],
    ]
    assert [item.key for item in of(Usage, found)] == [more["id"]]


# A database that grows ------------------------------------------------------------


def test_only_the_session_that_went_on_is_read_again(tmp_path: Path) -> None:
    old, new = (
        b.session("ses_old", time={"created": b.START, "updated": b.clock(10)}),
        b.session("ses_new"),
    )
    path = b.write_database(
        tmp_path / "opencode.db", (old, [b.user(1, "one")]), (new, [b.user(2, "two")])
    )
    *_, point = read(database(path))
    assert isinstance(point, Checkpoint)

    b.write_database(path, (new, [b.user(100, "three")]), updated=b.clock(100))
    found = read(database(path), point)

    assert said(found) == [("prompt", "two"), ("prompt", "three")]


def test_a_call_that_ended_meanwhile_is_told_with_its_result(tmp_path: Path) -> None:
    """Parts are rewritten in place: no new row tells of it."""
    asked = b.user(1, "go")
    answer = b.assistant(2, b.tool("bash", {"command": "make"}, None), to=asked)
    path = b.write_database(tmp_path / "opencode.db", (b.session(), [asked, answer]))
    with imported(OpenCode(), tmp_path) as mind:
        answer["parts"][0]["state"] |= {"status": "completed", "output": "built"}
        b.write_database(path, (b.session(), [asked, answer]), updated=b.clock(200))
        mind.import_logs([tmp_path])

        shown: Any = mind.show(f"opencode:{b.SESSION}")

    assert [event.output for event in shown.turn_list[0].events if event.kind == "tool_call"] == [
        "built"
    ]


def test_a_part_of_a_new_type_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    asked = b.user(1, "go")

    found = items(
        tmp_path,
        asked,
        b.assistant(2, "ok", {"type": "hologram"}, {"type": "hologram"}, {"type": []}, to=asked),
    )

    assert said(found) == [("prompt", "go"), ("reply", "ok")]
    assert [(problem.reason, problem.count) for problem in of(Problem, found)] == [
        ("part of the type hologram", 2),
        ("part of the type []", 1),
    ]


def test_fields_of_the_wrong_type_cost_no_more_than_themselves(tmp_path: Path) -> None:
    asked = b.user(1, "go", time={"created": "soon"}, agent=7)
    wrong = b.assistant(
        2, "ok", to=asked, path=[], tokens=3, cost="free", error="no", model=1, summary="x"
    )
    path = b.write_database(tmp_path / "opencode.db", (b.session(), [b.user(0, "first")]))
    with apsw.Connection(str(path)) as connection:
        for message in (asked, wrong):
            message["time"] = {"created": b.START}
        connection.execute(
            "update session set revert = 'x', permission = '{', summary_files = 'many'"
        )
    b.write_database(path, (b.session(), [asked, wrong]))

    found = read(database(path))

    assert said(found) == [("prompt", "first"), ("prompt", "go"), ("reply", "ok")]
    assert of(Problem, found) == []


def test_a_row_without_data_costs_that_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(b, "SCHEMA", b.SCHEMA.replace(" not null", ""))
    path = b.write_database(
        tmp_path / "opencode.db", (b.session(), [b.user(1, "hi"), b.user(2, "ho")])
    )
    with apsw.Connection(str(path)) as connection:
        connection.execute("insert into message values ('msg_0', ?, 1, 1, null)", (b.SESSION,))
        connection.execute(
            "insert into part values ('prt_0', 'msg_0', ?, 1, 1, null)", (b.SESSION,)
        )

    found = read(database(path))

    assert said(found) == [("prompt", "hi"), ("prompt", "ho")]
    assert [problem.kind for problem in of(Problem, found)] == ["bad_record", "bad_record"]


def test_a_table_without_the_newer_columns_is_read(tmp_path: Path) -> None:
    path = b.write_database(tmp_path / "opencode.db", (b.session(), [b.user(1, "hi")]))
    with apsw.Connection(str(path)) as connection:
        for column in (
            "permission",
            "revert",
            "summary_additions",
            "summary_deletions",
            "summary_files",
            "parent_id",
        ):
            connection.execute(f"alter table session drop column {column}")

    assert said(read(database(path))) == [("prompt", "hi")]


def test_a_file_that_is_no_database_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"not a database at all")

    assert read(database(path)) == [
        Problem(path=str(path), kind="unreadable", reason="not a SQLite file"),
        Checkpoint(0),
    ]


# Files ----------------------------------------------------------------------------


def test_files_give_what_a_database_gives(tmp_path: Path) -> None:
    """The files were copied into the database once: the same session must not look different."""
    asked = b.user(1, "water the roses")
    messages = [
        asked,
        b.assistant(
            2, b.tool("bash", {"command": "pump"}, "on"), "Done.", b.step(b.tokens(3, 4)), to=asked
        ),
    ]
    b.write_files(tmp_path / "files", b.session(), *messages)
    path = b.write_database(tmp_path / "base" / "opencode.db", (b.session(), messages))

    [source] = OpenCode().sources(str(tmp_path / "files"))

    assert read(source)[:-1] == read(database(path))[:-1]
    assert (source.rank, database(path).rank) == (1, 0)


def test_a_session_in_both_places_is_told_by_the_database_and_counted_once(tmp_path: Path) -> None:
    asked = b.user(1, "first")
    answer = b.assistant(2, "Yes.", to=asked, tokens=b.tokens(10, 5))
    later = b.user(50, "then")
    b.write_files(tmp_path, b.session(), asked, answer)
    b.write_files(tmp_path, b.session("ses_left_behind"), b.user(3, "only in files"))
    b.write_database(tmp_path / "opencode.db", (b.session(), [asked, answer, later]))

    told = everything(OpenCode(), tmp_path)

    assert [turn.prompt for turn in told[f"opencode:{b.SESSION}"].turn_list if turn.live] == [
        "first",
        "then",
    ]
    assert [turn.prompt for turn in told["opencode:ses_left_behind"].turn_list] == ["only in files"]
    assert told[f"opencode:{b.SESSION}"].tokens == Tokens(input=10, output=5)


def test_a_part_that_is_rewritten_in_place_is_noticed(tmp_path: Path) -> None:
    """Neither the folder of messages nor that of parts looks any different then."""
    asked = b.user(1, "go")
    answer = b.assistant(2, "Wor", to=asked)
    b.write_files(tmp_path, b.session(), asked, answer)
    with imported(OpenCode(), tmp_path) as mind:
        answer["parts"][0]["text"] = "Working."
        b.write_files(tmp_path, b.session(), asked, answer)
        mind.import_logs([tmp_path])

        shown: Any = mind.show(f"opencode:{b.SESSION}")

    assert shown.turn_list[0].reply == "Working."


def test_a_session_is_not_read_when_only_another_one_changed(tmp_path: Path) -> None:
    """All sessions share one folder of parts."""
    b.write_files(tmp_path, b.session("ses_a"), b.user(1, "one"))
    [source] = OpenCode().sources(str(tmp_path))
    *_, point = read(source)
    assert isinstance(point, Checkpoint)

    b.write_files(tmp_path, b.session("ses_b"), b.user(5, "two"))

    assert read(source, point) == [point]


def test_a_file_that_is_cut_short_is_a_problem_and_what_answers_it_waits(tmp_path: Path) -> None:
    asked, again = b.user(1, "one"), b.user(10, "two")
    b.write_files(
        tmp_path,
        b.session(),
        asked,
        b.assistant(2, "to one", to=asked),
        again,
        b.assistant(11, "to two", to=again),
    )
    path = tmp_path / "storage" / "message" / b.SESSION / f"{again['id']}.json"
    path.write_bytes(path.read_bytes()[:30])

    [source] = OpenCode().sources(str(tmp_path))
    found = read(source)

    assert said(found) == [("prompt", "one"), ("reply", "to one")]
    assert [(problem.path, problem.kind) for problem in of(Problem, found)] == [
        (str(path), "bad_record")
    ]


def test_an_id_does_not_lead_out_of_the_folder_of_parts(tmp_path: Path) -> None:
    """Only the source and its companions are read, whatever a file says."""
    asked = b.user(1, "go")
    b.write_files(tmp_path, b.session(), asked)
    path = tmp_path / "storage" / "message" / b.SESSION / f"{asked['id']}.json"
    path.write_text(path.read_text().replace(asked["id"], "../../secrets"))
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key.json").write_text('{"type": "text", "text": "open sesame"}')

    [source] = OpenCode().sources(str(tmp_path))

    assert said(read(source)) == [("prompt", "go")]


def test_old_files_are_watched_less_closely_once_there_is_a_database(tmp_path: Path) -> None:
    """Nobody writes to them any more, and there may be very many."""
    b.write_files(tmp_path, b.session(), b.user(1, "hi"))
    [alone] = OpenCode().sources(str(tmp_path))
    b.write_database(tmp_path / "opencode.db")
    _, beside = OpenCode().sources(str(tmp_path))

    assert len(beside.companions) == 2
    assert beside.companions == alone.companions[:2]
    assert len(alone.companions) > 2


# Where logs are -------------------------------------------------------------------


def test_the_environment_moves_the_data_folder() -> None:
    adapter = OpenCode()

    assert adapter.roots("/home/ada", {}) == ["/home/ada/.local/share/opencode"]
    assert adapter.roots("/home/ada", {"XDG_DATA_HOME": "/data"}) == ["/data/opencode"]
    assert adapter.roots("/home/ada", {"OPENCODE_DB": ":memory:"}) == [
        "/home/ada/.local/share/opencode"
    ]


@pytest.mark.parametrize("named", ["notes.db", "/elsewhere/notes.db"])
def test_the_environment_names_a_database(tmp_path: Path, named: str) -> None:
    """A name without a folder is one in the data folder."""
    data = tmp_path / ".local" / "share" / "opencode"
    path = tmp_path / named.lstrip("/") if named.startswith("/") else data / named
    b.write_database(path)
    adapter = OpenCode()

    roots = adapter.roots(
        str(tmp_path), {"OPENCODE_DB": str(path) if named.startswith("/") else named}
    )

    assert [source.path for root in roots for source in adapter.sources(root)][-1:] == [str(path)]


def test_a_database_is_known_anywhere_by_its_tables(tmp_path: Path) -> None:
    path = b.write_database(tmp_path / "copy.db", (b.session(), []))

    assert OpenCode().find_source(str(path), path.read_bytes()[:4096]) == Source(
        "opencode", str(path), (f"{path}-wal",), appended=False
    )


def test_the_go_program_of_the_same_name_is_not_ours(tmp_path: Path) -> None:
    """Its database has the same name, in the folder of a project."""
    path = tmp_path / ".opencode" / "opencode.db"
    path.parent.mkdir()
    with apsw.Connection(str(path)) as connection:
        connection.execute("create table sessions (id, parent_session_id, updated_at)")
        connection.execute("create table messages (id, session_id, role, parts, updated_at)")

    assert list(OpenCode().sources(str(path.parent))) == []
    assert OpenCode().find_source(str(path), path.read_bytes()[:4096]) is None


def test_a_session_file_is_known_by_its_place_and_its_fields(tmp_path: Path) -> None:
    path = b.write_files(tmp_path, b.session(), b.user(1, "hi"))
    message = next((tmp_path / "storage" / "message").rglob("*.json"))
    stray = tmp_path / "notes" / path.name
    stray.parent.mkdir()
    stray.write_bytes(path.read_bytes())

    found = {
        file: OpenCode().find_source(str(file), file.read_bytes())
        for file in (path, message, stray)
    }

    [listed] = OpenCode().sources(str(tmp_path))
    assert found == {path: listed, message: None, stray: None}


def test_logs_of_other_agents_are_not_ours(corpus: Path) -> None:
    assert list(taken_from_others(OpenCode(), corpus)) == []


def test_public_samples_are_read_without_a_problem(corpus: Path) -> None:
    with imported(OpenCode(), corpus / "opencode") as mind:
        problems = [problem for report in mind.source_reports for problem in report.problems]
        sessions = list(mind.sessions())

    assert problems == []
    assert len(sessions) == 5
