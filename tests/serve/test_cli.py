"""The command line, run the way a person runs it."""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.memory import Memory
from recollect.model.reports import RepairReport
from recollect.serve.cli import COMMANDS, load, main, parser
from recollect.serve.output import counted
from recollect.system import platforms
from tests.builders.claude_code import Conversation
from tests.conftest import move_into

SAMPLES = Path(recollect.__file__).parent / "samples"


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose store holds the sample sessions, and everything that is made of them.

    Made once in each worker; a test gets a copy.
    """
    home = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as environment:
        move_into(home, environment)
        assert main(["import", str(SAMPLES), "--wait"]) == 0
    return home


@pytest.fixture
def stored(home: Path, imported: Path) -> Path:
    """A home of the test's own with that store."""
    shutil.copytree(imported, home, dirs_exist_ok=True)
    return home


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """What a command with --json answered."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_without_a_store_it_says_how_to_begin(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first thing anybody types is the bare name."""
    assert main([]) == 0

    assert "recollect import" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["search word", "sessions", "show x", "stats", "projects", "doctor", "jobs", "export"],
)
def test_reading_before_importing_names_the_next_step(
    command: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asking an empty memory is no crash, and makes no store either."""
    assert main(command.split()) == 1

    assert "recollect import" in capsys.readouterr().err
    assert list(home.rglob("*.db")) == []


def test_bare_it_tells_what_is_stored(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe fields between tabs: project, sessions, turns, cost; then the newest sessions."""
    assert main(["--color", "never"]) == 0

    head, *rows = capsys.readouterr().out.splitlines()
    main(["sessions", "--limit", "3"])
    assert head.split("\t") == ["", "24", "162", "5.5523"]
    assert rows == capsys.readouterr().out.splitlines()


def test_importing_twice_keeps_everything_once(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """People run it without thinking about it."""
    assert main(["import", str(SAMPLES), "--json"]) == 0

    (report,) = lines(capsys)
    assert {name: report[name] for name in ("discovered", "imported", "updated", "unchanged",
    "turns")} == {
        "discovered": 25, "imported": 0, "updated": 0, "unchanged": 25, "turns": 0,
    }  # fmt: skip


def test_a_report_lists_every_source(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--report` says per source what was seen and kept; the totals come last."""
    assert main(["import", str(SAMPLES), "--report", "--json"]) == 0

    *sources, total = lines(capsys)
    assert len(sources) == total["discovered"] == 25
    assert sum(source["turns"] for source in sources) == total["turns"]  # type: ignore[misc]


def test_what_cannot_be_read_is_in_the_summary(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when nobody asked for the report."""
    log = (
        tmp_path
        / "copy"
        / ".claude"
        / "projects"
        / "-home-ada"
        / "5e551011-0000-4000-8000-000000000001.jsonl"
    )
    log.parent.mkdir(parents=True)
    log.symlink_to("nowhere")

    assert main(["import", str(tmp_path / "copy")]) == 0

    assert capsys.readouterr().out.startswith("0 logs read, 1 failed.\n")


def test_importing_where_no_agent_was_says_what_to_try(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Zeros alone are no help to somebody who expected sessions."""
    assert main(["import"]) == 0

    told = capsys.readouterr().err
    assert "recollect agents" in told
    assert "recollect demo" in told


def test_a_report_names_what_was_skipped_in_a_folder_and_why(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever points at a folder wonders what became of each file that looks like a log."""
    folder = tmp_path / "chats"
    folder.mkdir()
    shutil.copy(next((SAMPLES / "codex").rglob("rollout-*.jsonl")), folder)
    (folder / "odd.jsonl").write_text('{"x": 1}\n')
    (folder / "notes.rst").write_text("no log")

    assert main(["import", str(folder), "--report"]) == 0

    skipped = [line for line in capsys.readouterr().out.splitlines() if "skipped" in line]
    assert skipped == [f"skipped   {folder / 'odd.jsonl'}  no log of a supported agent"]


@pytest.mark.parametrize("ignored", ["PATH", "--dry-run", "--report", "--wait"])
def test_what_watching_would_ignore_is_refused(
    ignored: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run that writes is worse than none."""
    assert main(["import", "--watch", ignored]) == 2

    assert ignored in capsys.readouterr().err


def test_search_prints_a_reference_that_show_understands(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What one command prints, the next one takes."""
    assert main(["search", "migration", "deadlock", "--json", "--limit", "1"]) == 0
    (hit,) = lines(capsys)

    assert main(["show", str(hit["ref"]), "--json"]) == 0

    (turn,) = lines(capsys)
    assert turn["ref"] == hit["ref"]
    assert main(["show", str(hit["session"])]) == 0
    assert str(hit["ref"]) in capsys.readouterr().out


def test_words_that_no_turn_has_together_are_searched_one_by_one(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half an answer is better than none."""
    assert main(["search", "openssl", "tides", "lock_timeout", "kubernetes"]) == 0

    found = capsys.readouterr().out
    assert "openssl" in found
    assert "lock_timeout" in found


def test_nothing_found_is_exit_code_one(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts branch on it."""
    assert main(["search", "zyzzyva", "--mode", "text"]) == 1

    assert capsys.readouterr() == ("", 'Nothing found for "zyzzyva".\n')


def test_a_word_that_no_turn_has_is_answered_by_meaning_and_that_is_said(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever looks for an exact word must see at once that it is nowhere."""
    assert main(["search", "zyzzyva", "--limit", "3", "--json"]) == 0

    answer = capsys.readouterr()
    assert {json.loads(line)["matched"] for line in answer.out.splitlines()} == {"meaning"}
    assert answer.err.startswith("No session has these words. These are near in meaning.\n")


def test_before_anything_is_embedded_one_sentence_says_so(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first search often comes before the work in the background is done."""
    with Memory.open() as memory:
        memory.import_logs([SAMPLES])

    assert main(["search", "deadlock", "--limit", "50"]) == 0

    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("Searched by word only. No turn is embedded yet")


@pytest.mark.parametrize(
    "query",
    ['"', "-", "*", "AND OR NOT", 'a"b', "NEAR(", "☃", "a:b:c", "^x", "{", "col : x", '-"x'],
)
def test_whatever_a_person_types_is_a_query(
    query: str, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no syntax error: the text is searched as text."""
    assert main(["search", "--", query]) in (0, 1)


def test_an_unwanted_word_needs_no_quotes(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`-word` looks like an option and is none; real options still are."""

    def refs(*words: str) -> set[object]:
        assert main(["search", *words, "--json", "--limit", "50", "--mode", "text"]) == 0
        return {hit["ref"] for hit in lines(capsys)}

    assert refs("deadlock", "-migration") == refs("deadlock -migration") < refs("deadlock")
    assert refs("-hello", "deadlock") == refs("deadlock")
    assert refs("--agent", "codex", "deadlock") == refs("agent:codex deadlock")


def test_an_unknown_long_option_of_search_is_refused(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt option would otherwise change what is found without a word."""
    with pytest.raises(SystemExit) as stopped:
        main(["search", "deadlock", "--lmit", "3"])

    assert stopped.value.code == 2
    assert "--lmit" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["-1", "many", "1.5", "9" * 30])
@pytest.mark.parametrize(
    "command",
    [
        "search x --limit", "search x --offset", "sessions --limit", "sessions --offset",
        "export --limit", "stats --limit",
        "projects --limit", "agents --limit", "jobs --limit",
    ],
)  # fmt: skip
def test_a_limit_is_a_whole_number(
    command: str, value: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite takes a negative limit for none, and Python one that counts from the end."""
    with pytest.raises(SystemExit) as stopped:
        main([*command.split(), value])

    assert stopped.value.code == 2
    option = command.split()[-1]
    said = capsys.readouterr().err
    assert said.startswith(f"error: {option} needs a number")
    assert f'not "{value}".' in said


def test_an_unknown_command_suggests_a_known_one(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typo costs a second, not a look into the manual."""
    assert main(["serach", "x"]) == 2

    assert capsys.readouterr().err == 'error: There is no command "serach". Did you mean search?\n'


def test_an_unknown_reference_is_told_apart_from_an_ambiguous_one(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next step differs."""
    assert main(["show", "nobody"]) == 1
    assert 'There is no session "nobody".' in capsys.readouterr().err

    assert main(["show", "codex:0"]) == 2
    assert "matches more than 5 sessions:" in capsys.readouterr().err


def test_the_beginning_of_an_id_means_the_session_not_its_sub_agents(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sub-agent's id begins with that of its session, so a
    session could never be named in short.
    """
    whole = "claude-code:fa6dc211-ec57-4aa2-87b9-610460b390bc"

    for ref, meant in {
        "fa6dc211": whole,
        "claude-code:fa6d": whole,
        f"{whole}/a9": f"{whole}/a9f81e740487f6fa5",
    }.items():
        assert main(["show", ref, "--json"]) == 0
        assert [row["id"] for row in lines(capsys)] == [meant]


@pytest.mark.parametrize("store", ["sqlite://memory.db", "postgresql://ada@localhost/memory"])
def test_a_store_is_no_address(store: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise there would be a folder called `postgresql:` soon."""
    assert main(["import", "--store", store]) == 2

    assert "The store is a file" in capsys.readouterr().err


def test_a_store_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is an easy mistake, and "unable to open" is no help."""
    assert main(["sessions", "--store", str(tmp_path)]) == 2

    assert f"{tmp_path} is a folder." in capsys.readouterr().err


def test_errors_are_json_too_when_asked_for(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program reads the hint as well."""
    assert main(["show", "nobody", "--json"]) == 1

    error = json.loads(capsys.readouterr().err)
    assert error == {
        "error": 'There is no session "nobody".',
        "hint": "Try: recollect sessions",
        "exit_code": 1,
    }


def test_json_looks_the_same_whichever_encoder_writes_it(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cold search uses another one than the rest, and people grep for `"agent":"codex"`."""
    done = run("search", "agent:codex", "deadlock", "--json", "--limit", "1")
    assert main(["sessions", "agent:codex", "--json", "--limit", "1"]) == 0

    assert '"agent":"codex"' in done.stdout
    assert '"agent":"codex"' in capsys.readouterr().out


def test_sessions_can_be_filtered_and_limited(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same filters as options and as text."""
    assert main(["sessions", "--agent", "codex", "--limit", "3", "--json"]) == 0
    by_option = lines(capsys)
    assert main(["sessions", "agent:codex", "--limit", "3", "--json"]) == 0

    assert lines(capsys) == by_option
    assert [session["agent"] for session in by_option] == ["codex"] * 3


def test_statistics_add_up_however_they_are_grouped(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every turn is in one agent, one project and one day."""
    totals = []
    for by in ("all", "agent", "project", "domain", "day"):
        assert main(["stats", "--by", by, "--json"]) == 0
        totals.append(sum(row["turns"] for row in lines(capsys)))  # type: ignore[misc]

    assert totals == [162] * 5


def test_what_a_grouping_cannot_tell_is_a_dash(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model with 0 errors would be a claim that nobody checked."""
    assert main(["stats", "--by", "tool", "--limit", "1"]) == 0
    head, row = (line.split() for line in capsys.readouterr().out.splitlines())
    by_tool = dict(zip(head, row, strict=True))
    assert main(["stats", "--by", "model", "--limit", "1", "--json"]) == 0
    (by_model,) = lines(capsys)

    assert [name for name, value in by_tool.items() if value == "-"] == [
        "errors",
        "input",
        "cached",
        "written",
        "output",
        "cost",
    ]
    assert [name for name, value in by_model.items() if value is None] == [
        "errors",
        "tool_calls",
        "failed_tool_calls",
    ]


def test_one_turn_is_not_one_turns(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Small things are noticed first."""
    log = min(SAMPLES.rglob("rollout-*.jsonl"), key=lambda path: path.stat().st_size)

    assert main(["import", str(log)]) == 0

    assert capsys.readouterr().out.startswith("1 log read.\n1 session, ")
    assert (counted(1, "turn"), counted(0, "turn"), counted(2, "copy", "copies")) == (
        "1 turn",
        "0 turns",
        "2 copies",
    )


def test_a_domain_from_the_config_is_shown_and_can_be_filtered_by(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[domains] maps project patterns to names of the user's own."""
    config = Path(os.path.join(recollect_home(capsys), "config.toml"))
    config.write_text('[domains]\nshop = ["*/acme/webshop"]\n')

    assert main(["sessions", "domain:shop", "--limit", "1", "--json"]) == 0

    (session,) = lines(capsys)
    assert (session["domain"], session["project"]) == ("shop", "github.com/acme/webshop")


def test_settings_are_printed_as_they_stand_in_the_config(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """People copy a line from there and change it; a folder of Windows has backslashes."""
    config = Path(os.path.join(recollect_home(capsys), "config.toml"))
    config.write_text(
        "[sources]\nextra = ['C:\\logs', 'a \"b\" c']\n[domains]\nshop = ['*/acme/webshop']\n"
    )

    assert main(["config"]) == 0

    told = tomllib.loads(capsys.readouterr().out)
    assert told["sources"]["extra"] == ["C:\\logs", 'a "b" c']
    assert (told["redact"]["enabled"], told["domains"]) == (True, {"shop": ["*/acme/webshop"]})


def test_a_project_is_known_by_the_last_names_of_its_key(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a search: nobody types the host of a repository."""
    assert main(["memory", "--project", "webshop", "--json"]) == 0
    assert main(["memory", "--project", "Acme/WebShop", "--json"]) == 0
    told = lines(capsys)
    assert told[: len(told) // 2] == told[len(told) // 2 :]

    assert main(["memory", "--project", "shop"]) == 1
    assert 'There is no project "shop"' in capsys.readouterr().err


def recollect_home(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["config", "--json"]) == 0
    return str(next(row["value"] for row in lines(capsys) if row["key"] == "home"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[redact]\nenable = true\n", 'There is no setting "redact.enable"'),
        ("[llm]\nmax_cost_usd = -1\n", "llm.max_cost_usd is -1"),
        ("[llm]\nmax_cost_usd = nan\n", "llm.max_cost_usd is nan"),
    ],
)
def test_a_mistake_in_the_config_is_refused_by_name(
    stored: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt key would otherwise be ignored for ever, and a limit below nothing be none."""
    config = Path(os.path.join(recollect_home(capsys), "config.toml"))
    config.write_text(text)

    assert main(["sessions"]) == 65

    assert said in capsys.readouterr().err


def test_projects_merge_and_split(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Visible at once, and undone as easily."""
    one, other = "github.com/acme/webshop", "github.com/acme/infra"

    assert main(["projects", "merge", one, other]) == 0
    assert main(["projects", "--json"]) == 0
    merged = {row["key"]: row["merged"] for row in lines(capsys)}
    assert main(["projects", "split", one]) == 0
    assert main(["projects", "--json"]) == 0

    assert one not in merged
    assert one in merged[other]  # type: ignore[operator]
    assert one in {row["key"] for row in lines(capsys)}


def test_redact_filters_and_checks(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """stdin to stdout, and an exit code for hooks."""
    text = "DB_" + "PASSWORD=" + "correct-horse-battery-staple-42\n"

    clean = run("redact", stdin=text)
    assert clean.returncode == 0
    assert "correct-horse" not in clean.stdout
    assert clean.stdout.startswith("DB_PASSWORD=[REDACTED:")
    assert run("redact", "--check", stdin=text).returncode == 1
    assert run("redact", "--check", stdin="nothing to see\n").returncode == 0


def test_redacting_text_makes_no_store(home: Path) -> None:
    """It is used in hooks and pipelines on machines that keep nothing."""
    assert run("redact", stdin="nothing to see\n").stdout == "nothing to see\n"
    assert run("redact", "--check", stdin="nothing to see\n").stderr == ""

    assert list(home.rglob("*.db")) == []


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recollect", *arguments]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, check=False, timeout=60
    )


def test_forgetting_asks_first(
    stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be undone is not done by a slip; without a terminal it wants --yes."""
    assert main(["sessions", "--limit", "1", "--json"]) == 0
    (session,) = lines(capsys)
    ref = str(session["id"])

    assert run("forget", ref).returncode == 2
    assert main(["forget", ref, "--dry-run"]) == 0
    assert main(["show", ref]) == 0
    assert main(["forget", ref, "--yes"]) == 0
    assert main(["show", ref]) == 1
    assert main(["import", str(SAMPLES)]) == 0
    assert main(["show", ref]) == 1


def test_forgetting_once_more_finishes_what_was_in_the_way(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reader of an old state keeps the words in the files.

    Afterwards the same command takes them out.
    """
    ref = "claude-code:453dcfa0-ef37-4cb8-b57c-7e97169a2650"
    with Memory.open() as memory:
        reader = apsw.Connection(memory.settings.store, flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("begin")
        reader.execute("select count(*) from turns").fetchall()
        memory._shared.store().db.connection.set_busy_timeout(10)
        first = memory.store.forget(ref)
        reader.close()

    assert first.scrubbed is not None
    assert not first.scrubbed.complete
    assert main(["forget", ref, "--yes", "--json"]) == 0
    assert [row["scrubbed"]["pages"] for row in lines(capsys)] == [True]  # type: ignore[index]
    assert main(["forget", ref]) == 0
    assert capsys.readouterr().out == "It was forgotten already.\n"
    assert main(["forget", "nobody"]) == 1


def test_doctor_finds_a_sound_store_sound(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No news is good news, with an exit code."""
    assert main(["doctor", "--verify"]) == 0


def test_a_backup_is_a_store(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It can be searched like the one it was made from, and is not overwritten by accident."""
    copy = str(tmp_path / "copy.db")

    assert main(["backup", copy]) == 0
    assert main(["backup", copy]) == 2
    assert main(["search", "deadlock", "--store", copy]) == 0


def test_a_backup_goes_where_there_is_a_folder(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt folder is named, rather than made."""
    assert main(["backup", str(tmp_path / "nope" / "copy.db")]) == 2
    assert f"There is no folder {tmp_path / 'nope'}." in capsys.readouterr().err

    assert main(["backup", str(tmp_path), "--force"]) == 2
    assert f"{tmp_path} is a folder." in capsys.readouterr().err


def test_a_repair_tells_what_is_lost(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By table and by page, what could be told again, and what to do about the rest."""
    report = RepairReport(
        path="m.db", sound=False, damaged_copy="m.db.damaged", kept={"turns": 7}, lost={"bodies": 1,
        "usage": 0},
        rebuilt={"turns": 2}, lost_pages=3, sources_to_read_again=1, text_rebuilt=True,
        notes=["page 9 is not there"],
        next_steps=["Run `recollect import`. Logs to read again from their start: 1"],
    )  # fmt: skip

    assert load("repair").text(report).splitlines() == [
        "m.db was damaged. The damaged file is kept: m.db.damaged",
        "  kept 7 rows of turns",
        "  lost 1 row of bodies",
        "  built again 2 rows of turns",
        "  lost 3 pages with an unknown number of rows",
        "  the text index was built again",
        "  page 9 is not there",
        "  Run `recollect import`. Logs to read again from their start: 1",
    ]


def test_the_demo_uses_samples_where_there_is_nothing_else(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a store of their own, so that nothing made up gets into a memory.

    The second time only what is new is read.
    """
    assert main(["demo"]) == 0
    said = capsys.readouterr().err
    assert said.startswith(
        "No agent logs on this machine. Importing 24 sample sessions so that you can try it.\n"
        "✓ 24 sessions (and 1 sub-agent) of Claude Code and Codex, 162 turns, 4 projects in "
    )

    assert main(["demo"]) == 0
    assert "✓ Nothing new. 24 sessions (and 1 sub-agent) " in capsys.readouterr().err
    assert [path.name for path in home.rglob("*.db")] == ["demo.db"]


def test_the_samples_can_be_asked_afterwards(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each next step that the demo names works as it stands there."""
    assert main(["--demo", "search", "deadlock"]) == 1
    assert "recollect demo --sample" in capsys.readouterr().err
    assert main(["demo"]) == 0
    page = capsys.readouterr().out

    steps = [line.partition("$ recollect ")[2] for line in page.splitlines() if "--demo" in line]

    assert [shlex.split(step)[1] for step in steps] == ["search", "fix", "memory"]
    for step in steps:
        assert main(shlex.split(step)) == 0
    assert len(page.splitlines()) <= 24
    assert 'You wrote "hung", the session says "deadlock".' in page
    assert '"Use 5050 for the shop dev server from now on, everywhere."' in page
    assert main(["search", "deadlock", "--demo"]) == 0
    assert main(["--demo", "memory", "list", "--project", "webshop", "--limit", "1"]) == 0
    assert "--limit 1 --demo --cursor" in capsys.readouterr().err
    assert [path.name for path in home.rglob("*.db")] == ["demo.db"]


def test_the_first_search_of_the_demo_is_by_meaning_too(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It shows what recollect can do, so nothing is left to the background."""
    assert main(["demo", "--json"]) == 0

    answer = capsys.readouterr()
    assert {json.loads(line)["matched"] for line in answer.out.splitlines()} == {"both"}
    assert "embedded" not in answer.err
    with Memory.open(next(home.rglob("demo.db"))) as memory:
        assert memory.jobs.all() == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "Nothing is known about this folder yet. Other projects too: --everywhere\n"),
        (["--everywhere"], "Nothing relevant found. The agent is told nothing.\n"),
    ],
)
def test_silence_is_explained(
    options: list[str], said: str, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing good enough and nothing at all are two things."""
    assert main(["recall", "write a poem about spring", "--folder", str(stored), *options]) == 1

    assert capsys.readouterr() == ("", said)


def test_what_cannot_be_undone_is_typed(
    stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A key that was pressed too soon deletes nothing; the title says what would go."""
    monkeypatch.setattr(sys, "stdin", typed := io.StringIO("y\n"))
    monkeypatch.setattr(typed, "isatty", lambda: True)
    refused = main(["forget", "453d"])
    asked = capsys.readouterr().err

    monkeypatch.setattr(sys, "stdin", typed := io.StringIO("forget\n"))
    monkeypatch.setattr(typed, "isatty", lambda: True)
    done = main(["forget", "453d"])

    assert (refused, done) == (2, 0)
    assert asked.startswith(
        "Forget for good: Deadlock while migration 0042 runs against live orders (453dcfa0)\n"
    )
    assert "Type forget to confirm: error: Nothing was forgotten." in asked
    assert capsys.readouterr().out.startswith("forgot claude-code:453dcfa0")


def test_export_gives_every_session(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The way out is always open."""
    assert main(["export"]) == 0

    sessions = lines(capsys)
    assert len(sessions) == 25
    assert sum(len(session["turn_list"]) for session in sessions) == 162  # type: ignore[arg-type]


def test_what_a_log_says_cannot_steer_the_terminal(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escape codes in logs are shown as nothing, not obeyed."""
    from recollect.serve.output import printable

    assert printable("a\x1b[31mred\x1b[0m \x1b]0;title\x07b\x08c\n\td") == "ared b�c\n\td"


def test_json_cannot_steer_the_terminal_either(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """People look at it, and programs read the same as before."""
    said = "caf\u00e9 \u732b \x1b[31m \x9b2J \u202eright to left\u202c \u2066x \U000e0041 end"
    log = home / ".claude" / "projects" / "-home-ada-shop" / "one.jsonl"
    log.parent.mkdir(parents=True)
    talk = Conversation("one")
    talk.user(said)
    log.write_text("".join(talk.lines))
    assert main(["import"]) == 0
    capsys.readouterr()

    assert main(["show", "one#1", "--json"]) == 0

    printed = capsys.readouterr().out
    assert printed.removesuffix("\n").isprintable()
    assert "caf\u00e9 \u732b" in printed
    assert json.loads(printed)["prompt"] == said


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    """`--help` is the manual most people read."""
    text = parser(name, load(name)).format_help()

    assert f"recollect {name}" in text
    assert "--json" in text


@pytest.mark.parametrize(("mode", "modules"), [("text", 44), ("hybrid", 54)])
def test_a_cold_search_imports_little(mode: str, modules: int, stored: Path) -> None:
    """It is started thousands of times a day, so what it loads is counted."""
    code = (
        "import sys; from recollect.serve.cli import main; main(['search', 'deadlock', '--mode', "
        f"'{mode}']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stderr.split())
    heavy = {
        "msgspec", "dataclasses", "inspect", "logging", "json", "pathlib", "tomllib", "rich",
        "hyperscan", "re2",
        "asyncio", "numpy", "faiss",
    }  # fmt: skip
    assert loaded & heavy == set()
    ours = sorted(name for name in loaded if name.startswith("recollect"))
    assert len(ours) <= modules, ours


def test_logging_is_structured_and_silent_about_content(home: Path) -> None:
    """RECOLLECT_LOG chooses levels by stage; --log-json makes lines of JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "import", str(SAMPLES), "--log-json"],
        capture_output=True, text=True, check=True, env={**os.environ,
        "RECOLLECT_LOG": "info,capture=debug"},
    )  # fmt: skip

    logged = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert any(line["logger"] == "recollect.capture.sweep" for line in logged)


def test_an_unknown_log_level_is_refused(home: Path) -> None:
    """A typo in RECOLLECT_LOG would otherwise mean silence."""
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "agents"], capture_output=True, text=True, check=False,
        env={**os.environ, "RECOLLECT_LOG": "loud"},
    )  # fmt: skip

    assert done.returncode == 2
    assert 'There is no level "loud".' in done.stderr


def test_ctrl_c_says_what_is_kept(
    stored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`What is done so far is kept` is untrue of half a copy, which is taken away."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    target = tmp_path / "copies"
    target.mkdir()
    monkeypatch.setattr(platforms.PartialFile, "__enter__", _stopped_inside)
    assert main(["backup", str(target / "copy.db")]) == 130
    assert capsys.readouterr().err == "Stopped. No copy was made.\n"
    assert list(target.iterdir()) == []

    monkeypatch.setattr("recollect.memory.Memory.search", stop)
    assert main(["search", "deadlock"]) == 130
    assert capsys.readouterr().err == "Stopped.\n"

    monkeypatch.setattr("recollect.memory.jobs.MemoryJobs.work", stop)
    assert main(["jobs", "run"]) == 130
    assert "is kept" in capsys.readouterr().err


def _stopped_inside(file: platforms.PartialFile) -> str:
    """The name to write under, when somebody stops us as soon as something is written there."""
    Path(file.partial).write_text("half")
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        file.__exit__(type(error), error, None)
        raise
