"""What a hook tells at each moment, what it leaves behind, and what it
makes of input that nobody should pass.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recollect.memory import Memory
from recollect.recall.hooks.frame import framed
from recollect.serve import hook
from recollect.serve.agents import served
from recollect.store import spool
from tests.builders.homes import chat, claude_log, memory
from tests.builders.hooks import (
    SESSION,
    SHOP,
    environment,
    passed,
    passed_command,
    prepared,
    told,
    within_frame,
)
from tests.builders.work import Work

HOOKS = {name: agent.hooks for name, agent in served().items() if agent.hooks}
NOT_FOUND = "bash: pytest: command not found"
NO_OPTION = "error: unexpected argument '--fxi' found"
REMINDER = "`pytest` is not installed here (command not found); use `uv run pytest`"
ERROR_REMINDER = f"`ruff check --fxi src` fails: {NO_OPTION} → `ruff check --fix src` works"


def work() -> Work:
    """A program that is not there, and an option that is none."""
    return (
        Work(1)
        .ask("are the tests of the shop green?")
        .run("pytest -q tests/a.py", NOT_FOUND, code=127)
        .run("uv run pytest -q tests/a.py", "3 passed")
        .ask("have the prices of the shop in order, please")
        .run("ruff check --fxi src", NO_OPTION, code=2)
        .run("ruff check --fix src", "All checks passed!")
        .edit("/home/ada/shop/prices.py")
    )


def reminded(home: Path, event: str, data: bytes) -> list[str]:
    """What is told, without the day and the name of the note."""
    return [
        re.sub(r"^- 2026-01-01 note:[a-z2-7]{8}: ", "", line) for line in told(home, event, data)
    ]


def failed_command(command: str, error: str, **fields: Any) -> bytes:
    tool = {"tool_name": "Bash", "tool_input": {"command": command}}
    return passed("PostToolUseFailure", error=error, **tool, **fields)


@pytest.fixture
def mind(home: Path) -> Iterator[Memory]:
    """The memory of that work, ready to be told."""
    with prepared(home, work()) as made:
        yield made


# Moments


def test_a_command_that_failed_before_is_told_what_worked(home: Path, mind: Memory) -> None:
    """In one line, with where to read more; any use of a program that was not found."""
    for command in (
        "pytest -q tests/a.py",
        "pytest",
        "cd web && pytest -x tests/other.py | tail -3",
    ):
        data = passed_command(command, session_id=command)
        assert reminded(home, "PreToolUse", data) == [REMINDER]


@pytest.mark.parametrize(
    "command",
    ["uv run pytest -q a.py", "ls", "echo pytest", "grep -r pytest .", "", "pytestify", "'"],
)
def test_other_commands_are_told_nothing(home: Path, mind: Memory, command: str) -> None:
    """Least of all the form that works."""
    assert told(home, "PreToolUse", passed_command(command)) == []


def test_only_shell_commands_are_reminded(home: Path, mind: Memory) -> None:
    """A file that is called pytest is none."""
    assert told(home, "PreToolUse", tool_name="Write", tool_input={"command": "pytest -q"}) == []
    assert told(home, "PreToolUse", tool_name="Bash", tool_input={"file_path": "pytest"}) == []


def test_an_option_that_is_none_is_told_before_and_after(home: Path, mind: Memory) -> None:
    """With other arguments too; after the failure only where the error is the same."""
    before = passed_command("ruff check --fxi tests", session_id="before")
    after = failed_command("ruff check --fxi x.py", f"Exit code 2\n{NO_OPTION}\n")
    other = failed_command("ruff check --fxi x.py", "Exit code 2\nx.py: No such file or directory")

    assert reminded(home, "PreToolUse", before) == [ERROR_REMINDER]
    assert reminded(home, "PostToolUseFailure", after) == [ERROR_REMINDER]
    assert reminded(home, "PostToolUseFailure", other) == []


def test_the_same_words_elsewhere_are_told_nothing(home: Path) -> None:
    """A command that fails in one folder may be right in the next."""
    work = (
        Work(1)
        .ask("are the tests of the shop green?")
        .run("make check", "make: *** No rule to make target 'check'", code=2)
        .run(
            "npm test",
            "npm error enoent Could not read package.json: no such file or directory",
            code=254,
        )
        .run("cd web && npm test", "4 passed")
    )
    with prepared(home, work):
        here = reminded(home, "PreToolUse", passed_command("npm test"))
        below = reminded(home, "PreToolUse", passed_command("cd web && npm test"))
        there = reminded(home, "PreToolUse", passed_command("npm test", cwd=f"{SHOP}/web"))

    assert len(here) == 1
    assert here[0].endswith("→ works in web")
    assert below == there == []


def test_what_was_offered_is_not_offered_again_in_the_same_session(
    home: Path, mind: Memory
) -> None:
    """It is in the conversation already.

    Whether the line is still in the spool or taken in makes no difference.
    """
    command = passed_command("pytest -q")

    first, second = reminded(home, "PreToolUse", command), told(home, "PreToolUse", command)
    mind.injections.hook_runs()
    third = told(home, "PreToolUse", command)
    elsewhere = reminded(home, "PreToolUse", passed_command("pytest -q", session_id="another"))

    assert (first, second, third, elsewhere) == ([REMINDER], [], [], [REMINDER])


def test_a_pack_is_told_at_every_start(home: Path, mind: Memory) -> None:
    """After a resume the conversation may not have it any more."""
    first, second = (
        told(home, "SessionStart", source="startup"),
        told(home, "SessionStart", source="resume"),
    )

    assert first == second == within_frame(mind.recall(folder=SHOP).text)
    assert f"- {REMINDER}" in first


def test_after_a_compaction_it_is_told_what_a_summary_loses(home: Path, mind: Memory) -> None:
    """What was asked first and what fails in this session, and commands; not the traps again."""
    talk = (
        Work(5)
        .ask("make the receipts of the shop right")
        .run("npm run lint", "2 problems", code=1)
        .run("npm run build", "error", code=1)
        .run("npm run build", "built")
    ).talk
    claude_log(home, talk)
    mind.import_logs()
    mind.jobs.work()

    said = told(home, "SessionStart", source="compact", session_id=talk.session)

    assert said[:4] == [
        "Asked first in this session:",
        "- “make the receipts of the shop right” (turn 1)",
        "Failed when last run in this session:",
        "- `npm run lint` (in /home/ada/shop, exit 1)",
    ]
    assert "Commands:" in said
    assert "Traps:" not in said


def test_a_sub_agent_starts_without_a_pack(home: Path, mind: Memory) -> None:
    """It has its task from the agent that started it. A command that fails, fails for it too."""
    assert told(home, "SessionStart", agent_id="a1") == []
    assert (
        told(home, "UserPromptSubmit", prompt="are the tests of the shop green?", agent_id="a1")
        == []
    )
    assert reminded(home, "PreToolUse", passed_command("pytest", agent_id="a1")) == [REMINDER]


def test_a_run_that_keeps_no_log_starts_without_a_pack(home: Path, mind: Memory) -> None:
    """Codex says so by naming no transcript."""
    assert told(home, "SessionStart", agent="codex", transcript_path=None) == []
    assert told(home, "SessionStart", agent="codex") != []


def test_agents_that_we_start_ourselves_are_told_nothing_and_leave_nothing(
    home: Path, mind: Memory
) -> None:
    """They would learn from themselves."""
    environ = environment(home, **{hook.OWN_RUN_VARIABLE: "1"})

    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        assert (
            hook.respond(
                "claude-code",
                event,
                passed(event, prompt="are the tests of the shop green?"),
                environ,
            )
            == ""
        )

    assert hook._work == []
    assert mind.injections.hook_runs() == {}


# Off


@pytest.mark.parametrize("how", ["variable", "line"])
def test_a_session_that_is_off_is_told_nothing_and_never_stored(
    home: Path, mind: Memory, how: str
) -> None:
    """By a variable, or by a line that a person types; sub-agents belong to it."""
    talk = chat(7)
    talk.user("a secret plan")
    talk.reply("noted")
    log = claude_log(home, talk)
    off = {hook.OFF_VARIABLE: "off"} if how == "variable" else {}
    prompt = "Recollect:  off\nplan something" if how == "line" else "plan something"

    def fires(event: str, **fields: Any) -> str:
        data = passed(event, session_id=talk.session, transcript_path=str(log), **fields)
        return hook.respond("claude-code", event, data, environment(home, **off))

    assert fires("UserPromptSubmit", prompt=prompt) == ""
    command = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    assert fires("PreToolUse", **command) == ""
    assert fires("Stop") == ""
    assert hook._work == []

    mind.import_logs()
    mind.import_logs([log])

    assert fires("PreToolUse", **command) == ""
    assert f"claude-code:{talk.session}" not in [session.id for session in mind.sessions()]
    assert all(fault is None for _, fault in mind.injections.hook_runs().values())


def test_what_was_read_of_a_session_goes_when_it_is_switched_off(home: Path, mind: Memory) -> None:
    """A person thinks of it in the middle."""
    talk = chat(8)
    talk.user("a secret plan")
    talk.reply("noted")
    log = claude_log(home, talk)
    mind.import_logs()
    assert mind.search("secret plan", mode="text")

    told(home, "UserPromptSubmit", session_id=talk.session, prompt="recollect: off")
    talk.user("and more of it")
    talk.reply("noted too")
    claude_log(home, talk)
    mind.import_logs([log])

    assert not [hit for hit in mind.search("secret plan", mode="text") if "secret" in hit.snippet]


def test_the_line_switches_off_only_where_a_prompt_begins_with_it(home: Path, mind: Memory) -> None:
    """Somebody may ask about it, or paste a page that has it."""
    told(home, "UserPromptSubmit", prompt="what does `recollect: off` do?")
    told(home, "UserPromptSubmit", prompt="read this\nrecollect: off")

    assert reminded(home, "PreToolUse", passed_command("pytest -q")) == [REMINDER]


# What is left behind


@pytest.mark.parametrize(
    "take_in",
    [
        lambda memory: memory.jobs.work(),
        lambda memory: memory.import_logs(),
        lambda memory: memory.injections.hook_runs(),
    ],
)
def test_everything_that_is_offered_is_recorded(
    home: Path, mind: Memory, take_in: Callable[[Memory], object]
) -> None:
    """By reference, with when, where and to whom, so that its use can be measured."""
    before = time.time_ns() // 1_000_000
    told(home, "PreToolUse", passed_command("pytest -q"))
    told(home, "PreToolUse", passed_command("ls"))

    take_in(mind)
    take_in(mind)

    db = mind._shared.store().db
    project = db.value("select id from projects where key = ?", (SHOP,))
    ((at, *rest),) = db.rows(
        "select at, face, event, agent, session, folder, project, refs, tokens from injections"
    )
    ((ref,),) = db.rows("select ref from notes where instr(text, 'not installed')")
    session = f"claude-code:{SESSION}"
    assert rest[:-1] == ["hook", "PreToolUse", "claude-code", session, SHOP, project, ref]
    assert rest[-1] > 20
    assert before <= at <= time.time_ns() // 1_000_000
    assert list(mind.injections.hook_runs()) == [("claude-code", "PreToolUse")]


def test_no_words_of_anybody_are_left_in_a_file(home: Path, mind: Memory) -> None:
    """Prompts, commands and errors pass through; only references, paths and times stay."""
    secret = "xylophone-quartz"
    told(home, "UserPromptSubmit", prompt=f"are the tests of the shop green? {secret}")
    told(home, "PreToolUse", passed_command(f"pytest -q -k {secret}"))
    told(
        home,
        "PostToolUseFailure",
        failed_command(f"ruff check --fxi {secret}", f"{NO_OPTION}\n{secret}"),
    )

    mind.injections.hook_runs()

    assert len(mind.injections.hook_runs()) == 3
    for path in (home / ".recollect").rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_names_that_are_none_are_not_noted_down(home: Path, mind: Memory) -> None:
    """The spool would soon be full."""
    told(
        home,
        "PreToolUse",
        passed_command("pytest", session_id="s" * 100_000, cwd="/" + "x" * 100_000),
    )

    assert Path(spool.path_of(mind.settings.store)).stat().st_size < 200
    assert list(mind.injections.hook_runs()) == [("claude-code", "PreToolUse")]


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "SessionEnd"])
def test_a_pause_hands_the_log_to_an_import(home: Path, event: str) -> None:
    """And says nothing: an answer could keep the agent from stopping."""
    log = claude_log(home, chat(1))
    (home / ".recollect").mkdir()

    answer = hook.respond(
        "claude-code", event, passed(event, transcript_path=str(log)), environment(home)
    )

    ((_, _, _, *words),) = hook._work
    hook._work.clear()
    store = str(home / ".recollect" / "recollect.db")
    assert answer == ""
    # What follows waits until no more turns end; after a session no more come.
    when = [] if event == "SessionEnd" else ["--work-when-quiet"]
    assert words == [
        "recollect", "import", "--store", store, "--agent", "claude-code", *when, "--", str(log),
    ]  # fmt: skip


def test_a_pause_of_a_sub_agent_hands_over_its_own_log(home: Path) -> None:
    """Its parent's is still being written."""
    parent, own = claude_log(home, chat(1)), claude_log(home, chat(2))
    data = passed("SubagentStop", transcript_path=str(parent), agent_transcript_path=str(own))

    hook.respond("claude-code", "SubagentStop", data, environment(home))

    assert hook._work.pop()[-1] == str(own)


