"""Claude Code transcripts: one test for each thing a reader gets wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.capture.adapters.claude_code import ClaudeCode
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
)
from recollect.testing import sources
from tests.builders.claude_code import SESSION, Conversation, image, ms, said, thought, tokens, used

GOLDEN = Path(__file__).parents[2] / "golden" / "claude-code"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "-home-ada-shop" / f"{SESSION}.jsonl"


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(ClaudeCode().read(Source("claude-code", str(path)), since))


def written(conversation: Conversation, path: Path) -> list[Item]:
    return read(conversation.write(path))


def checkpoint_of(items: list[Item]) -> Checkpoint:
    """The last item, which is always a checkpoint."""
    assert isinstance(items[-1], Checkpoint)
    return items[-1]


def of(items: Iterable[Item], kind: type) -> list[Any]:
    return [item for item in items if type(item) is kind]


def told(items: Iterable[Item]) -> list[tuple[str, str, str]]:
    """The events as (turn, kind, text or tool name)."""
    return [(event.turn, event.kind, event.text or event.name) for event in of(items, Event)]


def prompts(items: Iterable[Item]) -> list[tuple[str, str]]:
    """Who said what, turn by turn."""
    items = list(items)
    authors = {
        (facts.session, facts.turn): facts.author for facts in of(items, TurnFacts) if facts.author
    }
    return [
        (authors[event.session, event.turn], event.text)
        for event in of(items, Event)
        if event.kind == "prompt"
    ]


def dead(items: Iterable[Item]) -> list[str]:
    live = {item.turn: item.live for item in of(items, Liveness)}
    return [turn for turn, is_live in live.items() if not is_live]


def merged(items: Iterable[Item]) -> dict[str, Any]:
    """What a store would hold in the end, however the items were cut into reads."""
    kept: dict[str, Any] = {
        "sessions": {},
        "turns": {},
        "events": [],
        "usage": {},
        "live": {},
        "problems": {},
    }
    calls: dict[tuple[str, str], dict[str, Any]] = {}
    early: dict[tuple[str, str], dict[str, Any]] = {}
    for item in items:
        fields = {
            name: value for name, value in msgspec.to_builtins(item).items() if value is not None
        }
        if isinstance(item, SessionFacts):
            _merge(kept["sessions"].setdefault(item.session, {}), fields, "meta")
        elif isinstance(item, TurnFacts):
            _merge(kept["turns"].setdefault((item.session, item.turn), {}), fields, "telemetry")
        elif isinstance(item, Event):
            kept["events"].append(fields)
            if item.call:
                calls[item.session, item.call] = fields
                fields.update(early.pop((item.session, item.call), {}))
        elif isinstance(item, ToolResult):
            known = {
                name: fields[name]
                for name in ("output", "ok", "exit_code", "duration_ms")
                if name in fields
            }
            calls.get(
                (item.session, item.call), early.setdefault((item.session, item.call), {})
            ).update(known)
        elif isinstance(item, Usage):
            counted = kept["usage"].setdefault(item.key, fields)
            for name in ("input", "cache_read", "cache_write", "output", "reasoning"):
                counted[name] = max(counted[name], fields[name])
        elif isinstance(item, Liveness):
            kept["live"][item.session, item.turn] = item.live
        elif isinstance(item, Problem):
            kept["problems"][item.kind, item.reason] = (
                kept["problems"].get((item.kind, item.reason), 0) + item.count
            )
    return kept


def _merge(known: dict[str, Any], fields: dict[str, Any], nested: str) -> None:
    inner = {**known.get(nested, {}), **fields.get(nested, {})}
    known.update(fields)
    known[nested] = inner


# Where transcripts are --------------------------------------------------------


def test_a_variable_moves_the_root_and_the_usual_places_stay() -> None:
    """An old root is still full of history after somebody sets the variable."""
    adapter = ClaudeCode()

    assert adapter.roots("/home/ada", {}) == ["/home/ada/.claude", "/home/ada/.config/claude"]
    assert adapter.roots(
        "/home/ada", {"CLAUDE_CONFIG_DIR": "/a, /b", "XDG_CONFIG_HOME": "/xdg"}
    ) == [
        "/a",
        "/b",
        "/home/ada/.claude",
        "/xdg/claude",
    ]


def test_main_files_and_both_layouts_of_sub_agents_are_sources() -> None:
    """Flat, nested and workflow agents are transcripts; a workflow's journal is not."""
    root = GOLDEN / "sub-agents" / "root"

    found = list(ClaudeCode().sources(str(root)))

    project = root / "projects" / "-home-ada-shop"
    nested = project / SESSION / "subagents"
    long_outputs = str(project / SESSION / "tool-results")
    assert found == [
        Source("claude-code", str(project / f"{SESSION}.jsonl"), (long_outputs,)),
        Source(
            "claude-code",
            str(project / "agent-f00d.jsonl"),
            (str(project / "agent-f00d.meta.json"),),
        ),
        *(
            Source(
                "claude-code",
                str(nested / f"{name}.jsonl"),
                (str(nested / f"{name}.meta.json"), long_outputs),
            )
            for name in ("agent-a11", "agent-acompact-77", "workflows/wf_1/agent-aw1")
        ),
    ]


def test_a_projects_folder_or_one_project_is_accepted_too(tmp_path: Path) -> None:
    """People point at odd folders; other people's JSON lines there are not ours."""
    chat = Conversation()
    chat.user("Hello")
    ours = chat.write(tmp_path / "-home-ada" / "one.jsonl")
    (tmp_path / "-home-ada" / "data.jsonl").write_text('{"type":"user","text":"hi"}\n')

    for root in (tmp_path, tmp_path / "-home-ada"):
        assert [source.path for source in sources(ClaudeCode(), root)] == [str(ours)]


def test_a_missing_root_holds_nothing(tmp_path: Path) -> None:
    """Roots are named whether or not they exist."""
    assert list(ClaudeCode().sources(str(tmp_path / "nowhere"))) == []


def test_look_alikes_are_left_to_others() -> None:
    """Qwen Code and iFlow use the same envelope; stream-json output is another format."""
    envelope = {
        "uuid": "a",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": "2026-01-01T09:00:00Z",
        "cwd": "/",
    }
    ours = {
        **envelope,
        "type": "user",
        "version": "1.0.24",
        "userType": "external",
        "message": {"content": "hi"},
    }
    qwen = {
        **envelope,
        "type": "user",
        "version": "0.9.1",
        "message": {"role": "user", "parts": [{"text": "hi"}]},
    }
    iflow = {**ours, "version": "0.3.7"}
    later = {
        **ours,
        "version": "1.2.0",
        "sessionId": "session-5e551011-0000-4000-8000-000000000001",
    }
    stream = {
        "type": "system",
        "subtype": "init",
        "session_id": "s",
        "uuid": "a",
        "cwd": "/",
        "tools": [],
    }
    codex = {"type": "session_meta", "timestamp": "2026-01-01T09:00:00Z", "payload": {"id": "s"}}

    def recognised(*records: dict[str, Any], name: str = "x.jsonl") -> bool:
        head = "".join(json.dumps(record) + "\n" for record in records)
        return ClaudeCode().find_source(f"/logs/{name}", head.encode()) is not None

    assert recognised(ours)
    assert recognised(
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "timestamp": "t"}
    )
    assert recognised({"type": "mode", "mode": "normal", "sessionId": "s"}, ours)
    assert not recognised(ours, name="x.json")
    assert not recognised(ours, name="history.jsonl")
    for other in (qwen, iflow, later, stream, codex):
        assert not recognised(other)


