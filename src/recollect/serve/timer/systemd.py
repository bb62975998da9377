"""The timer as units of the user's own systemd."""

from __future__ import annotations

import os
from contextlib import suppress

from recollect.errors import UsageError
from recollect.serve.timer.machine import DAY_HOURS, Machine

_UNIT = "recollect.timer"
_ENABLE = ("systemctl", "--user", "enable", "--now", _UNIT)

_SERVICE = """\
[Unit]
Description=Read the coding agents' new sessions into recollect

[Service]
Type=oneshot
{environment}ExecStart={command}
# Nobody waits for it.
Nice=19
CPUSchedulingPolicy=idle
IOSchedulingClass=idle
"""

_TIMER = """\
[Unit]
Description=Read the coding agents' new sessions into recollect, {cadence}

[Timer]
OnCalendar={when}
RandomizedDelaySec={delay}
# What was missed while the machine was off is made up for.
Persistent=true

[Install]
WantedBy=timers.target
"""


def files(machine: Machine) -> dict[str, str]:
    """The unit files, by path."""
    folder = _folder(machine)
    path, *rest = machine.words
    if set(path) & set("'\"\\"):
        raise UsageError(
            f"systemd cannot start a program with quotes in its path: {path}.",
            hint="Install recollect somewhere else.",
        )
    carried = [_quoted(f"{name}={value}") for name, value in machine.carried().items()]
    environment = "".join(f"Environment={word}\n" for word in carried)
    # Variables are put in after the first word, and only there.
    command = " ".join([_quoted(path), *(_quoted(word).replace("$", "$$") for word in rest)])
    return {
        os.path.join(folder, "recollect.service"): _SERVICE.format(
            environment=environment, command=command
        ),
        os.path.join(folder, _UNIT): _timer(machine),
    }


def _timer(machine: Machine) -> str:
    if machine.every_hours == DAY_HOURS:
        return _TIMER.format(cadence=machine.cadence, when="daily", delay="1h")
    hours = ",".join(f"{hour:02}" for hour in machine.hours)
    return _TIMER.format(cadence=machine.cadence, when=f"*-*-* {hours}:00:00", delay="15min")


def runs(machine: Machine) -> bool:
    """Whether the timer is set for today and after the next start of the machine."""
    return all(
        machine.runner.run("systemctl", "--user", question, _UNIT).code == 0
        for question in ("is-enabled", "is-active")
    )


def start(machine: Machine) -> str:
    """Set the timer; what the user has to do, if it could not be done for them."""
    machine.runner.run("systemctl", "--user", "daemon-reload")
    if machine.runner.run(*_ENABLE).code == 0:
        return ""
    return (
        "The units are written, but your systemd does not answer here. In a login session of "
        f"your own, run: {' '.join(_ENABLE)}"
    )


def stop(machine: Machine) -> None:
    """Unset the timer, with what systemd itself wrote down about it."""
    machine.runner.run("systemctl", "--user", "disable", "--now", _UNIT)
    wanted = os.path.join(_folder(machine), "timers.target.wants")
    data = machine.environ.get("XDG_DATA_HOME") or os.path.join(machine.home, ".local", "share")
    with suppress(OSError):
        os.unlink(os.path.join(data, "systemd", "timers", f"stamp-{_UNIT}"))
    # The rest is gone already if systemd answered.
    with suppress(OSError):
        os.unlink(os.path.join(wanted, _UNIT))
        os.rmdir(wanted)


def _folder(machine: Machine) -> str:
    config = machine.environ.get("XDG_CONFIG_HOME") or os.path.join(machine.home, ".config")
    return os.path.join(config, "systemd", "user")


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'
