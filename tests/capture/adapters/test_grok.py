"""What the Grok adapter makes of a Grok Build session, fact by fact.

Its other half is in test_grok_cli.py.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters import get_adapter
from recollect.capture.adapters.grok import Grok
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Problem,
    SessionFacts,
    Source,
    TurnFacts,
    Usage,
)
from recollect.testing import everything
from tests.builders import grok as b
from tests.capture.adapters.items import (
    live_prompts,
    of,
    prompts,
    said,
    spent,
    taken_from_others,
    troubles,
)

START = b.START_MS


def source_of(root: Path, session: str = b.SESSION) -> Source:
    """A session's source, as listing a home finds it."""
    return next(
        source for source in Grok().sources(str(root)) if os.path.basename(source.path) == session
    )


def read(root: Path, session: str = b.SESSION) -> list[Item]:
    return list(Grok().read(source_of(root, session), None))


def items(root: Path, *updates: b.Line, **more: Any) -> list[Item]:
    """What a session with these updates gives."""
    b.folder(root, updates=updates, **more)
    return read(root)


def chatted(root: Path, *chat: b.Line, **more: Any) -> list[Item]:
    """What a session with a chat and no updates gives."""
    b.folder(root, chat=chat, **more)
    return read(root)


def call_in(found: list[Item]) -> Event:
    """The one tool call there is."""
    (call,) = [event for event in of(Event, found) if event.kind == "tool_call"]
    assert isinstance(call, Event)
    return call