def test_a_first_line_longer_than_the_head_is_still_recognised() -> None:
    """A session can begin with a pasted picture."""
    chat = Conversation()
    chat.user([image("A" * 100_000), said("what is this?")])

    assert ClaudeCode().find_source("/logs/x.jsonl", chat.text.encode()[:4096])


# Sessions ----------------------------------------------------------------------


def test_the_file_name_is_the_session_whatever_its_records_say(log: Path) -> None:
    """A file can hold the records of several sessions."""
    chat = Conversation("another-session")
    chat.user("Hello")

    items = written(chat, log)

    assert of(items, SessionFacts) == [
        SessionFacts(
            session=SESSION,
            origin="interactive",
            cwd="/home/ada/shop",
            started_at=ms(1),
            agent_version="2.1.232",
            git_branch="main",
        )
    ]


def test_the_folder_a_turn_happened_in_is_kept_with_the_turn(log: Path) -> None:
    """Agents change directory; the session keeps the first, each turn its own."""
    chat = Conversation(gitBranch="")
    chat.user("Hello")
    chat.user("And here?", cwd="/home/ada/blog", gitBranch="HEAD")

    items = written(chat, log)

    assert [facts.cwd for facts in of(items, TurnFacts)] == ["/home/ada/shop", "/home/ada/blog"]
    assert [(facts.cwd, facts.git_branch) for facts in of(items, SessionFacts)] == [
        ("/home/ada/shop", None)
    ]


@pytest.mark.parametrize(
    ("entrypoint", "origin"),
    [
        ("cli", "interactive"),
        ("claude-vscode", "interactive"),
        ("sdk-cli", "headless"),
        ("sdk-py", "headless"),
    ],
)
def test_the_entrypoint_tells_a_program_from_a_person(
    log: Path, entrypoint: str, origin: str
) -> None:
    """Sessions of the SDK and of `claude -p` have nobody at the keyboard."""
    chat = Conversation(entrypoint=entrypoint)
    chat.user("Hello")

    [facts] = of(written(chat, log), SessionFacts)

    assert (facts.origin, facts.meta) == (origin, {"entrypoint": entrypoint})


def test_the_best_title_wins_and_the_newest_of_its_class(log: Path) -> None:
    """Titles are rewritten often; what a person chose beats what a model made up."""
    chat = Conversation()
    chat.user("Hello")
    for title in ("First", "Second"):
        chat.bare({"type": "ai-title", "aiTitle": title, "sessionId": SESSION})
    assert of(written(chat, log), SessionFacts)[-1].title == "Second"

    chat.bare({"type": "custom-title", "customTitle": "Mine", "sessionId": SESSION})
    chat.bare({"type": "ai-title", "aiTitle": "Third", "sessionId": SESSION})
    assert of(written(chat, log), SessionFacts)[-1].title == "Mine"


def test_a_summary_is_a_title_only_for_the_file_that_holds_its_leaf(log: Path) -> None:
    """Old clients wrote the titles of other sessions into a new file."""
    chat = Conversation()
    chat.bare({"type": "summary", "summary": "Somebody else's", "leafUuid": "gone"})
    chat.user("Hello")
    assert of(written(chat, log), SessionFacts)[-1].title is None

    chat.bare({"type": "summary", "summary": "Ours", "leafUuid": chat.tip})
    assert of(written(chat, log), SessionFacts)[-1].title == "Ours"


def test_a_fork_names_its_parent(log: Path) -> None:
    """Branched sessions copy their history, and the records say where from."""
    chat = Conversation(forkedFrom={"sessionId": "the-first", "messageUuid": "x"})
    chat.user("Hello")

    assert of(written(chat, log), SessionFacts)[0].parent == "the-first"


# Sub-agents ----------------------------------------------------------------------


def test_a_sub_agent_is_a_session_of_its_own_under_its_parent() -> None:
    """Its records carry the parent's session id: keyed by that, it would overwrite the parent."""
    project = GOLDEN / "sub-agents" / "root" / "projects" / "-home-ada-shop"
    nested = project / SESSION / "subagents"

    def facts(path: Path) -> tuple[str, str | None, str | None, dict[str, Any] | None]:
        [found] = of(read(path), SessionFacts)
        return found.session, found.parent, found.title, found.meta

    noted = {
        "agent_type": "auditor",
        "description": "Audit prices",
        "tool_use_id": "toolu_1",
        "spawn_depth": 1,
        "model": "inherit",
    }
    assert facts(nested / "agent-a11.jsonl") == (f"{SESSION}/a11", SESSION, "Audit prices", noted)
    assert facts(project / "agent-f00d.jsonl") == (f"{SESSION}/f00d", SESSION, None, None)
    assert facts(nested / "workflows/wf_1/agent-aw1.jsonl") == (
        f"{SESSION}/aw1",
        SESSION,
        None,
        None,
    )
    compaction = facts(nested / "agent-acompact-77.jsonl")
    assert compaction == (f"{SESSION}/acompact-77", SESSION, None, {"purpose": "compaction"})


def test_the_prompt_of_a_sub_agent_was_written_by_a_model(log: Path) -> None:
    """What the parent asks of it is not something a person said."""
    chat = Conversation(agent="a1")
    chat.user("Check every price.", parent=None)

    assert prompts(written(chat, log.with_name("agent-a1.jsonl"))) == [
        ("agent", "Check every price.")
    ]


def test_inline_sidechains_are_separate_sessions(log: Path) -> None:
    """Before 2.0.28 parallel sub-agents were interleaved in the parent's file."""
    items = read(
        GOLDEN / "inline-sidechains" / "root" / "projects" / "-home-ada-shop" / f"{SESSION}.jsonl"
    )

    replies = [(event.session, event.text) for event in of(items, Event) if event.kind == "reply"]
    assert replies == [
        (f"{SESSION}/new1", "Old is one class."),
        (f"{SESSION}/old1", "Old is a class too."),
        (SESSION, "They are alike."),
    ]
    assert {facts.session: facts.parent for facts in of(items, SessionFacts)} == {
        SESSION: None,
        f"{SESSION}/old1": SESSION,
        f"{SESSION}/new1": SESSION,
    }
    assert dead(items) == []


