"""A timer that runs `recollect import --wait` once a day, set with
whatever this machine has for that.

Hooks import what an agent says as it says it; the timer covers agents without
hooks and sessions that ended before theirs fired, and does the jobs that wait;
keeping the store within its budget is one of them.
"""

from __future__ import annotations

from types import ModuleType

from recollect.model.reports import Installed, InstallState
from recollect.serve.install.files import Draft
from recollect.serve.timer import cron, launchd, systemd, tasks
from recollect.serve.timer.machine import Machine

__all__ = ["NAME", "Machine", "install", "uninstall"]

# What it is called where an agent could be named.
NAME = "timer"
_ABSENT = "not installed"


def install(machine: Machine, *, dry_run: bool = False) -> list[Installed]:
    """Set the timer; setting it again brings it up to date."""
    scheduler = _scheduler(machine)
    if scheduler is None:
        return [_with_cron(machine, cron.line(machine), dry_run=dry_run)]
    draft = Draft()
    rows = []
    for path, text in scheduler.files(machine).items():
        before = draft.read(path)
        draft.put(path, text, copy=False)
        rows.append(
            _row(path, "added" if before is None else "unchanged" if before == text else "changed")
        )
    if dry_run:
        return [row.planned() for row in rows]
    if draft.write() or not scheduler.runs(machine):
        rows[-1].note = scheduler.start(machine)
    return rows


def uninstall(machine: Machine, *, dry_run: bool = False) -> list[Installed]:
    """Unset the timer; nothing of it stays."""
    scheduler = _scheduler(machine)
    if scheduler is None:
        return [_with_cron(machine, None, dry_run=dry_run)]
    draft = Draft()
    rows = []
    for path in scheduler.files(machine):
        rows.append(
            _row(path, "unchanged", _ABSENT) if draft.read(path) is None else _row(path, "removed")
        )
        draft.put(path, None, copy=False)
    if dry_run:
        return [row.planned() for row in rows]
    if any(row.state == "removed" for row in rows):
        # First, while its files are there to be found.
        scheduler.stop(machine)
        draft.write()
    return rows


def _scheduler(machine: Machine) -> ModuleType | None:
    """What sets timers on this machine; None leaves cron."""
    if machine.platform == "darwin":
        return launchd
    if machine.platform == "win32":
        return tasks
    return systemd if machine.systemd else None


def _with_cron(machine: Machine, line: str | None, *, dry_run: bool) -> Installed:
    if not machine.runner.has("crontab"):
        if line is None:
            return _row("crontab", "unchanged", _ABSENT)
        return _row(
            "crontab", "skipped", f"There is no crontab command here. The line would be: {line}"
        )
    before = cron.read(machine.runner)
    after = cron.with_line(before, line)
    if before == after:
        return _row("crontab", "unchanged", _ABSENT if line is None else "")
    if line is None:
        row = _row("crontab", "removed")
    else:
        there = cron.with_line(before, None) != before
        row = _row("crontab", "changed" if there else "added", line)
    if dry_run:
        return row.planned()
    cron.write(machine.runner, after)
    return row


def _row(path: str, state: InstallState, note: str = "") -> Installed:
    return Installed(agent=NAME, scope="user", part="timer", path=path, state=state, note=note)