def undone(found: list[Item]) -> list[str]:
    """The prompts that are no longer part of the conversation."""
    live = live_prompts(found)
    return [prompt for prompt in prompts(found) if prompt not in live]


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: updates tell the course, the chat what was
    given back, the events how long it took.
    """
    found = items(
        tmp_path,
        b.user("count the crates", 1, modelId="grok-4.5"),
        b.thinks("In the ", 2),
        b.thinks("yard.", 2.1),
        b.calls("c1", "run_terminal_command", {"command": "ls yard"}, 3),
        b.answered("c1", "crate …", 4),
        b.says("One.", 5),
        b.billed(
            6,
            tokens=b.tokens(
                1000, 600, 50, reasoningTokens=20, costUsdTicks=91_000_000, modelCalls=2
            ),
        ),
        chat=[
            b.asked(),
            b.chat_says("", ("c1", "run_terminal_command", {"command": "ls yard"})),
            b.chat_result("c1", "crate\n"),
        ],
        events=[
            b.event("turn_started", 0.9, turn_number=0),
            b.tool_took("c1", 40),
            b.event("turn_ended", 6, outcome="completed"),
        ],
    )

    told: dict[str, Any] = {"session": b.SESSION, "turn": b.PROMPT}
    assert found[:-1] == [
        SessionFacts(
            session=b.SESSION, cwd="/home/ada/shop", started_at=START, meta={"model": "grok-4.5"}
        ),
        TurnFacts(
            **told,
            at=START + 1000,
            author="human",
            telemetry={
                "duration_ms": 5100,
                "outcome": "completed",
                "model": "grok-4.5",
                "stop_reason": "end_turn",
                "model_calls": 2,
            },
        ),
        Event(**told, kind="prompt", at=START + 1000, text="count the crates"),
        Event(**told, kind="reasoning", at=START + 2000, text="In the yard."),
        Event(
            **told,
            kind="tool_call",
            at=START + 3000,
            call="c1",
            name="run_terminal_command",
            tool_kind="shell",
            target="ls yard",
            input={"command": "ls yard"},
            output="crate\n",
            ok=True,
            duration_ms=40,
        ),
        Event(**told, kind="reply", at=START + 5000, text="One."),
        Usage(
            **told,
            key=f"{b.SESSION}/{b.PROMPT}/grok-4.5-build",
            model="grok-4.5-build",
            at=START + 6000,
            input=400,
            cache_read=600,
            output=50,
            reasoning=20,
            cost_usd=0.0091,
        ),
    ]
    assert isinstance(found[-1], Checkpoint)


# Where sessions are ----------------------------------------------------------------


def test_the_home_is_in_one_place_on_every_system_and_can_be_moved() -> None:
    """grok-cli keeps to the home folder, so that is looked at too.

    Of what else is in it we want nothing.
    """
    usual = ["/home/ada/.grok/sessions", "/home/ada/.grok/grok.db"]

    assert Grok().roots("/home/ada", {}) == usual
    assert Grok().roots("/home/ada", {"GROK_HOME": "/srv/grok"}) == ["/srv/grok/sessions", *usual]


def test_a_session_names_all_that_is_read_for_it(tmp_path: Path) -> None:
    """What is not named is not noticed when it changes.

    Credentials in the home are not ours to name.
    """
    folder = b.folder(
        tmp_path, updates=[b.user()], chat=[b.asked()], events=[], signals={"turnCount": 1}
    )
    (folder / "prompts").mkdir()
    (folder / "plan.json").write_text("{}")
    (tmp_path / "auth.json").write_text("{}")

    (source,) = Grok().sources(str(tmp_path))

    names = [
        "chat_history.jsonl",
        "events.jsonl",
        "signals.json",
        "summary.json",
        "updates.jsonl",
        "prompts",
    ]
    assert source == Source(
        "grok", str(folder), tuple(str(folder / name) for name in names), appended=False
    )


@pytest.mark.parametrize(
    "below", ["", "sessions", f"sessions/{b.GROUP}", f"sessions/{b.GROUP}/{b.SESSION}"]
)
def test_a_person_may_point_at_any_level(tmp_path: Path, below: str) -> None:
    """A home, its sessions, those of one folder, or one of them."""
    folder = b.folder(tmp_path, updates=[b.user()])

    assert [source.path for source in Grok().sources(str(tmp_path / below))] == [str(folder)]


def test_a_session_of_a_summary_alone_counts_only_where_sessions_are(tmp_path: Path) -> None:
    """Other programs have such a file too."""
    b.folder(tmp_path, group="reports")
    assert list(Grok().sources(str(tmp_path))) == []

    (tmp_path / "sessions" / "reports" / ".cwd").write_text("/home/ada/reports")
    assert read(tmp_path) == [Checkpoint(0)]


def test_a_session_that_moved_to_another_folder_is_looked_for_in_both(tmp_path: Path) -> None:
    """What was left behind may tell more than what went on elsewhere."""
    before = b.folder(tmp_path, updates=[b.user()])
    after = b.folder(tmp_path, updates=[b.user()], group="%2Fhome%2Fada%2Fstore")

    assert [source.path for source in Grok().sources(str(tmp_path))] == [str(before), str(after)]


@pytest.mark.parametrize("name", ["summary.json", "updates.jsonl", "chat_history.jsonl"])
def test_each_of_its_files_leads_to_the_session(tmp_path: Path, name: str) -> None:
    """A person may point at any of them, anywhere, and gets the session once."""
    folder = b.folder(tmp_path, updates=[b.user()], chat=[b.asked()])
    path = folder / name

    assert Grok().find_source(str(path), path.read_bytes()) == source_of(tmp_path)

    away = tmp_path / "away"
    shutil.copytree(folder, away)
    found = Grok().find_source(str(away / name), path.read_bytes())
    assert found is not None
    assert (found.path, len(found.companions)) == (str(away), 3)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("summary.json", b'{"info": {"id": "x"}, "created_at": "2026-01-01T00:00:00Z"}'),
        ("summary.json", b'{"info": {"id": "x", "cwd": "/"}}'),
        ("summary.json", b"[]"),
        ("summary.json", b"{"),
        (
            "updates.jsonl",
            b'{"method": "session/update", "params": {"update": {"sessionUpdate": "plan"}}}\n',
        ),
        ("updates.jsonl", b'{"sessionId": "x", "update": "new"}\n'),
        ("updates.jsonl", b""),
        ("chat_history.jsonl", b'{"role": "user", "content": "hello"}\n'),
        ("chat_history.jsonl", b'{"type": "message", "content": "hello"}\n'),
        ("chat_history.jsonl", b'{"type": "user"}\n'),
        ("events.jsonl", b'{"ts": "2026-01-01T00:00:00Z", "type": "turn_started"}\n'),
        ("session.jsonl", b'{"type": "system", "content": "You are Grok"}\n'),
        ("other.db", b"SQLite format 3\x00"),
    ],
)
def test_what_looks_alike_is_not_ours(tmp_path: Path, name: str, head: bytes) -> None:
    """Several fields must agree."""
    (tmp_path / name).write_bytes(head)

    assert Grok().find_source(str(tmp_path / name), head) is None


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    """Whoever points at a folder full of logs gets each under its own name."""
    assert list(taken_from_others(get_adapter("grok"), corpus)) == []


# Reading whole, again and again ------------------------------------------------------


def test_a_session_that_goes_on_keeps_its_turns(tmp_path: Path) -> None:
    """It is read whole each time; turns are known again by their keys."""
    lines = [
        b.user(),
        b.says("Do", 1),
        b.says("ne.", 2),
        b.user("again", 10, b.SECOND, 1),
        b.says("Again.", 11, b.SECOND),
    ]

    seen = [
        [item.turn for item in of(TurnFacts, items(tmp_path, *lines[:end]))] for end in range(1, 6)
    ]

    assert seen == [[b.PROMPT], [b.PROMPT], [b.PROMPT], [b.PROMPT, b.SECOND], [b.PROMPT, b.SECOND]]


def test_a_prompt_without_an_id_keeps_its_key_while_it_grows(tmp_path: Path) -> None:
    """Old versions give none; a picture that follows the words must not make it another turn."""
    words = b.user("draw this", 0, None, None)
    picture = b.update(
        "user_message_chunk",
        0.1,
        None,
        content={"type": "image", "data": "iVBOR", "mimeType": "image/png"},
    )

    first, second = items(tmp_path, words), items(tmp_path, words, picture)

    assert of(TurnFacts, first)[0].turn == of(TurnFacts, second)[0].turn
    assert prompts(second) == ["draw this\n[image]"]


def test_a_torn_last_line_waits_for_the_next_run(tmp_path: Path) -> None:
    """The agent may be writing while we read; that is not a broken log."""
    folder = b.folder(tmp_path, updates=[b.user()])
    with (folder / "updates.jsonl").open("a") as log:
        log.write(b.text_of([b.says("Done.", 1)])[:40])

    found = read(tmp_path)

    assert (prompts(found), troubles(found)) == (["count the crates"], [])


def test_a_bad_line_costs_that_line(tmp_path: Path) -> None:
    """And says which it was."""
    folder = b.folder(tmp_path, updates=[b.user()])
    with (folder / "updates.jsonl").open("a") as log:
        log.write("not json\n" + b.text_of([b.says("Done.", 1)]))

    found = read(tmp_path)

    assert said(found) == [("prompt", "count the crates"), ("reply", "Done.")]
    assert [(problem.kind, problem.line) for problem in of(Problem, found)] == [("bad_line", 2)]


@pytest.mark.parametrize(
    "wrong", [None, True, -1, 10**30, 1e308, "x", [], {}, [[]], {"a": 1}, "\ud800"]
)
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, wrong: Any) -> None:
    """Nobody promises us this format, so every field of every line is tried."""
    whole = {
        "updates": [
            b.user(modelId="m"),
            b.calls("c1", "read_file", {"path": "a"}),
            b.answered("c1", "x"),
            b.spawned(),
            b.rewound(0, 4),
        ],
        "chat": [b.asked(), b.chat_says("hm", ("c1", "read_file", {})), b.chat_result("c1", "y")],
        "events": [
            b.event("turn_started", 0, turn_number=0),
            b.tool_took("c1", 3),
            b.event("turn_ended", 5, outcome="completed"),
        ],
    }
    whole["updates"].append(b.billed(tokens=b.tokens()))

    for name, lines in whole.items():
        for number, line in enumerate(lines):
            for spoilt in _spoilt(line, wrong):
                files = {**whole, name: [*lines[:number], spoilt, *lines[number + 1 :]]}
                found = items(
                    tmp_path, *files["updates"], chat=files["chat"], events=files["events"]
                )
                assert isinstance(found[-1], Checkpoint)
    facts = b.summary(
        forked_at=b.clock(0), inherited_prefix_len=1, git_remotes=["x"], generated_title="t"
    )
    for spoilt in _spoilt(facts, wrong):
        assert isinstance(items(tmp_path, b.user(), facts=spoilt)[-1], Checkpoint)


def _spoilt(value: Any, wrong: Any) -> list[Any]:
    """A value with each of its parts in turn become another."""
    if not isinstance(value, dict):
        return [wrong]
    return [
        {**value, key: other}
        for key, inner in value.items()
        for other in [wrong, *_spoilt(inner, wrong)]
    ]


def test_a_folder_that_is_gone_is_told_as_one_problem(tmp_path: Path) -> None:
    """It was listed a moment ago."""
    folder = b.folder(tmp_path, updates=[b.user()])
    source = source_of(tmp_path)
    shutil.rmtree(folder)

    problem, checkpoint = Grok().read(source, None)

    assert isinstance(problem, Problem)
    assert (problem.kind, checkpoint) == ("unreadable", Checkpoint(0))


def test_a_chat_waits_for_its_summary_to_be_whole(tmp_path: Path) -> None:
    """Only that says whose it is. Updates speak for themselves."""
    folder = b.folder(tmp_path, chat=[b.asked()])
    (folder / "summary.json").write_text('{"info": {"id"')

    assert [type(item) for item in read(tmp_path)] == [Problem, Checkpoint]

    (folder / "updates.jsonl").write_text(b.text_of([b.user()]))
    assert prompts(read(tmp_path)) == ["count the crates"]


# The session ------------------------------------------------------------------------


def test_the_summary_tells_who_the_session_is(tmp_path: Path) -> None:
    """And the counters beside it what it came to; figures of context are not tokens spent."""
    facts = b.summary(
        generated_title="Crates",
        session_summary="first words",
        head_branch="stock",
        head_commit="4f2a",
        git_remotes=["git@example.org:ada/shop.git"],
        reasoning_effort="high",
        agent_name="grok-build",
    )

    found = items(
        tmp_path,
        b.user(),
        facts=facts,
        signals={"contextTokensUsed": 9000, "gitCommitCount": 0, "toolsUsed": ["x"]},
    )

    assert found[0] == SessionFacts(
        session=b.SESSION,
        cwd="/home/ada/shop",
        title="Crates",
        started_at=START,
        git_branch="stock",
        git_sha="4f2a",
        git_remote="git@example.org:ada/shop.git",
        meta={
            "agent_name": "grok-build",
            "reasoning_effort": "high",
            "model": "grok-4.5",
            "context_tokens": 9000,
        },
    )
    assert of(Usage, found) == []


def test_without_a_summary_the_folder_names_the_session(tmp_path: Path) -> None:
    """Any file may be missing."""
    folder = b.folder(
        tmp_path,
        updates=[
            b.user(),
            b.update("session_summary_generated", 1, own=True, session_summary="Crates"),
        ],
    )
    (folder / "summary.json").unlink()

    facts = read(tmp_path)[0]

    assert facts == SessionFacts(session=b.SESSION, title="Crates")


def test_a_fork_has_a_parent_and_leaves_it_what_it_paid(tmp_path: Path) -> None:
    """It begins with a copy of its parent's updates, bills and all."""
    facts = b.summary(session_kind="fork", parent_session_id="mother", forked_at=b.clock(20))
    copied = [b.user(), b.says("Done.", 1), b.billed(2, tokens=b.tokens(100, 0, 1))]
    own = [b.user("go on", 30, b.SECOND, 1), b.billed(31, b.SECOND, b.tokens(200, 0, 2))]

    found = items(tmp_path, *copied, *own, facts=facts)

    assert (found[0].parent, found[0].origin) == ("mother", None)  # type: ignore[union-attr]
    assert prompts(found) == ["count the crates", "go on"]
    assert spent(found) == (200, 0, 0, 2, 0)


