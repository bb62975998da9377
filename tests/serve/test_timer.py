"""recollect install timer: each system's own scheduler, tried with its real files.

The commands of the schedulers are recorded instead of run, since a machine
has one of them at most; the crontab is a small one of our own.
"""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import FileRefused, UsageError
from recollect.serve.cli import main
from recollect.serve.timer import Machine, cron, install, uninstall
from recollect.serve.timer.machine import CommandResult, SystemRunner

SYSTEMS = ["linux", "darwin", "win32"]
UNITS = Path(".config/systemd/user")
# Each scheduler's answer to "do you know this timer already?".
QUESTIONS = ("is-enabled", "is-active", "print", "/Query")


class Recorder:
    """A scheduler that knows a timer once it was told, and remembers every command."""

    def __init__(self, *, answers: bool = True) -> None:
        self.commands: list[str] = []
        self.answers, self.knows = answers, False

    def has(self, program: str) -> bool:
        return program != "crontab"

    def run(self, *words: str, stdin: str = "") -> CommandResult:
        self.commands.append(" ".join(words))
        if not self.answers:
            return CommandResult(1, complaint="Failed to connect to bus")
        if {"enable", "bootstrap", "/Create"} & set(words):
            self.knows = True
        if {"disable", "bootout", "/Delete"} & set(words):
            self.knows = False
        return CommandResult(0 if self.knows or not set(QUESTIONS) & set(words) else 1)

    @property
    def told(self) -> list[str]:
        """The commands that change something."""
        return [command for command in self.commands if not set(QUESTIONS) & set(command.split())]


class Crontab:
    """What the command crontab does, with a crontab that is a string, or not there."""

    def __init__(self, text: str | None = None, *, complaint: str = "no crontab for mara") -> None:
        self.text, self.complaint = text, complaint

    def has(self, program: str) -> bool:
        return program == "crontab"

    def run(self, *words: str, stdin: str = "") -> CommandResult:
        assert words[0] == "crontab"
        if words[1] == "-l":
            return (
                CommandResult(1, complaint=self.complaint)
                if self.text is None
                else CommandResult(0, self.text)
            )
        self.text = stdin if words[1] == "-" else None
        return CommandResult(0)


def machine(
    runner: Recorder | Crontab,
    platform: str = "linux",
    *,
    command: str = "/opt/a b/recollect",
    every_hours: int = 24,
    **variables: str,
) -> Machine:
    """A machine of a kind; Linux runs systemd unless it has a crontab."""
    systemd = isinstance(runner, Recorder)
    return Machine(
        every_hours=every_hours,
        command=[command],
        platform=platform,
        environ=variables,
        variables=["CODEX_HOME"],
        systemd=systemd,
        runner=runner,
    )


def files(home: Path) -> dict[str, str]:
    """Every file below a folder, with what it holds."""
    return {
        path.relative_to(home).as_posix(): path.read_text()
        for path in home.rglob("*")
        if path.is_file()
    }


def states(rows: list[object]) -> list[tuple[str, str]]:
    return [(os.path.basename(row.path), row.state) for row in rows]  # type: ignore[attr-defined]


