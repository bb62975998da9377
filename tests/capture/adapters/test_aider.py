"""What the aider adapter makes of a history, fact by fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.capture.adapters.aider import Aider
from recollect.capture.adapters.aider.tools import proposed_edits
from recollect.memory import Memory
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
    milliseconds,
)
from recollect.model.sessions import SessionDetail
from tests.builders import aider as b
from tests.builders.homes import memory

SESSION = "20260301-090000-shop"


def read(path: Path, since: Checkpoint | None = None) -> list[Item]:
    return list(Aider().read(Source("aider", str(path)), since))


def items(tmp_path: Path, *happened: str) -> list[Item]:
    """What a history of this gives, which begins with a session that introduces itself."""
    return read(b.history(tmp_path / "shop", b.introduced(), *happened))


def of(kind: type[Any], found: list[Item]) -> list[Any]:
    return [item for item in found if isinstance(item, kind)]


def said(found: list[Item]) -> list[tuple[str, str]]:
    """Events as (kind, text or target), in order."""
    return [
        (event.kind, event.target or event.name if event.kind == "tool_call" else event.text)
        for event in of(Event, found)
    ]


def calls(found: list[Item]) -> list[tuple[Any, ...]]:
    return [
        (call.name, call.tool_kind, call.target, call.output, call.ok)
        for call in of(Event, found)
        if call.kind == "tool_call"
    ]


def prompts(found: list[Item]) -> list[str]:
    return [event.text for event in of(Event, found) if event.kind == "prompt"]


def test_a_session_with_one_turn_gives_its_items_in_order(tmp_path: Path) -> None:
    """The common case, whole: session, turn, prompt, reply, tokens, edit, commit."""
    answer = b.block("cart.py", "total = 0\n", "total = 1\n")
    found = items(
        tmp_path,
        b.prompt("fix it"),
        b.answer(answer),
        b.tokens(),
        b.said("Applied edit to cart.py", "Commit dde0244 fix: one"),
    )

    turn = of(TurnFacts, found)[0].turn
    known: dict[str, Any] = {"session": SESSION, "turn": turn}
    assert found[:-1] == [
        SessionFacts(
            session=SESSION,
            origin="interactive",
            cwd=str(tmp_path / "shop"),
            started_at=milliseconds("2026-03-01T09:00:00Z"),
            agent_version="0.85.1",
            meta={"model": "gpt-4o", "edit_format": "diff", "weak_model": "gpt-4o-mini"},
        ),
        TurnFacts(**known, author="human"),
        Event(**known, kind="prompt", text="fix it"),
        Event(**known, kind="reply", text=answer),
        Usage(**known, key=f"{SESSION}/1", model="gpt-4o", input=3_200, output=66, cost_usd=0.0086),
        TurnFacts(**known, telemetry={"tokens_approximate": True}),
        Event(
            **known,
            kind="tool_call",
            name="edit",
            tool_kind="edit",
            target="cart.py",
            ok=True,
            input={"path": "cart.py", "old_string": "total = 0", "new_string": "total = 1"},
        ),
        TurnFacts(**known, telemetry={"commits": ["dde0244 fix: one"]}),
    ]


# Whose line it is -----------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "#### Step 1",
        "> as you said",
        ">>>>>>> REPLACE",
        "#####  five",
        "####none  ",
        "# aider chat started at noon",
        "---",
    ],
)
def test_what_the_model_writes_is_not_taken_for_aiders(tmp_path: Path, line: str) -> None:
    """Only aider ends its lines with two spaces."""
    found = items(
        tmp_path, b.prompt("plan it"), b.answer(f"First:\n\n{line}\n\nThat is all."), b.tokens()
    )

    assert said(found) == [("prompt", "plan it"), ("reply", f"First:\n\n{line}\n\nThat is all.")]


def test_a_prompt_of_several_lines_is_one_prompt(tmp_path: Path) -> None:
    """Each line is marked; an empty line between two prompts keeps them apart."""
    assert prompts(items(tmp_path, b.prompt("one\n\n  two"), b.prompt("three"))) == [
        "one\n\n  two",
        "three",
    ]


def test_a_file_without_the_spaces_is_read_by_its_marks(tmp_path: Path) -> None:
    """Some editors strip the ends of lines; blocks of code still protect what stands in them."""
    talk = (
        b.introduced()
        + b.prompt("go")
        + b.answer("```\n#### in a block\n> too\n```")
        + b.tokens()
        + b.prompt("on")
    )
    path = b.history(tmp_path, "\n".join(line.rstrip() for line in talk.split("\n")))

    assert prompts(read(path)) == ["go", "on"]
    assert [usage.output for usage in of(Usage, read(path))] == [66]


def test_a_question_that_aider_answers_itself_is_no_prompt(tmp_path: Path) -> None:
    """ "Skip all" answers the questions after it, and aider writes that like something typed."""
    asked = "Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: skip"

    found = items(tmp_path, b.prompt("go"), b.prompt(asked), b.said(asked), b.answer("Fine."))

    assert said(found) == [("prompt", "go"), ("reply", "Fine.")]


def test_an_empty_prompt_is_no_turn(tmp_path: Path) -> None:
    """Aider writes that nothing was typed."""
    assert prompts(items(tmp_path, b.prompt("<blank>"), b.prompt("go"))) == ["go"]


def test_a_question_behind_a_command_is_asked_once(tmp_path: Path) -> None:
    """Aider writes down the command, and then the question alone."""
    found = items(
        tmp_path, b.prompt("/ask why?"), b.prompt("why?"), b.answer("Because."), b.prompt("why?")
    )

    assert said(found) == [("prompt", "/ask why?"), ("reply", "Because."), ("prompt", "why?")]


def test_what_an_architect_says_to_its_editor_is_not_a_persons_prompt(tmp_path: Path) -> None:
    """The answer of one model is written down again as the prompt of the
    other, which spends its own tokens.
    """
    found = items(
        tmp_path,
        b.said("Editor model: gpt-4o-mini with editor-diff edit format"),
        b.prompt("faster"),
        b.answer("Use a set."),
        b.tokens(),
        b.prompt("Use a set."),
        b.answer("Done."),
        b.tokens(),
    )

    assert [turn.author for turn in of(TurnFacts, found) if turn.author] == ["human", "agent"]
    assert [usage.model for usage in of(Usage, found)] == ["gpt-4o", "gpt-4o-mini"]


def test_what_a_linter_found_is_asked_by_the_program(tmp_path: Path) -> None:
    """Aider puts these words together."""
    found = items(tmp_path, b.prompt("# Fix any errors below, if possible.\n\nF401"))

    assert of(TurnFacts, found)[0].author == "system"


def test_thoughts_are_told_apart_from_the_answer(tmp_path: Path) -> None:
    """They stand between two marks."""
    shown = "--------------\n► **THINKING**\n\nHm.\n\n------------\n► **ANSWER**\n\nYes."

    assert said(items(tmp_path, b.prompt("go"), b.answer(shown))) == [
        ("prompt", "go"),
        ("reasoning", "Hm."),
        ("reply", "Yes."),
    ]


# Sessions -------------------------------------------------------------------------


def test_a_session_in_which_nothing_was_asked_is_not_told(tmp_path: Path) -> None:
    """Most of them are opened by mistake, or to look at something."""
    found = read(
        b.history(
            tmp_path / "shop", b.introduced("2026-03-01 08:00:00"), b.introduced(), b.prompt("go")
        )
    )

    assert [facts.session for facts in of(SessionFacts, found)] == [SESSION]


def test_sessions_of_the_same_second_are_two(tmp_path: Path) -> None:
    """A script may start aider twice."""
    found = read(
        b.history(
            tmp_path / "my shop", b.introduced(), b.prompt("one"), b.introduced(), b.prompt("two")
        )
    )

    assert [facts.session for facts in of(SessionFacts, found)] == [
        "20260301-090000-my-shop",
        "20260301-090000.2-my-shop",
    ]


def test_what_another_aider_brings_in_is_not_lost(tmp_path: Path) -> None:
    """Two in one project write to one file: the second begins before the first has its answer."""
    path = b.history(
        tmp_path / "shop",
        b.introduced("2026-03-01 08:00:00"),
        b.prompt("one"),
        b.introduced(),
        b.answer("Yes."),
    )
    first = read(path)
    with path.open("a") as file:
        file.write(b.tokens())
    assert isinstance(first[-1], Checkpoint)

    second = read(path, first[-1])

    assert said(second) == [("prompt", ""), ("reply", "Yes.")]
    assert [(usage.session, usage.output) for usage in of(Usage, second)] == [(SESSION, 66)]


@pytest.mark.parametrize(
    ("options", "origin"),
    [
        ("", "interactive"),
        ("--message hi", "headless"),
        ("--model o3 -m hi", "headless"),
        ("--message-file=todo", "headless"),
    ],
)
def test_a_message_on_the_command_line_means_that_nobody_was_there(
    tmp_path: Path, options: str, origin: str
) -> None:
    """The first line of a session is the command."""
    found = read(b.history(tmp_path, b.introduced(options=options), b.prompt("hi")))

    assert of(SessionFacts, found)[0].origin == origin


@pytest.mark.parametrize(
    "line",
    [
        "Model: o3 with whole edit format",
        "Models: o3 with diff edit format, weak model o3-mini",
        "Main model: o3",
    ],
)
def test_every_way_to_name_the_model_is_known(tmp_path: Path, line: str) -> None:
    """It changed over the years, and may change in a session."""
    found = items(
        tmp_path, b.prompt("/model o3"), b.said(line), b.prompt("go"), b.answer("Yes."), b.tokens()
    )

    assert [usage.model for usage in of(Usage, found)] == ["o3"]
    assert of(SessionFacts, found)[-1].meta["model"] == "o3"


def test_a_history_that_was_moved_does_not_tell_where_the_work_was(tmp_path: Path) -> None:
    """Only under its own name is it in the project."""
    found = read(b.history(tmp_path, b.introduced(), b.prompt("go"), name="aider-history.md"))

    assert of(SessionFacts, found)[0].cwd is None


# Tokens ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("Tokens: 3.2k sent, 66 received.", (3200, 0, 0, 66, None)),
        (
            "Tokens: 13,611 sent, 1,104 received. Cost: $0.04 request, $0.25 session.",
            (13611, 0, 0, 1104, 0.04),
        ),
        (
            "Tokens: 1.5M sent, 2k cache write, 1M cache hit, 1.1k received. Cost: $2.10 message, "
            "$3.00 session.",
            (498_000, 1_000_000, 2_000, 1_100, 2.1),
        ),
        (
            "Tokens: 10 sent, 20 cache hit, 1 received. Cost: $0.00 message, $0.00 session.",
            (0, 20, 0, 1, None),
        ),
        ("Tokens: many sent, few received.", None),
        ("Tokens: 1.2.3k sent, 5 received.", (0, 0, 0, 5, None)),
    ],
)
def test_reports_of_all_versions_are_counted(
    tmp_path: Path, report: str, expected: tuple[Any, ...] | None
) -> None:
    """What was sent includes the cache; the cost of the session is the sum of the others."""
    found = items(tmp_path, b.prompt("go"), b.answer("Yes."), b.said(report))

    assert [
        (u.input, u.cache_read, u.cache_write, u.output, u.cost_usd) for u in of(Usage, found)
    ] == ([expected] if expected else [])


def test_a_cost_on_a_line_of_its_own_belongs_to_the_tokens_before_it(tmp_path: Path) -> None:
    """Aider breaks the line where a cache helped, and only its end has the two spaces."""
    report = b.printed(
        "Tokens: 30k sent, 20k cache hit, 233 received.\nCost: $0.02 message, $0.16 session."
    )

    found = items(tmp_path, b.prompt("go"), b.answer("Yes."), report)

    assert [(usage.key, usage.cost_usd) for usage in of(Usage, found)] == [
        (f"{SESSION}/1", None),
        (f"{SESSION}/1", 0.02),
    ]
    assert said(found)[-1] == ("reply", "Yes.")


# What happened --------------------------------------------------------------------


def test_a_command_has_what_it_printed(tmp_path: Path) -> None:
    """Its output is a notice of many lines, of which only the last ends as aider's lines do."""
    output = "=== starts ===\n\n1 passed  \nin 2 s"

    found = items(tmp_path, b.prompt("/test pytest"), b.printed(output), b.answer("Good."))

    assert calls(found) == [
        ("/test", "shell", "pytest", "=== starts ===\n\n1 passed\nin 2 s", None)
    ]
    assert said(found)[-1] == ("reply", "Good.")