# Sub-agents ---------------------------------------------------------------------------


def family(
    root: Path, *, ended_at: float = 4, known: bool = True, child: list[b.Line] | None = None
) -> None:
    """A session that started a sub-agent, which ended at this time."""
    finished = b.update(
        "subagent_finished", ended_at, own=True, child_session_id=b.CHILD, status="completed"
    )
    course = sorted(
        [b.user(), b.spawned(at=1), finished, b.billed(6, tokens=b.tokens(1000, 600, 50))],
        key=lambda line: line["timestamp"],
    )
    parent = b.folder(root, updates=course)
    if known:
        b.link(parent)
    own = [
        b.user("look", 1, "child-prompt"),
        b.billed(ended_at - 0.5, "child-prompt", b.tokens(400, 200, 20)),
    ]
    b.folder(
        root,
        b.CHILD,
        facts=b.summary(b.CHILD, session_kind="subagent"),
        updates=own if child is None else child,
    )


def test_a_sub_agent_is_named_under_the_session_that_keeps_a_folder_for_it(tmp_path: Path) -> None:
    """Its own summary does not say who started it."""
    family(tmp_path)

    found = read(tmp_path, b.CHILD)

    facts, turn = of(SessionFacts, found)[0], of(TurnFacts, found)[0]
    assert (facts.session, facts.parent, facts.origin) == (
        f"{b.SESSION}/{b.CHILD}",
        b.SESSION,
        "subagent",
    )
    assert facts.meta["subagent_type"] == "explore"
    assert turn.author == "agent"


