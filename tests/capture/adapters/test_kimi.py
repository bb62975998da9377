"""What the Kimi adapter makes of the logs of Kimi CLI and of Kimi Code, fact by fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.kimi import Kimi
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
from tests.builders import kimi as b
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


def sources(home: Path) -> list[Source]:
    return list(Kimi().sources(str(home)))


def read(source: Source, since: Checkpoint | None = None) -> list[Item]:
    return list(Kimi().read(source, since))


def cli(home: Path, *messages: dict[str, Any], context: str | None = None) -> list[Item]:
    """What a session of Kimi CLI with these messages on its wire gives."""
    b.cli_session(
        home, wire=b.wire_log(*messages), **({} if context is None else {"context": context})
    )
    return [item for source in sources(home) for item in read(source)]


def code(home: Path, *records: dict[str, Any]) -> list[Item]:
    """What a session of Kimi Code with these records gives."""
    b.code_session(home, main=b.code_log(*records))
    return [item for source in sources(home) for item in read(source)]


# Kimi CLI


def test_a_turn_of_the_cli_is_a_prompt_and_what_was_done_about_it(tmp_path: Path) -> None:
    """The common case, whole: prompt, thought, reply, call, tokens and result."""
    found = cli(tmp_path, b.begin(), b.think(), b.say("I look."), b.call(), b.status(), b.result())

    turn = of(TurnFacts, found)[0].turn
    about: dict[str, Any] = {"session": b.SESSION, "turn": turn}
    assert found[:-1] == [
        SessionFacts(session=b.SESSION, cwd="/home/ada/shop", title="Crates"),
        TurnFacts(**about, at=b.at(0), author="human"),
        Event(**about, kind="prompt", at=b.at(0), text="count the crates"),
        Event(**about, kind="reasoning", at=b.at(1), text="Let me look."),
        Event(**about, kind="reply", at=b.at(2), text="I look."),
        Event(
            **about,
            kind="tool_call",
            at=b.at(3),
            call="tool_1",
            name="Shell",
            tool_kind="shell",
            target="ls crates",
            input={"command": "ls crates"},
        ),
        Usage(
            **about,
            key=f"{b.at(4)}/chatcmpl-1",
            at=b.at(4),
            input=10,
            cache_read=100,
            cache_write=20,
            output=5,
        ),
        ToolResult(**about, call="tool_1", at=b.at(5), output="one\ntwo\n", ok=True),
    ]


def test_arguments_that_come_in_pieces_are_put_together(tmp_path: Path) -> None:
    """Other calls are asked for and answered in between."""
    found = cli(
        tmp_path,
        b.begin(),
        b.call(call_id="t1"),
        b.call("WriteFile", "t2", '{"path": "a'),
        b.wire("ApprovalRequest", id="r", tool_call_id="t1"),
        b.result(call_id="t1"),
        b.part('.txt", "content"'),
        b.part(': "1"}'),
        b.status(),
    )

    assert [event.input for event in of(Event, found) if event.call == "t2"] == [
        {"path": "a.txt", "content": "1"}
    ]


def test_arguments_are_put_together_over_two_passes(tmp_path: Path) -> None:
    """An import may come between the pieces."""
    messages = (
        b.begin(),
        b.call("WriteFile", "t2", '{"path": "a'),
        b.part('.txt"}'),
        b.result(call_id="t2"),
    )
    b.cli_session(tmp_path, wire=b.wire_log(*messages[:2]))
    (source,) = sources(tmp_path)
    first = read(source)
    b.cli_session(tmp_path, wire=b.wire_log(*messages))

    second = read(source, first[-1])

    assert [event.kind for event in of(Event, first)] == ["prompt"]
    assert [event.input for event in of(Event, second)] == [{"path": "a.txt"}]


def test_arguments_that_are_no_json_are_told_as_they_are(tmp_path: Path) -> None:
    """A call that broke off was still made."""
    found = cli(
        tmp_path,
        b.begin(),
        b.call(arguments='{"command": "ls'),
        b.wire("StepInterrupted"),
        b.call("Think", "t2", None),
        b.status(),
    )

    calls = [(event.name, event.input) for event in of(Event, found) if event.kind == "tool_call"]
    assert calls == [("Shell", '{"command": "ls'), ("Think", None)]


def test_a_failed_command_of_the_cli_has_its_exit_code(tmp_path: Path) -> None:
    """It stands in the message beside the output."""
    failed = b.result("stuck\n", failed=True, message="Command failed with exit code: 2.")

    (result,) = of(ToolResult, cli(tmp_path, b.begin(), b.call(), failed))

    assert (result.ok, result.exit_code, result.output) == (
        False,
        2,
        "Command failed with exit code: 2.\nstuck\n",
    )


def test_steering_is_a_turn_and_a_wake_up_is_not_a_persons(tmp_path: Path) -> None:
    """Whoever says something while the agent works says something."""
    found = cli(
        tmp_path,
        b.begin("fix it"),
        b.wire("SteerInput", user_input="use grease"),
        b.begin("<system-reminder>done</system-reminder>"),
    )

    assert authors(found) == ["human", "human", "system"]
    assert prompts(found)[:2] == ["fix it", "use grease"]


def test_a_subagent_of_the_first_versions_is_told_in_its_parents_log(tmp_path: Path) -> None:
    """It is named by the call that started it."""
    inside = (b.begin("Oil it."), b.say("Oiled."), b.status("chatcmpl-2"))

    found = cli(
        tmp_path,
        b.begin(),
        b.call(),
        *(b.of_agent(event, agent=None) for event in inside),
        b.status(),
    )

    facts = of(SessionFacts, found)[1]
    assert (facts.session, facts.parent, facts.origin) == (
        f"{b.SESSION}/tool_1",
        b.SESSION,
        "subagent",
    )
    assert [(event.session, event.text) for event in of(Event, found)[2:]] == [
        (f"{b.SESSION}/tool_1", "Oil it."),
        (f"{b.SESSION}/tool_1", "Oiled."),
    ]
    assert spent(found) == (20, 200, 40, 10, 0)


def test_a_subagent_with_a_log_of_its_own_is_read_there_alone(tmp_path: Path) -> None:
    """Its parent's log repeats everything, at other times."""
    inside = (b.begin("Oil it."), b.say("Oiled."), b.status("chatcmpl-2"))
    folder = b.cli_session(
        tmp_path, wire=b.wire_log(b.begin(), *(b.of_agent(event) for event in inside), b.status())
    )
    own = folder / "subagents" / "a1b2c3"
    own.mkdir(parents=True)
    (own / "wire.jsonl").write_text(b.wire_log(*inside, start=50))
    (own / "meta.json").write_text(
        json.dumps({"description": "oil", "launch_spec": {"effective_model": "kimi-k2"}})
    )

    told = everything(Kimi(), tmp_path)

    agent = told[f"kimi:{b.SESSION}/a1b2c3"]
    assert (agent.parent, agent.origin, agent.title, agent.model) == (
        f"kimi:{b.SESSION}",
        "subagent",
        "oil",
        "kimi-k2",
    )
    assert [(turn.prompt, turn.author) for turn in agent.turn_list] == [("Oil it.", "agent")]
    assert sum(session.tokens.output for session in told.values()) == 10