# Tokens ---------------------------------------------------------------------------


def test_the_tokens_of_a_split_message_count_once_and_at_their_largest(log: Path) -> None:
    """Every line repeats them, and the early ones are snapshots of a
    stream: the sum doubles the bill.
    """
    chat = Conversation()
    chat.user("Hello")
    chat.assistant(thought("Hm."), message="msg_1", usage=tokens(output=1))
    chat.result("toolu_0", "something in between")
    chat.assistant(
        said("Hello."),
        message="msg_1",
        usage=tokens(output=90, output_tokens_details={"thinking_tokens": 7}),
    )
    chat.reply("Anything else?")

    items = written(chat, log)

    assert of(items, Usage) == [
        Usage(
            session=SESSION,
            turn="r1",
            key="msg_1:req_msg_1",
            model="claude-opus-4-5",
            at=ms(2),
            input=4,
            cache_read=2000,
            cache_write=100,
            output=90,
            reasoning=7,
        ),
        Usage(
            session=SESSION,
            turn="r1",
            key="msg_r5:req_msg_r5",
            model="claude-opus-4-5",
            at=ms(5),
            input=4,
            cache_read=2000,
            cache_write=100,
            output=50,
        ),
    ]


def test_a_call_without_a_request_is_known_by_its_message_or_its_line(log: Path) -> None:
    """Other back ends leave the request id out, and some the message id."""
    chat = Conversation()
    chat.user("Hello")
    chat.reply("One", requestId=None)
    chat.add(
        "assistant", message={"role": "assistant", "content": [said("Two")], "usage": tokens()}
    )

    assert [usage.key for usage in of(written(chat, log), Usage)] == ["msg_r2", "r3"]


def test_cache_writes_may_be_told_by_lifetime_only(log: Path) -> None:
    """The split is the same figure again, unless it is the only one."""
    split = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 12}
    chat = Conversation()
    chat.user("Hello")
    chat.reply("One", usage=tokens(write=42, cache_creation=split))
    chat.reply("Two", usage=tokens(write=0, cache_creation=split))

    assert [usage.cache_write for usage in of(written(chat, log), Usage)] == [42, 42]


def test_what_is_cached_for_an_hour_is_counted_apart(log: Path) -> None:
    """It costs more; of the lines of one message the largest figure is true."""
    chat = Conversation()
    chat.user("Hello")
    split = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 12}
    chat.reply("One", usage=tokens(write=42, cache_creation=split))
    chat.reply("Two", usage=tokens(write=42, cache_creation={"ephemeral_1h_input_tokens": 99}))
    chat.reply("Three", usage=tokens(write=42, cache_creation={"ephemeral_1h_input_tokens": "x"}))
    chat.reply("Four", usage=tokens(write=42))

    found = [(usage.cache_write, usage.cache_write_1h) for usage in of(written(chat, log), Usage)]

    assert found == [(42, 12), (42, 42), (42, 0), (42, 0)]


def test_what_a_sub_agent_spent_is_not_counted_in_its_parent(log: Path) -> None:
    """The result repeats what the sub-agent's own file holds, and so does its progress."""
    chat = Conversation()
    chat.user("Audit")
    chat.call("Task", {"description": "audit", "prompt": "p"}, "toolu_1", usage=tokens(output=11))
    chat.add(
        "progress",
        data={"type": "agent_progress", "message": {"message": {"id": "m", "usage": tokens()}}},
    )
    chat.result(
        "toolu_1", "done", {"agentId": "a1", "usage": tokens(output=5000), "totalTokens": 9000}
    )

    assert [usage.output for usage in of(written(chat, log), Usage)] == [11]


def test_what_the_client_says_in_the_models_place_costs_nothing(log: Path) -> None:
    """Errors look like answers of a model called <synthetic>."""
    chat = Conversation()
    chat.user("Hello")
    chat.assistant(said("API Error: 529 Overloaded"), model="<synthetic>", isApiErrorMessage=True)
    chat.assistant(said("No response requested."), model="<synthetic>")

    items = written(chat, log)

    assert told(items) == [("r1", "prompt", "Hello"), ("r1", "error", "API Error: 529 Overloaded")]
    assert of(items, Usage) == []


