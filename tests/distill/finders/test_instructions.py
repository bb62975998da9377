"""What people had written into the files that agents read first is told to every agent."""

from __future__ import annotations

import pytest

from recollect.distill.finders import instructions
from recollect.model.record import CallRecord
from tests.builders.records import session, turn

RULE = "Always close the drawer before the till is counted."


def wrote(path: str, given: object) -> CallRecord:
    return CallRecord("edit", "Edit", path, ok=True, given=given)


def told(prompt: str, call: CallRecord, **more: bool) -> list[str]:
    return [one.text for one in instructions.find(session(turn(prompt, call, **more)))]


@pytest.mark.parametrize(
    "given",
    [
        {"old_string": "# Rules", "new_string": f"# Rules\n- {RULE}"},
        {"content": f"# Rules\n\n- {RULE}\n"},
        {"edits": [{"old_string": "", "new_string": f"- {RULE}"}]},
        f"*** Begin Patch\n*** Update File: AGENTS.md\n@@\n # Rules\n+- {RULE}\n*** End Patch",
    ],
)
def test_a_line_that_was_asked_for_is_told(given: object) -> None:
    assert told("Put that into AGENTS.md, will you?", wrote("/w/AGENTS.md", given)) == [RULE]


def test_what_stood_there_before_was_not_asked_for() -> None:
    given = {"old_string": f"- {RULE}", "new_string": f"- {RULE}\n- Never count it twice a day."}

    assert told("Add it to AGENTS.md", wrote("/w/AGENTS.md", given)) == [
        "Never count it twice a day."
    ]


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("Fix the drawer, please", "/w/AGENTS.md"),
        ("Put that into the README, will you?", "/w/README.md"),
        ("Put that into AGENTS.md, will you?", "/w/src/till.py"),
    ],
)
def test_what_nobody_asked_for_is_not_told(prompt: str, path: str) -> None:
    """An agent's own file is an agent's own word."""
    assert told(prompt, wrote(path, {"content": RULE})) == []


def test_a_memory_is_asked_for_in_any_words() -> None:
    call = wrote("/home/ada/.agent/memory/till.md", {"content": RULE})

    assert told("记住：先关抽屉", call) == [RULE]


def test_after_something_from_outside_nothing_is_taken_for_asked() -> None:
    call = wrote("/w/AGENTS.md", {"content": RULE})

    assert told("Put that into AGENTS.md, will you?", call, tainted=True) == []


def test_a_line_that_was_typed_for_the_file_needs_no_edit() -> None:
    """Clients write it themselves, and their log has only what was typed."""
    (found,) = instructions.find(session(turn("# use pnpm here")))

    assert (found.text, found.trust, found.is_sure) == ("use pnpm here", "user", True)
    assert list(instructions.find(session(turn("# Plan\n\n## Goals\n- Sell more")))) == []