def test_a_fork_of_the_cli_shares_the_keys_of_what_it_copied(tmp_path: Path) -> None:
    """Lines are copied with their times; nothing says that it is a fork."""
    shared = (b.begin(), b.say(), b.status())
    b.cli_session(tmp_path, wire=b.wire_log(*shared))
    b.cli_session(
        tmp_path, "fork", wire=b.wire_log(*shared, b.begin("again"), b.status("chatcmpl-2"))
    )

    told = everything(Kimi(), tmp_path)

    assert sum(session.tokens.output for session in told.values()) == 10


def messages(*texts: str) -> list[dict[str, Any]]:
    """Prompts and answers, by turns."""
    return [
        {"role": "assistant" if place % 2 else "user", "content": text}
        for place, text in enumerate(texts)
    ]


def test_a_session_without_a_wire_is_read_from_its_context(tmp_path: Path) -> None:
    """The first versions had no other log; the same words again are another turn."""
    b.cli_session(tmp_path, context=b.context_log(*messages("sweep", "Swept.", "sweep", "Again.")))

    (source,) = sources(tmp_path)
    found = read(source)

    assert Path(source.path).name == "context.jsonl"
    assert said(found) == [
        ("prompt", "sweep"),
        ("reply", "Swept."),
        ("prompt", "sweep"),
        ("reply", "Again."),
    ]
    assert len({facts.turn for facts in of(TurnFacts, found)}) == 2