def test_a_sub_agent_that_nobody_claims_stands_alone(tmp_path: Path) -> None:
    """Its parent may have been deleted."""
    family(tmp_path, known=False)

    facts = of(SessionFacts, read(tmp_path, b.CHILD))[0]

    assert (facts.session, facts.parent, facts.origin) == (b.CHILD, None, "subagent")


def test_the_parent_of_a_nested_sub_agent_is_itself_a_sub_agent(tmp_path: Path) -> None:
    """Each is named under the one that started it."""
    family(tmp_path)
    b.folder(tmp_path, "deep", facts=b.summary("deep", session_kind="subagent"), updates=[b.user()])
    b.link(tmp_path / "sessions" / b.GROUP / b.CHILD, "deep")

    facts = of(SessionFacts, read(tmp_path, "deep"))[0]

    assert (facts.session, facts.parent) == (f"{b.CHILD}/deep", f"{b.SESSION}/{b.CHILD}")


def test_sessions_that_claim_each_other_are_still_read(tmp_path: Path) -> None:
    """No agent writes that, but a hostile folder might."""
    family(tmp_path)
    b.link(tmp_path / "sessions" / b.GROUP / b.CHILD, b.SESSION)

    assert isinstance(read(tmp_path)[-1], Checkpoint)


def test_what_a_sub_agent_spent_is_counted_with_it_alone(tmp_path: Path) -> None:
    """The bill of the prompt that started it includes it, if it ended before."""
    family(tmp_path)

    assert spent(read(tmp_path)) == (200, 400, 0, 30, 0)
    assert spent(read(tmp_path, b.CHILD)) == (200, 200, 0, 20, 0)


def test_what_a_sub_agent_spends_after_the_prompt_is_not_in_its_bill(tmp_path: Path) -> None:
    """It went on in the background."""
    family(tmp_path, ended_at=20)

    assert spent(read(tmp_path)) == (400, 600, 0, 50, 0)


def test_a_bill_waits_for_the_log_of_a_sub_agent_that_it_includes(tmp_path: Path) -> None:
    """What is counted once is not taken back, and the log may be on its way."""
    family(tmp_path, child=[b.user("look", 1, "child-prompt")])
    assert of(Usage, read(tmp_path)) == []

    ended = [b.user("look", 1, "child-prompt"), b.billed(3, "child-prompt", None, "cancelled")]
    b.folder(tmp_path, b.CHILD, updates=ended)
    assert spent(read(tmp_path)) == (400, 600, 0, 50, 0)


def test_a_bill_does_not_wait_for_a_sub_agent_without_updates(tmp_path: Path) -> None:
    """Nothing will ever tell what that one spent."""
    family(tmp_path)
    (tmp_path / "sessions" / b.GROUP / b.CHILD / "updates.jsonl").unlink()

    assert spent(read(tmp_path)) == (400, 600, 0, 50, 0)


# Prompts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "meta", "author"),
    [
        (b.PROMPT, {}, "human"),
        ("whatever a client chose", {}, "human"),
        ("interject-fallback-019f", {}, "human"),
        ("task-completed-7", {}, "system"),
        ("subagent-completed-x", {}, "system"),
        ("workflow-completed-x", {}, "system"),
        ("notifications-019f", {}, "system"),
        ("goal-summary-1", {}, "system"),
        ("goal-classifier-nudge-1", {}, "system"),
        ("scheduler-fired-1", {}, "system"),
        ("plan-resume-1", {}, "system"),
        ("something-new-1", {"hideFromScrollback": True}, "system"),
    ],
)
def test_the_id_of_a_prompt_tells_who_gave_it(
    tmp_path: Path, prompt: str, meta: dict[str, Any], author: str
) -> None:
    """Grok prompts itself when something finished that it was waiting for."""
    found = items(tmp_path, b.user("go on", 0, prompt, **meta))

    assert of(TurnFacts, found)[0].author == author


def test_what_is_sent_in_the_middle_of_a_turn_is_a_turn(tmp_path: Path) -> None:
    """It has the id of the prompt that is running and no number."""
    found = items(
        tmp_path,
        b.user(),
        b.says("Counting", 1),
        b.user("faster", 2, index=None),
        b.says("Twelve.", 3),
        b.billed(4, tokens=b.tokens()),
    )

    assert [(item.turn, item.author) for item in of(TurnFacts, found)] == [
        (b.PROMPT, "human"),
        (f"{b.PROMPT}.2", "human"),
    ]
    assert said(found) == [
        ("prompt", "count the crates"),
        ("reply", "Counting"),
        ("prompt", "faster"),
        ("reply", "Twelve."),
    ]
    assert [usage.turn for usage in of(Usage, found)] == [b.PROMPT]