# What people and clients say ---------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "fields", "expected"),
    [
        ("Fix it", {}, [("human", "Fix it")]),
        ([said("Fix"), said("it")], {}, [("human", "Fix\n\nit")]),
        (
            [image(), said("Look")],
            {},
            [("human", "[image image/png 6 bytes 0bf8abb44be5b51d87c5c1c0]\n\nLook")],
        ),
        (
            [said("<ide_selection>lines 1 to 3</ide_selection>"), said("Fix it")],
            {},
            [("human", "Fix it")],
        ),
        ("<system-reminder>x</system-reminder>\nFix it", {}, [("human", "Fix it")]),
        ("Fix it\n<system-reminder>x</system-reminder>", {}, [("human", "Fix it")]),
        ("<system-reminder>x</system-reminder>", {}, []),
        ("What is a <system-reminder> tag?", {}, [("human", "What is a <system-reminder> tag?")]),
        ("<div>why?</div>", {}, [("human", "<div>why?</div>")]),
        (
            "<command-message>review</command-message><command-name>/review</command-name>"
            "<command-args>the last commit</command-args>",
            {},
            [("human", "/review the last commit")],
        ),
        (
            "<command-name>tidy</command-name><command-args></command-args>",
            {},
            [("human", "/tidy")],
        ),
        ("<command-name>/clear</command-name><command-args></command-args>", {}, []),
        ("<local-command-stdout>ok</local-command-stdout>", {}, []),
        ("Caveat: The messages below were generated by the user", {}, []),
        ("<user-memory-input>use tabs</user-memory-input>", {}, [("human", "# use tabs")]),
        (
            "<task-notification>done</task-notification>",
            {},
            [("system", "<task-notification>done</task-notification>")],
        ),
        (
            "<teammate-message from='b'>hi</teammate-message>",
            {},
            [("agent", "<teammate-message from='b'>hi</teammate-message>")],
        ),
        ("done", {"origin": {"kind": "task-notification"}}, [("system", "done")]),
        ("hi", {"origin": {"kind": "peer"}}, [("agent", "hi")]),
        ("hi", {"origin": {"kind": "human"}, "promptSource": "typed"}, [("human", "hi")]),
        ("hi", {"promptSource": "sdk", "entrypoint": "sdk-py"}, [("agent", "hi")]),
        ("hi", {"promptSource": "sdk", "entrypoint": "claude-vscode"}, [("human", "hi")]),
        ("go on", {"promptSource": "system"}, [("system", "go on")]),
        ("A skill's text", {"isMeta": True}, []),
        ("A skill's text", {"sourceToolUseID": "toolu_1"}, []),
        ("[Image: source: /home/ada/a.png]", {}, []),
    ],
)
def test_a_user_record_is_told_by_its_shape(
    log: Path, content: Any, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """One record type carries what a person typed and everything the client injects."""
    chat = Conversation()
    chat.user(content, **fields)

    assert prompts(written(chat, log)) == expected


def test_a_prompt_typed_while_the_agent_works_is_a_turn(log: Path) -> None:
    """Queued prompts come as attachments and nowhere else."""
    chat = Conversation()
    chat.user("Add a field")
    chat.call("Bash", {"command": "make"}, "toolu_1")
    chat.result("toolu_1", "ok")
    chat.attach("queued_command", prompt=[said("and a test")], commandMode="prompt")
    chat.attach(
        "queued_command",
        prompt="<task-notification>x</task-notification>",
        commandMode="task-notification",
    )
    chat.attach("file", filename="a.py")
    chat.reply("Done.")

    items = written(chat, log)

    assert prompts(items) == [
        ("human", "Add a field"),
        ("human", "and a test"),
        ("system", "<task-notification>x</task-notification>"),
    ]
    assert dead(items) == []


def test_a_typed_command_keeps_its_output(log: Path) -> None:
    """`!cmd` is run by the client: a prompt, a shell call and its streams, over two records."""
    chat = Conversation()
    chat.user("<bash-input>git status</bash-input>")
    chat.user("<bash-stdout>clean</bash-stdout><bash-stderr>warned</bash-stderr>")

    items = written(chat, log)

    assert of(items, Event) == [
        Event(session=SESSION, turn="r1", kind="prompt", at=ms(1), text="!git status"),
        Event(
            session=SESSION,
            turn="r1",
            kind="tool_call",
            at=ms(1),
            call="r1",
            name="Bash",
            tool_kind="shell",
            target="git status",
            input={"command": "git status"},
            folder="/home/ada/shop",
        ),
    ]
    assert of(items, ToolResult) == [
        ToolResult(session=SESSION, turn="r1", call="r1", at=ms(2), output="clean\nwarned")
    ]


def test_a_slash_command_may_be_a_system_record(log: Path) -> None:
    """Newer clients echo local commands there."""
    chat = Conversation()
    chat.system(
        "local_command",
        content="<command-name>/model</command-name><command-args>opus</command-args>",
    )
    chat.system("local_command", content="<local-command-stdout>Set model</local-command-stdout>")

    items = written(chat, log)

    assert prompts(items) == []
    assert [text for _, kind, text in told(items) if kind == "command"] == ["/model opus"]


def test_what_is_said_to_the_client_belongs_to_the_turn_before(log: Path) -> None:
    """`/context` and its like are no request: they are kept where they were typed."""
    chat = Conversation()
    chat.user("Fix it")
    chat.reply("Done.")
    chat.user("<command-name>/context</command-name>")
    chat.user("<local-command-stdout>80 %</local-command-stdout>")
    chat.user("Now the tests")

    items = written(chat, log)

    assert [(turn, kind, text) for turn, kind, text in told(items) if kind != "reply"] == [
        ("r1", "prompt", "Fix it"),
        ("r1", "command", "/context"),
        ("r5", "prompt", "Now the tests"),
    ]
    assert dead(items) == []


PEER = (
    "Another Claude session sent a message:\n"
    '<cross-session-message from="shop">\nRun the tests\n</cross-session-message>\n\n'
    "This came from another Claude session."
)


@pytest.mark.parametrize(
    ("text", "fields", "author", "prompt"),
    [
        (PEER, {"origin": {"kind": "peer", "from": "shop"}}, "agent", "Run the tests"),
        ("Run them", {"origin": {"kind": "coordinator"}}, "agent", "Run them"),
        (
            "Look again",
            {"promptSource": "system", "turnOrigin": "scheduled"},
            "agent",
            "Look again",
        ),
        ("Go on", {"promptSource": "system", "scheduledTaskId": "1a"}, "agent", "Go on"),
        ("A word", {"origin": {"kind": "channel", "server": "chat"}}, "system", "A word"),
    ],
)
def test_what_another_agent_or_a_schedule_asks_is_a_turn_of_its_own(
    log: Path, text: str, fields: dict[str, object], author: str, prompt: str
) -> None:
    """The client marks it as injected: the work was credited to the person's turn before."""
    chat = Conversation()
    chat.user("Fix it")
    chat.reply("Done.")
    chat.user(text, isMeta=True, **fields)
    chat.reply("They pass.")

    items = written(chat, log)

    assert prompts(items) == [("human", "Fix it"), (author, prompt)]
    assert [turn for turn, kind, _ in told(items) if kind == "reply"] == ["r1", "r3"]


@pytest.mark.parametrize("fields", [{}, {"origin": {"kind": "human"}}, {"promptSource": "system"}])
def test_what_the_client_injects_is_still_no_prompt(log: Path, fields: dict[str, object]) -> None:
    """A skill's text carries the mark of the person who called it."""
    chat = Conversation()
    chat.user("Fix it")
    chat.user("Base directory for this skill: /skills/tidy", isMeta=True, **fields)

    assert prompts(written(chat, log)) == [("human", "Fix it")]


def test_a_peers_message_that_had_to_queue_is_its_own(log: Path) -> None:
    """It is an attachment then, with its sender inside."""
    chat = Conversation()
    chat.user("Fix it")
    chat.attach(
        "queued_command", prompt=PEER, commandMode="prompt", isMeta=True, origin={"kind": "peer"}
    )

    assert prompts(written(chat, log)) == [("human", "Fix it"), ("agent", "Run the tests")]


def test_the_pieces_of_one_prompt_are_one_turn(log: Path) -> None:
    """Some clients write the picture and the text of a prompt as two records."""
    chat = Conversation()
    chat.user([image()], promptId="p1")
    chat.user([said("What is this?")], promptId="p1")
    chat.reply("A loaf.")
    chat.user("And this?", promptId="p2")

    assert [(turn, kind) for turn, kind, _ in told(written(chat, log))] == [
        ("r1", "prompt"),
        ("r1", "prompt"),
        ("r1", "reply"),
        ("r4", "prompt"),
    ]


def test_an_interruption_belongs_to_the_turn_it_ends(log: Path) -> None:
    """It comes as a user record, but nobody typed it."""
    chat = Conversation()
    chat.user("Deploy")
    chat.reply("Deploying.")
    chat.user([said("[Request interrupted by user]")])

    assert told(written(chat, log))[-1] == ("r1", "abort", "[Request interrupted by user]")


def test_a_summary_after_compaction_is_not_a_prompt(log: Path) -> None:
    """Indexed as user input it would put the machine's words in the person's mouth."""
    items = read(
        GOLDEN
        / "compaction-and-titles"
        / "root"
        / "projects"
        / "-home-ada-shop"
        / f"{SESSION}.jsonl"
    )

    assert [text for _, text in prompts(items)] == ["Add paging to the catalogue", "Now sort it"]
    assert [event.turn for event in of(items, Event) if event.kind == "compaction"] == ["r1"]
    assert dead(items) == []


def test_what_comes_before_any_prompt_has_a_turn_of_its_own(log: Path) -> None:
    """A file may begin in the middle of a conversation whose start is elsewhere."""
    chat = Conversation()
    chat.attach("hook_success", hookName="SessionStart")
    chat.reply("Where was I?", parent="elsewhere")
    chat.user("Here", parent="r1")

    items = written(chat, log)

    assert told(items) == [
        (f"{chat.session}/start", "reply", "Where was I?"),
        ("r3", "prompt", "Here"),
    ]
    assert [(facts.turn, facts.author) for facts in of(items, TurnFacts) if facts.author] == [
        (f"{chat.session}/start", "system"),
        ("r3", "human"),
    ]
    assert dead(items) == []


def test_a_turn_says_how_it_went(log: Path) -> None:
    """Effort, mode, context and duration are scattered over the records of a turn."""
    items = read(
        GOLDEN / "split-message" / "root" / "projects" / "-home-ada-shop" / f"{SESSION}.jsonl"
    )

    assert merged(items)["turns"][SESSION, "r1"]["telemetry"] == {
        "permission_mode": "acceptEdits",
        "context_tokens": 2104,
        "service_tier": "standard",
        "effort": "high",
        "stop_reason": "end_turn",
        "turn_duration_ms": 61000,
    }


def test_ten_tries_of_one_call_are_one_error(log: Path) -> None:
    """The client logs every retry."""
    chat = Conversation()
    chat.user("Hello")
    for attempt in range(1, 11):
        chat.system(
            "api_error",
            error={"status": 529, "error": {"message": "Overloaded"}},
            retryAttempt=attempt,
        )

    assert told(written(chat, log)) == [
        ("r1", "prompt", "Hello"),
        ("r1", "error", "API error 529: Overloaded"),
    ]


def test_withdrawn_text_is_not_the_reply(log: Path) -> None:
    """A refused answer is taken back and another model answers instead."""
    chat = Conversation()
    chat.user("Hello")
    taken_back = chat.reply("Half an")
    chat.system("model_refusal_fallback", content="Declined.", retractedMessageUuids=[taken_back])
    chat.reply("A whole answer.")

    assert told(written(chat, log))[1:] == [
        ("r1", "reasoning", "Half an"),
        ("r1", "error", "model refusal fallback: Declined."),
        ("r1", "reply", "A whole answer."),
    ]


# Tools ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "target"),
    [
        ("Bash", {"command": "ls -l", "description": "List"}, "shell", "ls -l"),
        ("Edit", {"file_path": "/a.py", "old_string": "a", "new_string": "b"}, "edit", "/a.py"),
        ("MultiEdit", {"file_path": "/a.py", "edits": []}, "edit", "/a.py"),
        ("Write", {"file_path": "/a.py", "content": "x"}, "edit", "/a.py"),
        ("NotebookEdit", {"notebook_path": "/a.ipynb"}, "edit", "/a.ipynb"),
        ("Read", {"file_path": "/a.py"}, "read", "/a.py"),
        ("Glob", {"pattern": "**/*.py"}, "search", "**/*.py"),
        ("Grep", {"pattern": "def ", "path": "/src"}, "search", "def "),
        (
            "WebFetch",
            {"url": "https://example.invalid", "prompt": "p"},
            "web",
            "https://example.invalid",
        ),
        ("WebSearch", {"query": "bread"}, "web", "bread"),
        ("Task", {"description": "Audit", "prompt": "p"}, "task", "Audit"),
        ("Agent", {"description": "Audit", "prompt": "p"}, "task", "Audit"),
        ("mcp__shelf__find", {"query": "milk"}, "mcp", "milk"),
        ("TodoWrite", {"todos": []}, "other", None),
    ],
)
def test_a_call_says_what_it_is_about(
    log: Path, name: str, arguments: dict[str, Any], kind: str, target: str | None
) -> None:
    """The target is what people search for: a command, a path, a pattern, an address."""
    chat = Conversation()
    chat.user("Go")
    chat.call(name, arguments, "toolu_1")

    assert of(written(chat, log), Event)[-1] == Event(
        session=SESSION,
        turn="r1",
        kind="tool_call",
        at=ms(2),
        call="toolu_1",
        name=name,
        tool_kind=kind,  # type: ignore[arg-type]
        target=target,
        input=arguments,
        folder="/home/ada/shop" if kind == "shell" else None,
    )