def test_a_context_gives_in_two_passes_what_it_gives_in_one(tmp_path: Path) -> None:
    """How often something was said is remembered."""
    talk = messages("sweep", "Swept.", "sweep", "Again.")
    folder = b.cli_session(tmp_path, context=b.context_log(*talk[:2]))
    (source,) = sources(tmp_path)
    first = read(source)
    (folder / "context.jsonl").write_text(b.context_log(*talk))

    second = read(source, first[-1])

    assert [*of(TurnFacts, first), *of(TurnFacts, second)] == of(TurnFacts, read(source))


def test_what_was_said_before_there_was_a_wire_is_read_from_the_context(tmp_path: Path) -> None:
    """A session of the first versions that was continued with a later one."""
    context = b.context_log(*messages("sweep", "Swept.", "mop", "Mopped."))

    found = cli(tmp_path, b.begin("mop"), b.say("Mopped."), context=context)

    assert said(found) == [
        ("prompt", "sweep"),
        ("reply", "Swept."),
        ("prompt", "mop"),
        ("reply", "Mopped."),
    ]


def test_what_the_context_told_first_is_not_told_twice(tmp_path: Path) -> None:
    """A wire that was still empty may fill up with what was already read elsewhere."""
    folder = b.cli_session(
        tmp_path,
        wire=b.wire_log(),
        context=b.context_log(*messages("sweep", "Swept.", "mop", "Mopped.")),
    )

    with imported(Kimi(), tmp_path) as mind:
        before = [turn.prompt for turn in mind.show(f"kimi:{b.SESSION}").turn_list]
        (folder / "wire.jsonl").write_text(b.wire_log(b.begin("mop"), b.say("Mopped.")))
        mind.import_logs([tmp_path])
        after = mind.show(f"kimi:{b.SESSION}").turn_list

    assert before == ["sweep", "mop"]
    assert [turn.prompt for turn in after if turn.live] == ["sweep", "mop"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("plain", ("plain", None, None)),
        ("<system>Command executed successfully.</system>\ndust", ("dust", True, None)),
        ("<system>ERROR: Command failed with exit code: 2.</system>\nstuck", ("stuck", False, 2)),
        (
            "<system>1 line read.</system>\nCommand failed with exit code: 2.",
            ("Command failed with exit code: 2.", True, None),
        ),
        ("<system>ERROR: blocked by a hook</system>", ("ERROR: blocked by a hook", False, None)),
    ],
)
def test_a_result_in_a_context_begins_with_its_status(
    tmp_path: Path, content: str, expected: tuple[Any, ...]
) -> None:
    """There is no field for it."""
    call = {
        "type": "function",
        "id": "t1",
        "function": {"name": "Shell", "arguments": '{"command": "ls"}'},
    }
    answer = {"role": "assistant", "content": [], "tool_calls": [call]}
    result = {"role": "tool", "content": [{"type": "text", "text": content}], "tool_call_id": "t1"}
    b.cli_session(tmp_path, context=b.context_log(*messages("sweep"), answer, result))

    (told,) = of(ToolResult, read(sources(tmp_path)[0]))

    assert (told.output, told.ok, told.exit_code) == expected


