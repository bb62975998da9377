"""What the SpecStory adapter makes of an export, fact by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.capture.adapters.specstory import SpecStory
from recollect.capture.adapters.specstory.records import time_in
from recollect.capture.adapters.specstory.tools import SpecStoryToolUse, tool_use
from recollect.model.logs import (
    Checkpoint,
    Event,
    Item,
    Problem,
    SessionFacts,
    Source,
    TurnFacts,
    milliseconds,
)
from recollect.model.sessions import SessionDetail
from tests.builders import specstory as b
from tests.builders.homes import chat, claude_log, memory

AT = milliseconds("2026-03-01T09:00:00Z")
LATER = milliseconds("2026-03-01T09:00:05Z")


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(SpecStory().read(Source("specstory", str(path), appended=False), since))


def items(tmp_path: Path, *content: str) -> list[Item]:
    """What an export of this gives, with the usual head."""
    return read(b.export(tmp_path, b.head(), *content))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str]]:
    """Events as (kind, text or name), in order."""
    return [
        (event.kind, event.name if event.kind == "tool_call" else event.text)
        for event in of(Event, found)
    ]


def prompts(found: list[Item]) -> list[str]:
    return [text for kind, text in said(found) if kind == "prompt"]


def facts(tmp_path: Path, head: str, name: str = b.NAME) -> SessionFacts:
    """What an export with this head says about its session."""
    fact = of(SessionFacts, read(b.export(tmp_path, head, b.user("go"), name=name)))[0]
    assert isinstance(fact, SessionFacts)
    return fact


def test_an_export_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, thought, call, reply."""
    found = items(
        tmp_path,
        b.user("water the roses"),
        b.agent(b.thought("Where?")),
        b.agent(b.tool("shell", "Bash", "Look\n\n`ls beds`\n\n```text\nroses\n```")),
        b.agent("They are wet."),
    )

    known: dict[str, Any] = {"session": b.SESSION, "turn": f"{b.SESSION}/1"}
    assert found == [
        SessionFacts(
            session=b.SESSION,
            copy_of=f"claude-code:{b.SESSION}",
            origin="interactive",
            cwd=str(tmp_path),
            started_at=AT,
            meta={"exported_from": "Claude Code", "markdown_version": "2.1.0"},
        ),
        TurnFacts(**known, at=AT, author="human"),
        Event(**known, kind="prompt", at=AT, text="water the roses"),
        Event(**known, kind="reasoning", at=LATER, text="Where?"),
        TurnFacts(**known, telemetry={"model": "claude-opus-4-6"}),
        Event(
            **known,
            kind="tool_call",
            at=LATER,
            name="Bash",
            tool_kind="shell",
            target="ls beds",
            input={"command": "ls beds", "description": "Look"},
            output="roses",
        ),
        Event(**known, kind="reply", at=LATER, text="They are wet."),
        Checkpoint((tmp_path / ".specstory" / "history" / b.NAME).stat().st_size),
    ]


# Whose session it was -------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "agent"),
    [
        ("Claude Code", "claude-code"),
        ("Codex CLI", "codex"),
        ("cursor", "cursor"),
        ("Cursor IDE", "cursor"),
        ("Cursor CLI", "cursor"),
        ("vscode", "vscode-copilot-chat"),
        ("VS Code Copilot IDE", "vscode-copilot-chat"),
        ("VSCodium Copilot IDE", "vscode-copilot-chat"),
        ("Copilot CLI", "copilot-cli"),
        ("Gemini CLI", "gemini-cli"),
        ("Antigravity", "antigravity"),
        ("Factory Droid CLI", "droid"),
        ("DeepSeek TUI", None),
    ],
)
def test_an_export_names_the_session_that_it_repeats(
    tmp_path: Path, word: str, agent: str | None
) -> None:
    """By that the original is preferred, where it is stored."""
    assert facts(tmp_path, b.head(word)).copy_of == (f"{agent}:{b.SESSION}" if agent else None)