def test_prompts_that_follow_each_other_without_an_answer_are_two(tmp_path: Path) -> None:
    """The first was cancelled before anything came of it."""
    found = items(tmp_path, b.user("one", 0), b.user("two", 1, b.SECOND, 1))

    assert prompts(found) == ["one", "two"]


def test_a_command_to_the_program_is_no_part_of_the_conversation(tmp_path: Path) -> None:
    """Neither what was typed nor what was shown reached the model."""
    shown = b.says("12 % used", 3, _meta={"hostTurn": True})

    found = items(
        tmp_path,
        b.user(),
        b.says("Done.", 1),
        b.user("/context", 2, index=None, hostTurn=True),
        shown,
    )

    assert said(found) == [("prompt", "count the crates"), ("reply", "Done.")]


def test_wrappers_are_taken_off_a_prompt(tmp_path: Path) -> None:
    """A sub-agent that inherits a conversation is shown it before its task."""
    wrapped = (
        "<fork-context>\nlong talk\n</fork-context>\n<system-reminder>\nx\n</system-reminder>count"
    )

    assert prompts(items(tmp_path, b.user(wrapped))) == ["count"]


# Rewinds ------------------------------------------------------------------------------


def test_a_rewind_undoes_the_turns_from_a_prompt_on(tmp_path: Path) -> None:
    """They stay in the log, and are told as undone."""
    ids = ["p0", "p1", "p2", "p3"]
    course = [
        line
        for n, key in enumerate(ids[:3])
        for line in (b.user(key, n, key, n), b.says("ok", n + 0.5, key))
    ]

    found = items(
        tmp_path, *course, b.rewound(1, 10), b.user("p3", 11, "p3", 1), b.says("ok", 12, "p3")
    )

    assert (prompts(found), undone(found)) == (ids, ["p1", "p2"])


def test_an_interjection_is_not_counted_but_goes_with_its_turn(tmp_path: Path) -> None:
    """A rewind names the number of a prompt, not how often somebody spoke."""
    course = [
        b.user("p0", 0, "p0", 0),
        b.user("quick", 1, "p0", None),
        b.says("ok", 2, "p0"),
        b.user("p1", 3, "p1", 1),
    ]

    found = items(tmp_path, *course, b.says("ok", 4, "p1"), b.rewound(1, 5))

    assert undone(found) == ["p1"]


def test_before_the_first_number_every_prompt_counts(tmp_path: Path) -> None:
    """Old versions numbered none."""
    course = [
        line
        for n in range(3)
        for line in (b.user(f"p{n}", n, None, None), b.says("ok", n + 0.5, None))
    ]

    found = items(
        tmp_path,
        *course,
        b.rewound(2, 9),
        b.user("p3", 10, "p3", 2),
        b.says("ok", 11, "p3"),
        b.rewound(1, 12),
    )

    assert undone(found) == ["p1", "p2", "p3"]


@pytest.mark.parametrize("target", [1, 7, -1, "0", None])
def test_a_rewind_to_a_prompt_that_is_not_there_undoes_nothing(tmp_path: Path, target: Any) -> None:
    """As in Grok itself."""
    found = items(
        tmp_path,
        b.user(),
        b.update("rewind_marker", 1, own=True, target_prompt_index=target),
        b.says("Done.", 2),
    )

    assert undone(found) == []
    assert said(found) == [("prompt", "count the crates"), ("reply", "Done.")]


# What the agent does ------------------------------------------------------------------


def test_chunks_are_put_together_until_something_else_happens(tmp_path: Path) -> None:
    """A notice in between is nothing else."""
    notice = b.update("session_summary_generated", 2, own=True, session_summary="Crates")
    call = b.calls("c1", "grep", {"pattern": "x"}, 3)

    found = items(
        tmp_path,
        b.user(),
        b.says("One ", 1),
        notice,
        b.says("two", 2.5),
        call,
        b.answered("c1", "y", 4),
        b.says("three", 5),
    )

    assert said(found)[1:] == [("reply", "One two"), ("tool_call", "x"), ("reply", "three")]


def test_a_running_command_is_told_by_its_end(tmp_path: Path) -> None:
    """Its output comes ten times a second; the exit code says more than that it could be run."""
    ran = {
        "type": "Bash",
        "output": [120],
        "output_for_prompt": "x\nfailed",
        "exit_code": 2,
        "timed_out": False,
    }

    found = items(
        tmp_path,
        b.user(),
        b.calls("c1", "run_terminal_command", {"command": "make"}),
        b.answered("c1", "x", status="in_progress"),
        b.answered("c1", "x …", 4, rawOutput=ran),
    )

    call = call_in(found)
    assert (call.output, call.ok, call.exit_code) == ("x\nfailed", False, 2)