def test_the_working_directory_is_found_by_its_hash(tmp_path: Path) -> None:
    """The folder of a session is named by it; a remote machine's name stands before it."""
    folder = b.cli_session(tmp_path, context=b.context_log(*messages("sweep")))
    remote = folder.parent.with_name(f"box_{b.CLI_FOLDER}")
    folder.parent.rename(remote)

    assert [of(SessionFacts, read(source))[0].cwd for source in sources(tmp_path)] == [
        "/home/ada/shop"
    ]


# Kimi Code


def test_a_turn_of_code_is_a_prompt_and_what_was_done_about_it(tmp_path: Path) -> None:
    """The common case, whole; the context repeats the prompt, and steps repeat the tokens."""
    usage = {"inputOther": 10, "output": 5, "inputCacheRead": 100, "inputCacheCreation": 20}
    found = code(
        tmp_path,
        b.prompt(),
        b.repeated(),
        b.request(),
        b.thinks(),
        b.calls(),
        b.gives(),
        b.event("step.end", usage=usage),
        b.spent(),
    )

    turn = of(TurnFacts, found)[0].turn
    about: dict[str, Any] = {"session": b.CODE_SESSION, "turn": turn}
    assert found[:-1] == [
        SessionFacts(
            session=b.CODE_SESSION, cwd="/home/ada/shop", title="Crates", started_at=b.at(-1)
        ),
        SessionFacts(session=b.CODE_SESSION, started_at=b.at(0)),
        TurnFacts(**about, at=b.at(0), author="human"),
        Event(**about, kind="prompt", at=b.at(0), text="count the crates"),
        SessionFacts(session=b.CODE_SESSION, meta={"provider": "kimi", "thinking_effort": "on"}),
        Event(**about, kind="reasoning", at=b.at(3), text="Let me look."),
        Event(
            **about,
            kind="tool_call",
            at=b.at(4),
            call="Bash_0",
            name="Bash",
            tool_kind="shell",
            target="ls crates",
            input={"command": "ls crates"},
        ),
        ToolResult(**about, call="Bash_0", at=b.at(5), output="one\ntwo\n", ok=True),
        Usage(
            **about,
            key=f"{b.at(7)}/10/100/20/5",
            model="kimi-k2.7-code",
            at=b.at(7),
            input=10,
            cache_read=100,
            cache_write=20,
            output=5,
        ),
    ]


def test_a_failed_command_of_code_has_its_exit_code(tmp_path: Path) -> None:
    """It stands in the last line of the output."""
    found = code(
        tmp_path,
        b.prompt(),
        b.calls(),
        b.gives("no\nCommand failed with exit code: 1.", isError=True),
    )

    (result,) = of(ToolResult, found)
    assert (result.ok, result.exit_code) == (False, 1)


def test_a_file_that_ends_like_a_failed_command_has_no_exit_code(tmp_path: Path) -> None:
    """Only the result of a call that failed is the program's own words."""
    (result,) = of(
        ToolResult,
        code(tmp_path, b.prompt(), b.calls(), b.gives("log\nCommand failed with exit code: 1.")),
    )

    assert (result.ok, result.exit_code) == (True, None)