def test_an_export_is_passed_over_where_the_original_is_stored(tmp_path: Path) -> None:
    """In whichever order the two are found."""
    talk = chat()
    talk.user("from the agent's own log")
    log = claude_log(tmp_path / "home", talk)
    export = b.export(
        tmp_path,
        b.head(session=talk.session),
        b.user("from the export"),
        b.agent("Aside.", side=True),
    )
    with memory(tmp_path) as mind:
        mind.import_logs([export])
        assert live(mind.show(f"specstory:{talk.session}")) == ["from the export"]

        mind.import_logs([log])
        assert (
            live(mind.show(f"specstory:{talk.session}"))
            == live(mind.show(f"specstory:{talk.session}/sidechain"))
            == []
        )
        assert live(mind.show(f"claude-code:{talk.session}")) == ["from the agent's own log"]


def live(session: object) -> list[str]:
    assert isinstance(session, SessionDetail)
    return [turn.prompt for turn in session.turn_list if turn.live]


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b.head(), b.NAME, (b.SESSION, None, "2026-03-01T09:00:00Z")),
        (b.head(title=f"Roses ({b.TIME})"), b.NAME, (b.SESSION, "Roses", "2026-03-01T09:00:00Z")),
        (
            "<!-- cursor Session 7 (2025-02-01 10:20Z) -->\n\n# Beans\n\n",
            b.NAME,
            ("7", "Beans", "2025-02-01T10:20:00Z"),
        ),
        (
            "# Beans\n\n",
            "2024-11-02_08-30Z-beans.md",
            ("2024-11-02_08-30Z-beans", "Beans", "2024-11-02T08:30:00Z"),
        ),
        ("", "untitled.md", ("untitled", None, None)),
    ],
)
def test_every_generation_of_heads_is_known(
    tmp_path: Path, head: str, name: str, expected: tuple[Any, ...]
) -> None:
    """The comments and the title change places; the oldest have a title alone."""
    fact = facts(tmp_path, head, name)

    assert (fact.session, fact.title, fact.started_at) == (*expected[:2], milliseconds(expected[2]))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-03-01 09:00:05Z", "2026-03-01T09:00:05Z"),
        ("2026-03-01 09:00Z", "2026-03-01T09:00:00Z"),
        ("2026-03-01_09-00-05Z", "2026-03-01T09:00:05Z"),
        ("2026-03-01T09:00:05.250Z", "2026-03-01T09:00:05.250Z"),
        ("2026-03-01 09:00:05-0700", "2026-03-01T16:00:05Z"),
        ("2026-03-01 25:00:05Z", None),
        ("soon", None),
    ],
)
def test_every_way_to_write_a_time_is_known(written: str, meant: str | None) -> None:
    """They differ from version to version, and by a setting."""
    assert time_in(written) == milliseconds(meant)


@pytest.mark.parametrize(
    ("about", "model"),
    [
        ("claude-opus-4-6 2026-03-01 09:00:05Z", "claude-opus-4-6"),
        ("model copilot/gpt-5", "copilot/gpt-5"),
        ("github.copilot-chat/claude-sonnet-4", "github.copilot-chat/claude-sonnet-4"),
        ("2026-03-01 09:00:05Z", None),
        ("", None),
    ],
)
def test_the_model_stands_before_the_time(tmp_path: Path, about: str, model: str | None) -> None:
    """Either may be missing."""
    found = items(tmp_path, b.user("go"), b.agent("Yes.", about=about))

    assert [turn.telemetry for turn in of(TurnFacts, found)[1:]] == (
        [{"model": model}] if model else []
    )


def test_an_id_of_a_message_is_the_key_of_its_turn(tmp_path: Path) -> None:
    """SpecStory writes them if it is asked to."""
    found = items(tmp_path, "_**User (2026-03-01 09:00:00Z)**_\n<!-- message-id: m-1 -->\n\ngo\n")

    assert (of(TurnFacts, found)[0].turn, prompts(found)) == ("m-1", ["go"])


# What is a mark and what is not ---------------------------------------------------

QUOTED = "_**User (2026-01-01 00:00:00Z)**_\n\nquoted\n\n---\n\n_**Agent**_"