@pytest.mark.parametrize(
    ("happened", "call"),
    [
        (b.prompt("!ls -l"), ("!", "shell", "ls -l", None, None)),
        (b.prompt("go") + b.said("Running make"), ("run", "shell", "make", None, None)),
        (
            b.prompt("/run make") + b.said("Running 3 tests"),
            ("/run", "shell", "make", "Running 3 tests", None),
        ),
        (b.prompt("/add a"), None),
        (
            b.prompt("go") + b.prompt("/add a") + b.said("Added a to the chat."),
            ("/add", "other", "/add a", "Added a to the chat.", None),
        ),
        (b.prompt("/web x") + b.said("Scraping x..."), ("/web", "web", "x", "Scraping x...", None)),
        (b.prompt("/home/ada is full"), None),
        (
            b.prompt("go") + b.said("## Running: flake8", "", "F401"),
            ("lint", "shell", "flake8", "F401", False),
        ),
        (
            b.prompt("go") + b.said("Creating empty file a.py"),
            ("create", "edit", "a.py", None, True),
        ),
        (
            b.prompt("go") + b.said("Skipping edits to a.py"),
            ("edit", "edit", "a.py", "Skipping edits to a.py", False),
        ),
        (b.prompt("go") + b.said("Git repo: .git with 3 files"), None),
    ],
)
def test_what_aider_does_is_a_call(
    tmp_path: Path, happened: str, call: tuple[Any, ...] | None
) -> None:
    """There are no tools in the log: its notices tell."""
    assert calls(items(tmp_path, happened)) == ([call] if call else [])