@pytest.mark.parametrize(
    ("name", "given", "kind", "target"),
    [
        ("read_file", {"target_file": "a.py"}, "read", "a.py"),
        (
            "search_replace",
            {"file_path": "a.py", "old_string": "x", "new_string": "y"},
            "edit",
            "a.py",
        ),
        ("run_terminal_cmd", {"command": "ls"}, "shell", "ls"),
        ("grep", {"pattern": "x"}, "search", "x"),
        ("spawn_subagent", {"description": "look", "prompt": "Look."}, "task", "look"),
        ("web_fetch", {"url": "https://example.org"}, "web", "https://example.org"),
        ("tracker__close", {"name": "A-1"}, "mcp", "A-1"),
        ("todo_write", {"todos": []}, "other", None),
    ],
)
def test_a_tool_is_known_by_its_name(
    tmp_path: Path, name: str, given: Any, kind: str, target: str | None
) -> None:
    """The names depend on the profile of the agent."""
    call = call_in(items(tmp_path, b.user(), b.calls("c1", name, given)))

    assert (call.name, call.tool_kind, call.target, call.input) == (name, kind, target, given)


def test_a_tool_that_calls_another_is_told_by_the_other(tmp_path: Path) -> None:
    """`use_tool` stands for every tool of every server."""
    given = {"tool_name": "tracker__close", "tool_input": {"name": "A-1"}}

    call = call_in(items(tmp_path, b.user(), b.calls("c1", "use_tool", given)))

    assert (call.name, call.tool_kind, call.target, call.input) == (
        "tracker__close",
        "mcp",
        "A-1",
        given,
    )


def test_a_tool_without_a_telling_name_is_known_by_its_sort(tmp_path: Path) -> None:
    """A command that a person ran has a title for the eye alone."""
    call = b.calls(
        "c1", "Execute `ls yard`", {"variant": "Runner", "command": "ls yard"}, kind="execute"
    )

    told = call_in(items(tmp_path, b.user(), call))

    assert (told.name, told.tool_kind, told.target) == ("Runner", "shell", "ls yard")


def test_the_name_of_a_tool_may_stand_apart_from_its_title(tmp_path: Path) -> None:
    """Newer versions say which tool it is beside what is shown."""
    call = b.calls(
        "c1",
        "Read `a.py`",
        {"target_file": "a.py"},
        _meta={"x.ai/tool": {"name": "read_file", "kind": "read"}},
    )

    assert call_in(items(tmp_path, b.user(), call)).name == "read_file"


def test_a_tool_of_the_vendors_servers_tells_what_was_asked_with_its_result(tmp_path: Path) -> None:
    """It has no line of its own in the chat."""
    action = {"type": "search", "query": "crates"}

    found = items(
        tmp_path,
        b.user(),
        b.calls(
            "ws",
            "Web search:",
            {"variant": "WebSearch", "backend": True},
            kind="search",
            status="in_progress",
        ),
        b.answered(
            "ws",
            status="failed",
            rawOutput={"type": "web_search_call", "status": "failed", "action": action},
        ),
    )

    call = call_in(found)
    assert (call.name, call.tool_kind, call.target, call.ok) == (
        "WebSearch",
        "web",
        "crates",
        False,
    )


@pytest.mark.parametrize(
    ("outcome", "ok"),
    [
        ("success", True),
        *(
            (name, False)
            for name in ("error", "permission_rejected", "hook_denied", "invalid_tool", "cancelled")
        ),
        (None, None),
    ],
)
def test_the_events_tell_how_a_call_went(tmp_path: Path, outcome: str, ok: bool | None) -> None:
    """And how long it took; the workspace's second measurement is not used."""
    again = b.tool_took("c1", 99, "success", source="workspace")

    call = call_in(
        items(
            tmp_path,
            b.user(),
            b.calls("c1", "grep", {}),
            events=[b.tool_took("c1", 40, outcome), again],
        )
    )

    assert (call.ok, call.duration_ms) == (ok, 40)


def test_a_result_that_comes_in_a_later_turn_goes_to_its_call(tmp_path: Path) -> None:
    """A command may go on in the background."""
    found = items(
        tmp_path,
        b.user(),
        b.calls("c1", "grep", {}),
        b.user("meanwhile", 5, b.SECOND, 1),
        b.answered("c1", "y", 6, b.SECOND),
    )

    assert (call_in(found).turn, call_in(found).output) == (b.PROMPT, "y")


def test_a_cancelled_turn_is_told_once(tmp_path: Path) -> None:
    """The updates and the events both say so."""
    events = [
        b.event("turn_started", 0),
        b.event("turn_ended", 6, outcome="cancelled", cancellation_category="mid_turn_abort"),
    ]

    found = items(
        tmp_path,
        b.user(),
        b.billed(stop_reason="cancelled"),
        b.billed(stop_reason="cancelled"),
        events=events,
    )

    assert said(found) == [("prompt", "count the crates"), ("abort", "")]
    assert of(TurnFacts, found)[0].telemetry["cancellation"] == "mid_turn_abort"


def test_a_turn_that_failed_says_why(tmp_path: Path) -> None:
    """A retry that is under way is no failure yet."""
    retrying = b.update(
        "retry_state", 1, own=True, type="retrying", attempt=1, max_retries=3, reason="busy"
    )
    failed = b.update(
        "retry_state", 2, own=True, type="failed", error_type="auth", message="log in again"
    )

    found = items(
        tmp_path,
        b.user(),
        retrying,
        failed,
        b.billed(stop_reason="error", agent_result="no answer"),
    )

    assert said(found)[1:] == [("error", "log in again"), ("error", "no answer")]


def test_a_compaction_is_told_once_with_its_summary(tmp_path: Path) -> None:
    """A checkpoint and a notice tell of the same one; a second compaction is another."""
    checkpoint = b.update("compaction_checkpoint", 1, own=True, checkpoint_id="k")
    notice = b.update(
        "auto_compact_completed",
        2,
        own=True,
        tokens_before=9000,
        tokens_after=900,
        summary_preview="Crates.",
    )

    found = items(tmp_path, b.user(), checkpoint, notice, b.says("Done.", 3), checkpoint)

    assert said(found)[1:] == [("compaction", "Crates."), ("reply", "Done."), ("compaction", "")]


