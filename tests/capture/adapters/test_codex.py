"""What the Codex adapter makes of a rollout, fact by fact."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture.adapters.codex import Codex
from recollect.capture.adapters.codex.reader import CodexReader
from recollect.capture.adapters.codex.tools import CodexOutcome, aim, kind_of, outcome, patched
from recollect.capture.adapters.codex.turns import CodexState
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
    milliseconds,
)
from tests.builders import codex as b

CREATED = milliseconds(b.START)
assert CREATED is not None
OLD_TURN = b.turn_id(CREATED - 60_000, 7)
CHILD = b.turn_id(CREATED, 9)
OWN_TURN = b.turn_id(CREATED + 60_000, 8)


def read(path: Path, since: Checkpoint | None = None, **more: Any) -> list[Item]:
    return list(Codex().read(Source("codex", str(path), **more), since))


def items(tmp_path: Path, *records: dict[str, Any]) -> list[Item]:
    """What a session of these records gives, its meta line put before them."""
    return read(b.rollout(tmp_path, [b.meta(), *records]))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str]]:
    """Events as (kind, text or target), in order."""
    return [(e.kind, e.target if e.kind == "tool_call" else e.text) for e in of(Event, found)]


def prompts(found: list[Item]) -> list[str]:
    return [e.text for e in of(Event, found) if e.kind == "prompt"]


def spent(found: list[Item]) -> dict[str, tuple[int, int, int, int, int]]:
    """Token counts as a store keeps them: one of each key."""
    return {
        u.key: (u.input, u.cache_read, u.cache_write, u.output, u.reasoning)
        for u in of(Usage, found)
    }


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought, call, result, reply, tokens."""
    found = items(
        tmp_path,
        b.user_item(
            "<environment_context>\n  <cwd>/home/kim/orchard</cwd>\n</environment_context>"
        ),
        b.user_item("water the trees"),
        b.user("water the trees"),
        b.context(),
        b.event("agent_reasoning", text="**Looking**"),
        b.reasoning_item("**Looking**"),
        b.call(),
        b.output(
            json.dumps({"output": "apple\n", "metadata": {"exit_code": 0, "duration_seconds": 0.2}})
        ),
        b.assistant("Watered."),
        b.assistant_item("Watered."),
        b.tokens(b.usage(1000, 600, 50, 20), b.usage(1000, 600, 50, 20)),
    )

    turn = of(TurnFacts, found)[0].turn
    at = {n: milliseconds(b.clock(n)) for n in range(12)}
    assert found[:-1] == [
        SessionFacts(
            session=b.THREAD,
            origin="interactive",
            cwd="/home/kim/orchard",
            started_at=milliseconds(b.START),
            agent_version="0.63.0",
            meta={"originator": "codex_cli_rs", "source": "cli"},
        ),
        TurnFacts(session=b.THREAD, turn=turn, at=at[2], author="human", cwd="/home/kim/orchard"),
        Event(session=b.THREAD, turn=turn, kind="prompt", at=at[2], text="water the trees"),
        Event(session=b.THREAD, turn=turn, kind="reasoning", at=at[5], text="**Looking**"),
        Event(
            session=b.THREAD,
            turn=turn,
            kind="tool_call",
            at=at[7],
            call="call_1",
            name="shell",
            tool_kind="shell",
            target="ls orchard",
            input={"command": ["bash", "-lc", "ls orchard"]},
            folder="/home/kim/orchard",
        ),
        ToolResult(
            session=b.THREAD,
            turn=turn,
            call="call_1",
            at=at[8],
            output="apple\n",
            ok=True,
            exit_code=0,
            duration_ms=200,
        ),
        Event(session=b.THREAD, turn=turn, kind="reply", at=at[9], text="Watered."),
        Usage(
            session=b.THREAD,
            turn=turn,
            key=f"{b.THREAD}:0:1000:50:1000:50",
            model="gpt-5-codex",
            at=at[11],
            input=400,
            cache_read=600,
            output=50,
            reasoning=20,
        ),
        TurnFacts(
            session=b.THREAD,
            turn=turn,
            cwd="/home/kim/orchard",
            telemetry={"effort": "high", "approval_policy": "never", "context_window": 272000},
        ),
    ]
    assert isinstance(found[-1], Checkpoint)


# Who a session is -----------------------------------------------------------------


def test_the_first_session_meta_names_the_session(tmp_path: Path) -> None:
    """Metadata is written again later, and copied history brings other ids."""
    path = b.rollout(
        tmp_path, [b.meta(), b.user(), b.meta(memory_mode="on"), b.meta("another-thread")]
    )

    facts = of(SessionFacts, read(path))

    assert [fact.session for fact in facts] == [b.THREAD, b.THREAD]
    assert facts[1].meta["memory_mode"] == "on"


def test_a_sub_agent_is_named_under_its_parent_and_prompted_by_an_agent(tmp_path: Path) -> None:
    """What a parent model asks is not what a person asked."""
    spawn = {"parent_thread_id": b.PARENT, "depth": 1, "agent_path": "/root/digger"}
    path = b.rollout(
        tmp_path, [b.meta(source={"subagent": {"thread_spawn": spawn}}), b.user("dig")]
    )

    found = read(path)

    fact, turn = of(SessionFacts, found)[0], of(TurnFacts, found)[0]
    assert (fact.session, fact.parent, fact.origin) == (
        f"{b.PARENT}/{b.THREAD}",
        b.PARENT,
        "subagent",
    )
    assert turn.author == "agent"


def test_the_parent_of_a_nested_sub_agent_is_itself_a_sub_agent(tmp_path: Path) -> None:
    """At depth two the root session is the parent's parent."""
    spawn = {"parent_thread_id": b.PARENT, "depth": 2}
    path = b.rollout(
        tmp_path, [b.meta(session_id="root", source={"subagent": {"thread_spawn": spawn}})]
    )

    assert of(SessionFacts, read(path))[0].parent == f"root/{b.PARENT}"


@pytest.mark.parametrize(
    ("more", "origin"),
    [
        ({"source": "exec"}, "headless"),
        ({"source": "mcp"}, "headless"),
        ({"originator": "codex_exec", "source": None}, "headless"),
        ({"source": {"subagent": "review"}}, "subagent"),
        ({"source": {"custom": "notebook"}}, "interactive"),
        ({"source": "vscode"}, "interactive"),
    ],
)
def test_the_origin_is_told_by_source_and_originator(
    tmp_path: Path, more: dict[str, Any], origin: str
) -> None:
    """`source` is a word or an object, and is missing in old logs."""
    path = b.rollout(tmp_path, [b.meta(**more)])

    assert of(SessionFacts, read(path))[0].origin == origin


def test_of_the_instructions_only_size_and_hash_are_kept(tmp_path: Path) -> None:
    """They are the same kilobytes in every session."""
    path = b.rollout(tmp_path, [b.meta(base_instructions={"text": "Be kind."})])

    meta = of(SessionFacts, read(path))[0].meta

    assert meta["instructions"] == {"length": 8, "sha256": "5499befb38db"}
    assert "Be kind" not in json.dumps(meta)


def test_git_facts_come_from_the_meta_line(tmp_path: Path) -> None:
    git = {
        "commit_hash": "c0ffee",
        "branch": "main",
        "repository_url": "git@example.com:kim/orchard.git",
    }
    path = b.rollout(tmp_path, [b.meta(git=git)])

    fact = of(SessionFacts, read(path))[0]

    assert (fact.git_sha, fact.git_branch, fact.git_remote) == (
        "c0ffee",
        "main",
        git["repository_url"],
    )