@pytest.mark.parametrize(
    "command",
    ["/undo", "/ex", "/add a.py b.py", "/model sonnet", "/tok", "/diff", "/chat ask", "/ask"],
)
def test_what_is_said_to_aider_alone_belongs_to_the_turn_before(
    tmp_path: Path, command: str
) -> None:
    """Nothing is asked by it: it is no turn, gives no title and is not found."""
    found = items(tmp_path, b.prompt("go"), b.answer("Done."), b.prompt(command))

    assert prompts(found) == ["go"]
    assert said(found) == [("prompt", "go"), ("reply", "Done."), ("command", command)]


@pytest.mark.parametrize(
    "request_",
    [
        "/ask why?",
        "/code fix it",
        "/run make",
        "/chat code fix it",
        "/web x",
        "/home/ada",
        "/add\nx",
    ],
)
def test_what_a_command_asks_is_a_turn(tmp_path: Path, request_: str) -> None:
    """It says what is wanted, in other words."""
    assert prompts(items(tmp_path, b.prompt("go"), b.prompt(request_))) == ["go", request_]


def test_a_session_that_begins_with_commands_begins_with_its_first_request(tmp_path: Path) -> None:
    """Nothing comes of adding files before anything was asked."""
    found = items(tmp_path, b.prompt("/add a.py"), b.said("Added a.py."), b.prompt("go"))

    assert said(found) == [("prompt", "go")]