def test_what_nobody_knows_is_counted(tmp_path: Path) -> None:
    """New kinds appear every month."""
    found = items(
        tmp_path,
        b.user(),
        b.update("hologram", 1, own=True),
        b.update("hologram", 2, own=True),
        b.says("Done.", 3),
    )

    assert [(problem.kind, problem.reason, problem.count) for problem in of(Problem, found)] == [
        ("unknown", "update hologram", 2)
    ]
    assert said(found)[1:] == [("reply", "Done.")]


# Tokens -------------------------------------------------------------------------------


def test_the_last_bill_of_a_prompt_counts(tmp_path: Path) -> None:
    """It may be written twice, or be brought up to date."""
    found = items(
        tmp_path,
        b.user(),
        b.billed(6, tokens=b.tokens(500, 0, 5)),
        b.billed(7, tokens=b.tokens(1000, 600, 50)),
        b.billed(8),
    )

    assert spent(found) == (400, 600, 0, 50, 0)


def test_each_prompt_is_paid_for_even_if_no_chunk_tells_of_it(tmp_path: Path) -> None:
    """What it cost is added to the turn that is going on, and takes nothing away from it."""
    found = items(
        tmp_path,
        b.user(),
        b.says(),
        b.billed(6, tokens=b.tokens(1000, 600, 50, modelCalls=2)),
        b.billed(7, "notifications-1", b.tokens(300, 100, 5, modelCalls=1)),
    )

    assert spent(found) == (600, 700, 0, 55, 0)
    assert [facts.telemetry for facts in of(TurnFacts, found)] == [
        {"stop_reason": "end_turn", "model_calls": 3}
    ]


def test_input_is_told_without_what_the_cache_read_and_wrote(tmp_path: Path) -> None:
    """Grok's figure includes both; reasoning is part of the output."""
    bill = b.tokens(1000, 600, 50, cacheCreationTokens=100, reasoningTokens=20)

    assert spent(items(tmp_path, b.user(), b.billed(tokens=bill))) == (300, 600, 100, 50, 20)


def test_each_model_of_a_prompt_is_counted_for_itself(tmp_path: Path) -> None:
    """Rather than the sum above them."""
    bill = {
        **b.tokens(9999, 0, 999),
        "modelUsage": {
            "big": b.tokens(100, 0, 1, model=None),
            "small": b.tokens(10, 0, 2, model=None),
        },
    }

    found = of(Usage, items(tmp_path, b.user(), b.billed(tokens=bill)))

    assert [(usage.model, usage.input, usage.output) for usage in found] == [
        ("big", 100, 1),
        ("small", 10, 2),
    ]


@pytest.mark.parametrize(
    ("more", "cost"),
    [
        ({"costUsdTicks": 5_000_000_000}, 0.5),
        ({"costUsdTicks": 0}, None),
        ({}, None),
        ({"costUsdTicks": 5_000_000_000, "usageIsIncomplete": True}, None),
        ({"costUsdTicks": 5_000_000_000, "costIsPartial": True}, None),
    ],
)
def test_a_price_counts_when_it_is_whole(
    tmp_path: Path, more: dict[str, Any], cost: float | None
) -> None:
    """Ten thousand million ticks are a dollar; without a price the cost is unknown, not nothing."""
    (usage,) = of(Usage, items(tmp_path, b.user(), b.billed(tokens=b.tokens(**more))))

    assert usage.cost_usd == cost


# The chat --------------------------------------------------------------------------------


def test_a_session_without_updates_is_told_by_its_chat(tmp_path: Path) -> None:
    """It has no times but those of the events."""
    found = chatted(
        tmp_path,
        {"type": "system", "content": "You are a coding agent."},
        b.asked(),
        {
            "type": "reasoning",
            "id": "r",
            "summary": [{"type": "summary_text", "text": "In the yard."}],
        },
        b.chat_says("Looking.", ("c1", "read_file", {"target_file": "yard"})),
        b.chat_result("c1", "crate"),
        b.chat_says("One."),
        events=[
            b.event("turn_started", 1, turn_number=0),
            b.event("turn_ended", 3, outcome="completed"),
        ],
    )

    assert said(found) == [
        ("prompt", "count the crates"),
        ("reasoning", "In the yard."),
        ("reply", "Looking."),
        ("tool_call", "yard"),
        ("reply", "One."),
    ]
    assert call_in(found).output == "crate"
    assert of(TurnFacts, found)[0].at == START + 1000