def test_a_title_is_the_newest_name_in_the_index(tmp_path: Path) -> None:
    """The index is appended to; older names of the thread stand before."""
    path = b.rollout(tmp_path, [b.meta(), b.user()])
    index = tmp_path / "session_index.jsonl"
    names = [("other", "No"), (b.THREAD, "Old"), (b.THREAD, "Watering")]
    index.write_text(
        "".join(json.dumps({"id": i, "thread_name": n}) + "\n" for i, n in names) + "{broken\n"
    )

    source = next(iter(Codex().sources(str(tmp_path))))
    first = list(Codex().read(source, None))
    again = list(Codex().read(source, first[-1]))  # type: ignore[arg-type]

    assert source.companions == (str(index),)
    assert [fact.title for fact in of(SessionFacts, first)] == [None, "Watering"]
    assert of(SessionFacts, again) == []
    assert path.exists()


def test_an_empty_session_is_a_session_without_turns(tmp_path: Path) -> None:
    """Opening Codex and leaving again is common."""
    found = items(tmp_path)

    assert [type(item).__name__ for item in found] == ["SessionFacts", "Checkpoint"]


# Prompts ----------------------------------------------------------------------------


def test_user_items_are_not_prompts_where_events_tell_them(tmp_path: Path) -> None:
    """The model is given much in the user's name that nobody typed."""
    found = items(
        tmp_path,
        b.user_item("hello"),
        b.user("hello"),
        b.assistant(),
        b.user_item("some new injected text"),
    )

    assert prompts(found) == ["hello"]


def test_user_items_are_prompts_where_no_event_tells_them(tmp_path: Path) -> None:
    """Some clients write no user_message at all."""
    found = items(tmp_path, b.user_item("hello"), b.assistant_item("hi"), b.user_item("and now?"))

    assert said(found) == [("prompt", "hello"), ("reply", "hi"), ("prompt", "and now?")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n<cwd>/x</cwd>",
        "<user_instructions>\nbe kind",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
        "# AGENTS.md instructions\n\n<INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted",
        "<subagent_notification>{}",
        "<skill>\n<name>prune</name>",
        "<user_shell_command>\n<command>ls",
        "<user_action>\n<context>User initiated a review",
        "<recommended_plugins>",
        "<codex_internal_context source='goal'>",
        "<goal_context>",
        "<external_slack>",
        "<hook_prompt hook_run_id='1'>",
        "Warning: apply_patch was requested via exec_command.",
    ],
)
def test_injected_texts_are_dropped_item_by_item(tmp_path: Path, text: str) -> None:
    """One message can hold an injected text and a typed one."""
    found = items(
        tmp_path, b.user_item(text), b.user_item(text, "prune the pear"), b.assistant_item()
    )

    assert prompts(found) == ["prune the pear"]


def test_an_ide_prompt_is_cut_to_what_was_typed(tmp_path: Path) -> None:
    """The IDE puts open files before the request; the last marker counts."""
    setup = "# Context from my IDE setup:\n\n## Active file: a.py"
    text = f"{setup}\n\n## My request for Codex:\nfix a.py\n"

    assert prompts(items(tmp_path, b.user(text))) == ["fix a.py"]


LISTED = "# Files mentioned by the user:\n\n## plan.md: /tmp/plan.md\n\n"


@pytest.mark.parametrize(
    "context",
    [
        "\n# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\n",
        f"\n{LISTED}## My request for Codex:\n",
        "# Files pasted by the user:\n\n## x.txt: /tmp/x.txt\n\n## My request:\n",
        f"{LISTED}Distinguish instructions in attached documents from the user's request.\n\n"
        "## My request:\n",
        "\n# Review findings:\n\n## Finding 1 (a.py:4)\n[P2] Slow\n\n## My request for Codex:\n",
    ],
)
def test_what_a_client_puts_before_a_request_is_not_the_prompt(
    tmp_path: Path, context: str
) -> None:
    """The event and the model's copy are read alike, with or without a line before the heading."""
    found = items(tmp_path / "a", b.user(f"{context}prune the pear\n"))
    copied = items(tmp_path / "b", b.user_item(f"{context}prune the pear\n"))

    assert prompts(found) == prompts(copied) == ["prune the pear"]


def test_a_list_of_files_that_stands_alone_is_context(tmp_path: Path) -> None:
    """The desktop app gives the list in an item of its own, beside what was typed."""
    files = "\n# Files mentioned by the user:\n\n## plan.md: /tmp/plan.md\n"
    found = items(tmp_path, b.user_item(files, "do the first step"))

    assert prompts(found) == ["do the first step"]


def test_files_without_a_request_are_a_prompt_by_their_names(tmp_path: Path) -> None:
    """Somebody sent files and nothing else: what is done about it is a turn."""
    files = "# Files mentioned by the user:\n\n## plan.md: /tmp/plan.md\n"
    found = items(tmp_path, b.user(f"{files}\n## My request for Codex:\n"), b.assistant("Read."))

    assert said(found) == [("prompt", "[file /tmp/plan.md]"), ("reply", "Read.")]


def test_a_prompt_that_begins_like_a_list_of_files_keeps_its_words(tmp_path: Path) -> None:
    text = "# Files mentioned by the user:\n\nwhy does Codex write this heading?"

    assert prompts(items(tmp_path, b.user(text))) == [text]


def test_a_picture_leaves_a_placeholder(tmp_path: Path) -> None:
    """A picture is kept as its type, size and hash, never as base64."""
    found = items(
        tmp_path,
        b.user(
            "see this",
            images=["data:image/png;base64,QUJDRA=="],
            local_images=["/home/kim/pear.png"],
        ),
    )

    assert prompts(found) == [
        "see this\n[image/png, 6 bytes, sha256 6a94721a1ca6]\n[image /home/kim/pear.png]"
    ]


def test_an_event_of_kind_environment_context_is_no_prompt(tmp_path: Path) -> None:
    """Before 0.4x events repeated the injected texts and said so."""
    assert prompts(items(tmp_path, b.user("cwd is /x", kind="environment_context"))) == []


# Turns ------------------------------------------------------------------------------


def test_the_task_gives_a_turn_its_key_and_steering_a_number(tmp_path: Path) -> None:
    """A person may type on while Codex works on the first prompt."""
    found = items(
        tmp_path,
        b.event("task_started", turn_id="task-a"),
        b.user("one"),
        b.assistant("working"),
        b.user("not so much"),
        b.event("task_complete", turn_id="task-a", duration_ms=900, time_to_first_token_ms=80),
        b.event("task_started", turn_id="task-b"),
        b.user("two"),
    )

    assert [e.turn for e in of(Event, found) if e.kind == "prompt"] == [
        "task-a",
        "task-a.2",
        "task-b",
    ]
    told = [t.telemetry for t in of(TurnFacts, found) if t.turn == "task-a.2"]
    assert told[-1] == {"duration_ms": 900, "first_token_ms": 80}


def test_a_turn_without_a_task_is_keyed_by_its_text_and_time(tmp_path: Path) -> None:
    """The same on every reading, and different for a prompt that is typed again."""
    records = [b.user("continue"), b.assistant(), b.user("continue")]

    first, second = items(tmp_path, *records), items(tmp_path, *records)

    keys = [turn.turn for turn in of(TurnFacts, first)]
    assert len(set(keys)) == 2
    assert first == second


def test_a_task_that_nobody_prompted_is_a_turn_of_the_system(tmp_path: Path) -> None:
    """A goal goes on by itself."""
    found = items(
        tmp_path,
        b.user("start"),
        b.assistant(),
        b.event("task_started", turn_id="by-itself"),
        b.user_item("<goal_context>go on</goal_context>"),
        b.assistant("Going on."),
    )

    turn = of(TurnFacts, found)[-1]
    assert (turn.turn, turn.author) == ("by-itself", "system")
    assert of(Event, found)[-1].turn == "by-itself"