def test_an_edit_that_does_not_fit_has_failed_with_the_reason(tmp_path: Path) -> None:
    """And then the model tries again."""
    reason = b.said("The LLM did not conform to the edit format.") + b.printed(
        "# 1 block failed to match!\nDid you mean x?"
    )

    found = items(
        tmp_path,
        b.prompt("go"),
        b.answer(b.block("a.py", "x\n", "y\n")),
        b.tokens(),
        reason,
        b.answer("Again."),
    )

    assert calls(found) == [
        ("edit", "edit", "a.py", "# 1 block failed to match!\nDid you mean x?", False)
    ]


def test_the_commits_of_a_turn_are_told_once(tmp_path: Path) -> None:
    """When it is over: a list that is told anew with each of them grows beyond all measure."""
    found = items(
        tmp_path, b.prompt("one"), b.said("Commit abcdef1 a", "Commit abcdef2 b"), b.prompt("two")
    )

    assert [fact.telemetry for fact in of(TurnFacts, found) if fact.telemetry] == [
        {"commits": ["abcdef1 a", "abcdef2 b"]}
    ]


def test_pressing_c_is_an_abort_only_while_the_model_is_at_it(tmp_path: Path) -> None:
    """Many people leave with it."""
    interrupt = b.said("", "^C again to exit")

    found = items(
        tmp_path,
        b.prompt("one"),
        interrupt,
        interrupt,
        b.prompt("two"),
        b.answer("Yes."),
        b.tokens(),
        interrupt,
    )

    assert said(found) == [("prompt", "one"), ("abort", ""), ("prompt", "two"), ("reply", "Yes.")]


def test_an_error_that_comes_with_every_try_is_told_once(tmp_path: Path) -> None:
    """Providers are overloaded for minutes."""
    tried = b.said("litellm.RateLimitError: too many", "Retrying in 0.2 seconds...")

    found = items(
        tmp_path,
        b.prompt("go"),
        tried,
        tried,
        b.said("  litellm.llms.base.Error"),
        b.answer("Yes."),
    )

    assert said(found) == [
        ("prompt", "go"),
        ("error", "litellm.RateLimitError: too many"),
        ("reply", "Yes."),
    ]


