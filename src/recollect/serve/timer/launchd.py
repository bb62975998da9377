"""The timer as an agent of launchd, on macOS."""

from __future__ import annotations

import os
import plistlib
import shlex

from recollect.serve.timer.machine import Machine

_LABEL = "recollect.timer"


def files(machine: Machine) -> dict[str, str]:
    """The property list, by path."""
    told = {
        "Label": _LABEL,
        "ProgramArguments": machine.words,
        # At noon, when the machine is likely to be on; asleep, it is done at the next waking.
        "StartCalendarInterval": [
            {"Hour": hour, "Minute": machine.minute} for hour in machine.hours
        ],
        "EnvironmentVariables": machine.carried(),
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 19,
    }
    return {_path(machine): plistlib.dumps(told, sort_keys=False).decode()}


def runs(machine: Machine) -> bool:
    """Whether launchd knows the timer."""
    return machine.runner.run("launchctl", "print", f"{_domain()}/{_LABEL}").code == 0


def start(machine: Machine) -> str:
    """Set the timer; what the user has to do, if it could not be done for them."""
    # launchd keeps what it was told first until it is told to let go of it.
    machine.runner.run("launchctl", "bootout", f"{_domain()}/{_LABEL}")
    command = ["launchctl", "bootstrap", _domain(), _path(machine)]
    if machine.runner.run(*command).code == 0:
        return ""
    return (
        "The file is written; it works from your next login on. To start it today: "
        f"{shlex.join(command)}"
    )


def stop(machine: Machine) -> None:
    """Unset the timer."""
    machine.runner.run("launchctl", "bootout", f"{_domain()}/{_LABEL}")


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _path(machine: Machine) -> str:
    return os.path.join(machine.home, "Library", "LaunchAgents", f"{_LABEL}.plist")
