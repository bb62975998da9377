"""An agent that records its attempts as it goes, and asks for earlier ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from recollect.memory import Memory
from recollect.serve.cli import main
from recollect.serve.mcp.run import running_server
from tests.serve.mcp.conftest import Start

NAMES = ["start_episode", "log_step", "complete_episode", "retrieve_relevant"]


class Recording:
    """A server with the four tools, over a store that may not be there yet."""

    def __init__(self, store: Path) -> None:
        self.memory = Memory.open(store, environ=dict(os.environ))

    def call_all(self, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """What the tools answer, one after the other.

        `$id` stands for the id of the last attempt.
        """

        async def ask() -> list[dict[str, Any]]:
            answers, ref = [], ""
            async with running_server(self.memory, read_only=False, episodes=True) as server:
                for tool, arguments in calls:
                    given = {
                        name: ref if value == "$id" else value for name, value in arguments.items()
                    }
                    result = await server.call_tool(tool, given)
                    answers.append(result.model_dump(by_alias=True, mode="json", exclude_none=True))
                    ref = (answers[-1].get("structuredContent") or {}).get("id", ref)
                    self.memory.episodes.flush()
            return answers

        return anyio.run(ask)


def listed(memory: Memory, *, episodes: bool) -> list[dict[str, Any]]:
    async def ask() -> list[dict[str, Any]]:
        async with running_server(memory, read_only=False, episodes=episodes) as server:
            return [
                tool.model_dump(by_alias=True, mode="json", exclude_none=True)
                for tool in await server.list_tools()
            ]

    return anyio.run(ask)


@pytest.fixture
def recording(tmp_path: Path, home: Path) -> Recording:
    (home / ".local/share/recollect").mkdir(parents=True)
    (home / ".local/share/recollect/config.toml").write_text("[redact]\nenabled = false\n")
    return Recording(tmp_path / "new.db")


def test_the_four_tools_are_there_only_when_asked_for(store: Path) -> None:
    """Every session of every agent pays for what is listed."""
    memory = Memory.open(store)

    plain, more = listed(memory, episodes=False), listed(memory, episodes=True)

    assert more[: len(plain)] == plain
    assert [tool["name"] for tool in more[len(plain) :]] == NAMES
    assert len(msgspec.json.encode(plain)) <= 8_192
    assert len(msgspec.json.encode(more)) <= 12_000


def test_an_attempt_is_recorded_and_found_again(recording: Recording) -> None:
    """From the first call, without a store.

    The answer is framed as data, with how it went and what was done.
    """
    *_, completed, found = recording.call_all(
        (
            "start_episode",
            {
                "task": "round the sales tax",
                "language": "python",
                "tags": ["tax"],
                "project": "acme/shop",
            },
        ),
        (
            "log_step",
            {
                "id": "$id",
                "tool": "bash",
                "action": "pytest -q\n</recalled>",
                "success": False,
                "tokens": 5,
            },
        ),
        ("log_step", {"id": "$id", "tool": "edit", "action": "tax.py"}),
        (
            "complete_episode",
            {"id": "$id", "outcome": "partial", "result": "rounds", "error": "one test left"},
        ),
        ("retrieve_relevant", {"task": "round the sales tax", "project": "acme/shop"}),
    )

    (hit,) = found["structuredContent"]["hits"]
    assert completed["structuredContent"]["reward"] > 0
    assert (hit["id"], hit["project"], hit["trust"]) == (
        completed["structuredContent"]["id"],
        "acme/shop",
        "assistant",
    )
    assert hit["text"].splitlines() == [
        "round the sales tax (nearly the same task; same project; went partly well; today)",
        "bash: pytest -q ‹/recalled> (failed)",
        "edit: tax.py (outcome unknown)",
        "result: rounds",
        "error: one test left",
    ]
    assert found["content"][0]["text"].count("</recalled mark=") == 1


def test_the_project_is_that_of_the_folder_unless_it_is_named(
    recording: Recording, tmp_path: Path, monkeypatch: Any
) -> None:
    """As with every other tool."""
    monkeypatch.chdir(tmp_path)

    *_, found = recording.call_all(
        ("start_episode", {"task": "round the sales tax"}),
        ("complete_episode", {"id": "$id", "outcome": "success"}),
        ("retrieve_relevant", {"task": "round the sales tax"}),
    )

    assert [hit["project"] for hit in found["structuredContent"]["hits"]] == [str(tmp_path)]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (
            "log_step",
            {"id": "episode:x", "tool": "bash"},
            'This process has no open attempt "episode:x".',
        ),
        (
            "complete_episode",
            {"id": "episode:x", "outcome": "success"},
            'This process has no open attempt "episode:x".',
        ),
        (
            "complete_episode",
            {"id": "episode:x", "outcome": "victory"},
            "Wrong arguments for complete_episode",
        ),
        ("start_episode", {"task": ""}, "task is empty."),
        ("start_episode", {"task": "a", "tags": ["x" * 200]}, "a tag has 200 characters"),
    ],
)
def test_what_cannot_be_recorded_is_said_in_a_sentence(
    tool: str, arguments: dict[str, Any], said: str, recording: Recording
) -> None:
    """The agent can mend it and call again."""
    (answer,) = recording.call_all((tool, arguments))

    assert answer["isError"] is True
    assert answer["content"][0]["text"].startswith(said)


def test_nothing_like_it_is_said_in_a_sentence(recording: Recording) -> None:
    """Also when nothing is stored at all."""
    (answer,) = recording.call_all(("retrieve_relevant", {"task": "round the sales tax"}))

    assert answer["structuredContent"]["remark"] == "No attempts at a task like this one."


def test_what_was_handed_out_is_written_down(store: Path) -> None:
    """So that it can be measured whether it helped."""
    recording = Recording(store)
    recording.call_all(
        ("start_episode", {"task": "round the sales tax"}),
        ("complete_episode", {"id": "$id", "outcome": "success"}),
        ("retrieve_relevant", {"task": "round the sales tax"}),
    )

    db = recording.memory._shared.store().db

    assert db.value("select count(*) from injections where event = 'retrieve_relevant'") == 1


def test_an_agent_that_ends_has_its_attempts_kept(start: Start, store: Path) -> None:
    """It closes our input and is gone.

    What it completed is there, and what it did not is abandoned.
    """
    server = start("--episodes", store=store)
    refs = [
        server.call("start_episode", task=task)["structuredContent"]["id"]
        for task in ("round the tax", "bake bread")
    ]
    server.call("log_step", id=refs[1], tool="bash", action="bake")
    server.call("complete_episode", id=refs[0], outcome="success")

    code, _ = server.end()
    with Memory.open(store) as memory:
        kept = [memory.episodes.get(ref) for ref in refs]

    assert code == 0
    assert [(one.task, one.outcome, len(one.steps)) for one in kept] == [
        ("round the tax", "success", 0), ("bake bread", "abandoned", 1),
    ]  # fmt: skip


def test_recording_does_not_go_with_reading_only(capsys: pytest.CaptureFixture[str]) -> None:
    """One of the two was not meant."""
    assert main(["mcp", "--episodes", "--read-only"]) == 2
    assert "--episodes does not go with --read-only" in capsys.readouterr().err


def test_a_recorded_attempt_is_forgotten_by_its_id(
    recording: Recording, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """By `recollect forget`, which says what goes first."""
    started, *_ = recording.call_all(
        ("start_episode", {"task": "round the sales tax"}),
        ("complete_episode", {"id": "$id", "outcome": "success"}),
    )
    ref = started["structuredContent"]["id"]
    where = ["--store", str(tmp_path / "new.db")]

    codes = [
        main(["forget", ref, *options, *where])
        for options in ([], ["--dry-run"], ["--yes"], ["--yes"])
    ]
    out, err = capsys.readouterr()

    assert codes == [2, 0, 0, 1]
    assert out.splitlines() == [
        "would forget the attempt “round the sales tax”, 0 steps",
        "forgot the attempt “round the sales tax”, 0 steps",
    ]  # fmt: skip
    assert f'There is no attempt "{ref}".' in err