@pytest.mark.parametrize(
    ("answer", "edits"),
    [
        (b.block("`a.py`:", "x\n", "y\n"), {"a.py": [{"old_string": "x", "new_string": "y"}]}),
        (
            "```\na.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```",
            {"a.py": [{"old_string": "x", "new_string": "y"}]},
        ),
        (
            "```diff\n--- a.py\n+++ b/a.py\n-x\n+y\n```",
            {"a.py": [{"patch": "--- a.py\n+++ b/a.py\n-x\n+y"}]},
        ),
        ("a.py\n```\nwhole\n```", {"a.py": [{"content": "whole"}]}),
        ("Like this:\n```\nan example\n```", {}),
        ("a.py\n```\n<<<<<<< SEARCH\nnever closed", {}),
        ("", {}),
    ],
)
def test_edits_are_found_in_answers(answer: str, edits: dict[str, Any]) -> None:
    """Models keep to the format more or less."""
    assert proposed_edits(answer) == edits


# A file that grows ----------------------------------------------------------------

TALK = [
    b.introduced(), b.prompt("one\n\nand a half"), b.answer("First.\n\nSecond."), b.tokens(),
    b.said("Applied edit to a.py", "Commit dde0244 fix"), b.prompt("/test pytest"),
    b.printed("=== starts ===\n\nfailed"),
    b.answer("I see."), b.tokens("10k", "5", "0.01"), b.started("2026-03-01 10:00:00"),
    b.introduced("2026-03-01 11:00:00"),
    b.prompt("two"), b.said("Unexpected error: litellm.Timeout"), b.prompt("three"),
]  # fmt: skip
WHOLE = "".join(TALK).encode()


def told(mind: Memory) -> dict[str, Any]:
    """The live turns of each session, without their numbers."""
    shown = [mind.show(session.id) for session in mind.sessions()]
    return {session.id: _live(session) for session in shown if isinstance(session, SessionDetail)}


def _live(session: SessionDetail) -> tuple[Any, ...]:
    turns = [(turn.prompt, turn.events, turn.telemetry) for turn in session.turn_list if turn.live]
    return session.tokens, session.cost_usd, turns


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.integers(0, len(WHOLE)))
def test_wherever_the_file_ended_at_first_the_rest_follows(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """We may look while aider writes: in the middle of a prompt, an answer or an output."""
    home = tmp_path_factory.mktemp("home")
    path = home / "shop" / b.NAME
    path.parent.mkdir()
    with memory(home) as mind, memory(home, "at-once.db") as other:
        path.write_bytes(WHOLE[:cut])
        mind.import_logs([path.parent])
        path.write_bytes(WHOLE)
        mind.import_logs([path.parent])
        other.import_logs([path.parent])

        assert told(mind) == told(other)


def test_a_prompt_that_was_half_there_is_taken_back(tmp_path: Path) -> None:
    """What it became is another turn."""
    path = b.history(tmp_path / "shop", b.introduced(), b.prompt("one\ntwo")[:-7])
    first = read(path)
    b.history(tmp_path / "shop", b.introduced(), b.prompt("one\ntwo"), b.answer("Yes."))

    second = read(path, first[-1] if isinstance(first[-1], Checkpoint) else None)

    assert (prompts(first), prompts(second)) == (["one"], ["one\ntwo"])
    assert of(Liveness, second) == [
        Liveness(session=SESSION, turn=of(TurnFacts, first)[0].turn, live=False)
    ]


def test_only_the_last_turn_is_read_again(tmp_path: Path) -> None:
    """A history holds years."""
    path = b.history(tmp_path, *TALK)
    since = read(path)[-1]
    assert isinstance(since, Checkpoint)
    with path.open("a") as file:
        file.write(b.answer("Bye."))

    assert said(read(path, since)) == [("prompt", "three"), ("reply", "Bye.")]


@pytest.mark.parametrize("state", [b"\xff", msgspec.msgpack.encode(["odd"]), b""])
def test_a_state_that_cannot_be_understood_means_reading_from_the_start(
    tmp_path: Path, state: bytes
) -> None:
    """A later version may have left it."""
    path = b.history(tmp_path, *TALK)

    assert len(prompts(read(path, Checkpoint(300, state)))) == 4


# Trouble --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [b"\0\xff\n" * 100, b"words\n", b"> quoted  \n", b"# aider chat started at some time\n"]
)
def test_a_file_in_which_no_session_begins_is_one_problem(tmp_path: Path, data: bytes) -> None:
    """It only has the name of a history."""
    path = tmp_path / b.NAME
    path.write_bytes(data)

    found = read(path)

    assert [item.kind for item in of(Problem, found)] == ["bad_record"]
    assert isinstance(found[-1], Checkpoint)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    """Somebody wanted to begin anew."""
    found = read(b.history(tmp_path))

    assert [(type(item), getattr(item, "position", None)) for item in found] == [(Checkpoint, 0)]