def test_a_log_that_is_not_there_starts_nothing(home: Path) -> None:
    """Whatever the agent calls a log; and an agent that names none keeps none."""
    for path in ("/nowhere/log.jsonl", "", "--help", "\x00", None):
        hook.respond("claude-code", "Stop", passed("Stop", transcript_path=path), environment(home))

    assert hook._work == []


def test_an_agent_that_never_names_its_log_has_all_of_its_logs_looked_at(home: Path) -> None:
    """There is no other way to find the one that grew."""
    hook.respond(
        "opencode",
        "session.idle",
        b'{"session": "x", "folder": "/home/ada/shop"}',
        environment(home),
    )

    assert hook._work.pop()[-3:] == ["--agent", "opencode", "--work-when-quiet"]


def test_a_start_has_done_what_waits(home: Path, mind: Memory) -> None:
    """After an hour without a hook every log is looked at.

    Before that, only jobs that are due are done.
    """
    environ = environment(home)
    started = []
    for _ in range(3):
        hook.respond("claude-code", "SessionStart", passed("SessionStart"), environ)
        started.append([words[4] for words in hook._work])
        hook._work.clear()
        if len(started) == 2:
            mind.jobs.work()

    assert started == [["import"], ["import"], []]
    mind._shared.store().notes.add(
        "the shop closes at six", project=SHOP, category="project", section="decisions",
        author="person", trust="user", status="active",
    )  # fmt: skip
    hook.respond("claude-code", "SessionStart", passed("SessionStart"), environ)
    assert [words[4] for words in hook._work] == ["jobs"]
    hook._work.clear()


