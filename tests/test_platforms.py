"""What differs between machines, as far as one machine can tell."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from recollect.system import platforms

CREATE_NO_WINDOW = 0x08000000
DETACHED_PROCESS = 0x00000008


class Started:
    """A process that was asked for and is not there."""

    pid = 0

    def __init__(self, command: list[str], **options: Any) -> None:
        self.command, self.options = command, options

    def poll(self) -> int:
        return 0


@pytest.mark.parametrize("start", [platforms.spawn_detached, platforms.spawn_and_leave])
def test_on_windows_background_work_opens_no_console_window(
    monkeypatch: pytest.MonkeyPatch, start: Any
) -> None:
    """A hook runs at every command of an agent: a window each time would be unbearable.

    A process without any console is no help: each git that it starts would open one.
    """
    monkeypatch.setattr(platforms, "WINDOWS", True)
    monkeypatch.delattr("os.posix_spawn", raising=False)
    monkeypatch.setattr(subprocess, "Popen", Started)
    monkeypatch.setattr(platforms, "_started", [])

    start(["recollect", "import"])

    (process,) = platforms._started
    flags = process.options["creationflags"]  # type: ignore[attr-defined]
    assert flags & CREATE_NO_WINDOW
    assert not flags & DETACHED_PROCESS