def test_a_prompt_that_only_the_context_has_is_a_prompt(tmp_path: Path) -> None:
    """The first versions told it nowhere else; what is injected is none."""
    found = code(
        tmp_path,
        b.repeated("sweep", kind=None),
        b.appended(
            {"role": "assistant", "content": [{"type": "text", "text": "Swept."}], "toolCalls": []}
        ),
        b.repeated(
            "<system-reminder>Mind the todo list.</system-reminder>", "injection", variant="todo"
        ),
        b.repeated("The yard was swept.", "compaction_summary"),
    )

    assert said(found) == [("prompt", "sweep"), ("reply", "Swept.")]


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ({"kind": "user"}, ("human", "expanded")),
        (
            {
                "kind": "skill_activation",
                "skillName": "paint",
                "skillArgs": "red",
                "trigger": "user-slash",
            },
            ("human", "/paint red"),
        ),
        (
            {"kind": "skill_activation", "skillName": "paint", "trigger": "model-tool"},
            ("system", "expanded"),
        ),
        ({"kind": "plugin_command", "commandName": "mop"}, ("human", "/mop")),
        ({"kind": "cron_job"}, ("system", "expanded")),
        ({"kind": "system_trigger", "name": "goal"}, ("system", "expanded")),
    ],
)
def test_who_began_a_turn_is_told_by_its_origin(
    tmp_path: Path, origin: dict[str, Any], expected: tuple[str, str]
) -> None:
    """A command comes as the text that it stands for; what was typed is the command."""
    found = code(tmp_path, b.prompt("expanded", **origin))

    assert (authors(found), prompts(found)) == ([expected[0]], [expected[1]])


def test_a_turn_that_was_cancelled_is_aborted_once(tmp_path: Path) -> None:
    """Both the cancelling and the end tell it."""
    ended = {"type": "turn.ended", "turnId": 0, "reason": "cancelled", "durationMs": 4000}

    found = code(tmp_path, b.prompt(), {"type": "turn.cancel"}, ended)

    assert said(found)[1:] == [("abort", "")]
    assert of(TurnFacts, found)[-1].telemetry == {"end_reason": "cancelled", "duration_ms": 4000}


def test_undone_turns_are_not_live(tmp_path: Path) -> None:
    """As many prompts of a person as it says, with what came between."""
    found = code(
        tmp_path,
        b.prompt("one"),
        b.prompt("two"),
        b.prompt("wake up", "cron_job"),
        b.prompt("three"),
        {"type": "context.undo", "count": 2},
        b.prompt("four"),
    )

    assert live_prompts(found) == ["one", "four"]


def test_undoing_stops_at_a_compaction(tmp_path: Path) -> None:
    """What is behind it is no longer in the context."""
    compaction = {
        "type": "context.apply_compaction",
        "summary": "One was done.",
        "compactedCount": 2,
    }

    found = code(
        tmp_path, b.prompt("one"), compaction, b.prompt("two"), {"type": "context.undo", "count": 2}
    )

    assert live_prompts(found) == ["one"]
    assert ("compaction", "One was done.") in said(found)


def test_tokens_outside_of_turns_are_spent_too(tmp_path: Path) -> None:
    """A compaction asks the model as well."""
    assert spent(code(tmp_path, b.prompt(), b.spent(), b.spent("session"))) == (20, 200, 40, 10, 0)


def test_a_command_of_the_person_is_a_call_with_its_result(tmp_path: Path) -> None:
    """What is run with `!` comes as two messages in tags."""
    found = code(
        tmp_path,
        b.prompt(),
        b.repeated("<bash-input>\nls &lt;yard&gt;\n</bash-input>", "shell_command", phase="input"),
        b.repeated(
            "<bash-stdout></bash-stdout><bash-stderr>no such yard</bash-stderr>",
            "shell_command",
            phase="output",
            isError=True,
        ),
    )

    assert said(found)[1:] == [("tool_call", "ls <yard>")]
    assert [(result.output, result.ok) for result in of(ToolResult, found)] == [
        ("no such yard", False)
    ]