@pytest.mark.parametrize(
    "message",
    [
        b.user(f"look:\n\n```\n{QUOTED}\n```\n\n---\n\nnow?"),
        b.user(f"look:\n\n````md\n```\n{QUOTED}\n````\n\nnow?"),
        b.user("go") + b.agent(b.thought(QUOTED)),
        b.user("go")
        + b.agent(
            b.tool("shell", "Bash", f"`cat x`\n\n```text\n{QUOTED}\n</details></tool-use>\n```")
        ),
        b.user("go") + b.agent(f"See:\n\n---\n\n~~~\n{QUOTED}\n~~~\n\n---\n\nThat is it."),
        b.user("a fence that is open:\n\n```\nand stays so"),
    ],
)
def test_content_does_not_break_turns(tmp_path: Path, message: str) -> None:
    """People quote exports, and rules and fences are everywhere."""
    found = items(tmp_path, message, "---\n\n", b.user("next", "2026-03-01 09:30:00Z"))

    assert [turn.turn for turn in of(TurnFacts, found) if turn.author] == [
        f"{b.SESSION}/1",
        f"{b.SESSION}/2",
    ]
    assert prompts(found)[-1] == "next"


def test_a_fence_that_was_left_open_does_not_hide_the_next_messages(tmp_path: Path) -> None:
    """A later block would close it.

    What stands between is newer than the message, so it was not quoted.
    """
    found = items(
        tmp_path,
        b.user("what is this?\n\n```\nE401"),
        b.agent("An error:\n\n```\nE401\n```"),
        "---\n\n",
        b.user("thanks", "2026-03-01 09:30:00Z"),
    )

    assert [kind for kind, _ in said(found)] == ["prompt", "reply", "prompt"]


def test_a_tag_and_a_fence_that_stay_open_do_not_open_the_blocks_between_them(
    tmp_path: Path,
) -> None:
    """Looking for the end of the one leads to the other; what stands before that is as it was."""
    quoting = "<think> is a tag\n\n```\n_**User (2020-01-01 08:00:00Z)**_\n\nquoted\n```"
    found = items(tmp_path, b.user(quoting), b.agent("and a fence:\n\n```\nthat stays open"))

    assert [kind for kind, _ in said(found)] == ["prompt", "reply"]


def test_a_rule_before_the_next_message_is_not_part_of_what_was_said(tmp_path: Path) -> None:
    """One inside is."""
    found = items(
        tmp_path,
        b.user("one\n\n---\n\ntwo"),
        b.agent("three\n\n---\n\nfour"),
        "---\n\n",
        b.user("five"),
    )

    assert [text for _, text in said(found)] == [
        "one\n\n---\n\ntwo",
        "three\n\n---\n\nfour",
        "five",
    ]


# Who speaks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<command-name>/review</command-name>\n<command-args>151</command-args>",
            ("prompt", "/review 151"),
        ),
        (
            "<command-message>exit</command-message>\n<command-name>/exit</command-name>",
            ("command", "/exit"),
        ),
        ("<local-command-stdout>Bye!</local-command-stdout>", None),
        ("<local-command-caveat>Caveat: …</local-command-caveat>", None),
        ("[Request interrupted by user for tool use]", ("abort", "")),
        (
            "This session is being continued from a previous conversation that was long.",
            (
                "compaction",
                "This session is being continued from a previous conversation that was long.",
            ),
        ),
    ],
)
def test_what_the_program_says_in_the_users_name_is_told_apart(
    tmp_path: Path, text: str, expected: tuple[str, str] | None
) -> None:
    """SpecStory passes on what Claude Code writes."""
    found = items(
        tmp_path, b.user("before"), b.agent("Yes."), "---\n\n", b.user(text, "2026-03-01 09:30:00Z")
    )

    assert said(found)[2:] == ([expected] if expected else [])


def test_what_a_command_stands_for_is_no_prompt(tmp_path: Path) -> None:
    """It follows the command at the same second; something typed later is one."""
    command = "<command-name>/review</command-name>"

    found = items(tmp_path, b.user(command), b.user("You are a reviewer."), b.user("and be kind"))

    assert prompts(found) == ["/review", "and be kind"]


def test_a_sub_agent_has_a_session_of_its_own(tmp_path: Path) -> None:
    """What it is asked stands in the agent's name, without a model."""
    found = items(
        tmp_path,
        b.user("go"),
        b.agent("Look at it.", about="2026-03-01 09:00:04Z", side=True),
        b.agent("I looked.", side=True),
        b.agent("Done."),
    )

    side = f"{b.SESSION}/sidechain"
    facts = of(SessionFacts, found)[1]
    assert (facts.session, facts.parent, facts.origin) == (side, b.SESSION, "subagent")
    assert [(event.kind, event.text) for event in of(Event, found) if event.session == side] == [
        ("prompt", "Look at it."),
        ("reply", "I looked."),
    ]
    assert [turn.author for turn in of(TurnFacts, found) if turn.session == side] == ["agent"]


