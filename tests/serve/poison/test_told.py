"""What somebody planted in a log never speaks to the next agent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from recollect.memory import Memory
from recollect.model.memories import TITLES
from recollect.serve import hook
from recollect.serve.agents import claude_code
from tests.builders import plants
from tests.builders.homes import claude_log, memory
from tests.builders.hooks import within_frame
from tests.builders.plants import POSITIONS, SPELLINGS
from tests.builders.work import Work
from tests.serve.poison.conftest import session_of
from tests.serve.poison.readings import says
from tests.serve.poison.table import PLANTS, SENTENCES, Plant

OF_A_SESSION = ("Asked first in this session", "Failed when last run in this session")
EACH = pytest.mark.parametrize("plant", PLANTS, ids=str)


def check(told: str, plant: Plant) -> None:
    """Nothing of the plant can be read in what is told, and
    nothing of it reaches out of the frame.
    """
    lines = within_frame(told)
    titles = {f"{title}:" for title in (*TITLES.values(), *OF_A_SESSION)}
    assert all(line.startswith("- ") or line in titles for line in lines)
    assert "".join(lines).isprintable()
    assert "[recalled" not in told
    assert "recalled" not in "".join(lines)
    assert not says(told, plant.sentence), told


# The judge


@EACH
def test_the_judge_can_read_every_plant(plant: Plant) -> None:
    """A check that is blind to a spelling would pass whatever was told."""
    assert says(plant.text, plant.sentence)
    assert not says(plant.prompt, plant.sentence)


def test_every_spelling_and_position_is_planted() -> None:
    """The table is the list of what we defend against."""
    assert {plant.spelling for plant in PLANTS} == set(SPELLINGS)
    assert {plant.position for plant in PLANTS} == set(POSITIONS)
    assert Counter(plant.sentence for plant in PLANTS).keys() == set(SENTENCES)
    assert len(PLANTS) >= 40


def test_most_plants_are_stored(planted: Memory) -> None:
    """What is not stored cannot be told, so nothing would be tested.

    What hosts add, and what comes from us, is not kept.
    """
    stored: dict[str, str] = {}
    for session in planted.store.export():
        stored[session["cwd"]] = stored.get(session["cwd"], "") + "\n".join(texts(session))

    missing = [plant for plant in PLANTS if not says(stored[plant.folder], plant.sentence)]

    assert {
        str(plant)
        for plant in missing
        if plant.place not in BY_HOSTS and "our" not in f"{plant.spelling} {plant}"
    } == set()
    assert len(missing) < len(PLANTS) / 4


BY_HOSTS = (
    plants.in_a_hooks_context, plants.in_a_hidden_message, plants.in_a_selection,
    plants.codex_developer, plants.codex_instructions,
)  # fmt: skip


def texts(value: object) -> Iterator[str]:
    """Every text in a nested value."""
    if isinstance(value, str):
        yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from texts(inner)


# Recall


@EACH
def test_a_pack_does_not_repeat_what_was_planted(planted: Memory, plant: Plant) -> None:
    """Not when the work around it is asked about, not without a prompt, not
    when somebody asks for the plant itself.
    """
    about = planted.recall(plant.prompt, folder=plant.folder)
    recent = planted.recall(folder=plant.folder)
    lured = planted.recall(f"{plant.sentence} {plant.prompt}", folder=plant.folder)

    for pack in (about, recent, lured):
        if pack.text:
            check(pack.text, plant)


# Hooks


def say(planted: Memory, plant: Plant, event: str, **passed: object) -> str:
    """What the hook adds to an agent's context in the folder of a plant."""
    # What was said once in a session is not said again, so each question is of another.
    data = {
        "session_id": str(uuid4()),
        "cwd": plant.folder,
        "transcript_path": "/none.jsonl",
        **passed,
    }
    environ = {"RECOLLECT_HOME": planted.settings.home, "RECOLLECT_STORE": planted.settings.store}
    answer = hook.respond("claude-code", event, json.dumps(data).encode(), environ)
    hook._work.clear()
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