@pytest.mark.parametrize(
    ("content", "outcome", "error", "expected"),
    [
        ("fine", None, False, {"output": "fine", "ok": True}),
        (
            "Exit code 127\nnope",
            "Error: Exit code 127",
            True,
            {"output": "Exit code 127\nnope", "ok": False, "exit_code": 127},
        ),
        ("Exit code 3 is fine", None, False, {"output": "Exit code 3 is fine", "ok": True}),
        ("", {"stdout": "out", "stderr": "err"}, False, {"output": "out\nerr", "ok": True}),
        ("half", {"stdout": "half", "interrupted": True}, False, {"output": "half", "ok": False}),
        (
            [said("one"), said("two")],
            {"durationMs": 12},
            False,
            {"output": "one\ntwo", "ok": True, "duration_ms": 12},
        ),
        (
            "done",
            {"totalDurationMs": 4200},
            False,
            {"output": "done", "ok": True, "duration_ms": 4200},
        ),
        (
            "found",
            {"durationSeconds": 1.5},
            False,
            {"output": "found", "ok": True, "duration_ms": 1500},
        ),
        (
            [image()],
            None,
            False,
            {"output": "[image image/png 6 bytes 0bf8abb44be5b51d87c5c1c0]", "ok": True},
        ),
        (
            "",
            {"stdout": "iVBORw0KGgo=", "isImage": True},
            False,
            {"output": "[image 9 bytes]", "ok": True},
        ),
        (
            [{"type": "tool_reference", "tool_name": "Grep"}],
            None,
            False,
            {"output": "[tool Grep]", "ok": True},
        ),
        (None, "Error: no such tool", True, {"output": "Error: no such tool", "ok": False}),
    ],
)
def test_a_result_is_read_from_wherever_it_is(
    log: Path, content: Any, outcome: Any, error: bool, expected: dict[str, Any]
) -> None:
    """There is no status and no exit code, and pictures are never kept."""
    chat = Conversation()
    chat.user("Go")
    chat.call("Bash", {"command": "x"}, "toolu_1")
    chat.result("toolu_1", content, outcome, error=error)

    [result] = of(written(chat, log), ToolResult)

    assert result == ToolResult(session=SESSION, turn="r1", call="toolu_1", at=ms(3), **expected)