def test_systemd_gets_a_service_and_a_timer(home: Path) -> None:
    """The whole of both files: this is what runs on a person's machine every day."""
    recorder = Recorder()

    rows = install(machine(recorder, CODEX_HOME="/srv/50% codex", EDITOR="vi"))

    assert states(rows) == [("recollect.service", "added"), ("recollect.timer", "added")]
    assert (home / UNITS / "recollect.service").read_text() == (
        "[Unit]\n"
        "Description=Read the coding agents' new sessions into recollect\n"
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        'Environment="CODEX_HOME=/srv/50%% codex"\n'
        'ExecStart="/opt/a b/recollect" "import" "--wait"\n'
        "# Nobody waits for it.\n"
        "Nice=19\n"
        "CPUSchedulingPolicy=idle\n"
        "IOSchedulingClass=idle\n"
    )
    assert (home / UNITS / "recollect.timer").read_text() == (
        "[Unit]\n"
        "Description=Read the coding agents' new sessions into recollect, daily\n"
        "\n"
        "[Timer]\n"
        "OnCalendar=daily\n"
        "RandomizedDelaySec=1h\n"
        "# What was missed while the machine was off is made up for.\n"
        "Persistent=true\n"
        "\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )
    assert recorder.told == [
        "systemctl --user daemon-reload",
        "systemctl --user enable --now recollect.timer",
    ]


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on this machine"
)
@pytest.mark.parametrize("name", ["recollect", "a b", "per%cent", "dol$HOME", "ein ümlaut"])
def test_systemd_finds_no_fault_with_the_units(home: Path, name: str) -> None:
    """It is its own judge, also of how a strange path must be quoted:
    the program it names must be there.
    """
    program = home / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    install(machine(Recorder(), command=str(program), RECOLLECT_HOME=str(home / name / "data")))

    done = subprocess.run(
        ["systemd-analyze", "--user", "--man=no", "verify", *(home / UNITS).glob("recollect.*")],
        env={**os.environ, "XDG_RUNTIME_DIR": str(home)}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip

    assert (done.returncode, "recollect" in done.stderr) == (0, False), done.stderr


def test_a_program_that_systemd_would_not_start_is_refused(home: Path) -> None:
    """It says so only in its journal, where nobody looks for a timer."""
    with pytest.raises(UsageError, match="quotes"):
        install(machine(Recorder(), command="/home/o'neil/recollect"))

    assert files(home) == {}


def test_without_a_user_manager_the_next_step_is_said(home: Path) -> None:
    """Over sudo or in a cron job nobody's systemd answers; the units are good all the same."""
    rows = install(machine(Recorder(answers=False)))

    assert rows[-1].note == (
        "The units are written, but your systemd does not answer here. "
        "In a login session of your own, run: systemctl --user enable --now recollect.timer"
    )
    assert len(files(home)) == 2


def test_launchd_gets_an_agent(home: Path) -> None:
    """In the background and at a time of its own, with the variables
    that a login shell would have set.
    """
    recorder = Recorder()

    rows = install(machine(recorder, "darwin", RECOLLECT_HOME="/Volumes/data & more"))

    path = home / "Library/LaunchAgents/recollect.timer.plist"
    told = plistlib.loads(path.read_bytes())
    (at,) = told.pop("StartCalendarInterval")
    assert at["Hour"] == 12
    assert told == {
        "Label": "recollect.timer",
        "ProgramArguments": ["/opt/a b/recollect", "import", "--wait"],
        "EnvironmentVariables": {"RECOLLECT_HOME": "/Volumes/data & more"},
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 19,
    }
    assert states(rows) == [("recollect.timer.plist", "added")]
    domain = f"gui/{os.getuid()}"
    assert recorder.told == [
        f"launchctl bootout {domain}/recollect.timer",
        f"launchctl bootstrap {domain} {path}",
    ]


def test_the_task_scheduler_gets_a_task(home: Path) -> None:
    """Any path can be said in its XML, and what was missed is made up for."""
    recorder = Recorder()

    rows = install(
        machine(
            recorder,
            "win32",
            command="C:\\Users\\Mära & Co\\recollect.exe",
            RECOLLECT_HOME=str(home / "data"),
        )
    )

    path = home / "data" / "timer.xml"
    found = {
        element.tag.partition("}")[2]: element.text
        for element in ElementTree.fromstring(path.read_text("ascii")).iter()
    }
    assert (found["Command"], found["Arguments"]) == (
        "C:\\Users\\Mära & Co\\recollect.exe",
        "import --wait",
    )
    assert (found["DaysInterval"], found["RandomDelay"], found["StartWhenAvailable"]) == (
        "1",
        "PT1H",
        "true",
    )
    assert states(rows) == [("timer.xml", "added")]
    assert recorder.told == [f"schtasks /Create /TN recollect /XML {path} /F"]


def test_a_timer_runs_as_often_as_the_settings_say(home: Path) -> None:
    """Who works all day wants today's sessions today; noon is always one of the times."""
    data = str(home / "data")
    install(machine(Recorder(), every_hours=6))
    install(machine(Recorder(), "darwin", every_hours=6))
    install(machine(Recorder(), "win32", every_hours=6, RECOLLECT_HOME=data))

    assert "OnCalendar=*-*-* 00,06,12,18:00:00\n" in (home / UNITS / "recollect.timer").read_text()
    path = home / "Library/LaunchAgents/recollect.timer.plist"
    agent = plistlib.loads(path.read_bytes())
    assert [at["Hour"] for at in agent["StartCalendarInterval"]] == [0, 6, 12, 18]
    assert "<Interval>PT6H</Interval>" in (home / "data" / "timer.xml").read_text()
    assert cron.line(machine(Crontab(), every_hours=6)).split()[1] == "0,6,12,18"


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on this machine"
)
@pytest.mark.parametrize("hours", [1, 4, 12])
def test_systemd_understands_every_cadence(home: Path, hours: int) -> None:
    """It names the next time at which the timer runs."""
    install(machine(Recorder(), every_hours=hours))
    (line,) = [
        line
        for line in (home / UNITS / "recollect.timer").read_text().splitlines()
        if line.startswith("OnCalendar=")
    ]

    done = subprocess.run(
        ["systemd-analyze", "calendar", line.removeprefix("OnCalendar=")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


def test_a_cadence_that_does_not_divide_a_day_is_refused() -> None:
    """It would run at other times each day, or never."""
    with pytest.raises(UsageError, match="every 5 hours") as refused:
        machine(Recorder(), every_hours=5)

    assert "timer.every_hours" in refused.value.hint


def test_a_task_opens_no_window_where_python_can_do_without(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A console that comes up each noon would be uninstalled soon."""
    (home / "pythonw.exe").touch()
    monkeypatch.setattr(sys, "executable", str(home / "python.exe"))

    install(machine(Recorder(), "win32", RECOLLECT_HOME=str(home / "data")))

    assert f"<Command>{home / 'pythonw.exe'}</Command>" in (home / "data" / "timer.xml").read_text()
    assert (
        "<Arguments>-P -m recollect import --wait</Arguments>"
        in (home / "data" / "timer.xml").read_text()
    )


@pytest.mark.parametrize("platform", SYSTEMS)
def test_installing_twice_changes_nothing(home: Path, platform: str) -> None:
    """Somebody who is not sure runs it again."""
    recorder = Recorder()
    install(machine(recorder, platform))
    before, told = files(home), len(recorder.told)

    rows = install(machine(recorder, platform))

    assert {row.state for row in rows} == {"unchanged"}
    assert (files(home), len(recorder.told)) == (before, told)


@pytest.mark.parametrize("platform", SYSTEMS)
def test_a_timer_that_was_switched_off_is_set_again(home: Path, platform: str) -> None:
    """The files alone do nothing: whoever installs the timer wants it to run."""
    recorder = Recorder()
    install(machine(recorder, platform))
    recorder.knows = False

    install(machine(recorder, platform))

    assert recorder.knows


@pytest.mark.parametrize("platform", SYSTEMS)
def test_a_moved_recollect_is_followed(home: Path, platform: str) -> None:
    """An old path in the timer would fail every day, and nobody would see it."""
    recorder = Recorder()
    install(machine(recorder, platform))

    rows = install(machine(recorder, platform, command="/new/recollect"))

    assert rows[0].state == "changed"
    assert "/new/recollect" in files(home)[os.path.relpath(rows[0].path, home)]
    assert "/opt/a b/recollect" not in files(home)[os.path.relpath(rows[0].path, home)]


@pytest.mark.parametrize("platform", SYSTEMS)
@pytest.mark.parametrize("answers", [True, False])
def test_uninstalling_leaves_nothing(home: Path, platform: str, answers: bool) -> None:
    """No file, no folder, no stamp, whether or not the scheduler answers when it goes."""
    recorder = Recorder()
    install(machine(recorder, platform))
    if platform == "linux":
        # What the real systemd writes when it is told to enable a timer.
        (home / UNITS / "timers.target.wants").mkdir()
        (home / UNITS / "timers.target.wants" / "recollect.timer").symlink_to(
            home / UNITS / "recollect.timer"
        )
    recorder.answers = answers

    rows = uninstall(machine(recorder, platform))

    assert {row.state for row in rows} == {"removed"}
    assert list(home.rglob("*")) == []
    assert recorder.knows is not answers


@pytest.mark.parametrize("platform", SYSTEMS)
def test_uninstalling_what_is_not_there_does_nothing(home: Path, platform: str) -> None:
    """No scheduler is asked to remove what it never had."""
    recorder = Recorder()

    rows = uninstall(machine(recorder, platform))

    assert {row.state for row in rows} == {"unchanged"}
    assert recorder.commands == []


@pytest.mark.parametrize("platform", SYSTEMS)
def test_a_dry_run_touches_nothing(home: Path, platform: str) -> None:
    """It says what would come, and that is all."""
    recorder = Recorder()

    rows = install(machine(recorder, platform), dry_run=True)
    assert ({row.state for row in rows}, files(home), recorder.commands) == (
        {"would add"},
        {},
        [],
    )
    install(machine(recorder, platform))
    before, told = files(home), list(recorder.commands)
    rows = uninstall(machine(recorder, platform), dry_run=True)
    assert ({row.state for row in rows}, files(home), recorder.commands) == (
        {"would remove"},
        before,
        told,
    )


def test_without_systemd_the_crontab_gets_a_line(home: Path) -> None:
    """Everything that was in it stays, in its place."""
    crontab = Crontab("MAILTO=mara\n# backups\n0 3 * * * backup\n")

    (row,) = install(
        machine(crontab, command="/opt/50% off/recollect", CODEX_HOME="/srv/codex logs")
    )

    head, line = (crontab.text or "").rsplit("backup\n", 1)
    minute, rest = line.split(" ", 1)
    assert head + "backup\n" == "MAILTO=mara\n# backups\n0 3 * * * backup\n"
    assert rest == (
        "12 * * * CODEX_HOME='/srv/codex logs' nice -n 19 "
        "'/opt/50\\% off/recollect' import --wait >/dev/null 2>&1 # recollect timer\n"
    )
    assert 0 <= int(minute) < 60
    assert (row.path, row.state, row.note) == ("crontab", "added", line.rstrip("\n"))


def test_what_cron_hands_to_the_shell_runs_recollect(home: Path) -> None:
    """The quoting is right if a shell starts the program, with its words and variables."""
    program = home / 'it\'s 50% "mine" $HOME'
    program.write_text(f'#!/bin/sh\necho "$@" "$CODEX_HOME" > {shlex.quote(str(home / "ran"))}\n')
    program.chmod(0o755)
    line = cron.line(machine(Crontab(), command=str(program), CODEX_HOME="/a 'b' 5%"))

    # cron takes the five fields off, and the backslash from each percent sign.
    subprocess.run(
        ["/bin/sh", "-c", line.split(" ", 5)[5].replace("\\%", "%")], timeout=30, check=True
    )

    assert (home / "ran").read_text() == "import --wait /a 'b' 5%\n"


def test_a_line_of_ours_is_brought_up_to_date_where_it_stands(home: Path) -> None:
    """Not added a second time: then it would run twice a day."""
    crontab = Crontab("0 3 * * * backup\n")
    install(machine(crontab))
    crontab.text += "0 4 * * * other\n"  # type: ignore[operator]

    (first,) = install(machine(crontab, command="/new/recollect"))
    (second,) = install(machine(crontab, command="/new/recollect"))

    lines = (crontab.text or "").splitlines()
    assert (lines[0], "/new/recollect" in lines[1], lines[2]) == (
        "0 3 * * * backup",
        True,
        "0 4 * * * other",
    )
    assert (len(lines), first.state, second.state) == (3, "changed", "unchanged")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)))
def test_adding_and_removing_a_line_gives_the_same_crontab(lines: list[str]) -> None:
    """Whatever the user keeps in it."""
    crontab = "".join(line + "\n" for line in lines if not line.rstrip().endswith(cron.MARK))
    ours = "1 12 * * * recollect import --wait " + cron.MARK

    added = cron.with_line(crontab, ours)

    assert added.splitlines().count(ours) == 1
    assert cron.with_line(added, ours) == added
    assert cron.with_line(added, None) == crontab


def test_a_crontab_that_held_only_our_line_is_gone_afterwards(home: Path) -> None:
    """There was none before."""
    crontab = Crontab(None)
    install(machine(crontab))
    assert crontab.text is not None

    (row,) = uninstall(machine(crontab))

    assert (crontab.text, row.state) == (None, "removed")


def test_a_crontab_that_cannot_be_read_is_not_written_over(home: Path) -> None:
    """An error is not an empty crontab: taking it for one would delete the user's."""
    crontab = Crontab(None, complaint="you (mara) are not allowed to use this program")

    with pytest.raises(FileRefused, match="not allowed to use this program"):
        install(machine(crontab))

    assert crontab.text is None


def test_without_any_scheduler_the_line_is_shown(home: Path) -> None:
    """The person may have one that we do not know."""
    recorder = Recorder()
    bare = Machine(
        command=["/opt/recollect"], platform="linux", environ={}, systemd=False, runner=recorder
    )

    (row,) = install(bare)

    assert (row.state, row.note) == (
        "skipped",
        f"There is no crontab command here. The line would be: {cron.line(bare)}",
    )
    assert recorder.commands == []


def test_without_any_scheduler_there_is_nothing_to_remove(home: Path) -> None:
    """A line that the person added by hand is theirs."""
    bare = Machine(
        command=["/opt/recollect"], platform="linux", environ={}, systemd=False, runner=Recorder()
    )

    (row,) = uninstall(bare)

    assert (row.state, row.note) == ("unchanged", "not installed")


def test_a_path_with_a_line_break_is_refused() -> None:
    """In a crontab the rest of it would be a line of its own, and run."""
    with pytest.raises(UsageError, match="cannot be written into a timer"):
        machine(Crontab(), CODEX_HOME="/srv\n* * * * * evil")


def test_the_shell_of_this_machine_says_what_a_command_came_to() -> None:
    """One real run: what is said and what is complained about stay apart,
    and a missing program is no exception.
    """
    shell = SystemRunner()

    assert shell.run("sh", "-c", "cat; echo bad >&2; exit 3", stdin="text") == CommandResult(
        3, "text", "bad"
    )
    assert shell.run("no-such-program-here").code == 127
    assert (shell.has("sh"), shell.has("no-such-program-here")) == (True, False)


def test_the_command_says_what_it_would_do_here(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With this machine's own scheduler, whichever it is."""
    assert main(["install", "timer", "--dry-run", "--json"]) == 0
    added = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["uninstall", "timer", "--dry-run", "--json"]) == 0
    removed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert {(row["agent"], row["scope"], row["part"]) for row in added + removed} == {
        ("timer", "user", "timer")
    }
    assert [row["path"] for row in added] == [row["path"] for row in removed]
    assert files(home) == {}


def test_a_project_has_no_timer(capsys: pytest.CaptureFixture[str]) -> None:
    """There is one store to import into, so there is one timer."""
    assert main(["install", "timer", "--scope", "project"]) == 2
    assert main(["uninstall", "timer", "--scope", "project"]) == 2

    assert capsys.readouterr().err.count("A timer belongs to you, not to a project.") == 2


def test_the_store_that_was_asked_for_is_the_one_that_is_filled(home: Path) -> None:
    """From whatever folder the scheduler starts it."""
    chosen = Machine(store="other.db", command=["/opt/recollect"], platform="linux", environ={})

    assert chosen.words == [
        "/opt/recollect",
        "import",
        "--wait",
        "--store",
        os.path.abspath("other.db"),
    ]