def test_what_comes_before_every_prompt_has_a_turn_of_its_own(tmp_path: Path) -> None:
    found = items(tmp_path, b.event("error", message="no network"))

    assert [(t.turn, t.author) for t in of(TurnFacts, found)] == [(f"{b.THREAD}/start", "system")]
    assert said(found) == [("error", "no network")]


def test_rolled_back_turns_are_not_live(tmp_path: Path) -> None:
    """Their lines stay in the file; a steering prompt goes with its task."""
    found = items(
        tmp_path,
        b.event("task_started", turn_id="a"),
        b.user("one"),
        b.event("task_complete", turn_id="a"),
        b.event("task_started", turn_id="b"),
        b.user("two"),
        b.assistant("hm"),
        b.user("two and a half"),
        b.event("task_complete", turn_id="b"),
        b.event("thread_rolled_back", num_turns=1),
        b.event("thread_rolled_back", num_turns=5),
    )

    assert of(Liveness, found) == [
        Liveness(session=b.THREAD, turn=turn, live=False) for turn in ("b.2", "b", "a")
    ]


def test_telemetry_is_told_with_the_turn_it_belongs_to(tmp_path: Path) -> None:
    limits = {"primary": {"used_percent": 12.5}}
    found = items(
        tmp_path,
        b.event(
            "task_started", turn_id="a", model_context_window=272000, collaboration_mode_kind="plan"
        ),
        b.context(turn_id="a", cwd="/elsewhere", sandbox_policy={"type": "read-only"}),
        b.user("one"),
        b.tokens(None, None, rate_limits=limits),
        b.event("task_complete", turn_id="a", duration_ms=5),
    )

    assert of(TurnFacts, found)[-1] == TurnFacts(
        session=b.THREAD,
        turn="a",
        cwd="/elsewhere",
        telemetry={
            "context_window": 272000,
            "collaboration_mode": "plan",
            "effort": "high",
            "sandbox_policy": {"type": "read-only"},
            "approval_policy": "never",
            "rate_limits": limits,
            "duration_ms": 5,
        },
    )


# What is said twice -----------------------------------------------------------------


@pytest.mark.parametrize("event_first", [True, False])
def test_a_reply_and_its_reasoning_are_told_once(tmp_path: Path, event_first: bool) -> None:
    """Both variants exist in either order; the same words again are a new reply."""
    pairs = [
        (b.event("agent_reasoning", text="one"), b.reasoning_item("one", "two")),
        (b.event("agent_reasoning", text="two"), b.tokens(None, None)),
        (b.assistant("Done."), b.assistant_item("Done.")),
        (b.assistant("Done."), b.assistant_item("Done.")),
    ]
    records = [entry for pair in pairs for entry in (pair if event_first else reversed(pair))]

    found = items(tmp_path, b.user("go"), *records)

    assert Counter(said(found)) == Counter(
        [
            ("prompt", "go"),
            ("reasoning", "one"),
            ("reasoning", "two"),
            ("reply", "Done."),
            ("reply", "Done."),
        ]
    )


def test_a_reply_with_a_citation_and_a_plan_is_matched_with_what_was_shown(tmp_path: Path) -> None:
    """The screen shows neither tag; the plan is an item of its own."""
    raw = "Here.<proposed_plan>\n1. dig\n</proposed_plan><oai-mem-citation>x</oai-mem-citation>"
    found = items(
        tmp_path,
        b.user("go"),
        b.assistant("Here."),
        b.assistant_item(raw),
        b.completed("Plan", text="1. dig"),
    )

    assert [(kind, text.strip()) for kind, text in said(found)[1:]] == [
        ("reply", "Here."),
        ("reply", "1. dig"),
    ]


def test_a_compaction_is_told_once_and_its_history_never(tmp_path: Path) -> None:
    """The replacement history repeats old prompts."""
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "again"}]}
    ]
    found = items(
        tmp_path,
        b.user("go"),
        b.record("compacted", {"message": "", "replacement_history": history}),
        b.event("context_compacted"),
    )

    assert said(found) == [("prompt", "go"), ("compaction", "")]


def test_an_abort_and_an_error_are_events(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.user("go"),
        b.event("turn_aborted", reason="interrupted"),
        b.event("error", message="stream lost", codex_error_info=None),
    )

    assert said(found)[1:] == [("abort", "interrupted"), ("error", "stream lost")]


def test_a_review_is_a_turn_with_its_findings(tmp_path: Path) -> None:
    """The findings are then said once more as a message."""
    review = {
        "overall_explanation": "Mostly sound.",
        "findings": [{"title": "Leak", "body": "In the hose."}],
    }
    found = items(
        tmp_path,
        b.event("entered_review_mode", user_facing_hint="current changes"),
        b.event("exited_review_mode", review_output=review),
        b.assistant_item("Mostly sound.\n\nFull review comments:\n- Leak"),
    )

    assert said(found) == [
        ("prompt", "/review current changes"),
        ("reply", "Mostly sound.\n\nLeak\nIn the hose."),
    ]


def test_a_message_from_another_agent_wakes_a_sub_agent(tmp_path: Path) -> None:
    """Newer sub-agents get no user_message."""
    spawn = {"parent_thread_id": b.PARENT, "depth": 1, "agent_path": "/root/digger"}
    text = [{"type": "input_text", "text": "dig here"}]
    path = b.rollout(
        tmp_path,
        [
            b.meta(source={"subagent": {"thread_spawn": spawn}}),
            b.event("task_started", turn_id="a"),
            b.item("agent_message", author="/root", recipient="/root/digger", content=text),
            b.item("agent_message", author="/root/digger", recipient="/root", content=text),
        ],
    )

    found = read(path)

    assert [(t.turn, t.author) for t in of(TurnFacts, found)] == [("a", "agent")]
    assert prompts(found) == ["dig here"]


