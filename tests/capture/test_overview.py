"""What agents delete of their own logs, and whether it was read before."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from recollect.model.reports import Leaving
from tests.builders import homes

DAY = 24 * 3_600


def old_log(home: Path, number: int, days: float) -> Path:
    """A session's log that nobody wrote to for so many days."""
    path = homes.claude_log(home, homes.small_talk(number))
    at = time.time() - days * DAY
    os.utime(path, (at, at))
    return path


def leaves(*, sessions: int = 0, unread: int = 0) -> list[Leaving]:
    return [Leaving(agent="claude-code", name="Claude Code", sessions=sessions, unread_logs=unread)]


def test_logs_that_their_agent_deletes_within_a_week_are_counted(home: Path) -> None:
    """They are kept here, which is what many people import them for."""
    for number, days in enumerate((1, 22, 24, 29), 1):
        old_log(home, number, days)

    with homes.memory(home) as memory:
        memory.import_logs()
        assert memory.summary().leaving == leaves(sessions=2)
        old_log(home, 5, 25)
        assert memory.agents.leaving() == leaves(sessions=2, unread=1)


@pytest.mark.parametrize(("days", "rows"), [(10, leaves(sessions=1)), (365, []), ("x", [])])
def test_the_agent_s_own_setting_says_when(home: Path, days: object, rows: list[Leaving]) -> None:
    """Who told the agent to keep its logs for a year need not hurry."""
    old_log(home, 1, 8)
    (home / ".claude/settings.json").write_text(json.dumps({"cleanupPeriodDays": days}))

    with homes.memory(home) as memory:
        memory.import_logs()
        assert memory.agents.leaving() == rows


def test_what_is_deleted_is_said_in_a_sentence() -> None:
    """Read by people who never heard that agents delete anything."""
    assert str(*leaves(sessions=2)) == (
        "Claude Code deletes the logs of 2 sessions within 7 days; they are kept here"
    )
    assert str(*leaves(unread=1)) == (
        "Claude Code deletes 1 log within 7 days that was not read yet: recollect import"
    )