# Tools ----------------------------------------------------------------------------

WRAPPED = '{"invocationMessage": "a", "content": "b"}'


@pytest.mark.parametrize(
    ("written", "use"),
    [
        (
            b.tool(
                "shell",
                "Bash",
                "```bash\nmake\nmake test\n```\n\n```text\nExit code 2\nno rule\n```",
            ),
            SpecStoryToolUse(
                "Bash", "shell", {"command": "make\nmake test"}, "Exit code 2\nno rule", False, 2
            ),
        ),
        (
            b.tool(
                "shell",
                "exec_command",
                "```\nProcess exited with code 0\nOutput:\nok\n```",
                " `go vet`",
            ),
            SpecStoryToolUse(
                "exec_command",
                "shell",
                {"command": "go vet"},
                "Process exited with code 0\nOutput:\nok",
                True,
                0,
            ),
        ),
        (
            b.tool("read", "Read", "Read file: `./a.ts`"),
            SpecStoryToolUse("Read", "read", {"path": "./a.ts"}, None, None, None),
        ),
        (
            b.tool("search", "Grep", " path `./` pattern `x y`\n```\na:1\n```"),
            SpecStoryToolUse("Grep", "search", {"path": "./", "pattern": "x y"}, "a:1", None, None),
        ),
        (
            b.tool("write", "Edit", "**Chunk 1**\n\n```diff\n-a\n+b\n```\n\n```diff\n+c\n```"),
            SpecStoryToolUse(
                "Edit",
                "edit",
                {"patch": "-a\n+b\n+c", "description": "**Chunk 1**"},
                None,
                None,
                None,
            ),
        ),
        (
            b.tool(
                "unknown", "plan", "\n**Input:**\n\n- step: `one`\n\n**Error:**\n\n```\nno\n```"
            ),
            SpecStoryToolUse("plan", "other", {"step": "one"}, "no", False, None),
        ),
        (
            b.extension_tool(
                "unknown",
                "copilot_fetchWebPage",
                f"Result:\n\n```json\n{WRAPPED}\n```\nStatus: **error**",
            ),
            SpecStoryToolUse("copilot_fetchWebPage", "web", None, "b", False, None),
        ),
        (
            b.tool("mcp", "rain", "It rains."),
            SpecStoryToolUse("rain", "mcp", None, "It rains.", None, None),
        ),
        (
            "Tool use: **Read** `./a`\n\nResult:\n\n```\nx\n```",
            SpecStoryToolUse("Read", "read", {"path": "./a"}, "x", None, None),
        ),
        (
            '<tool-use data-tool-type="" data-tool-name="">',
            SpecStoryToolUse("unknown", "other", None, None, None, None),
        ),
    ],
)
def test_a_tool_use_is_told_as_far_as_it_can_be(written: str, use: SpecStoryToolUse) -> None:
    """Each provider shows its tools in its own way."""
    assert tool_use(written.split("\n")) == use


def test_only_what_an_extension_wrote_is_unescaped() -> None:
    """In the command line's exports an entity is one."""
    body = "```text\na &amp;&amp; b\n```"

    assert tool_use(b.extension_tool("shell", "Bash", body).split("\n")).output == "a && b"
    assert tool_use(b.tool("shell", "Bash", body).split("\n")).output == "a &amp;&amp; b"


# A file that changes, and trouble -------------------------------------------------


def test_an_export_that_was_written_again_is_told_anew(tmp_path: Path) -> None:
    """With more in it; turns that are the same stay."""
    with memory(tmp_path) as mind:
        mind.import_logs([b.export(tmp_path, b.head(), b.user("one"), b.agent("Half an ans"))])
        mind.import_logs(
            [
                b.export(
                    tmp_path,
                    b.head(),
                    b.user("one"),
                    b.agent("Half an answer."),
                    "---\n\n",
                    b.user("two"),
                )
            ]
        )
        session = mind.show(f"specstory:{b.SESSION}")

    assert isinstance(session, SessionDetail)
    assert [(turn.prompt, turn.reply) for turn in session.turn_list] == [
        ("one", "Half an answer."),
        ("two", ""),
    ]


def test_an_export_without_messages_says_nothing(tmp_path: Path) -> None:
    """They exist, and are no fault."""
    assert [type(item) for item in items(tmp_path)] == [Checkpoint]