def test_subagents_are_sessions_below_whoever_started_them(tmp_path: Path) -> None:
    """A sub-agent may have its own."""
    task = b.prompt(
        "<git-context>\nRemote: none\n</git-context>\nOil it.", "system_trigger", name="subagent"
    )
    parents = {"agent-0": {"parentAgentId": "main"}, "agent-1": {"parentAgentId": "agent-0"}}
    log = b.code_log(task)
    b.code_session(
        tmp_path, main=b.code_log(b.prompt()), agent_0=log, agent_1=log, state={"agents": parents}
    )

    found = [item for source in sources(tmp_path) for item in read(source)]

    below = {
        facts.session: facts.parent
        for facts in of(SessionFacts, found)
        if facts.origin == "subagent"
    }
    assert below == {
        f"{b.CODE_SESSION}/agent-0": b.CODE_SESSION,
        f"{b.CODE_SESSION}/agent-1": f"{b.CODE_SESSION}/agent-0",
    }
    assert prompts(found).count("Oil it.") == 2
    assert authors(found).count("agent") == 2


def test_a_fork_of_code_names_its_parent_and_shares_the_keys_of_what_it_copied(
    tmp_path: Path,
) -> None:
    """Records are copied with their times."""
    shared = b.code_log(b.prompt(), b.repeated(), b.says(), b.spent())
    b.code_session(tmp_path, main=shared)
    b.code_session(
        tmp_path,
        "session_fork",
        main=shared + b.code_log({"type": "forked"}, start=9),
        state={"forkedFrom": b.CODE_SESSION},
    )

    told = everything(Kimi(), tmp_path)

    assert told["kimi:session_fork"].parent == f"kimi:{b.CODE_SESSION}"
    assert sum(session.tokens.output for session in told.values()) == 5


def taken_over(*more: dict[str, Any]) -> str:
    """A log of Kimi Code that begins with messages of Kimi CLI, which have no times."""
    old = [b.appended({**message, "toolCalls": []}) for message in messages("sweep", "Swept.")]
    header = {"type": "metadata", "protocol_version": "1.0", "created_at": b.at(500)}
    return b.lines([header, *old]) + b.code_log(*more, start=600, header=False)


@pytest.mark.parametrize("order", [("cli", "code"), ("code", "cli")])
def test_a_session_that_was_taken_over_is_told_once(tmp_path: Path, order: tuple[str, str]) -> None:
    """The old log is the better one; what came after is a session that continues it."""
    code_home, cli_home = tmp_path / "code", tmp_path / "cli"
    b.code_session(
        code_home,
        f"ses_{b.SESSION}",
        main=taken_over(b.prompt("mop"), b.repeated("mop"), b.says("Mopped.")),
    )
    b.cli_session(
        cli_home, wire=b.wire_log(b.begin("sweep"), b.think(), b.say("Swept."), b.status())
    )

    with imported(Kimi(), tmp_path / order[0]) as mind:
        mind.import_logs([tmp_path / order[1]])
        old, new = mind.show(f"kimi:{b.SESSION}"), mind.show(f"kimi:ses_{b.SESSION}")

    (turn,) = [turn for turn in old.turn_list if turn.live]
    assert [event.kind for event in turn.events] == ["prompt", "reasoning", "reply"]
    assert ([turn.prompt for turn in new.turn_list], new.parent) == (["mop"], f"kimi:{b.SESSION}")


def test_a_session_that_is_gone_from_the_old_store_is_still_told(tmp_path: Path) -> None:
    """People delete the old program's folder when they have moved."""
    b.code_session(tmp_path, f"ses_{b.SESSION}", main=taken_over())

    told = everything(Kimi(), tmp_path)

    assert list(told) == [f"kimi:{b.SESSION}"]
    assert (told[f"kimi:{b.SESSION}"].cwd, told[f"kimi:{b.SESSION}"].title) == (
        "/home/ada/shop",
        "Crates",
    )


# Places


