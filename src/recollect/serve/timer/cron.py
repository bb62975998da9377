"""The timer as a line in the user's crontab, where there is nothing better.

The crontab is the user's own: every other line stays as it is, and without a
`crontab` command the line is only shown.
"""

from __future__ import annotations

import shlex

from recollect.errors import FileRefused
from recollect.serve.timer.machine import Machine, Runner

MARK = "# recollect timer"


def line(machine: Machine) -> str:
    """The line that does it."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in machine.carried().items()]
    command = " ".join(
        [*variables, "nice", "-n", "19", shlex.join(machine.words), ">/dev/null", "2>&1", MARK]
    )
    # cron reads a percent sign as the end of the command, quoted or not.
    hours = ",".join(map(str, machine.hours))
    return f"{machine.minute} {hours} * * * " + command.replace("%", "\\%")


def read(runner: Runner) -> str:
    """The user's crontab; an error when it cannot be told from an empty
    one, since it would be written over.
    """
    ran = runner.run("crontab", "-l")
    if ran.code == 0:
        return ran.output
    if any(words in ran.complaint for words in ("no crontab", "No such file")):
        return ""
    raise FileRefused(
        f"The crontab cannot be read: {ran.complaint or 'no reason given'}.",
        hint="See what `crontab -l` says. The line to add: recollect install timer --dry-run",
    )


def with_line(crontab: str, ours: str | None) -> str:
    """The crontab with our line in place of an earlier one of ours, or at the end.

    With None, without any.
    """
    lines = crontab.splitlines(keepends=True)
    at = next((number for number, text in enumerate(lines) if _is_ours(text)), len(lines))
    kept = [text for text in lines if not _is_ours(text)]
    if ours is not None:
        if at == len(lines) and kept and not kept[-1].endswith("\n"):
            kept[-1] += "\n"
        kept.insert(at, ours + "\n")
    return "".join(kept)


def write(runner: Runner, crontab: str) -> None:
    """Make this the user's crontab; an empty one is removed."""
    ran = runner.run("crontab", "-", stdin=crontab) if crontab else runner.run("crontab", "-r")
    if ran.code:
        raise FileRefused(
            f"crontab refused the line: {ran.complaint}.",
            hint="Add the line yourself with `crontab -e`.",
        )


def _is_ours(text: str) -> bool:
    return text.rstrip().endswith(MARK)
