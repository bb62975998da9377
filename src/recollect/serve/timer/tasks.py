"""The timer as a task of the Task Scheduler, on Windows."""

from __future__ import annotations

import os
import subprocess
import sys
from xml.etree import ElementTree as xml

from recollect.serve.timer.machine import DAY_HOURS, Machine
from recollect.system import platforms

_TASK = "recollect"

# Its settings as the scheduler itself would export them. Variables are not carried:
# on Windows they belong to the account.
_SETTINGS = {
    "MultipleInstancesPolicy": "IgnoreNew",
    "DisallowStartIfOnBatteries": "true",
    # What was missed while the machine was off is made up for.
    "StartWhenAvailable": "true",
    "ExecutionTimeLimit": "PT4H",
    # 10 is the lowest, 7 what a task gets.
    "Priority": "9",
}


def files(machine: Machine) -> dict[str, str]:
    """The description of the task, by path.

    The scheduler keeps a copy; by ours we see whether it is the current one.
    """
    task = xml.Element(
        "Task", version="1.2", xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task"
    )
    _add(
        _add(task, "RegistrationInfo"),
        "Description",
        f"Reads the coding agents' new sessions into recollect, {machine.cadence}",
    )
    trigger = _add(_add(task, "Triggers"), "CalendarTrigger")
    if machine.every_hours != DAY_HOURS:
        repetition = _add(trigger, "Repetition")
        _add(repetition, "Interval", f"PT{machine.every_hours}H")
        _add(repetition, "Duration", "P1D")
    _add(trigger, "StartBoundary", "2026-01-01T12:00:00")
    _add(trigger, "RandomDelay", "PT1H" if machine.every_hours == DAY_HOURS else "PT15M")
    _add(_add(trigger, "ScheduleByDay"), "DaysInterval", "1")
    settings = _add(task, "Settings")
    for name, value in _SETTINGS.items():
        _add(settings, name, value)
    action = _add(_add(task, "Actions"), "Exec")
    program, *rest = _windowless(machine)
    _add(action, "Command", program)
    _add(action, "Arguments", subprocess.list2cmdline(rest))
    xml.indent(task)
    # ASCII, with references for the rest: the scheduler takes that in whatever encoding it reads.
    return {_path(machine): xml.tostring(task, encoding="us-ascii").decode() + "\n"}


def runs(machine: Machine) -> bool:
    """Whether the scheduler knows the task."""
    return machine.runner.run("schtasks", "/Query", "/TN", _TASK).code == 0


def start(machine: Machine) -> str:
    """Set the timer; what the user has to do, if it could not be done for them."""
    command = ["schtasks", "/Create", "/TN", _TASK, "/XML", _path(machine), "/F"]
    ran = machine.runner.run(*command)
    if ran.code == 0:
        return ""
    return (
        f"The Task Scheduler refused it: {ran.complaint}. Run it as yourself: "
        f"{subprocess.list2cmdline(command)}"
    )


def stop(machine: Machine) -> None:
    """Unset the timer."""
    machine.runner.run("schtasks", "/Delete", "/TN", _TASK, "/F")


def _windowless(machine: Machine) -> list[str]:
    """The same by the Python that opens no window: a black one would come up each day."""
    python = os.path.join(os.path.dirname(sys.executable), "pythonw.exe")
    if not os.path.exists(python):
        return machine.words
    return [python, "-P", "-m", "recollect", *machine.daily]


def _add(parent: xml.Element, name: str, text: str | None = None) -> xml.Element:
    child = xml.SubElement(parent, name)
    child.text = text
    return child


def _path(machine: Machine) -> str:
    return os.path.join(
        machine.environ.get("RECOLLECT_HOME") or platforms.data_home(dict(machine.environ)),
        "timer.xml",
    )