# Input that nobody should pass

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = [
    "session_id", "transcript_path", "cwd", "prompt", "tool_name", "tool_input", "error",
    "tool_response", "agent_id", "extra",
]  # fmt: skip
FIELDS = st.dictionaries(
    st.sampled_from(NAMES), VALUES | st.sampled_from(["Bash", SHOP, "pytest"]), max_size=8
)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose shop has something to tell."""
    home = tmp_path_factory.mktemp("known")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        with prepared(home, work()):
            yield home


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(agent=st.sampled_from(list(HOOKS)), number=st.integers(0, 20), fields=FIELDS | VALUES)
@example(agent="codex", number=0, fields={"cwd": "/\x00", "transcript_path": "x"})
@example(
    agent="codex",
    number=2,
    fields={"cwd": SHOP, "tool_name": "Bash", "tool_input": {"command": "pytest '" + "(" * 500}},
)
@example(agent="claude-code", number=1, fields={"cwd": SHOP, "prompt": "\ud83d half an emoji"})
@example(agent="claude-code", number=1, fields={"cwd": "x" * 5_000, "prompt": "x"})
@example(agent="claude-code", number=1, fields={"cwd": "/" + "a/" * 100_000, "prompt": "x"})
def test_whatever_is_passed_the_answer_is_nothing_or_one_object(
    known: Path, agent: str, number: int, fields: Any
) -> None:
    """A field may be missing, of another type or unheard of; the agent goes on in any case."""
    events = list(HOOKS[agent].events)

    answer = hook.respond(
        agent, events[number % len(events)], json.dumps(fields).encode(), environment(known)
    )

    hook._work.clear()
    assert answer == "" or isinstance(json.loads(answer), dict)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=200) | st.text().map(str.encode))
@example(data=b"")
@example(data=b"[" * 100_000)
@example(data=b'{"cwd":' * 5_000)
@example(data=b'{"cwd": "/home/ada/shop", "prompt": "\xff\xfe\x00"}')
@example(data=b'\xef\xbb\xbf{"cwd": 7}')
def test_what_is_no_object_is_answered_with_nothing(known: Path, data: bytes) -> None:
    """Garbage, half a text, a list, too deep."""
    assert hook.respond("codex", "UserPromptSubmit", data, environment(known)) == ""


def test_agents_and_events_that_there_are_not_are_answered_with_nothing(known: Path) -> None:
    """A later version of an agent may call us at events that we do not know."""
    for agent, event in (
        ("emacs", "SessionStart"),
        ("codex", "Lunch"),
        ("../codex", "Stop"),
        ("codex.x", "Stop"),
        ("", ""),
    ):
        assert hook.respond(agent, event, passed(event), environment(known)) == ""


@pytest.mark.parametrize("agent", HOOKS)
def test_every_agent_is_told_in_its_own_shape(known: Path, agent: str) -> None:
    """The same text; each agent refuses or ignores the others' fields."""
    hooks = HOOKS[agent]
    start = next(event for event, moment in hooks.events.items() if moment == "start")
    data: dict[str, Any] = {}
    for name, value in (("session", SESSION), ("folder", SHOP), ("log", "/nowhere/log.jsonl")):
        if name in hooks.fields:
            place, _, index = hooks.fields[name].removeprefix("$.").partition("[")
            data[place] = [value] if index else value

    answer = hook.respond(agent, start, json.dumps(data).encode(), environment(known))

    hook._work.clear()
    with memory(known) as mind:
        mark = mind.recall(folder=SHOP).text.partition('mark="')[2][:8]
    text = json.dumps(framed(told(known, "SessionStart"), mark), ensure_ascii=False)
    made = json.loads(answer)
    assert json.dumps(made, ensure_ascii=False).count(text) == 1
    assert set(made) <= {
        "hookSpecificOutput",
        "additionalContext",
        "additional_context",
        "context",
        "continue",
    }


def test_a_spool_that_says_something_else_is_passed_over(home: Path, mind: Memory) -> None:
    """Lines of an older version, torn ones, and what somebody typed into it."""
    path = spool.path_of(str(home / ".recollect" / "recollect.db"))
    marks = json.dumps(f"claude-code:{SESSION}")
    for line in (
        "garbage",
        "[]",
        f"[{marks}]",
        f'{{"a": {marks}}}',
        f"[1, 2, 3, {marks}",
        f'["x", 1, 2, "PreToolUse", {marks}, 5, 6, 7]',
    ):
        spool.append(path, line)

    assert reminded(home, "PreToolUse", passed_command("pytest -q")) == [REMINDER]
    assert list(mind.injections.hook_runs()) == [("claude-code", "PreToolUse")]