def test_the_roots_follow_the_environment() -> None:
    """Each of the two has a variable."""
    assert Kimi().roots("/home/ada", {}) == [
        "/home/ada/.kimi/sessions",
        "/home/ada/.kimi-code/sessions",
    ]
    moved = {"KIMI_SHARE_DIR": "/srv/cli", "KIMI_CODE_HOME": "/srv/code"}
    assert Kimi().roots("/home/ada", moved) == ["/srv/cli/sessions", "/srv/code/sessions"]


def test_only_the_layouts_of_kimi_are_listed(tmp_path: Path) -> None:
    """Both may lie in the same folder; old copies of a context are no logs."""
    cli_folder = b.cli_session(
        tmp_path, wire=b.wire_log(), context=b.context_log(), context_1=b.context_log()
    )
    flat = cli_folder.with_name("early.jsonl")
    code_folder = b.code_session(tmp_path, main=b.code_log())
    for foreign in (
        tmp_path / "sessions" / "x.jsonl",
        tmp_path / "sessions" / "-shop" / "x.jsonl",
        flat,
    ):
        foreign.parent.mkdir(exist_ok=True)
        foreign.touch()

    wire, main = cli_folder / "wire.jsonl", code_folder / "agents" / "main" / "wire.jsonl"
    beside = [
        cli_folder / "context.jsonl",
        cli_folder / "state.json",
        cli_folder / "subagents",
        tmp_path / "kimi.json",
    ]
    assert sources(tmp_path) == [
        Source("kimi", str(wire), tuple(map(str, beside))),
        Source("kimi", str(flat), (str(tmp_path / "kimi.json"),)),
        Source("kimi", str(main), (str(code_folder / "state.json"),)),
    ]
    assert sources(tmp_path / "sessions") == sources(tmp_path)


def test_single_files_are_known_by_how_they_begin(tmp_path: Path) -> None:
    """A log that somebody sent is called anything.

    A context is part of the session whose wire is beside it.
    """
    context = tmp_path / "context.jsonl"
    found = {
        name: Kimi().find_source(str(tmp_path / f"{name}.jsonl"), text.encode())
        for name, text in {
            "cli": b.wire_log(b.begin()),
            "old": b.wire_log(b.begin(), version=None),
            "code": b.code_log(b.prompt()),
            "context": b.context_log(),
            "chat": '{"role": "user", "content": "hi"}\n',
            "meta": '{"type": "metadata", "version": 1}\n',
        }.items()
    }

    assert {name for name, source in found.items() if source} == {"cli", "old", "code", "context"}
    assert found["code"] == Source("kimi", str(tmp_path / "code.jsonl"))
    (tmp_path / "wire.jsonl").touch()
    beside = Kimi().find_source(str(context), b.context_log().encode())
    assert beside is not None
    assert beside.path == str(tmp_path / "wire.jsonl")


def test_logs_of_others_are_not_taken(corpus: Path) -> None:
    """Look-alikes exist."""
    assert list(taken_from_others(Kimi(), corpus)) == []


# Growth and trouble


@pytest.mark.parametrize("generation", ["cli", "code"])
def test_a_half_written_line_waits_for_the_next_pass(tmp_path: Path, generation: str) -> None:
    """The agent may be writing while we read; that is not a broken log."""
    if generation == "cli":
        b.cli_session(
            tmp_path,
            wire=b.wire_log(b.begin("sweep"), b.call(), b.result(), b.begin("mop"), b.status()),
        )
    else:
        b.code_session(
            tmp_path,
            main=b.code_log(
                b.prompt("sweep"),
                b.calls(),
                b.gives(),
                b.prompt("mop"),
                b.repeated("mop"),
                b.spent(),
            ),
        )
    (source,) = sources(tmp_path)
    path = Path(source.path)
    whole = path.read_text()
    path.write_text(whole[: whole.index("mop") + 1])

    first = read(source)
    path.write_text(whole)
    second = read(source, first[-1])

    assert (prompts(first), prompts(second)) == (["sweep"], ["mop"])
    about = (TurnFacts, Event, ToolResult, Usage)
    assert [item for item in [*first, *second] if isinstance(item, about)] == [
        item for item in read(source) if isinstance(item, about)
    ]