# Tools ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"output":"hi\\n","metadata":{"exit_code":1,"duration_seconds":1.5}}',
            CodexOutcome("hi\n", False, 1, 1500),
        ),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nhi", CodexOutcome("hi", True, 0, 100)),
        (
            "Exit code: 2\nWall time: 3 seconds\nTotal output lines: 900\nOutput:\nhi",
            CodexOutcome("hi", False, 2, 3000),
        ),
        (
            "Chunk ID: 4f\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\nhi",
            CodexOutcome("hi", True, 0, 50),
        ),
        (
            "Chunk ID: 4f\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\n",
            CodexOutcome("", None, None, 1000, "7"),
        ),
        (
            "Wall time: 6.4 seconds\naborted by user",
            CodexOutcome("Wall time: 6.4 seconds\naborted by user", False, None, 6400),
        ),
        ("aborted by user after 2.0s", CodexOutcome("aborted by user after 2.0s", False)),
        (
            "Script completed\nWall time 0.5 seconds\nOutput:\n\nhi",
            CodexOutcome("\nhi", True, None, 500),
        ),
        ("Script failed\nWall time 0.5 seconds\nOutput:\n", CodexOutcome("", False, None, 500)),
        ("execution error: sandbox", CodexOutcome("execution error: sandbox", False)),
        (
            "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, "
            "exit code: 101, stdout: running 1 test, stderr: error: test failed",
            CodexOutcome("running 1 test\nerror: test failed", False, 101),
        ),
        (
            "failed in sandbox None with execution error: command timed out",
            CodexOutcome("failed in sandbox None with execution error: command timed out", False),
        ),
        ("Plan updated", CodexOutcome("Plan updated")),
        ({"content": "hi", "success": False}, CodexOutcome("hi", False)),
        ({"type": "input_text", "text": "a.txt\n"}, CodexOutcome("a.txt\n")),
        (
            [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
            ],
            CodexOutcome("a\n[image/png, 3 bytes, sha256 d9cae0dbdbf0]"),
        ),
        (None, CodexOutcome()),
        (7, CodexOutcome()),
    ],
)
def test_an_exit_code_is_found_in_every_shape_of_output(
    text: object, expected: CodexOutcome
) -> None:
    """No field says whether a command succeeded."""
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("name", "given", "kind", "target"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"]}, "shell", "make test"),
        ("shell", {"command": ["git", "log", "-m", "a b"]}, "shell", "git log -m 'a b'"),
        ("shell_command", {"command": "ls"}, "shell", "ls"),
        ("exec_command", {"cmd": "rg x"}, "shell", "rg x"),
        ("write_stdin", {"session_id": 1, "chars": "y\n"}, "other", "y\n"),
        (
            "apply_patch",
            "*** Begin Patch\n*** Add File: a.py\n+x\n*** Update File: b.py\n",
            "edit",
            "a.py, b.py",
        ),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Delete File: a.py\n"]},
            "edit",
            "a.py",
        ),
        ("view_image", {"path": "/x.png"}, "read", "/x.png"),
        ("update_plan", {"plan": []}, "other", None),
        ("spawn_agent", {"message": "dig"}, "task", "dig"),
        ("wait_agent", {"targets": ["a", "b"]}, "task", "a, b"),
        ("mcp__docs__search", {"query": "pears"}, "mcp", "pears"),
        ("web_search", {"query": "pears"}, "web", "pears"),
        ("shell", {"command": [1, None]}, "shell", None),
        ("shell", 7, "shell", None),
    ],
)
def test_each_tool_has_a_kind_and_a_target(
    name: str, given: Any, kind: str, target: str | None
) -> None:
    assert aim(name, kind_of(name), given) == (kind, target)


def test_a_patch_names_its_files_only_at_the_start_of_a_line() -> None:
    """A patch of a document about patches must not add files."""
    assert (
        patched("*** Begin Patch\n*** Update File: a b.md\n+ *** Add File: no.md\n*** End Patch")
        == "a b.md"
    )


def test_parallel_calls_are_joined_by_their_ids_to_their_own_turns(tmp_path: Path) -> None:
    """Results come in any order, even after the next prompt."""
    found = items(
        tmp_path,
        b.user("one"),
        b.call(call_id="x"),
        b.call(call_id="y"),
        b.output("for y", "y"),
        b.user("two"),
        b.output("for x", "x"),
    )

    first = of(Event, found)[0].turn
    assert [(r.call, r.turn, r.output) for r in of(ToolResult, found)] == [
        ("y", first, "for y"),
        ("x", first, "for x"),
    ]


def test_an_event_enriches_the_call_and_its_output_is_kept_once(tmp_path: Path) -> None:
    """Extended files tell the end of a command beside the model's copy of it."""
    end = b.event(
        "exec_command_end",
        call_id="call_1",
        aggregated_output="all of it",
        exit_code=3,
        duration={"secs": 1, "nanos": 5_000_000},
    )
    found = items(
        tmp_path, b.user("go"), b.call(), end, b.output("Exit code: 3\nOutput:\nsome of it")
    )

    assert [(r.output, r.ok, r.exit_code, r.duration_ms) for r in of(ToolResult, found)] == [
        ("all of it", False, 3, 1005),
        (None, False, 3, None),
    ]


def test_a_call_known_only_by_its_end_is_a_call(tmp_path: Path) -> None:
    """A person's own shell command, or what code mode ran inside."""
    found = items(
        tmp_path,
        b.user("go"),
        b.event(
            "exec_command_end", call_id="u1", command=["bash", "-lc", "ls"], stdout="a", exit_code=0
        ),
        b.event(
            "patch_apply_end",
            call_id="p1",
            success=False,
            stderr="no such file",
            changes={"a.py": {}},
        ),
        b.event(
            "mcp_tool_call_end",
            call_id="m1",
            invocation={"server": "docs", "tool": "find", "arguments": {"query": "pear"}},
            duration={"secs": 0, "nanos": 4_000_000},
            result={"Ok": {"content": [{"type": "text", "text": "two"}], "isError": False}},
        ),
        b.event("mcp_tool_call_end", call_id="m2", invocation={}, result={"Err": "gone"}),
    )

    calls = [e for e in of(Event, found) if e.kind == "tool_call"]
    assert [(e.name, e.tool_kind, e.target, e.output, e.ok, e.duration_ms) for e in calls] == [
        ("shell", "shell", "ls", "a", True, None),
        ("apply_patch", "edit", "a.py", "no such file", False, None),
        ("mcp__docs__find", "mcp", "pear", "two", True, 4),
        ("mcp__unknown__unknown", "mcp", None, "gone", False, None),
    ]


def test_a_web_search_is_told_once(tmp_path: Path) -> None:
    """The item has no call id, the event has another one."""
    found = items(
        tmp_path,
        b.user("go"),
        b.event(
            "web_search_end",
            call_id="ws",
            query="pears",
            action={"type": "search", "query": "pears"},
        ),
        b.item("web_search_call", status="completed", action={"type": "search", "query": "pears"}),
    )

    assert said(found)[1:] == [("tool_call", "pears")]


def test_a_web_search_for_nothing_is_told_once_too(tmp_path: Path) -> None:
    """Some searches end before their words are known; two of them are two."""
    ended = b.event("web_search_end", call_id="ws", query="", action={"type": "other"})
    asked = b.item("web_search_call", status="completed", action={"type": "other"})

    once = items(tmp_path / "once", b.user("go"), ended, asked)
    twice = items(tmp_path / "twice", b.user("go"), asked, ended, asked, ended)

    assert len(said(once)) == 2
    assert len(said(twice)) == 3


def test_the_rarer_calls_have_names_and_targets(tmp_path: Path) -> None:
    picture = {"id": "ig", "status": "completed", "revised_prompt": "a pear", "result": "QUJD"}
    found = items(
        tmp_path,
        b.user("go"),
        b.item("local_shell_call", call_id=None, action={"type": "exec", "command": ["ls", "-l"]}),
        b.item("tool_search_call", call_id="ts", arguments={"query": "prune"}),
        b.item("tool_search_output", call_id="ts", tools=[{"name": "pruner"}]),
        b.item("image_generation_call", **picture),
        b.event("image_generation_end", call_id="ig", **picture),
        b.item(
            "function_call", name="find", namespace="mcp__docs", arguments="{broken", call_id="n"
        ),
    )

    calls = [e for e in of(Event, found) if e.kind == "tool_call"]
    assert [(e.call, e.name, e.tool_kind, e.target) for e in calls] == [
        ("unnamed-1", "local_shell", "shell", "ls -l"),
        ("ts", "tool_search", "search", "prune"),
        ("ig", "image_generation", "other", "a pear"),
        ("n", "mcp__docs__find", "mcp", None),
    ]
    assert calls[2].output == "[image, 3 bytes, sha256 d9cae0dbdbf0]"
    assert calls[3].input == "{broken"
    assert [r.output for r in of(ToolResult, found) if r.call == "ts"] == ["pruner"]


# Tokens -----------------------------------------------------------------------------


def test_a_repeated_total_is_counted_once(tmp_path: Path) -> None:
    """Rate limits are refreshed with the old counts beside them."""
    one = b.tokens(b.usage(100, 40, 10, 5), b.usage(100, 40, 10, 5))
    two = b.tokens(b.usage(250, 120, 30, 5), b.usage(150, 80, 20))

    found = items(tmp_path, b.user(), one, one, two, two, b.tokens(None, None))

    assert list(spent(found).values()) == [(60, 40, 0, 10, 5), (70, 80, 0, 20, 0)]