def test_a_file_that_is_gone_is_one_problem_and_nothing_is_forgotten(tmp_path: Path) -> None:
    """It may be back the next time."""
    since = Checkpoint(7, b"x")

    found = read(tmp_path / b.NAME, since)

    assert [(item.kind if isinstance(item, Problem) else item) for item in found] == [
        "unreadable",
        since,
    ]


def test_text_that_is_none_is_read_past(tmp_path: Path) -> None:
    """The turns around it are told."""
    path = b.history(tmp_path, b.introduced(), b.prompt("one"))
    with path.open("ab") as file:
        file.write(b"\xff\xfe\0 \xed\xa0\x80\n" + b.prompt("two").encode())

    assert prompts(read(path)) == ["one", "two"]


# Where logs are -------------------------------------------------------------------


def test_a_root_is_the_file_that_a_history_was_moved_to(tmp_path: Path) -> None:
    """Not its folder, which may be the whole home.

    A name without a folder says nothing about where it is.
    """
    moved = str(tmp_path / "talks with aider")
    Path(moved).touch()

    assert Aider().roots("/home/ada", {}) == []
    assert Aider().roots("/home/ada", {"AIDER_CHAT_HISTORY_FILE": ".aider.history.md"}) == []
    assert Aider().roots("/home/ada", {"AIDER_CHAT_HISTORY_FILE": moved}) == [moved]
    assert list(Aider().sources(moved)) == [Source("aider", moved)]


def test_a_project_has_its_history(tmp_path: Path) -> None:
    """That is where aider leaves it."""
    assert list(Aider().in_project(str(tmp_path))) == []
    path = b.history(tmp_path)
    for name in ("notes.md", "aider-notes.md", "aider.history.md"):
        (tmp_path / name).touch()

    assert list(Aider().in_project(str(tmp_path))) == [Source("aider", str(path))]
    assert [Path(found.path).name for found in Aider().sources(str(tmp_path))] == [
        b.NAME,
        "aider.history.md",
    ]


def test_a_history_is_known_by_its_lines(tmp_path: Path) -> None:
    """Under any name; a page that only speaks of aider is none."""
    talk = (b.introduced() + b.prompt("go")).encode()
    quoted = b"<!-- Generated by SpecStory -->\n\n_**User**_\n\n" + talk

    assert Aider().find_source("/a/talk.md", b"-*- mode -*-\n" + talk) == Source(
        "aider", "/a/talk.md"
    )
    assert (
        Aider().find_source(f"/a/{b.NAME}", b"\n# aider chat started at 2026-03-01 09:00:00\n")
        is not None
    )
    assert (
        Aider().find_source("/a/talk.md", b"\n# aider chat started at 2026-03-01 09:00:00\n")
        is None
    )
    assert Aider().find_source(f"/a/{b.NAME}", b"# Aider\n\n#### prompt  \n") is None
    assert Aider().find_source("/a/talk.md", quoted) is None


def test_no_sample_of_another_agent_is_taken_for_ours(corpus: Path) -> None:
    """Hundreds of public logs of other formats, some of them in Markdown."""
    taken = [
        path
        for agent in sorted(corpus.iterdir())
        if agent.is_dir() and agent.name != "aider"
        for path in agent.rglob("*.md")
        if Aider().find_source(str(path), path.read_bytes()[: 1 << 16])
    ]

    assert taken == []


def test_a_history_that_a_reply_shows_is_part_of_the_reply(tmp_path: Path) -> None:
    """In a block of code aider's own marks are the model's: nobody asked what stands there."""
    shown = f"Here it is:\n\n```\n{b.prompt('publish it all')}\nWill do.\n```\n\nThat was it."
    path = b.history(
        tmp_path,
        b.introduced(),
        b.prompt("what is in the history?"),
        b.answer(shown),
        b.tokens(),
        b.prompt("thank you"),
        b.answer("```\nnever closed"),
        b.tokens(),
        b.prompt("go on"),
    )

    assert prompts(read(path)) == ["what is in the history?", "thank you", "go on"]
