"""The command line, run the way a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from recollect.serve.cli import COMMANDS, load, main, parser

SAMPLES = Path(recollect.__file__).parent / "samples"


@pytest.fixture
def stored(home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A home whose store holds the sample sessions."""
    assert main(["import", str(SAMPLES), "--wait"]) == 0
    capsys.readouterr()
    return home


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """What a command with --json answered."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_without_a_store_it_says_how_to_begin(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first thing anybody types is the bare name."""
    assert main([]) == 0

    assert "recollect import" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["search word", "sessions", "show x", "stats", "projects", "doctor", "jobs", "export"])
def test_reading_before_importing_names_the_next_step(command: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asking an empty memory is no crash, and makes no store either."""
    assert main(command.split()) == 1

    assert "recollect import" in capsys.readouterr().err
    assert list(home.rglob("*.db")) == []


def test_bare_it_tells_what_is_stored(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts and what to try next, on one screen."""
    assert main([]) == 0

    assert "25 sessions, 162 turns" in capsys.readouterr().out


def test_importing_twice_keeps_everything_once(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """People run it without thinking about it."""
    assert main(["import", str(SAMPLES), "--json"]) == 0

    (report,) = lines(capsys)
    assert {name: report[name] for name in ("discovered", "imported", "updated", "unchanged", "turns")} == {
        "discovered": 25, "imported": 0, "updated": 0, "unchanged": 25, "turns": 0,
    }  # fmt: skip


def test_a_report_lists_every_source(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--report` says per source what was seen and kept; the totals come last."""
    assert main(["import", str(SAMPLES), "--report", "--json"]) == 0

    *sources, total = lines(capsys)
    assert len(sources) == total["discovered"] == 25
    assert sum(source["turns"] for source in sources) == total["turns"]  # type: ignore[misc]


def test_search_prints_a_reference_that_show_understands(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What one command prints, the next one takes."""
    assert main(["search", "migration", "deadlock", "--json", "--limit", "1"]) == 0
    (hit,) = lines(capsys)

    assert main(["show", str(hit["ref"]), "--json"]) == 0

    (turn,) = lines(capsys)
    assert turn["ref"] == hit["ref"]
    assert main(["show", str(hit["session"])]) == 0
    assert str(hit["ref"]) in capsys.readouterr().out


def test_words_that_no_turn_has_together_are_searched_one_by_one(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the answer says so."""
    assert main(["search", "openssl", "tides", "lock_timeout", "kubernetes"]) == 0

    assert "any of them" in capsys.readouterr().err


def test_nothing_found_is_exit_code_one(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts branch on it."""
    assert main(["search", "zyzzyva"]) == 1

    assert capsys.readouterr() == ("", "nothing found for zyzzyva\n")


@pytest.mark.parametrize("query", ['"', "-", "*", "AND OR NOT", 'a"b', "NEAR(", "☃", "a:b:c", "^x", "{", "col : x", "-\"x"])
def test_whatever_a_person_types_is_a_query(query: str, stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no syntax error: the text is searched as text."""
    assert main(["search", "--", query]) in (0, 1)


def test_an_unknown_command_suggests_a_known_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A typo costs a second, not a look into the manual."""
    assert main(["serach", "x"]) == 2

    assert "did you mean `recollect search`?" in capsys.readouterr().err


def test_an_unknown_reference_is_told_apart_from_an_ambiguous_one(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The next step differs."""
    assert main(["show", "nobody"]) == 1
    assert "no session is called nobody" in capsys.readouterr().err

    assert main(["show", "codex:0"]) == 2
    assert "means several sessions" in capsys.readouterr().err


def test_errors_are_json_too_when_asked_for(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads the hint as well."""
    assert main(["show", "nobody", "--json"]) == 1

    error = json.loads(capsys.readouterr().err)
    assert error == {"error": "no session is called nobody", "hint": "`recollect sessions` lists them", "exit_code": 1}


def test_sessions_can_be_filtered_and_limited(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same filters as options and as text."""
    assert main(["sessions", "--agent", "codex", "--limit", "3", "--json"]) == 0
    by_option = lines(capsys)
    assert main(["sessions", "agent:codex", "--limit", "3", "--json"]) == 0

    assert lines(capsys) == by_option
    assert [session["agent"] for session in by_option] == ["codex"] * 3


def test_statistics_add_up_however_they_are_grouped(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every turn is in one agent, one project and one day."""
    totals = []
    for by in ("all", "agent", "project", "domain", "day"):
        assert main(["stats", "--by", by, "--json"]) == 0
        totals.append(sum(row["turns"] for row in lines(capsys)))  # type: ignore[misc]

    assert totals == [162] * 5


def test_a_domain_from_the_config_is_shown_and_can_be_filtered_by(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """[domains] maps project patterns to names of the user's own."""
    config = Path(os.path.join(recollect_home(capsys), "config.toml"))
    config.write_text('[domains]\nshop = ["*/acme/webshop"]\n')

    assert main(["sessions", "domain:shop", "--limit", "1", "--json"]) == 0

    (session,) = lines(capsys)
    assert (session["domain"], session["project"]) == ("shop", "github.com/acme/webshop")


def recollect_home(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["config", "--json"]) == 0
    return str(next(row["value"] for row in lines(capsys) if row["key"] == "home"))


def test_a_mistake_in_the_config_is_refused_by_name(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt key would otherwise be ignored for ever."""
    config = Path(os.path.join(recollect_home(capsys), "config.toml"))
    config.write_text("[redact]\nenable = true\n")

    assert main(["sessions"]) == 65

    assert "no setting is called redact.enable" in capsys.readouterr().err


def test_projects_merge_and_split(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Visible at once, and undone as easily."""
    one, other = "github.com/acme/webshop", "github.com/acme/infra"

    assert main(["projects", "merge", one, other]) == 0
    assert main(["projects", "--json"]) == 0
    merged = {row["key"]: row["merged"] for row in lines(capsys)}
    assert main(["projects", "split", one]) == 0
    assert main(["projects", "--json"]) == 0

    assert one not in merged and one in merged[other]  # type: ignore[operator]
    assert one in {row["key"] for row in lines(capsys)}


def test_redact_filters_and_checks(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """stdin to stdout, and an exit code for hooks."""
    text = "DB_" + "PASSWORD=" + "correct-horse-battery-staple-42\n"

    clean = run("redact", stdin=text)
    assert clean.returncode == 0
    assert "correct-horse" not in clean.stdout and clean.stdout.startswith("DB_PASSWORD=[REDACTED:")
    assert run("redact", "--check", stdin=text).returncode == 1
    assert run("redact", "--check", stdin="nothing to see\n").returncode == 0


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "recollect", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=60)


def test_forgetting_asks_first(stored: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_doctor_finds_a_sound_store_sound(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No news is good news, with an exit code."""
    assert main(["doctor", "--verify"]) == 0


def test_a_backup_is_a_store(stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It can be searched like the one it was made from, and is not overwritten by accident."""
    copy = str(tmp_path / "copy.db")

    assert main(["backup", copy]) == 0
    assert main(["backup", copy]) == 2
    assert main(["search", "deadlock", "--store", copy]) == 0


def test_export_gives_every_session(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The way out is always open."""
    assert main(["export"]) == 0

    sessions = lines(capsys)
    assert len(sessions) == 25
    assert sum(len(session["turn_list"]) for session in sessions) == 162  # type: ignore[arg-type]


def test_what_a_log_says_cannot_steer_the_terminal(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape codes in logs are shown as nothing, not obeyed."""
    from recollect.serve.cli.output import printable

    assert printable("a\x1b[31mred\x1b[0m \x1b]0;title\x07b\x08c\n\td") == "ared b�c\n\td"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    """`--help` is the manual most people read."""
    text = parser(name, load(name)).format_help()

    assert f"recollect {name}" in text
    assert "--json" in text


def test_a_cold_search_imports_little(stored: Path) -> None:
    """It is started thousands of times a day, so what it loads is counted."""
    code = (
        "import sys; from recollect.serve.cli import main; main(['search', 'deadlock']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stderr.split())
    heavy = {"msgspec", "dataclasses", "inspect", "logging", "json", "pathlib", "tomllib", "rich", "hyperscan", "re2", "asyncio"}
    assert loaded & heavy == set()
    assert len([name for name in loaded if name.startswith("recollect")]) <= 24


def test_logging_is_structured_and_silent_about_content(stored: Path) -> None:
    """RECOLLECT_LOG chooses levels by stage; --log-json makes lines of JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "import", str(SAMPLES), "--log-json"],
        capture_output=True, text=True, check=True, env={**os.environ, "RECOLLECT_LOG": "info,capture=debug"},
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
    assert "no level is called loud" in done.stderr