def test_a_total_that_falls_is_a_new_run_in_the_same_file(tmp_path: Path) -> None:
    """Older versions start over when a session is resumed; even equal counts are counted again."""
    one = b.tokens(b.usage(100, 0, 10), b.usage(100, 0, 10))
    two = b.tokens(b.usage(300, 0, 30), b.usage(200, 0, 20))

    found = items(tmp_path, b.user(), one, two, one)

    assert sum(given for given, *_ in spent(found).values()) == 400


def test_flat_totals_are_counted_by_their_differences(tmp_path: Path) -> None:
    """Before 0.31 there was no last usage."""
    totals = ((100, 20, 10), (300, 120, 15), (50, 0, 5))
    flat = [b.record("event_msg", {"type": "token_count", **b.usage(*counts)}) for counts in totals]

    found = items(tmp_path, b.user(), *flat)

    assert list(spent(found).values()) == [
        (80, 20, 0, 10, 0),
        (100, 100, 0, 5, 0),
        (50, 0, 0, 5, 0),
    ]


def test_cache_writes_are_part_of_the_input(tmp_path: Path) -> None:
    """0.145 tells them; 100 in, 40 cached, 60 written leaves nothing else."""
    counts = b.usage(100, 40, 10, cache_write_input_tokens=60)

    assert list(spent(items(tmp_path, b.user(), b.tokens(counts, counts))).values()) == [
        (0, 40, 60, 10, 0)
    ]


def test_the_model_is_that_of_the_latest_turn_context(tmp_path: Path) -> None:
    """A session may switch models."""
    found = items(
        tmp_path,
        b.user(),
        b.context(model="small"),
        b.tokens(b.usage(1), b.usage(1)),
        b.context(model="large"),
        b.tokens(b.usage(3), b.usage(2)),
    )

    assert [u.model for u in of(Usage, found)] == ["small", "large"]


# Forks and copied history -------------------------------------------------------------


PARENTS = [
    b.event("task_started", turn_id=OLD_TURN),
    b.context(turn_id=OLD_TURN),
    b.user("the parent's prompt"),
    b.call(call_id="old"),
    b.output("old", "old"),
    b.assistant("the parent's reply"),
    b.tokens(b.usage(1000, 0, 100), b.usage(1000, 0, 100)),
    b.event("task_complete", turn_id=OLD_TURN),
]
OWN = [
    b.event("task_started", clock_at := b.clock(90), turn_id=OWN_TURN),
    b.user("my prompt", clock_at),
    b.tokens(b.usage(1000, 0, 100), b.usage(1000, 0, 100), b.clock(91)),
    b.assistant("my reply", b.clock(92)),
    b.tokens(b.usage(1500, 0, 150), b.usage(500, 0, 50), b.clock(93)),
]


def stamped(records: list[dict[str, Any]], millisecond: int = 0) -> list[dict[str, Any]]:
    """Copied records: all of them written within milliseconds."""
    return [{**entry, "timestamp": b.clock(1, millisecond + n)} for n, entry in enumerate(records)]


def fork(
    tmp_path: Path, copied: list[dict[str, Any]], own: list[dict[str, Any]], **more: Any
) -> list[Item]:
    records = [b.meta(CHILD, b.clock(0, 990), **more), *stamped(copied), *own]
    return read(b.rollout(tmp_path, records, CHILD))


def test_a_fork_shows_and_counts_only_its_own(tmp_path: Path) -> None:
    """The copied stretch is the parent's: its turns, calls and tokens are told there."""
    found = fork(tmp_path, [b.meta(b.PARENT), *PARENTS], OWN, forked_from_id=b.PARENT)

    assert said(found) == [("prompt", "my prompt"), ("reply", "my reply")]
    assert [u.key for u in of(Usage, found)] == [f"{CHILD}:0:1500:150:500:50"]
    assert of(SessionFacts, found)[0].parent == b.PARENT
    assert of(Problem, found) == []


def test_a_fork_is_the_same_whether_or_not_its_parent_is_there(tmp_path: Path) -> None:
    """The decision must not depend on what else is on the disk, nor on the order of reading."""
    alone = fork(tmp_path / "alone", [b.meta(b.PARENT), *PARENTS], OWN, forked_from_id=b.PARENT)

    parent = read(b.rollout(tmp_path / "both", [b.meta(b.PARENT), *PARENTS], b.PARENT))
    both = fork(tmp_path / "both", [b.meta(b.PARENT), *PARENTS], OWN, forked_from_id=b.PARENT)

    assert alone == both
    assert sum(given for given, *_ in {**spent(parent), **spent(both)}.values()) == 1500


def test_a_fork_before_forked_from_id_is_told_by_the_second_session_meta(tmp_path: Path) -> None:
    """To 0.87, and without turn ids: the pause after the copied records is its end."""
    copied = [
        b.meta(b.PARENT),
        b.meta("grandparent"),
        b.user("old"),
        b.tokens(b.usage(9), b.usage(9)),
    ]
    own = [b.user("mine", b.clock(40)), b.tokens(b.usage(12), b.usage(3), b.clock(41))]

    found = fork(tmp_path, copied, own)

    assert of(SessionFacts, found)[1] == SessionFacts(session=CHILD, parent=b.PARENT)
    assert prompts(found) == ["mine"]
    assert spent(found) == {f"{CHILD}:0:12:0:3:0": (3, 0, 0, 0, 0)}


def test_a_sub_agent_with_context_begins_right_after_the_copy(tmp_path: Path) -> None:
    """There is no pause, but a turn id holds its time."""
    spawn = {"parent_thread_id": b.PARENT, "depth": 1}
    own = stamped(
        [b.event("task_started", turn_id=OWN_TURN), b.user("dig"), b.assistant("dug")], 40
    )

    found = fork(
        tmp_path,
        [b.meta(b.PARENT), *PARENTS],
        own,
        forked_from_id=b.PARENT,
        source={"subagent": {"thread_spawn": spawn}},
    )

    assert said(found) == [("prompt", "dig"), ("reply", "dug")]
    assert next((t.turn, t.author) for t in of(TurnFacts, found)) == (OWN_TURN, "agent")


def test_a_slow_disk_does_not_end_a_copied_stretch_with_dated_turns(tmp_path: Path) -> None:
    copied = stamped([b.meta(b.PARENT), *PARENTS[:3]])
    late = [{**entry, "timestamp": b.clock(9)} for entry in PARENTS[3:]]

    records = [b.meta(CHILD, b.clock(0, 990), forked_from_id=b.PARENT), *copied, *late, *OWN]

    assert said(read(b.rollout(tmp_path, records, CHILD))) == [
        ("prompt", "my prompt"),
        ("reply", "my reply"),
    ]


def test_a_paginated_sub_agent_says_where_its_own_history_starts(tmp_path: Path) -> None:
    records = [
        {**entry, "ordinal": n}
        for n, entry in enumerate(
            [
                b.meta(
                    history_mode="paginated",
                    subagent_history_start_ordinal=3,
                    forked_from_id=b.PARENT,
                ),
                b.user_item("inherited"),
                b.assistant_item("inherited too"),
                b.event("task_started", turn_id="t1"),
                b.completed("UserMessage", id="u", content=[{"type": "text", "text": "dig"}]),
                b.completed("AgentMessage", id="a", content=[{"type": "Text", "text": "dug"}]),
            ]
        )
    ]

    assert said(read(b.rollout(tmp_path, records))) == [("prompt", "dig"), ("reply", "dug")]


