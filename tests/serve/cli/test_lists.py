"""Lists as a person sees them, and what a program gets instead."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from recollect.model.injections import Injection, InjectionLine
from recollect.serve.cli import load, main
from recollect.serve.cli.lists import Screen, project_names
from recollect.serve.cli.progress import ProgressBar
from recollect.serve.cli.style import Style, cells
from tests.builders.claude_code import Conversation
from tests.builders.homes import chat, claude_log, memory, small_talk

SAMPLES = Path(recollect.__file__).parent / "samples"
JAPANESE = "注文テーブルの移行がチェックアウト中にデッドロックする問題を調べて直してください"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that holds the sample sessions."""
    folder = tmp_path_factory.mktemp("prepared")
    with memory(folder) as mind:
        mind.import_logs([SAMPLES])
        mind.jobs.work()
    return folder / ".recollect"


@pytest.fixture
def samples(prepared: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECT_HOME", str(prepared))
    monkeypatch.chdir(home)
    return prepared


@pytest.fixture
def screen(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person reads what is printed, without colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(list(words)) == 0
    return capsys.readouterr().out.splitlines()


LISTS = [
    "fix 'database is locked'", "blame prices.py", "how pytest", "show 453d", "show 453d.4",
    "memory --project webshop", "memory list --all", "",
    "sessions", "sessions --subagents", "sessions --project webshop", "sessions --limit 30",
    "stats", "stats --by project", "stats --by day", "stats --by tool", "projects", "agents",
    "friction --sessions 2", "doctor", "show 453d --diff", "show 453d -v", "install",
    "search migration deadlock --explain",
]  # fmt: skip


@pytest.mark.parametrize("width", [50, 80, 100, 140])
@pytest.mark.parametrize("command", LISTS)
@pytest.mark.usefixtures("screen")
def test_nothing_is_wider_than_the_screen(
    command: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line that wraps is two lines, and a list of those is no list."""
    monkeypatch.setenv("COLUMNS", str(width))

    lines = shown(capsys, *shlex.split(command))

    assert lines
    assert max(map(cells, lines)) <= width
    assert "\x1b" not in "".join(lines)


@pytest.mark.usefixtures("screen")
def test_a_session_is_one_line_with_its_title_first_and_its_id_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    head, *rows = shown(capsys, "sessions", "--project", "webshop")

    assert head.split() == ["age", "title", "turns", "cost", "agent", "id"]
    (release,) = (row for row in rows if "2.14.0" in row)
    assert release.split()[:1] == ["1"]
    title = "Release webshop 2.14.0 and the flaky checkout test"
    assert release.partition(title)[2].split() == ["8", "$1.32", "claude", "a75df633"]
    assert [len(row.split()[-1]) for row in rows] == [8] * 8


@pytest.mark.usefixtures("screen")
def test_a_fix_is_a_story(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What failed, the error, what was done, what worked and why to believe it."""
    monkeypatch.setenv("COLUMNS", "100")

    head, *story = shown(capsys, "fix", "sqlite3.OperationalError: database is locked")

    assert head.startswith(" 1  Cache supplier price feeds in SQLite instead of Redis  ")
    assert head.endswith("01a1a188.5")
    assert story == [
        "    ✗ uv run pytest -q tests/feeds tests/catalog  (exit 1)",
        "      sqlite3.OperationalError: database is locked",
        "    ✎ shop/feeds/cache.py",
        "    ✓ uv run ruff check . && uv run pytest -q tests/feeds tests/catalog"
        "  proven: same command passed",
    ]


@pytest.mark.usefixtures("screen")
def test_a_session_is_read_without_the_outputs_of_what_went_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    title, about, *rest = shown(capsys, "show", "453d")

    assert title.split("  ")[0] == "Deadlock while migration 0042 runs against live orders"
    assert title.endswith("453dcfa0")
    assert about.startswith("webshop · claude · ")
    assert "1 of 12 calls failed" in about
    assert sum(line.startswith(".") for line in rest) == 7
    assert "  ✎ migrations/env.py  +3 −4" in rest
    assert "  read 1 file" in rest
    assert not any("TodoWrite" in line or "Exit code 1" in line for line in rest)
    assert "      … 6 lines (--all)" in rest
    (failed,) = (line for line in rest if line.startswith("  ✗"))
    assert failed.endswith("exit 1")
    assert cells(failed) == 100


@pytest.mark.usefixtures("screen")
def test_the_memory_on_a_terminal_is_word_for_word_what_agents_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], samples: Path
) -> None:
    """Each line with whose it is, what it rests on, and the id that changes it."""
    monkeypatch.setenv("COLUMNS", "140")

    lines = shown(capsys, "memory", "--project", "webshop")

    (port,) = (line for line in lines if "5050" in line)
    assert port.split('"')[-1].split()[:2] == ["you", "01a10fde.4"]
    with memory(samples.parent) as mind:
        told = mind.remember(project="webshop")
        assert told is not None
        assert f"these {told.pack.count(chr(10) + '- ')} lines" in lines[0]
        shown_text = "".join("".join(line[4:108].split()) for line in lines)
        assert "".join(told.pack.splitlines()[1][2:].split()) in shown_text
        assert mind.notes.get(port.split()[-1]).ref.startswith("note:" + port.split()[-1])


@pytest.mark.usefixtures("screen")
def test_bare_it_shows_the_newest_and_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    first, *rest = shown(capsys)

    assert first.split("  ")[0] == "All projects"
    assert first.split("  ")[-1].strip().startswith("24 sessions · 162 turns · $5.55 · last ")
    assert [line.split()[0] for line in rest[1:4]] == ["1", "2", "3"]


@pytest.mark.usefixtures("screen")
def test_bare_in_a_project_it_counts_what_is_of_the_project(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its agents are told what is ready, which is said too."""
    webshop = "github.com/acme/webshop"
    monkeypatch.setattr("recollect.memory.projects.MemoryProjects.of", lambda self, at: webshop)

    first, *rest = shown(capsys)

    assert first.split("  ")[0] == "webshop"
    assert first.split("  ")[-1].strip().startswith("8 sessions · 55 turns · $2.72 · last ")
    assert any(line.startswith("Agents here are told ") for line in rest)


@pytest.mark.usefixtures("screen")
def test_hits_are_a_line_each_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """In their order by rank, each with a number of its own."""
    assert main(["search", "deadlock", "--limit", "3", "--json"]) == 0
    refs = [json.loads(line)["ref"] for line in capsys.readouterr().out.splitlines()]

    rows = shown(capsys, "search", "deadlock", "--flat", "--limit", "3")

    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert [row.rpartition(".")[2] for row in rows] == [ref.rpartition("#")[2] for ref in refs]
    assert len({cells(row) for row in rows}) == 1


def test_bare_it_marks_what_is_uncommitted_and_says_who_is_connected(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the work goes on, and which agent still knows nothing of it."""
    shop = home / "shop"
    shop.mkdir()
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    (shop / "prices.py").write_text("rebate = 0.2\n")
    for session in ("one", "two"):
        talk = Conversation(session, cwd=str(shop))
        talk.user(f"the rebate, part {session}")
        if session == "one":
            file = str(shop / "prices.py")
            change = {"file_path": file, "old_string": "0.1", "new_string": "0.2"}
            talk.call("Edit", change, "toolu_1")
            talk.result("toolu_1", "edited", {"filePath": file})
        claude_log(home, talk)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(shop)
    assert main(["import"]) == 0
    capsys.readouterr()

    before = shown(capsys)
    assert main(["install", "claude", "--yes"]) == 0
    capsys.readouterr()
    after = shown(capsys)

    marks = {line.split("part ")[1].split()[0]: line.split()[-1] for line in before[2:4]}
    assert (marks["one"], marks["two"]) == ("uncommitted", "two")
    assert "Tell your agents what was learned: recollect install claude" in before
    assert not any("recollect install" in line for line in after)


def test_nothing_to_do_has_no_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of 0 of 0 says nothing, and never moves."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    with ProgressBar("Preparing:") as progress:
        progress(0, 0, "")

    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("screen")
def test_hits_are_grouped_by_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The title says what it was about; each hit is a line below it."""
    monkeypatch.setenv("COLUMNS", "100")

    first, *rest = shown(capsys, "search", "migration", "0042", "deadlock")

    assert first.startswith(" 1  Deadlock while migration 0042 runs against live orders   ")
    assert first.endswith(" · 453dcfa0")
    assert rest[0].startswith("    .")


def test_a_program_gets_fields_between_tabs(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole ids, exact times, nothing cut."""
    lines = shown(capsys, "sessions", "--limit", "100")

    rows = [line.split("\t") for line in lines]
    assert {len(row) for row in rows} == {9}
    assert "claude-code:453dcfa0-ef37-4cb8-b57c-7e97169a2650" in {row[-1] for row in rows}
    assert all(row[0].endswith("Z") for row in rows)
    assert not any("…" in line for line in lines)


def test_colours_are_the_eight_codes_and_only_on_request(
    samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    colored = "\n".join(shown(capsys, "search", "deadlock", "--color", "always"))

    assert set(re.findall(r"\x1b\[([0-9;]*)m", colored)) <= {"0", "1", "2", "36", "1;35"}
    assert "\x1b[1;35mdeadlock\x1b[0m" in colored
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in "\n".join(shown(capsys, "search", "deadlock", "--color", "never"))


def test_wide_titles_line_up(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real titles are Japanese; a character is two cells."""
    for number, asked in enumerate([JAPANESE, "fix the voucher test"], 1):
        talk = chat(number)
        talk.user(asked)
        talk.reply("done")
        claude_log(home, talk)
    with memory(home) as mind:
        mind.import_logs()
        store = mind.settings.store
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "90")

    _, *rows = shown(capsys, "sessions", "--store", store)

    assert {cells(row) for row in rows} == {90}
    assert any("注文テーブル" in row and "…" in row for row in rows)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_what_agents_were_told_is_one_line_each(width: int) -> None:
    """When, whom, at which event, how much of it, and what came of it."""
    told = [
        Injection(
            id="k3v9x2pq", at="2026-11-03T13:31:00Z", face="hook", event="SessionStart",
            agent="claude-code", session=None, project="github.com/acme/webshop", folder=None,
            tokens=90, lines=[InjectionLine(ref="note:a", use="used"), InjectionLine(ref="note:b")],
        ),
        Injection(
            id="m4w2y7rt", at=None, face="mcp", event="search", agent=None, session=None,
            project=None, folder="/tmp/x", tokens=9, lines=[InjectionLine(ref="codex:a#1")],
        ),
    ]  # fmt: skip
    screen = Screen(Style(width=width))

    said, head, *rows = load("told")._screen(screen, told)

    assert said == "Told 2 times · 3 lines in all, 1 used"
    assert head.split()[-1] == "id"
    assert max(map(cells, [said, head, *rows])) <= width
    assert rows[0].split()[0] == "1"
    assert rows[0].endswith("  k3v9x2pq")
    assert "SessionStart" in rows[0]
    assert "2 lines" in rows[0]
    assert "1 used" in rows[0]
    assert screen.rows == ["k3v9x2pq", "m4w2y7rt"]


@pytest.mark.usefixtures("screen")
def test_what_waits_for_a_person_is_a_list(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the id that accepts or rejects it."""
    monkeypatch.setenv("COLUMNS", "80")
    claude_log(home, small_talk(1))
    with memory(home) as mind:
        mind.import_logs()
        store = mind.settings.store
    assert main(["memory", "add", "use tabs, not spaces", "--everywhere", "--store", store]) == 0
    capsys.readouterr()

    head, row = shown(capsys, "memory", "list", "--everywhere", "--store", store)

    assert head.split()[:2] == ["note", "status"]
    assert row.split()[:5] == ["1", "use", "tabs,", "not", "spaces"]
    assert main(["memory", "reject", row.split()[-1], "--store", store]) == 0


HOSTILE = (
    "water\x1b[2J the\x1b]52;c;b3duZWQ=\x07 tulips\x1b]0;owned\x07 \u202egnp\u2066 \x9b31m\b\r\tnow"
)


@pytest.mark.parametrize("command", ["sessions", "search tulips", "show 5e55", "show 5e55.1", ""])
def test_a_log_cannot_act_on_the_terminal(
    command: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it brings is removed before our own colours come."""
    talk = chat(1)
    talk.user(HOSTILE)
    talk.call("Bash", {"command": f"run {HOSTILE}"}, "toolu_1")
    talk.result("toolu_1", HOSTILE, {"stdout": HOSTILE, "stderr": "", "interrupted": False})
    talk.reply(HOSTILE)
    claude_log(home, talk)
    with memory(home) as mind:
        mind.import_logs()
        store = mind.settings.store
    monkeypatch.setenv("FORCE_COLOR", "1")
    words = shlex.split(command)
    arguments = [*words, "--store", store] if words else ["--store", store]

    shown_text = "\n".join(shown(capsys, *arguments))

    assert "tulips" in shown_text
    bare = re.sub(r"\x1b\[(?:0|1|2|31|32|33|36|1;35)m", "", shown_text)
    assert [char for char in bare if not char.isprintable() and char != "\n"] == []


def test_projects_have_short_names_that_differ() -> None:
    assert project_names(["github.com/acme/api", "github.com/beta/api", "C:\\x\\web", None]) == {
        "github.com/acme/api": "acme/api", "github.com/beta/api": "beta/api",
        "C:\\x\\web": "web", None: "-", "": "-",
    }  # fmt: skip


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("ref", ["453dcfa0.4", "453d#4", "claude-code:453d.4"])
def test_a_turn_is_also_written_with_a_dot(ref: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Some shells take `#` for a pattern."""
    (turn,) = shown(capsys, "show", ref, "--json")

    assert '"ref":"claude-code:453dcfa0-ef37-4cb8-b57c-7e97169a2650#4"' in turn


def test_short_ids_mean_one_session_each(samples: Path) -> None:
    """Also of those that share their first eight characters, and of sub-agents."""
    with memory(samples.parent) as mind:
        refs = [one.id for one in mind.sessions(limit=None, subagents=True)]
        names = mind.names(refs)

        assert [mind.session(names[ref].short).id for ref in refs] == refs
        assert any("/" in name.short for name in names.values())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_row_number_stands_for_what_was_listed_in_this_terminal(
    samples: Path, home: Path
) -> None:
    """What you see is what you type; another terminal knows nothing of it."""
    first = on_a_terminal(
        home, samples, "recollect sessions --project webshop; recollect show 2.1; recollect show 99"
    )

    assert "Read one: recollect show 1" in first
    second = next(line for line in first.splitlines() if line.lstrip().startswith("2 "))
    assert f"{second.split()[-1]}" in first.partition("Read one")[2]
    assert "has no row 99" in first
    (kept,) = (samples / "rows").iterdir()
    assert all(line.count(":") == 1 and " " not in line for line in kept.read_text().splitlines())
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "There is no session" in on_a_terminal(home, samples, "recollect show 2") or (
        "has no row 2" in on_a_terminal(home, samples, "recollect show 2")
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_an_answer_longer_than_the_screen_goes_through_the_pager(samples: Path, home: Path) -> None:
    """As git's do; --no-pager, a high screen and a short answer need none."""
    show = "recollect show 453d"

    paged = on_a_terminal(home, samples, f"RECOLLECT_PAGER='sed s/^/PAGED/' {show}", rows=20)
    left_early = on_a_terminal(home, samples, f"PAGER='head -n 2' {show}; echo code $?", rows=20)
    plain = [
        on_a_terminal(home, samples, f"PAGER='sed s/^/PAGED/' {words}", rows=rows)
        for words, rows in ((f"{show} --no-pager", 20), (show, 500), ("recollect stats", 20))
    ]

    assert paged.startswith("PAGEDDeadlock while migration 0042 runs against live orders")
    assert len(left_early.splitlines()) == 3
    assert left_early.endswith("code 0\n")
    assert not any("PAGED" in answer for answer in plain)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_next_page_of_a_search_needs_no_cursor(samples: Path, home: Path) -> None:
    """The terminal remembers what was asked; another one knows nothing of it."""
    search = "recollect search migration --limit 2"

    first = on_a_terminal(home, samples, search)
    second = on_a_terminal(home, samples, f"{search}; echo and; recollect search --more")
    elsewhere = on_a_terminal(home, samples, "recollect search --more")

    assert "More: recollect search --more" in first
    assert "--cursor" not in first
    one, _, two = second.partition("and\n")
    assert one == first
    assert two.startswith(" 1  ")
    assert set(two.splitlines()[:2]).isdisjoint(first.splitlines())
    assert "error: No search was made in this terminal" in elsewhere


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_a_session_goes_on_in_its_agent(home: Path, tmp_path: Path) -> None:
    """In a pipe, with --print, or when it may not work, the command is printed instead."""
    folder, programs = tmp_path / "shop", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    agent = programs / "claude"
    agent.write_text('#!/bin/sh\necho "claude $* in $(pwd)"\n')
    agent.chmod(0o755)
    talk = small_talk(cwd=str(folder))
    log = claude_log(home, talk)
    with memory(home) as mind:
        mind.import_logs()
    resume = f"PATH={programs}:$PATH recollect resume {talk.session[:12]}"

    runs = on_a_terminal(home, home / ".recollect", resume)
    prints = on_a_terminal(home, home / ".recollect", f"{resume} --print; {resume} | cat")
    log.unlink()
    gone = on_a_terminal(home, home / ".recollect", resume)

    line = f"claude --resume {talk.session}"
    assert runs.splitlines()[-1] == f"{line} in {folder}"
    assert runs.startswith("Resuming in claude, ")
    assert prints == f"cd {folder} && {line}\n" * 2
    assert gone.startswith(f"cd {folder} && {line}\n")
    assert "is gone, so the agent cannot continue it" in gone
    assert f"recollect handoff {talk.session[:12]}" in gone


def on_a_terminal(home: Path, folder: Path, script: str, *, rows: int = 0) -> str:
    """What a shell in a terminal of its own shows for some commands."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
    program = f"{sys.executable} -P -m recollect"
    running = subprocess.Popen(
        ["sh", "-c", script.replace("recollect ", f"{program} ")],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, cwd=home,
        env={
            "HOME": str(home), "RECOLLECT_HOME": str(folder), "TERM": "xterm", "NO_COLOR": "1",
            "PYTHONUTF8": "1", "PATH": os.environ["PATH"],
        },
    )  # fmt: skip
    os.close(theirs)
    found = b""
    while True:
        try:
            found += (more := os.read(ours, 65_536))
        except OSError:
            break
        if not more:
            break
    os.close(ours)
    running.wait(30)
    return found.decode().replace("\r\n", "\n").replace(f"{program} ", "recollect ")


@pytest.mark.usefixtures("screen")
def test_the_sums_end_in_a_total_that_is_the_same_number_everywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most expensive first, names as short as they can be, nothing unknown is a zero."""
    monkeypatch.setenv("COLUMNS", "100")

    head, *rows = shown(capsys, "stats", "--by", "project")

    assert head.split() == [
        "project", "sessions", "turns", "calls", "failed", "tokens", "cached", "cost"
    ]  # fmt: skip
    assert [row.split()[0] for row in rows] == [
        "webshop", "fieldnotes", "tidepool", "infra", "total"
    ]  # fmt: skip
    assert rows[-1].split() == ["total", "24", "162", "313", "13", "%", "11.5M", "98", "%", "$5.55"]
    assert rows[0].endswith("━" * 16)


@pytest.mark.usefixtures("screen")
def test_bare_the_sums_are_of_weeks_agents_and_projects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = shown(capsys, "stats")

    assert re.fullmatch(r"[▁▂▃▄▅▆▇█]{12}  12 weeks to 2026-11-14, tokens a week", lines[0])
    assert [line.split()[0] for line in lines if line and line[0].islower()] == [
        "agent", "claude-code", "codex", "total",
        "project", "webshop", "fieldnotes", "tidepool", "infra", "total",
    ]  # fmt: skip


@pytest.mark.usefixtures("screen")
def test_an_error_that_comes_back_is_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """What it says and how often, then what became of it."""
    first, second, *_ = shown(capsys, "friction", "--sessions", "2")

    assert first.split()[:3] == ["1", "2", "sessions"]
    assert "failed to run custom build command" in first
    assert second.startswith("     ✓ all got past it · 2 projects · ")


@pytest.mark.usefixtures("screen")
def test_doctor_has_a_row_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    """All the checks are there with -v, and for a program."""
    lines = shown(capsys, "doctor")
    every = shown(capsys, "doctor", "-v")

    assert [line.split()[:2] for line in lines] == [
        ["✓", "Store"], ["✓", "Search"], ["✓", "Import"], ["✓", "Jobs"]
    ]  # fmt: skip
    assert "24 sessions (and 1 sub-agent), 162 turns" in lines[0]
    assert len(every) > 12


@pytest.mark.usefixtures("samples")
def test_in_a_project_its_own_sessions_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program gets the same rows; another project, or --all, says so."""
    webshop = "github.com/acme/webshop"
    monkeypatch.setattr("recollect.memory.projects.MemoryProjects.of", lambda self, at: webshop)

    counts = [
        len(shown(capsys, "sessions", "--limit", "99", *more))
        for more in ([], ["--all"], ["--project", "infra"], ["project:infra"], ["session:453d"])
    ]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")

    assert counts == [8, 24, 5, 5, 1]
    assert shown(capsys, "sessions")[0] == (
        "webshop · 8 sessions (24 in all projects: recollect ls --all)"
    )
    assert shown(capsys, "show", "last", "--digest")[0].startswith("claude-code:a75df633")


@pytest.mark.usefixtures("screen")
def test_edits_are_shown_as_patches(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "show", "453d.4", "--diff")

    assert "  ✎ migrations/env.py  +3 −4" in lines
    assert "    -        with connection.begin():" in lines
    assert not any("alembic upgrade" in line for line in lines)


def test_a_note_is_shown_by_its_id_alone(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As lists print it."""
    with memory(samples.parent) as mind:
        (note, *_) = mind.notes.search(limit=1)

    assert shown(capsys, "show", note.ref.removeprefix("note:"))[0].startswith(note.ref)


def test_the_files_that_are_not_committed_have_the_turns_behind_them(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The question that comes before a commit: what was this for?"""
    file = tmp_path / "shop" / "feeds" / "cache.py"
    file.parent.mkdir(parents=True)
    file.write_text("as it was\n")
    git = ["git", "-c", "user.email=a@example.org", "-c", "user.name=A"]
    for words in (
        ["init", "-q"], ["remote", "add", "origin", "git@github.com:acme/webshop.git"],
        ["add", "."], ["commit", "-qm", "first"],
    ):  # fmt: skip
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)

    clean = main(["blame"]), capsys.readouterr().err
    file.write_text("as it is\n")
    lines = shown(capsys, "blame")

    assert clean[0] == 2
    assert clean[1].startswith("Which file? ")
    assert lines[0].startswith("codex:01a1a188-")
    assert lines[0].split("  ")[0].endswith("#5")