@pytest.mark.parametrize(
    "data", [b"", b"\0\xff\xfe", b"# Notes\n\nNothing of ours.\n", b'{"type": "user"}\n']
)
def test_a_file_that_is_no_export_is_one_problem(tmp_path: Path, data: bytes) -> None:
    """It only lies where exports are."""
    path = b.export(tmp_path)
    path.write_bytes(data)

    found = read(path)

    assert [item.kind for item in of(Problem, found)] == ["bad_record"]
    assert isinstance(found[-1], Checkpoint)


def test_an_export_that_is_gone_is_one_problem(tmp_path: Path) -> None:
    """And nothing more."""
    found = read(tmp_path / "gone.md")

    assert [(item.kind if isinstance(item, Problem) else item) for item in found] == [
        "unreadable",
        Checkpoint(0),
    ]


def test_lines_that_end_as_on_windows_are_read(tmp_path: Path) -> None:
    """Git may have changed them."""
    path = b.export(tmp_path, b.head(), b.user("go"), b.agent("Yes."))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert said(read(path)) == [("prompt", "go"), ("reply", "Yes.")]


@pytest.mark.parametrize("at", [None, "2026-02-27 08:00:00Z"])
def test_an_export_that_a_reply_shows_is_part_of_the_reply(tmp_path: Path, at: str | None) -> None:
    """What an agent quotes is from before, or of a generation that tells no times."""
    found = items(
        tmp_path,
        b.head(),
        b.user("what is in the history?"),
        b.agent("Here it is:", b.user("publish it all", at), "That was it."),
        b.user("thank you", "2026-03-01 09:01:00Z"),
    )

    assert prompts(found) == ["what is in the history?", "thank you"]


def test_an_export_without_times_has_all_of_its_prompts(tmp_path: Path) -> None:
    """Whole generations tell none."""
    found = items(tmp_path, b.head(), b.user("one", None), b.agent("Yes."), b.user("two", None))

    assert prompts(found) == ["one", "two"]


# Where logs are -------------------------------------------------------------------


def test_exports_are_in_their_folder_of_a_project(tmp_path: Path) -> None:
    """Whichever of the folders somebody points at; nothing else in them is one."""
    path = b.export(tmp_path, b.head())
    for name in (".what-is-this.md", "ai_rules_backups/rules.md"):
        (tmp_path / ".specstory" / name).parent.mkdir(exist_ok=True)
        (tmp_path / ".specstory" / name).touch()
    expected = [Source("specstory", str(path), appended=False)]

    assert list(SpecStory().in_project(str(tmp_path))) == expected
    for folder in (tmp_path, tmp_path / ".specstory", tmp_path / ".specstory" / "history"):
        assert list(SpecStory().sources(str(folder))) == expected
    assert SpecStory().roots("/home/ada", {}) == []


@pytest.mark.parametrize(
    ("path", "content", "ours"),
    [
        ("/a/x.md", b.head(), True),
        ("/a/x.md", b.head() + b.user("go"), True),
        ("/a/x.md", "<!-- Claude Code Session 1 (2025) -->\n\n" + b.user("go"), True),
        ("/a/.specstory/history/x.md", "# Old\n\n" + b.user("go", None), True),
        ("/a/x.md", "# Old\n\n" + b.user("go", None), False),
        ("/a/x.md", "<!-- Generated by SpecStory -->\n\n# A page about it\n", False),
        ("/a/x.md", "# Notes\n\n```\n" + b.head() + "```\n", False),
    ],
)
def test_an_export_is_known_by_its_comments_and_its_messages(
    path: str, content: str, ours: bool
) -> None:
    """Pages about SpecStory quote one of them."""
    assert (SpecStory().find_source(path, content.encode()) is not None) == ours


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    """Hundreds of public logs of other formats, some of them in Markdown."""
    taken = [
        path
        for agent in sorted(corpus.iterdir())
        if agent.is_dir() and agent.name != "specstory"
        for path in agent.rglob("*.md")
        if SpecStory().find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert taken == []


def test_every_public_sample_is_read_without_a_problem(corpus: Path) -> None:
    """Exports of four years, and of several agents."""
    found = [path for path in (corpus / "specstory").rglob("*.md") if path.name != "README.md"]

    assert len(found) > 100
    assert [problem for path in found for problem in of(Problem, read(path))] == []