def test_a_fork_that_refers_to_its_parent_copied_nothing(tmp_path: Path) -> None:
    """A total carried over is keyed like the parent's, so a repeated count is recognised."""
    base = {"thread_id": b.PARENT, "end_ordinal_exclusive": 9, "end_byte_offset": 900}
    parent = read(b.rollout(tmp_path / "p", [b.meta(b.PARENT), *PARENTS], b.PARENT))

    found = read(
        b.rollout(tmp_path, [b.meta(forked_from_id=b.PARENT, history_base=base), *PARENTS[2:]])
    )

    assert said(found)[0] == ("prompt", "the parent's prompt")
    repeated = b.tokens(b.usage(2000, 0, 200), b.usage(1000, 0, 100))
    one = read(
        b.rollout(tmp_path / "p", [b.meta(b.PARENT), b.user(), *PARENTS[6:7], repeated], b.PARENT)
    )
    two = read(
        b.rollout(
            tmp_path, [b.meta(forked_from_id=b.PARENT, history_base=base), b.user(), repeated]
        )
    )
    assert set(spent(two)) < set(spent(one))
    assert parent


@pytest.mark.parametrize("order", [1, -1])
def test_siblings_whose_copied_stretch_cannot_be_told_count_it_once(
    tmp_path: Path, order: int
) -> None:
    """Without the parent's meta, turn ids or pauses the keys of the counts still agree."""
    shared = [b.tokens(b.usage(n * 100), b.usage(100)) for n in (1, 2, 3)]
    paths = [
        b.rollout(
            tmp_path / name,
            [
                b.meta(name, forked_from_id="lost"),
                *shared,
                b.tokens(b.usage(300 + more), b.usage(more)),
            ],
            name,
        )
        for name, more in (("one", 7), ("two", 9))
    ]

    found = {key: counts for path in paths[::order] for key, counts in spent(read(path)).items()}

    assert sum(given for given, *_ in found.values()) == 316


# Paginated files ----------------------------------------------------------------------


def test_turn_items_tell_what_events_told_before(tmp_path: Path) -> None:
    """A paginated file has items for the model and turn items for the screen."""
    found = items(
        tmp_path,
        b.event("task_started", turn_id="t1"),
        b.user_item("prune"),
        b.completed("UserMessage", id="u", content=[{"type": "text", "text": "prune"}]),
        b.completed("Reasoning", id="r", summary_text=["Hm"], raw_content=[]),
        b.reasoning_item("Hm"),
        b.call("exec_command", "c1", cmd="ls"),
        b.completed(
            "CommandExecution",
            id="c1",
            command=["ls"],
            status="failed",
            exit_code=2,
            aggregated_output="no",
        ),
        b.output("Process exited with code 2\nOutput:\nno", "c1"),
        b.completed("FileChange", id="f1", changes={"a.py": {}}, status="completed", stdout="ok"),
        b.completed(
            "McpToolCall",
            id="m1",
            server="docs",
            tool="find",
            arguments={},
            error={"message": "gone"},
        ),
        b.completed(
            "WebSearch", id="w1", query="pears", action={"type": "search", "query": "pears"}
        ),
        b.completed("ContextCompaction", id="k"),
        b.completed("AgentMessage", id="a", content=[{"type": "Text", "text": "Pruned."}]),
        b.assistant_item("Pruned."),
    )

    assert said(found) == [
        ("prompt", "prune"),
        ("reasoning", "Hm"),
        ("tool_call", "ls"),
        ("tool_call", "a.py"),
        ("tool_call", None),
        ("tool_call", "pears"),
        ("compaction", ""),
        ("reply", "Pruned."),
    ]
    assert [(r.call, r.output, r.ok, r.exit_code) for r in of(ToolResult, found)] == [
        ("c1", "no", False, 2),
        ("c1", None, False, 2),
    ]
    mcp = next(e for e in of(Event, found) if e.call == "m1")
    assert (mcp.name, mcp.ok, mcp.output) == ("mcp__docs__find", False, "gone")


# Bare files -----------------------------------------------------------------------------