@pytest.mark.parametrize("wrong", [None, 7, [], {}, "", [7], {"a": 1}, 1e308])
def test_a_field_of_another_type_costs_the_field(tmp_path: Path, wrong: Any) -> None:
    """Nobody promises us these formats."""
    in_cli = cli(
        tmp_path / "cli",
        b.begin("water the roses"),
        {"type": wrong, "payload": wrong},
        b.wire("ToolCall", id=wrong, function=wrong),
        b.part(wrong),
        b.wire("ToolResult", tool_call_id="t", return_value=wrong),
        b.wire("StatusUpdate", token_usage=wrong, message_id=wrong),
        b.wire("SubagentEvent", agent_id=wrong, event=wrong),
        b.say("They are wet."),
    )
    in_code = code(
        tmp_path / "code",
        b.prompt("water the roses"),
        b.event("tool.call", toolCallId=wrong, name=wrong, args=wrong),
        b.event("content.part", part=wrong),
        b.event(wrong),
        b.appended({"role": wrong, "content": wrong, "toolCalls": wrong}),
        {"type": "usage.record", "model": wrong, "usage": wrong},
        {"type": "context.undo", "count": wrong if wrong != 7 else 0},
        {"type": "context.apply_compaction", "summary": wrong},
        {"type": wrong},
        b.says("They are wet."),
    )

    for found in (in_cli, in_code):
        assert prompts(found) == ["water the roses"]
        assert ("reply", "They are wet.") in said(found)


def test_a_checkpoint_stays_small_whatever_the_log_says(tmp_path: Path) -> None:
    """Calls without answers, ids without end, thousands of agents and prompts."""
    numbers = range(400)
    long = ["x" * 90 + str(number) for number in numbers]
    in_cli = cli(
        tmp_path / "cli",
        *(
            b.of_agent(b.call(call_id=name), agent=f"a{number}")
            for number in range(50)
            for name in long
        ),
        *(b.of_agent(b.begin(), agent="../" * 30_000 + name) for name in long),
        b.call("y" * 100_000, "z" * 100_000, "{"),
    )
    in_code = code(
        tmp_path / "code",
        *(b.prompt(name) for name in long),
        *(b.request(modelAlias=name * 50) for name in long),
        *(b.request(modelAlias=name) for name in long),
        *(b.calls(call_id=name) for name in long),
    )

    assert all(
        len(point.state) < 1 << 16 for point in [*of(Checkpoint, in_cli), *of(Checkpoint, in_code)]
    )


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """New kinds of messages come with new versions; the rest is read."""
    found = [
        *cli(tmp_path / "cli", b.begin(), b.wire("Dream"), b.wire("Dream"), b.say()),
        *code(tmp_path / "code", b.prompt(), {"type": "dream"}, b.event("dream")),
    ]

    assert troubles(found) == [
        ("unknown", "message Dream", 2),
        ("unknown", "record dream", 1),
        ("unknown", "event dream", 1),
    ]


def test_a_log_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    """Agents delete their logs while we look."""
    found = read(Source("kimi", str(tmp_path / "wire.jsonl")))

    assert [kind for kind, _, _ in troubles(found)] == ["unreadable"]
    assert isinstance(found[-1], Checkpoint)


def test_the_public_samples_are_read_without_a_problem(corpus: Path) -> None:
    """Of both generations, and of most versions of their protocols."""
    with imported(Kimi(), corpus / "kimi") as mind:
        problems = [problem for report in mind.source_reports for problem in report.problems]
        turns = {session.native_id: session.turns for session in mind.sessions()}

    assert problems == []
    assert (
        turns["large-100msgs"],
        turns["assistant_tools"],
        turns["uuid-a1"],
        turns["tiny-hello-world"],
    ) == (2, 8, 1, 1)
