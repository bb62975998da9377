"""An import that finds nothing new loads nothing to read with, and misses nothing that is new."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.memory import Memory
from recollect.model.reports import ImportReport
from tests.builders.homes import add_turn, claude_log, codex_log, codex_talk, small_talk


def grown(home: Path) -> None:
    talk = small_talk(1)
    add_turn(talk, "1-3")
    claude_log(home, talk)


def touched(home: Path) -> None:
    (log,) = (home / ".claude" / "projects").rglob("*.jsonl")
    os.utime(log, ns=(1, 1))


def one_more(home: Path) -> None:
    claude_log(home, small_talk(2))


def in_a_new_folder(home: Path) -> None:
    claude_log(home, small_talk(2), "-home-ada-new")


def by_another_agent(home: Path) -> None:
    codex_log(home, codex_talk())


def imported() -> ImportReport:
    """An import by a memory that has read nothing before."""
    with Memory.open() as memory:
        return memory.import_logs()


@pytest.mark.parametrize(
    ("change", "read", "turns"),
    [
        (grown, 1, 1),
        (touched, 1, 0),
        (one_more, 1, 2),
        (in_a_new_folder, 1, 2),
        (by_another_agent, 1, 1),
    ],
)
def test_what_is_new_is_seen_at_a_glance(
    change: Callable[[Path], None], read: int, turns: int, home: Path
) -> None:
    """Whatever it is that a log is new by."""
    claude_log(home, small_talk(1))
    imported()
    before = imported()

    change(home)
    report = imported()

    assert (before.discovered, before.unchanged, before.turns) == (1, 1, 0)
    assert (report.imported + report.updated, report.turns) == (read, turns)


def test_a_log_that_is_gone_harms_nobody(home: Path) -> None:
    """The store outlives its sources."""
    log = claude_log(home, small_talk(1))
    imported()
    log.unlink()

    assert (imported().discovered, imported().failed) == (0, 0)


def test_nothing_new_loads_nothing_to_read_with(home: Path) -> None:
    """A start of a session may have this done, several times a day."""
    claude_log(home, small_talk(1))
    imported()
    code = (
        "import sys\nfrom recollect import Memory\n"
        "with Memory.open() as memory: memory.import_logs()\n"
        "print(sorted({'recollect.redact', 'recollect.capture.sweep', 'genai_prices', 'hyperscan'}"
        " & sys.modules.keys()))"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout == "[]\n"