def test_a_result_may_come_before_its_call_or_turns_after_it(log: Path) -> None:
    """The file is in the order of writing, not of cause; the call decides the turn."""
    chat = Conversation()
    chat.user("Go")
    chat.result("toolu_1", "early")
    chat.call("Bash", {"command": "x"}, "toolu_1")
    late = chat.call("Bash", {"command": "y"}, "toolu_2")
    chat.user("Hurry")
    chat.result("toolu_2", "late", parent=late)

    items = written(chat, log)

    assert [type(item) for item in items if getattr(item, "call", None) == "toolu_1"] == [
        Event,
        ToolResult,
    ]
    assert [(result.call, result.turn) for result in of(items, ToolResult)] == [
        ("toolu_1", "r1"),
        ("toolu_2", "r1"),
    ]
    assert dead(items) == []


def test_output_that_overflowed_is_read_from_its_file() -> None:
    """The line holds a preview; the rest is beside the transcript until it is cleaned up."""
    path = (
        GOLDEN / "overflowing-output" / "root" / "projects" / "-home-ada-shop" / f"{SESSION}.jsonl"
    )

    assert of(read(path), ToolResult)[0].output == "bread\nmilk\ncheese\n"


def test_a_preview_cannot_name_a_file_elsewhere(log: Path) -> None:
    """What a tool printed decides what we open: only names in the session's own folder count."""
    secret = log.parent / "secret.txt"
    chat = Conversation()
    chat.user("Go")
    chat.call("Bash", {"command": "x"}, "toolu_1")
    preview = f"Full output saved to: {log.parent}/{SESSION}/tool-results/../../secret.txt"
    chat.result("toolu_1", preview)
    chat.write(log)
    secret.write_text("do not read")

    assert of(read(log), ToolResult)[0].output == preview


def test_a_huge_overflow_keeps_its_two_ends(log: Path) -> None:
    """An error is at the end of a long output, and what was run at its beginning."""
    chat = Conversation()
    chat.user("Go")
    chat.call("Bash", {"command": "x"}, "toolu_1")
    chat.result("toolu_1", f"Output has been saved to {log.parent}/{SESSION}/tool-results/big.txt.")
    chat.write(log)
    folder = log.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "big.txt").write_text("a" * (1 << 20) + "b" * (1 << 20))

    output = of(read(log), ToolResult)[0].output

    assert output == "a" * (1 << 19) + "\n[1048576 bytes left out]\n" + "b" * (1 << 19)


# The tree --------------------------------------------------------------------------------


def test_an_edited_prompt_abandons_what_followed_the_old_one(log: Path) -> None:
    """The old branch stays in the file; coming back to it revives it."""
    chat = Conversation()
    chat.user("One")
    first = chat.reply("1")
    chat.user("Two")
    second = chat.reply("2")
    chat.user("Three")
    chat.reply("3")
    chat.user("Two, but better", parent=first)
    chat.reply("2b")
    assert dead(written(chat, log)) == ["r3", "r5"]

    chat.user("Three after all", parent=second)
    assert dead(written(chat, log)) == ["r5", "r7"]


def test_editing_the_first_prompt_abandons_everything(log: Path) -> None:
    """It hangs on what the client wrote before anybody spoke."""
    chat = Conversation()
    start = chat.attach("hook_success", hookName="SessionStart")
    chat.user("One")
    chat.reply("1")
    chat.user("One, but better", parent=start)

    assert dead(written(chat, log)) == ["r2"]


def test_a_rewind_is_seen_through_records_that_say_nothing(log: Path) -> None:
    """Injected and system records are links of the chain."""
    chat = Conversation()
    chat.user("One")
    chat.reply("1")
    measured = chat.system("turn_duration", durationMs=5)
    chat.user("Two")
    chat.reply("2")
    chat.user("Caveat: The messages below were generated by the user", isMeta=True, parent=measured)
    chat.user("<command-name>/status</command-name>")
    chat.user("Three")

    assert dead(written(chat, log)) == ["r4"]


def test_local_commands_on_an_old_caveat_abandon_nothing(log: Path) -> None:
    """Clients hang every later command on the first caveat of the
    session (seen in 1.0.55 and 2.0.x).
    """
    chat = Conversation()
    caveat = chat.user("Caveat: The messages below were generated by the user", isMeta=True)
    chat.user("<command-name>/clear</command-name>")
    chat.user("One")
    chat.reply("1")
    chat.user("<bash-input>ls</bash-input>", parent=caveat)
    chat.user("<bash-stdout>a</bash-stdout>")
    chat.user("Two")

    items = written(chat, log)

    assert dead(items) == []
    assert [turn for turn, kind, _ in told(items) if kind == "prompt"] == ["r3", "r5", "r7"]


def test_parallel_results_retries_and_new_roots_are_no_branches(log: Path) -> None:
    """Half of all files branch without anybody having rewound anything."""
    chat = Conversation()
    chat.user("One")
    first = chat.assistant(used("Bash", {"command": "a"}, "toolu_1"), message="m")
    second = chat.assistant(used("Bash", {"command": "b"}, "toolu_2"), message="m")
    chat.attach("queued_command", prompt="Two", commandMode="prompt")
    chat.result("toolu_1", "a", parent=first)
    chat.result("toolu_2", "b", parent=second)
    chat.reply("from the first turn still", parent=second)
    chat.user("Three", parent=None)
    chat.user("Four", parent="in another file")

    items = written(chat, log)

    assert dead(items) == []
    assert [turn for turn, kind, _ in told(items) if kind == "reply"] == ["r1"]


def test_the_newest_leaf_decides_between_two_terminals(log: Path) -> None:
    """The same session may be continued twice at once; the last to speak is the conversation."""
    chat = Conversation()
    chat.user("One")
    fork = chat.reply("1")
    left = chat.user("Left")
    chat.user("Right", parent=fork)
    assert dead(written(chat, log)) == ["r3"]

    chat.reply("left goes on", parent=left)
    assert dead(written(chat, log)) == ["r4"]


def test_a_copied_record_counts_once(log: Path) -> None:
    """Copies of a conversation leave the same record twice in a file."""
    chat = Conversation()
    chat.user("One")
    chat.reply("1")
    chat.lines += chat.lines

    assert told(written(chat, log)) == [("r1", "prompt", "One"), ("r1", "reply", "1")]


# Reading what grows ------------------------------------------------------------------------


