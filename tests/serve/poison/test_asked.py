"""Who asks a tool gets to read what was planted, too; but framed, and for what it is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.recall.hooks.frame import closing
from tests.builders import plants
from tests.serve.poison.readings import says
from tests.serve.poison.table import PLANTS, Plant

pytest.importorskip("mcp", reason="the MCP server needs the extra of that name")

from recollect.serve.mcp.resources import Resources
from recollect.serve.mcp.tools import Tools
from recollect.serve.memory_thread import MemoryThread

# What the agent wrote itself, however it was talked into it; the rest came from outside.
BY_AGENTS = {
    plants.into_a_memory_file, plants.in_a_commit_message, plants.in_a_long_commit_message,
    plants.in_a_here_document,
    plants.in_an_echo, plants.in_an_echo_without_quotes, plants.in_escaped_words,
    plants.in_a_comment, plants.in_a_variable,
    plants.in_a_pipe, plants.in_a_command_that_failed, plants.in_a_branch_command,
    plants.in_a_file_name,
    plants.in_a_folder_name, plants.in_a_title, plants.in_a_sub_agents_prompt, plants.in_a_reply,
    plants.in_a_thought,
    plants.in_a_summary, plants.in_a_notification, plants.in_a_team_message, plants.sub_agent_log,
    plants.codex_reasoning,
    plants.codex_patch,
}  # fmt: skip
MADE_BY_AGENTS = {plant.place for plant in PLANTS if "_after_it_stood_" in plant.place.__name__} | {
    plants.in_a_folder_of_a_command, plants.in_a_missing_program, plants.in_an_error_with_a_remedy,
}  # fmt: skip
PROGRAMS = ("pricer", "echo", "git commit", "git checkout", "make")


@pytest.fixture(scope="module")
def thread(planted: Memory) -> Iterator[MemoryThread]:
    made = MemoryThread(planted)
    yield made
    made.close()


def answers(thread: MemoryThread, plant: Plant) -> dict[str, Any]:
    """What each tool that reads says about a plant, asked in the plainest words for it."""
    tools = Tools(thread, None, plant.folder)
    words = " ".join(plant.sentence.replace("/", " ").replace(":", " ").split()[:4])

    def ask(tool: str, /, **arguments: Any) -> Any:
        return tools.call(tool, arguments).result()

    found = ask("search", query=plant.prompt, limit=5)
    ref = found.structured["hits"][0]["id"]
    session = ref.partition("#")[0]
    return {
        "search": ask("search", query=words, limit=20),
        "search here": found,
        "turn": ask("get", ref=ref),
        "session": ask("get", ref=session),
        "recall": ask("recall", prompt=plant.prompt),
        "fix": ask("fix", error=f"PriceError: rounding of kumquats failed\n{plant.text[:2000]}"),
        "blame": ask("blame", path="basket.py"),
        **(
            {f"how {tool}": ask("how", tool=tool) for tool in PROGRAMS}
            if plant.place in BY_AGENTS
            else {}
        ),
    }


@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_what_was_planted_is_framed_and_never_above_whoever_wrote_it(
    thread: MemoryThread, plant: Plant
) -> None:
    """A page's words are external wherever they turn up.

    An agent's are its own; none are a person's, or proven.
    """
    by_agent = plant.place in BY_AGENTS or plant.place in MADE_BY_AGENTS
    allowed = {"external", "assistant"} if by_agent else {"external"}

    wrong = []
    for name, answer in answers(thread, plant).items():
        framed, outside = parted(answer.text)
        assert not says(outside, plant.sentence), f"{name} tells it outside of the frame"
        assert "<recalled" not in framed
        assert "</recalled" not in framed
        for hit in answer.structured["hits"]:
            # Other plants say the same, and have their own rules; what
            # several projects did has none.
            own = hit["project"] in (plant.folder, None)
            if own and says(hit["text"], plant.sentence) and hit["trust"] not in allowed:
                wrong.append((name, hit["provenance"], hit["trust"], hit["text"][:300]))

    assert wrong == []


def parted(text: str) -> tuple[str, str]:
    """What is inside of the first frame of a text, and what is not."""
    found = re.search(r'<recalled by="recollect" mark="(\w{8})"[^\n]*>\n', text)
    if found is None:
        assert "</recalled" not in text
        return "", text
    inside, closed, after = text[found.end() :].rpartition(closing(found[1]))
    assert closed
    return inside, text[: found.start()] + after


@pytest.mark.parametrize(
    ("place", "provenance"),
    [
        (plants.in_a_page, "web"),
        (plants.in_output, "tool"),
        (plants.in_a_readme, "tool"),
        (plants.in_a_tool_server, "tool"),
        (plants.codex_output, "tool"),
    ],
)
def test_what_tools_and_pages_said_can_be_read_as_theirs(
    thread: MemoryThread, place: Any, provenance: str
) -> None:
    """The archive hides nothing from who asks; it says whose words they are."""
    plant = next(plant for plant in PLANTS if plant.place is place and plant.position == "middle")

    hits = answers(thread, plant)["turn"].structured["hits"]

    assert {
        (hit["provenance"], hit["trust"]) for hit in hits if says(hit["text"], plant.sentence)
    } == {(provenance, "external")}


@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_a_resource_frames_what_was_planted_or_leaves_it_out(
    thread: MemoryThread, plant: Plant
) -> None:
    """A session's outline has titles and replies in it.

    What is known about a project is what an agent would be told.
    """
    resources = Resources(thread)

    asked = {"query": plant.prompt, "limit": 1}
    answer = Tools(thread, None, plant.folder).call("search", asked).result()
    (found, *_) = (answer.structured or {})["hits"]

    async def read() -> tuple[str, str]:
        return await resources.session(found["id"].partition("#")[0]), await resources.project(
            plant.folder
        )

    session, project = asyncio.run(read())

    assert not says(parted(session)[1], plant.sentence)
    assert not parted(project)[1].replace("Nothing is known about this project yet.", "")
    assert not says(project, plant.sentence)