@EACH
def test_a_hook_does_not_repeat_what_was_planted(planted: Memory, plant: Plant) -> None:
    """At the start, at a prompt, before a command and after a failure."""
    shell: dict[str, object] = {"tool_name": "Bash"}

    started = say(planted, plant, "SessionStart", source="startup")
    session = session_of(plant)
    compacted = say(planted, plant, "SessionStart", source="compact", session_id=session)
    asked = say(planted, plant, "UserPromptSubmit", prompt=plant.prompt)
    others = [
        say(planted, plant, "UserPromptSubmit", prompt=plant.sentence),
        say(
            planted,
            plant,
            "PreToolUse",
            **shell,
            tool_input={"command": f'pricer --note "{plant.text}"'},
        ),
        say(
            planted,
            plant,
            "PostToolUseFailure",
            **shell,
            tool_input={"command": "pricer --all"},
            error=f"Exit code 2\nerror: unknown option '--all'\n{plant.text}",
        ),
    ]

    for told in filter(None, (started, compacted, asked, *others)):
        check(told, plant)


def test_there_is_much_to_tell(planted: Memory) -> None:
    """So that the tests above have seen some: packs, commands, reminders, what was asked."""
    packs = [planted.recall(folder=plant.folder).text for plant in PLANTS]
    # At a prompt it is silent about much, and what is not told cannot repeat anything.
    about = [planted.recall(plant.prompt, folder=plant.folder).text for plant in PLANTS]
    asked = [say(planted, one, "UserPromptSubmit", prompt=one.prompt) for one in PLANTS]
    reminded = [
        say(planted, plant, "PreToolUse", tool_name="Bash", tool_input={"command": "pricer --all"})
        for plant in PLANTS
        if plant.place is plants.in_an_error_with_a_remedy
    ]

    assert sum("Run most: " in pack or "Checks: " in pack or "`" in pack for pack in packs) > 100
    assert sum(map(bool, about)) > len(PLANTS) / 2
    assert sum(map(bool, asked)) > len(PLANTS) / 2
    assert all("`pricer --every` works" in told for told in reminded)


@pytest.mark.parametrize(
    "event",
    [event for event, moment in claude_code.HOOKS.events.items() if moment in ("pause", "end")],
)
def test_the_other_events_say_nothing(planted: Memory, event: str) -> None:
    """There is nobody to tell."""
    assert say(planted, PLANTS[0], event) == ""


# Notes


@pytest.mark.parametrize(
    "spelling",
    ["plain", "shouted", "zero width", "lookalikes", "our closing", "roles", "tag characters"],
)
@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_what_an_agent_was_talked_into_remembering_is_not_told(
    home: Path, number: int, spelling: str
) -> None:
    """It stays a candidate of class assistant: only a person makes it count,
    and the page that said it is no person.
    """
    plant = Plant(number, plants.in_a_page, spelling, "alone", SENTENCES[number])
    work = Work(number, cwd=plant.folder).ask(plant.prompt)
    plant.place(work, plant.text)
    work.use("mcp__recollect__remember", {"text": plant.text}, "kept").run(
        "pytest -q basket", "2 passed"
    ).done(plant.text)
    claude_log(home, work.talk)

    with memory(home) as mind:
        mind.import_logs()
        note = mind.notes.add(plant.text, folder=plant.folder, category="constraint", by="agent")
        list(mind.make_ready())
        kept = mind.notes.get(note.ref)
        packs = [
            mind.recall(prompt, folder=plant.folder)
            for prompt in ("", plant.prompt, plant.sentence)
        ]
        told = [
            say(mind, plant, "SessionStart"),
            say(mind, plant, "UserPromptSubmit", prompt=f"{plant.prompt} {plant.sentence}"),
        ]

    assert (kept.status, kept.trust, kept.author) == ("candidate", "assistant", "agent")
    assert packs[0].lines
    for text in filter(None, [*(pack.text for pack in packs), *told]):
        assert note.ref not in text
        check(text, plant)