def rich() -> Conversation:
    """Everything above in one conversation, as a client might write it."""
    chat = Conversation(slug="a-plan")
    chat.bare({"type": "summary", "summary": "Shop work", "leafUuid": "r9"})
    start = chat.attach("hook_success", hookName="SessionStart")
    chat.user("One", promptId="p1", permissionMode="plan")
    chat.assistant(thought("Hm."), message="m1", usage=tokens(output=1))
    first = chat.assistant(
        used("Bash", {"command": "a"}, "t1"), message="m1", usage=tokens(output=5)
    )
    reading = used("Read", {"file_path": "/a"}, "t2")
    second = chat.assistant(reading, message="m1", usage=tokens(output=80), stop_reason="tool_use")
    chat.result("t2", "file", parent=second)
    chat.bare({"type": "ai-title", "aiTitle": "A title", "sessionId": SESSION})
    chat.result("t1", "Exit code 2\nno", error=True, parent=first)
    done = chat.reply("Done.", stop_reason="end_turn")
    chat.system("turn_duration", durationMs=900)
    caveat = chat.user("Caveat: The messages below were generated by the user", isMeta=True)
    chat.user("<command-name>/status</command-name>")
    chat.user("<bash-input>ls</bash-input>", parent=caveat)
    chat.user("<bash-stdout>a</bash-stdout>")
    chat.user("Read old.py", parent=None, isSidechain=True, uuid="s1")
    chat.call("Read", {"file_path": "old.py"}, "ts", parent="s1", isSidechain=True, uuid="s2")
    chat.result("ts", "old", parent="s2", isSidechain=True, uuid="s3")
    chat.user("Two", parent=done)
    chat.attach("queued_command", prompt="Three", commandMode="prompt")
    chat.reply("Both.")
    chat.user([said("[Request interrupted by user]")])
    chat.bare({"type": "holo-record"})
    chat.system(
        "compact_boundary",
        parent=None,
        logicalParentUuid=chat.tip,
        compactMetadata={"trigger": "manual"},
    )
    chat.user(
        "This session is being continued from a previous conversation.", isCompactSummary=True
    )
    chat.user("Start over", parent=start, gitBranch="other", version="2.1.233")
    chat.reply("Fine.")
    chat.bare({"type": "custom-title", "customTitle": "My title", "sessionId": SESSION})
    return chat


@pytest.mark.parametrize("cut", range(1, len(rich().lines)))
def test_a_file_read_in_two_steps_gives_what_it_gives_at_once(log: Path, cut: int) -> None:
    """A live session is read again and again; where the cuts fall must not matter."""
    chat = rich()
    whole = merged(written(chat, log))

    log.write_text("".join(chat.lines[:cut]) + chat.lines[cut][:20])
    before = read(log)
    log.write_text(chat.text)
    after = read(log, checkpoint_of(before))

    assert merged([*before, *after]) == whole


def test_a_file_read_line_by_line_gives_what_it_gives_at_once(log: Path) -> None:
    """Watching reads after every write."""
    chat = rich()
    whole = merged(written(chat, log))

    items: list[Item] = []
    since: Checkpoint | None = None
    log.write_text("")
    for line in chat.lines:
        with log.open("a") as file:
            file.write(line)
        found = read(log, since)
        since = checkpoint_of(found)
        items += found

    assert checkpoint_of(items).position == len(chat.text.encode())
    assert merged(items) == whole


def test_a_half_written_line_waits_for_the_next_run(log: Path) -> None:
    """The client may be writing while we read; that is not a broken log."""
    chat = Conversation()
    chat.user("One")
    whole = len(chat.text)
    chat.reply("1")
    log.parent.mkdir(parents=True)
    log.write_text(chat.text[: whole + 30])

    first = read(log)

    assert of(first, Problem) == []
    assert checkpoint_of(first).position == whole


def test_a_rewind_past_what_the_checkpoint_holds_is_still_seen(log: Path) -> None:
    """The state stays small however long the session; the file itself remembers the rest."""
    chat = Conversation()
    for number in range(2000):
        chat.user(
            f"Prompt {number} with some words", uuid=f"{number:08d}-0000-4000-8000-000000000000"
        )
        chat.reply("ok", uuid=f"{number:08d}-1111-4000-8000-000000000000")
    since = checkpoint_of(written(chat, log))
    assert len(since.state) <= 64_000

    chat.user("Back to the third", parent="00000002-1111-4000-8000-000000000000", uuid="back")
    after = read(chat.write(log), since)

    assert dead(after) == [f"{number:08d}-0000-4000-8000-000000000000" for number in range(3, 2000)]
    assert dead(read(log)) == dead(after)


def test_the_state_stays_small_against_a_hostile_file(log: Path) -> None:
    """Ids, titles and calls come from the file, and none of them may swell the checkpoint."""
    chat = Conversation(session="s" * 9000, slug="l" * 9000)
    for number in range(400):
        chat.bare({"type": "summary", "summary": "\u00e9" * 9000, "leafUuid": f"{number}" * 500})
        chat.user("x", uuid=f"{number}" * 5000)
        chat.call("Bash", {"command": "x"}, f"{number}" * 5000)

    for item in of(written(chat, log), Checkpoint):
        assert len(item.state) <= 64_000


def test_nothing_new_gives_only_a_checkpoint(log: Path) -> None:
    """An unchanged file costs nothing and says nothing."""
    chat = rich()
    since = checkpoint_of(written(chat, log))

    assert read(log, since) == [since]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """It keeps its place, for when it can be read again."""
    gone = tmp_path / "gone.jsonl"

    items = read(gone, Checkpoint(77))

    assert items[:-1] == [
        Problem(path=str(gone), kind="unreadable", reason="No such file or directory")
    ]
    assert checkpoint_of(items).position == 77