BARE: list[dict[str, Any]] = [
    {"id": b.THREAD, "timestamp": b.START, "instructions": None, "git": {"branch": "main"}},
    {"record_type": "state"},
    {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/home/kim</cwd>"}],
    },
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "dig"}]},
    {"record_type": "state"},
    {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command":["ls"]}'},
    {"type": "function_call_output", "call_id": "c", "output": "spade"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Dug."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "dig"}]},
]


def test_a_bare_file_has_prompts_without_times(tmp_path: Path) -> None:
    """To 0.31: only the meta line knows a time, only a tag knows the folder."""
    found = read(b.rollout(tmp_path, BARE))

    facts = of(SessionFacts, found)
    assert (facts[0].session, facts[0].started_at, facts[0].git_branch) == (
        b.THREAD,
        CREATED,
        "main",
    )
    assert facts[1] == SessionFacts(session=b.THREAD, cwd="/home/kim")
    assert said(found) == [
        ("prompt", "dig"),
        ("tool_call", "ls"),
        ("reply", "Dug."),
        ("prompt", "dig"),
    ]
    assert {event.at for event in of(Event, found)} == {None}
    assert [turn.turn.partition(".")[2] for turn in of(TurnFacts, found)] == ["", "2"]


def test_an_old_json_document_is_read_whole(tmp_path: Path) -> None:
    """The TypeScript CLI of early 2025 wrote one document."""
    path = tmp_path / "rollout-2025-05-01-abc.json"
    path.write_text(json.dumps({"session": {"id": "old", "timestamp": b.START}, "items": BARE[2:]}))

    found = read(path, appended=False)

    assert of(SessionFacts, found)[0].session == "old"
    assert prompts(found) == ["dig", "dig"]
    assert found[-1].position == path.stat().st_size  # type: ignore[union-attr]


# Growing, torn, broken --------------------------------------------------------------------


RICH = [
    b.meta(CHILD, b.clock(0, 990), forked_from_id=b.PARENT),
    *stamped([b.meta(b.PARENT), *PARENTS]),
    b.meta(CHILD, b.clock(80), memory_mode="on"),
    b.user_item("typed before any event", at=b.clock(85)),
    b.event("task_started", b.clock(90), turn_id=OWN_TURN),
    b.context(b.clock(90), turn_id=OWN_TURN, cwd="/elsewhere"),
    b.user_item("<environment_context>x", at=b.clock(91)),
    b.user_item("my prompt", at=b.clock(91)),
    b.user("my prompt", b.clock(91)),
    b.event("agent_reasoning", b.clock(92), text="Hm"),
    b.tokens(
        b.usage(1500, 0, 150),
        b.usage(500, 0, 50),
        b.clock(93),
        rate_limits={"primary": {"used_percent": 1}},
    ),
    b.reasoning_item("Hm", "Ha", at=b.clock(94)),
    b.call(call_id="c1", at=b.clock(95)),
    b.call(call_id="c2", at=b.clock(95)),
    b.event("exec_command_end", b.clock(96), call_id="c1", aggregated_output="long", exit_code=0),
    b.output("Exit code: 0\nOutput:\nlon", "c1", b.clock(96)),
    b.user("steer", b.clock(97)),
    b.output("Exit code: 1\nOutput:\nbad", "c2", b.clock(98)),
    b.assistant("Done.", b.clock(99)),
    b.assistant_item("Done.", b.clock(99)),
    b.record("compacted", {"message": "short"}, b.clock(100)),
    b.event("context_compacted", b.clock(100)),
    b.tokens(b.usage(100, 0, 10), b.usage(100, 0, 10), b.clock(101)),
    b.event("task_complete", b.clock(102), turn_id=OWN_TURN, duration_ms=12),
    b.event("never_seen", b.clock(103)),
    b.event("task_started", b.clock(104), turn_id="by-itself"),
    b.assistant_item("alone", b.clock(105)),
    b.event("turn_aborted", b.clock(106), reason="interrupted"),
    b.event("thread_rolled_back", b.clock(107), num_turns=1),
    b.event("thread_name_updated", b.clock(108), thread_name="Named"),
]
# Without the one prompt that no event repeats, so that no cut can fall between two tellings of it.
RICH = [entry for entry in RICH if "typed before" not in json.dumps(entry)]


def merged(found: list[Item]) -> dict[str, Any]:
    """What a store would hold: facts laid over each other, the rest in order."""
    told: dict[str, dict[str, Any]] = {}
    problems: Counter[str] = Counter()
    rest: list[Item] = []
    for item in found:
        if isinstance(item, SessionFacts | TurnFacts):
            name = item.session if isinstance(item, SessionFacts) else item.turn
            known = {k: v for k, v in msgspec.structs.asdict(item).items() if v is not None}
            told[name] = {**told.get(name, {}), **known}
        elif isinstance(item, Problem):
            problems[item.reason] += item.count
        elif not isinstance(item, Checkpoint):
            rest.append(item)
    return {"facts": told, "turns": list(told), "problems": problems, "rest": rest}


@pytest.mark.parametrize(
    "records", [RICH, BARE, [b.meta(), *PARENTS, *RICH[14:]]], ids=["fork", "bare", "plain"]
)
def test_a_growing_file_read_in_two_steps_gives_what_it_gives_at_once(
    tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    """Cut after every line: nothing is lost, repeated or keyed otherwise."""
    lines = b.lines(records)
    path = tmp_path / f"rollout-2026-03-01T09-00-00-{CHILD}.jsonl"
    path.write_text("".join(lines))
    whole = merged(read(path))

    for cut in range(1, len(lines)):
        path.write_text("".join(lines[:cut]))
        first = read(path)
        path.write_text("".join(lines))
        checkpoint = first[-1]
        assert isinstance(checkpoint, Checkpoint)
        second = read(path, checkpoint)

        assert merged([*first, *second]) == whole, f"cut after line {cut}"
        assert not of(Event, second) or isinstance(second[0], SessionFacts)


def test_a_half_written_line_waits_for_the_next_run(tmp_path: Path) -> None:
    """The agent may be writing while we read; that is not a broken log."""
    path = b.rollout(tmp_path, [b.meta(), b.user("one")])
    whole = path.read_text() + b.lines([b.user("two", b.clock(9))])[0]
    path.write_text(whole[:-20])

    first = read(path)
    path.write_text(whole)
    second = read(path, first[-1])  # type: ignore[arg-type]

    assert (prompts(first), prompts(second)) == (["one"], ["two"])
    assert of(Problem, [*first, *second]) == []


def test_a_bad_line_costs_that_line(tmp_path: Path) -> None:
    path = b.rollout(tmp_path, [b.meta(), b.user("one")])
    path.write_text(
        path.read_text()
        + '{"broken\n[1]\n{"type":"event_msg","payload":7}\n'
        + b.lines([b.user("two", b.clock(9))])[0]
    )

    found = read(path)

    assert prompts(found) == ["one", "two"]
    assert [(p.kind, p.line) for p in of(Problem, found)] == [
        ("bad_line", 3),
        ("bad_record", 4),
        ("bad_record", None),
    ]


def test_what_is_unknown_is_counted_once_for_each_type(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        b.record("brand_new", {"x": 1}),
        b.event("brand_new"),
        b.event("brand_new"),
        b.item("brand_new"),
        b.completed("BrandNew"),
        b.record("world_state", {"full": True}),
        b.item("ghost_snapshot"),
    )

    assert [(p.kind, p.reason, p.count) for p in of(Problem, found)] == [
        ("unknown", "record type brand_new", 1),
        ("unknown", "event type brand_new", 2),
        ("unknown", "item type brand_new", 1),
        ("unknown", "turn item type BrandNew", 1),
    ]


def test_an_unreadable_file_is_one_problem(tmp_path: Path) -> None:
    found = read(tmp_path / "gone.jsonl", Checkpoint(7, msgspec.msgpack.encode(CodexState())))

    assert [type(item).__name__ for item in found] == ["Problem", "Checkpoint"]
    assert found[-1].position == 7  # type: ignore[union-attr]


def test_a_session_whose_first_line_is_lost_is_named_by_its_file(tmp_path: Path) -> None:
    found = read(b.rollout(tmp_path, [b.user("hello")]))

    assert of(SessionFacts, found)[0].session == b.THREAD
    assert prompts(found) == ["hello"]


def test_the_state_stays_small(tmp_path: Path) -> None:
    """A checkpoint has 64 KB, whatever a log holds."""
    reader = CodexReader("x", "x")
    many = [b.call(call_id=f"{n}" + "c" * 190) for n in range(2000)]
    many += [b.user("p" * 9000 + str(n), turn_id="t" * 9000) for n in range(2000)]
    many += [
        b.context(sandbox_policy={"roots": ["r" * 99] * 999}),
        b.event("task_started", turn_id="t" * 99_999),
    ]
    path = b.rollout(tmp_path, [b.meta(), b.user(), *many])

    states = [item.state for item in read(path) if isinstance(item, Checkpoint)]

    assert max(map(len, states)) <= 64_000
    assert reader.take_state()


NAMES = """session_meta turn_context response_item event_msg compacted inter_agent_communication
    user_message token_count message function_call function_call_output reasoning item_completed
    exec_command_end mcp_tool_call_end web_search_call image_generation_call task_started
    task_complete
    thread_rolled_back exited_review_mode UserMessage McpToolCall"""
KEYS = """type payload timestamp id role content text message call_id output arguments info
total_token_usage
    last_token_usage input_tokens turn_id item name input git num_turns source subagent thread_spawn
    forked_from_id images summary result action command duration rate_limits ordinal cwd
    review_output
    findings started_at model"""
names, keys = st.sampled_from(NAMES.split()), st.sampled_from(KEYS.split())
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)
bodies = st.dictionaries(keys, values, max_size=7)
anything = st.one_of(
    bodies,
    st.builds(
        lambda kind, told, body: {"type": kind, "payload": {"type": told, **body}},
        names,
        names,
        bodies,
    ),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(records=st.lists(anything, max_size=8))
def test_no_record_makes_the_adapter_raise(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    """Logs are written by others; whatever stands in them is a value."""
    path = tmp_path / "any.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in records))

    found = read(path)

    assert isinstance(found[-1], Checkpoint)
    assert found[-1].position == path.stat().st_size
    assert len(found[-1].state) <= 64_000


# Finding logs ---------------------------------------------------------------------------


def listed(root: Path) -> list[str]:
    return [os.path.relpath(source.path, root) for source in Codex().sources(str(root))]


def test_the_root_is_codex_home_or_a_folder_in_the_home() -> None:
    assert Codex().roots("/home/kim", {}) == ["/home/kim/.codex"]
    assert Codex().roots("/home/kim", {"CODEX_HOME": "/data/codex"}) == ["/data/codex"]


def test_each_thread_is_listed_once_and_live_files_first(tmp_path: Path) -> None:
    """Archiving moves a file, compressing replaces it; either may be caught halfway."""
    day, archive = tmp_path / "sessions" / "2026" / "03" / "01", tmp_path / "archived_sessions"
    day.mkdir(parents=True)
    archive.mkdir()
    one, two, three = (f"rollout-2026-03-01T09-00-0{n}-{b.turn_id(n)}" for n in (1, 2, 3))
    reverted = f"{one}_{b.turn_id(9)}"
    for name in (
        f"{one}.jsonl",
        f"{one}.jsonl.zst",
        f"{two}.jsonl.zst",
        f"{reverted}.jsonl",
        f"{one}.jsonl.tmp",
    ):
        (day / name).touch()
    for name in (
        f"{one}.jsonl",
        f"{two}.jsonl.zst",
        f"{three}.jsonl",
        "anything.jsonl",
        "notes.txt",
    ):
        (archive / name).touch()
    (tmp_path / "sessions" / "rollout-2025-04-01-flat.jsonl").touch()
    (tmp_path / "sessions" / "rollout-2025-04-01-old.json").touch()
    (tmp_path / "history.jsonl").touch()

    assert listed(tmp_path) == [
        f"sessions/2026/03/01/{one}.jsonl",
        f"sessions/2026/03/01/{reverted}.jsonl",
        f"sessions/2026/03/01/{two}.jsonl.zst",
        "sessions/rollout-2025-04-01-flat.jsonl",
        "sessions/rollout-2025-04-01-old.json",
        "archived_sessions/anything.jsonl",
        f"archived_sessions/{three}.jsonl",
    ]
    appended = {
        Path(source.path).suffix: source.appended for source in Codex().sources(str(tmp_path))
    }
    assert appended == {".jsonl": True, ".zst": False, ".json": False}


def test_a_sessions_folder_and_a_copied_home_are_roots_too(tmp_path: Path) -> None:
    path = b.rollout(tmp_path / "work" / "project" / ".codex", [b.meta()])

    assert [Path(s.path) for s in Codex().sources(str(path.parents[3]))] == [path]
    assert [Path(s.path) for s in Codex().sources(str(path.parents[4]))] == [path]
    assert [Path(s.path) for s in Codex().sources(str(tmp_path))] == [path]
    assert [Path(s.path) for s in Codex().sources(str(path.parent))] == [path]
    assert listed(tmp_path / "nowhere") == []


def test_a_compressed_file_gives_what_the_plain_one_gives(tmp_path: Path) -> None:
    plain = b.rollout(tmp_path, RICH, CHILD)
    packed = tmp_path / f"{plain.name}.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))

    found = read(packed, appended=False)

    assert merged(found)["rest"] == merged(read(plain))["rest"]
    assert found[-1].position == plain.stat().st_size  # type: ignore[union-attr]
    assert merged(read(packed, found[-1], appended=False)) == merged(found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("any.jsonl", b.meta(), True),
        (f"rollout-2026-03-01T09-00-00-{b.THREAD}.jsonl", BARE[0], True),
        (f"rollout-2026-03-01T09-00-00-{b.THREAD}.jsonl", b.user(), True),
        ("any.jsonl", b.user(), False),
        ("any.jsonl", {"type": "session_meta", "payload": {"id": "x"}}, False),
        (
            "any.jsonl",
            {"type": "user", "message": {"role": "user"}, "cwd": "/x", "sessionId": "s"},
            False,
        ),
        ("history.jsonl", {"session_id": "x", "ts": 1, "text": "dig"}, False),
        ("session_index.jsonl", {"id": "x", "thread_name": "n", "updated_at": "2026"}, False),
    ],
)
def test_a_file_is_recognised_by_several_fields(
    name: str, line: dict[str, Any], expected: bool
) -> None:
    """Look-alikes exist; one key is not enough."""
    assert (
        Codex().find_source(f"/x/{name}", json.dumps(line).encode() + b"\n") is not None
    ) is expected


def test_a_first_line_longer_than_what_is_shown_is_recognised() -> None:
    """The instructions of a session can take 20 KB."""
    line = json.dumps(b.meta(base_instructions={"text": "x" * 30_000})).encode()

    assert Codex().find_source("/x/any.jsonl", line[:4096])
    assert not Codex().find_source(
        "/x/any.jsonl", b'{"type":"other","payload":{"cwd":"/x"' + b" " * 4000
    )


# Public samples ---------------------------------------------------------------------------


def samples(corpus: Path) -> list[Path]:
    found = sorted((corpus / "codex").rglob("*.jsonl"))
    return [path for path in found if path.name not in ("history.jsonl", "session_index.jsonl")]


# Deliberately strange fixtures of other projects, and what we say about them.
EXPLAINED = {
    "codex.jsonl": {"no event type"},
    "codex_050_legacy.jsonl": {"event type turn.completed"},
    "codex_051_usage.jsonl": {"event type turn.completed"},
    "codex_052_raw.jsonl": {"event type codex/event/raw_item", "event type turn.completed"},
    "codex_053_rate_limit.jsonl": {"event type account/rateLimits/updated"},
    "large.jsonl": {"item type tool_call", "item type tool_result"},
    "small.jsonl": {"a result without its call"},
    "sample_rollout_unknown.jsonl": {"record type totally_new_type"},
    "sample_rollout_unknown_event.jsonl": {"event type mystery_event"},
    "sample_rollout_unknown_response_item.jsonl": {"item type mystery_item"},
    "agent-session-rollout.jsonl": {"a record without a payload"},
}


def test_every_sample_is_read_without_an_unexplained_problem(corpus: Path) -> None:
    """Sixty logs of a dozen projects, from bare files to 0.146."""
    for path in samples(corpus):
        found = {problem.reason for problem in of(Problem, read(path))}

        assert found == EXPLAINED.get(path.name, set()), path


def counted(path: Path) -> int:
    """An independent count: the last usage of each total that differs from the one before."""
    total, before = 0, None
    for text in path.read_text(errors="replace").splitlines():
        try:
            payload = json.loads(text).get("payload") or {}
        except ValueError:
            continue
        info = (payload.get("info") if payload.get("type") == "token_count" else None) or {}
        whole = info.get("total_token_usage")
        if whole and whole != before:
            last = info.get("last_token_usage") or whole
            before, total = whole, total + last["input_tokens"] + last["output_tokens"]
    return total


def test_the_tokens_of_the_samples_equal_an_independent_count(corpus: Path) -> None:
    for path in samples(corpus):
        if "mlflow" in str(path) or "traex" in str(path):
            continue

        ours = sum(u.input + u.cache_read + u.output for u in of(Usage, read(path)))

        assert ours == counted(path), path


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("archived-fork-33ce-3869", 15_309_178),
        ("harness-smoke", 17),
        ("live-fork-4d90-52bf", 26_801_911),
        ("missing-parent-siblings", 15_312_271),
    ],
)
def test_forks_of_the_samples_are_counted_once_in_any_order(
    corpus: Path, case: str, expected: int, order: int
) -> None:
    """Stamps were made even and metas removed, so only the keys of the counts can tell."""
    folder = next((corpus / "codex").rglob(case))
    paths = sorted(folder.rglob("*.jsonl"))[::order]

    found = {key: counts for path in paths for key, counts in spent(read(path)).items()}

    assert sum(given + cached + out for given, cached, _, out, _ in found.values()) == expected


def test_a_stamp_that_is_no_time_does_not_spoil_the_next_one() -> None:
    """Times are read by their minute, which is remembered; a broken one may not be."""
    from recollect.capture.adapters.codex.records import moment
    from recollect.model.logs import milliseconds

    stamps = [
        "2026-01-31T12:59.999Z",
        "2026-01-31T12:59:07.123Z",
        "2026-01-31T12:59:x7.123Z",
        "2026-01-31T12:59:08.000Z",
    ]

    assert [moment(stamp) for stamp in stamps] == [milliseconds(stamp) for stamp in stamps]
