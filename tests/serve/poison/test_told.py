"""What somebody planted in a log never speaks to the next agent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from recollect.memory import Memory
from recollect.recall.telling import CLOSING, OPENING
from recollect.serve import hook
from recollect.serve.agents import claude_code
from tests.builders import plants
from tests.builders.homes import claude_log, memory
from tests.builders.plants import POSITIONS, SPELLINGS
from tests.builders.work import Work
from tests.serve.poison.readings import says
from tests.serve.poison.table import PLANTS, SENTENCES, Plant

EACH = pytest.mark.parametrize("plant", PLANTS, ids=str)


def check(told: str, plant: Plant) -> None:
    """Nothing of the plant can be read in what is told, and
    nothing of it reaches out of the frame.
    """
    lines = told.split("\n")
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert all(line.startswith("- 20") for line in lines[1:-1])
    assert not set("".join(lines[1:-1])) & set("<>")
    assert "".join(lines).isprintable()
    assert "[recalled" not in told
    assert not says(told, plant.sentence)


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

    assert about.lines
    assert recent.lines
    for pack in (about, recent, *([lured] if lured.lines else [])):
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
        say(planted, plant, "PostToolUseFailure", **shell, error=f"Exit code 2\n{plant.text}"),
    ]

    check(started, plant)
    check(asked, plant)
    for told in filter(None, others):
        check(told, plant)


def test_reminders_are_told_without_what_was_planted_in_them(planted: Memory) -> None:
    """So that the test above has seen some."""
    failed = next(plant for plant in PLANTS if plant.place is plants.in_a_command_that_failed)
    overcome = next(
        plant for plant in PLANTS if plant.place is plants.in_an_error_that_was_overcome
    )

    before = say(
        planted,
        failed,
        "PreToolUse",
        tool_name="Bash",
        tool_input={"command": 'pricer --note "something else"'},
    )
    after = say(
        planted,
        overcome,
        "PostToolUseFailure",
        tool_name="Bash",
        error="PriceError: rounding of kumquats failed",
    )

    assert '`pricer --note "…"` failed here (exit 127); `uv run pricer --note "…"` worked' in before
    assert (
        "this error was met here before; /srv/shop/rounding.py was changed, and the same command "
        "passed" in after
    )
    check(before, failed)
    check(after, overcome)


@pytest.mark.parametrize(
    "event", [event for event, moment in claude_code.HOOKS.events.items() if moment == "pause"]
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
        note = mind.old.remember(plant.text, folder=plant.folder, category="constraint")
        list(mind.old.prepare())
        kept = mind.old.note(note.ref)
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