def test_unknown_records_are_counted_once_for_each_type(log: Path) -> None:
    """The format grows every few weeks: what is new is reported, not fatal and not a flood."""
    chat = Conversation()
    for _ in range(3):
        chat.bare({"type": "holo-record"})
    chat.bare({"silly": True})
    chat.bare({"type": "assistant", "message": 7})

    assert of(written(chat, log), Problem) == [
        Problem(path=str(log), kind="unknown", reason="record type holo-record", count=3),
        Problem(path=str(log), kind="unknown", reason="record type missing", count=1),
        Problem(
            path=str(log), kind="bad_record", reason="assistant record without a message", count=1
        ),
    ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
_BLOCK_TYPES = ["text", "thinking", "tool_use", "tool_result", "image", "web_search_tool_result"]
_BLOCK_FIELDS = [
    "text", "thinking", "id", "name", "input", "tool_use_id", "content", "is_error", "source",
]  # fmt: skip
_BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(_BLOCK_TYPES) | _JSON}, optional=dict.fromkeys(_BLOCK_FIELDS, _JSON)
)
_MESSAGES = st.fixed_dictionaries(
    {"content": st.text(max_size=8) | st.lists(_BLOCKS | _JSON, max_size=3) | _JSON},
    optional={
        "id": _JSON,
        "model": _JSON,
        "stop_reason": _JSON,
        "usage": _JSON
        | st.dictionaries(
            st.sampled_from(["input_tokens", "output_tokens", "cache_creation"]), _JSON
        ),
    },
)
_TYPES = [
    "user", "assistant", "system", "attachment", "progress", "summary", "ai-title", "custom-title",
    "agent-name", "pr-link", "worktree-state", "relocated", "fork-context-ref", "queue-operation",
    "last-prompt",
]  # fmt: skip
_FIELDS = [
    "sessionId", "agentId", "timestamp", "cwd", "version", "gitBranch", "entrypoint", "slug",
    "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "requestId", "toolUseResult",
    "sourceToolUseID", "promptId", "promptSource", "origin", "permissionMode", "effort", "content",
    "level", "error", "retryAttempt", "durationMs", "compactMetadata", "retractedMessageUuids",
    "supersedesUuids", "summary", "leafUuid", "aiTitle", "customTitle", "agentName", "forkedFrom",
    "parentSessionId", "prUrl", "worktreeSession", "relocatedCwd",
]  # fmt: skip
_ODD = st.fixed_dictionaries(
    {"type": st.sampled_from(_TYPES) | _JSON},
    optional={
        "message": _MESSAGES | _JSON,
        "uuid": st.sampled_from("abc") | _JSON,
        "parentUuid": st.sampled_from("abc") | _JSON,
        "logicalParentUuid": st.sampled_from("abc") | _JSON,
        "subtype": st.sampled_from(
            ["compact_boundary", "local_command", "turn_duration", "api_error"]
        )
        | _JSON,
        "attachment": st.fixed_dictionaries({"type": st.just("queued_command"), "prompt": _JSON})
        | _JSON,
        **dict.fromkeys(_FIELDS, _JSON),
    },
)


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(_ODD | _JSON, max_size=8), agent=st.booleans(), cut=st.integers(0, 8))
def test_no_line_whatever_its_fields_stops_the_reading(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any], agent: bool, cut: int
) -> None:
    """Another version may write anything anywhere; it costs that record at most."""
    path = tmp_path_factory.mktemp("odd") / ("agent-a1.jsonl" if agent else "odd.jsonl")
    text = [json.dumps(line) + "\n" for line in lines]

    path.write_text("".join(text[:cut]))
    since = checkpoint_of(read(path))
    path.write_text("".join(text))

    for items in (read(path), read(path, since)):
        assert checkpoint_of(items).position == len("".join(text).encode())
        for item in items:
            msgspec.msgpack.encode(item)


# Real logs -----------------------------------------------------------------------------------


@pytest.fixture
def samples(corpus: Path) -> list[Path]:
    return sorted((corpus / "claude-code").rglob("*.jsonl"))


# Fixtures with something wrong on purpose: comments, scalars, record types of the future.
EXPLAINED = {
    "edge_cases.jsonl": {"bad_record", "unknown"},
    "schema_drift.jsonl": {"unknown"},
    "lane.jsonl": {"unknown"},
    "11111111-2222-3333-4444-555555555555.jsonl": {"unknown"},
    "edit-tool-variants.jsonl": {"bad_line"},
    "read-tool-variants.jsonl": {"bad_line"},
    "images-in-user-messages.jsonl": {"bad_line"},
}


def test_every_sample_reads_without_an_unexplained_problem(samples: list[Path]) -> None:
    """Logs that real clients wrote, from 1.0.24 on."""
    for path in samples:
        items = read(path)
        begun = {(facts.session, facts.turn) for facts in of(items, TurnFacts) if facts.author}

        assert {problem.kind for problem in of(items, Problem)} <= EXPLAINED.get(
            path.name, set()
        ), path
        assert {
            (item.session, item.turn) for item in items if isinstance(item, Event | Usage)
        } <= begun
        sessions = {facts.session for facts in of(items, SessionFacts)}
        assert {item.session for item in items if isinstance(item, Event | TurnFacts)} <= sessions


def test_token_totals_of_the_samples_equal_an_independent_count(samples: list[Path]) -> None:
    """By message and request, the largest figures, everything a model said."""
    for path in samples:
        expected: dict[str, tuple[int, ...]] = {}
        for line in path.read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            message = (
                record.get("message")
                if isinstance(record, dict) and record.get("type") == "assistant"
                else None
            )
            if (
                not isinstance(message, dict)
                or not message.get("usage")
                or message.get("model") == "<synthetic>"
            ):
                continue
            if record.get("isApiErrorMessage"):
                continue
            usage = message["usage"]
            key = (
                f"{message.get('id')}:{record.get('requestId')}"
                if message.get("id")
                else record.get("uuid")
            )
            names = (
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens",
            )
            figures = tuple(usage.get(name) or 0 for name in names)
            expected[key or line] = tuple(map(max, figures, expected.get(key or line, figures)))

        found = merged(read(path))["usage"].values()

        assert [
            sum(usage[name] for usage in found)
            for name in ("input", "cache_read", "cache_write", "output")
        ] == [sum(figures[n] for figures in expected.values()) for n in range(4)], path


def test_samples_read_line_by_line_give_what_they_give_at_once(
    samples: list[Path], tmp_path: Path
) -> None:
    """The same property as above, on what real clients wrote."""
    for path in samples:
        data = path.read_bytes()
        if (
            len(data) > 60_000 or path.name == "small.jsonl"
        ):  # the last withdraws an answer it gave before
            continue
        copy = tmp_path / path.name
        items: list[Item] = []
        since = None
        copy.write_bytes(b"")
        for line in data.splitlines(keepends=True):
            with copy.open("ab") as file:
                file.write(line)
            found = read(copy, since)
            since = checkpoint_of(found)
            items += found
        whole = merged(read(copy))
        copy.unlink()

        # A bad line is named with its place in what was read, so only its kind is compared.
        assert {**merged(items), "problems": None} == {**whole, "problems": None}, path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dag_simple.jsonl", []),
        ("dag_resume.jsonl", []),
        ("dag_fork.jsonl", ["e", "f", "h"]),
        ("dag_within_fork.jsonl", ["d", "f"]),
    ],
)
def test_branches_of_the_samples_are_found(
    samples: list[Path], name: str, expected: list[str]
) -> None:
    """The known trees of another reader's test data."""
    [path] = [path for path in samples if path.name == name]

    assert dead(read(path)) == expected


def test_no_turn_of_a_linear_sample_is_abandoned(samples: list[Path]) -> None:
    """Real projects branch in many ways.

    These five files are the only ones where something was undone.
    """
    undone = {path.name for path in samples if dead(read(path))}

    assert undone == {
        "dag_fork.jsonl",
        "dag_within_fork.jsonl",
        "03eb5929-52b3-4b13-ada3-b93ae35806b8.jsonl",
        "0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl",
        "images-in-user-messages.jsonl",
    }