def test_a_chat_of_version_0_reads_the_same(tmp_path: Path) -> None:
    """Messages of another vendor's form."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"target_file": "yard"}'},
    }

    found = chatted(
        tmp_path,
        {"role": "system", "content": "You are Grok"},
        {"role": "user", "content": "<user_info>\nOS: linux\n</user_info>"},
        {"role": "user", "content": "count the crates"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [call],
            "reasoning_content": "In the yard.",
        },
        {"role": "tool", "content": "crate", "tool_call_id": "c1"},
    )

    assert said(found) == [
        ("prompt", "count the crates"),
        ("reasoning", "In the yard."),
        ("reply", "Looking."),
        ("tool_call", "yard"),
    ]
    assert call_in(found).output == "crate"


@pytest.mark.parametrize(
    ("reason", "index", "author"),
    [
        (None, 0, "human"),
        (None, None, "human"),
        ("interjection", None, "human"),
        ("agent_message", None, "agent"),
        ("parent_agent_message", None, "agent"),
        ("task_completed", None, "system"),
        ("scheduler_fired", None, "system"),
        ("a_reason_of_tomorrow", 3, "system"),
        ("a_reason_of_tomorrow", None, None),
        ("system_reminder", None, None),
        ("project_instructions", None, None),
        ("auto_continue", None, None),
        ("stop_hook_feedback", None, None),
        (["nonsense"], None, None),
    ],
)
def test_only_what_a_person_typed_is_a_persons(
    tmp_path: Path, reason: Any, index: int | None, author: str | None
) -> None:
    """Grok writes much in the user's name."""
    found = chatted(tmp_path, b.chat_user("go on", index, reason))

    assert [turn.author for turn in of(TurnFacts, found)] == ([author] if author else [])


def test_a_prompt_that_was_too_long_is_read_from_its_file(tmp_path: Path) -> None:
    """The model was shown the beginning; without the file that is all there is."""
    rest = "/home/ada/.grok/sessions/x/y/prompts/prompt_4.txt"
    notice = f"[NOTICE] The text above was truncated (30000 bytes total).\n{rest}\n"
    shown = b.chat_user(f"<user_query>\none two\n</user_query>\n\n{notice}", 4)
    folder = b.folder(tmp_path, chat=[shown])
    assert prompts(read(tmp_path)) == ["one two"]

    (folder / "prompts").mkdir()
    (folder / "prompts" / "prompt_4.txt").write_text("<user_query>\none two three\n</user_query>")
    assert prompts(read(tmp_path)) == ["one two three"]


def test_what_a_sub_agent_inherited_is_not_its_own(tmp_path: Path) -> None:
    """So many lines at the start are its parent's."""
    facts = b.summary(
        session_kind="subagent_fork", parent_session_id="mother", inherited_prefix_len=2
    )

    found = chatted(
        tmp_path, b.asked("the parent's"), b.chat_says(), b.chat_user("measure it", 0), facts=facts
    )

    assert [(turn.session, turn.author) for turn in of(TurnFacts, found)] == [
        (f"mother/{b.SESSION}", "agent")
    ]
    assert prompts(found) == ["measure it"]


def test_an_empty_log_of_updates_means_that_nothing_happened_yet(tmp_path: Path) -> None:
    """A forked sub-agent begins with one, and with all of its parent's chat."""
    b.folder(tmp_path, updates=[], chat=[b.asked("the parent's")])

    assert prompts(read(tmp_path)) == []


def test_an_interjection_that_only_the_chat_has_follows_its_turn(tmp_path: Path) -> None:
    """One that the updates have as well is not told twice."""
    updates = [
        b.user("one", 0),
        b.says("ok", 1),
        b.user("known", 2, index=None),
        b.user("two", 5, b.SECOND, 1),
        b.says("ok", 6, b.SECOND),
    ]
    chat = [
        b.asked("one"),
        b.chat_user("known", reason="interjection"),
        b.asked("one", 7),
        b.chat_user("new", reason="interjection"),
    ]

    found = items(tmp_path, *updates, chat=[*chat, b.asked("two", 1)])

    assert prompts(found) == ["one", "new", "known", "two"]


def test_the_same_words_twice_are_two_turns(tmp_path: Path) -> None:
    """A chat gives no ids, so a turn is known by what it says and how often that was said."""
    turns = [
        turn.turn
        for turn in of(
            TurnFacts,
            chatted(tmp_path, b.asked("again", None), b.chat_says(), b.asked("again", None)),
        )
    ]

    assert turns[1] == f"{turns[0]}.2"


# The public samples -----------------------------------------------------------------------


def test_the_planted_traps_of_the_sample_are_seen_through(corpus: Path) -> None:
    """Its README says what a faithful reader finds."""
    told = everything(get_adapter("grok"), corpus / "grok" / "synthetic")

    mother = told["grok:019f7000-1111-7000-8000-0000000000a1"]
    child = told["grok:019f7000-1111-7000-8000-0000000000a1/019f7000-2222-7000-8000-0000000000b2"]
    human = [turn for turn in mother.turn_list if turn.author == "human"]
    assert (
        [turn.live for turn in human].count(True),
        [turn.live for turn in human].count(False),
    ) == (3, 1)
    assert (
        mother.tokens.input + mother.tokens.cache_read,
        mother.tokens.cache_read,
        mother.tokens.output,
    ) == (58000, 48500, 820)
    assert [
        turn.cost_usd for turn in mother.turn_list if turn.tokens.output and turn.cost_usd
    ] == pytest.approx([0.0091, 0.0012])
    assert (mother.tool_calls, child.tool_calls) == (4, 1)
    assert (child.parent, child.origin) == (mother.id, "subagent")


def test_every_public_sample_is_read_without_a_problem(corpus: Path) -> None:
    """A torn last line is none."""
    for path in (corpus / "grok").rglob("summary.json"):
        source = Grok().find_source(str(path), path.read_bytes())
        assert source is not None
        assert of(Problem, list(Grok().read(source, None))) == []


def test_the_summary_of_a_builder_is_what_grok_writes(corpus: Path) -> None:
    """Our own logs must not drift from the real ones."""
    for path in (corpus / "grok").rglob("summary.json"):
        real = json.loads(path.read_text())
        assert {
            "info",
            "session_summary",
            "created_at",
            "updated_at",
            "current_model_id",
        } <= real.keys() & b.summary().keys()
