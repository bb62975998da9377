"""docs/json.md is a contract: what commands print has the fields it lists, in that order."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.model.batch import ProjectIdentity
from recollect.model.injections import Share
from recollect.model.reports import RescannedValue
from recollect.serve.cli import main
from recollect.settings import Settings
from recollect.store import open_store
from tests.docs.conftest import ROOT, SAMPLES

PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
# A section's heading with the fields of its table.
FIELDS = {
    title: re.findall(r"^\| `(\w+)` \|", text, re.M)
    for title, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
}
SESSION = "claude-code:453dcfa0-ef37-4cb8-b57c-7e97169a2650"

CASES = [
    ("Summary", []),
    ("Session", ["sessions", "--limit", "3"]),
    ("Session + Session with its turns", ["show", SESSION]),
    ("Session + Session with its turns", ["export", "--limit", "2"]),
    ("Digest", ["show", SESSION, "--digest"]),
    ("Turn", ["show", f"{SESSION}#2"]),
    ("Hit", ["search", "deadlock"]),
    ("Hit", ["demo"]),
    ("Import report", ["import", str(SAMPLES)]),
    ("Source report", ["import", str(SAMPLES), "--report", "--dry-run", "--store", "none.db"]),
    (
        "Pack",
        [
            "recall",
            "the new migration deadlocks with the checkout worker; try it against a copy",
            "--everywhere",
        ],
    ),
    ("Note", ["memory", "--project", "github.com/acme/webshop"]),
    ("Continuation", ["resume", SESSION]),
    ("Handoff", ["handoff", SESSION, "--to", "codex"]),
    ("File change", ["blame", "README.md"]),
    ("Fix", ["fix", "database is locked"]),
    ("Invocation", ["how", "pytest"]),
    ("Friction", ["friction", "--sessions", "2"]),
    ("Statistics", ["stats", "--by", "model"]),
    ("Project", ["projects"]),
    ("Agent + Supported agent", ["agents"]),
    ("Finding", ["doctor", "--verify"]),
    ("Installed", ["install", "codex"]),
    ("Installed", ["uninstall", "codex", "--dry-run"]),
    ("Repair", ["doctor", "--repair"]),
    ("Backup", ["backup", "copy.db"]),
    ("Forgotten", ["forget", f"{SESSION}#2", "--dry-run"]),
    ("Forgotten", ["forget", f"{SESSION}#2", "--yes"]),
    ("Retained", ["retain", "--dry-run"]),
    ("Rescan", ["redact", "--rescan"]),
    ("Job", ["jobs"]),
    ("Embedding", ["jobs", "run", "embed", "--limit", "3"]),
    ("Work", ["jobs", "run"]),
    ("Setting", ["config"]),
    ("Sample", ["config", "--sample"]),
]


def listed(title: str) -> list[str]:
    """The fields of a section, or of several one after the other."""
    return [field for one in title.split(" + ") for field in FIELDS[one]]


def rows(argv: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """What a command prints with --json."""
    capsys.readouterr()
    main([*argv, "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("title", "argv"), CASES, ids=[" ".join(argv[:1]) or "overview" for _, argv in CASES]
)
@pytest.mark.usefixtures("samples")
def test_an_answer_has_the_fields_of_the_page(
    title: str, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Programs read these names; a change of one is a change of the contract."""
    if title == "Job":
        leave_a_job()

    found = rows(argv, capsys)

    if title == "Source report":
        assert list(found.pop()) == listed("Import report")
    assert found
    assert {tuple(row) for row in found} == {tuple(listed(title))}


def leave_a_job() -> None:
    store = open_store(Settings.load().store)
    with store.db.transaction():
        store.jobs.enqueue("optimize", "text")
    store.close()


@pytest.mark.usefixtures("samples")
def test_what_is_inside_an_answer_has_the_fields_of_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tokens, git facts and events are described once and used in many places."""
    [session] = rows(["show", SESSION], capsys)
    [forgotten] = rows(["forget", f"{SESSION}#1", "--yes"], capsys)
    [fix] = rows(["fix", "database is locked", "--limit", "1"], capsys)
    [pack] = rows(["recall", "--folder", "/home/mara/code/webshop"], capsys)
    events = [event for turn in session["turn_list"] for event in turn["events"]]
    calls = [event for event in events if event["kind"] == "tool_call"]

    assert list(session["tokens"]) == listed("Tokens")
    assert list(session["git"]) == listed("Git")
    assert {tuple(turn) for turn in session["turn_list"]} == {tuple(listed("Turn"))}
    assert list(forgotten["scrubbed"]) == listed("Scrubbed")
    assert list(RescannedValue.__struct_fields__) == listed("RescannedValue")
    assert [list(step) for step in [*fix["steps"], fix["proof"]]] == [listed("FixStep")] * (
        len(fix["steps"]) + 1
    )
    assert pack["lines"]
    assert {tuple(line) for line in pack["lines"]} == {tuple(listed("Pack line"))}
    assert calls
    for event in events:
        # What an event does not have is left out; what it has is in the page's order.
        known = listed("Event + Tool call") if event in calls else listed("Event")
        assert list(event) == [field for field in known if field in event]


@pytest.mark.usefixtures("samples")
def test_what_is_inside_a_digest_has_the_fields_of_the_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever draws conclusions from sessions reads these."""
    main(["jobs", "run"])
    sessions = rows(["sessions", "--limit", "100"], capsys)
    digests = [
        digest
        for session in sessions
        for digest in rows(["show", session["id"], "--digest"], capsys)
    ]
    tasks = [task for digest in digests for task in digest["tasks"]]

    def fields(name: str, of: list[dict[str, Any]]) -> set[tuple[str, ...]]:
        return {tuple(inner) for one in of for inner in one[name]}

    assert fields("tasks", sessions) == {tuple(listed("Session task"))}
    assert fields("tasks", digests) == {tuple(listed("Task"))}
    assert fields("evidence", tasks) == {tuple(listed("Evidence"))}
    assert fields("runs", tasks) == {tuple(listed("Run"))}
    assert fields("errors", tasks) == {tuple(listed("Trouble"))}


@pytest.mark.usefixtures("samples")
def test_room_has_the_fields_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only who has set a limit is told."""
    (tmp_path / "recollect" / "config.toml").write_text("[retain]\nraw_max_age_days = 90\n")

    [summary] = rows([], capsys)

    assert list(summary["room"]) == listed("Room")


@pytest.mark.usefixtures("samples")
def test_a_problem_has_the_fields_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody's log is broken in some way every day."""
    log = tmp_path / "rollout-broken.jsonl"
    first = (
        next((SAMPLES / "codex").rglob("rollout-*.jsonl"))
        .read_text(encoding="utf-8")
        .splitlines()[0]
    )
    log.write_text(f"{first}\n{{broken\n", encoding="utf-8")

    source, _ = rows(["import", str(log), "--report"], capsys)

    assert [list(problem) for problem in source["problems"]] == [listed("Problem")]


@pytest.mark.usefixtures("samples")
def test_a_secret_has_the_fields_of_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`redact --check` is made for hooks and pipelines."""

    def fed(argv: list[str]) -> list[dict[str, Any]]:
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\nDB_PASSWORD=walrus-umbrella-77\n"))
        )
        return rows(argv, capsys)

    [secret], [text] = fed(["redact", "--check"]), fed(["redact"])

    assert list(secret) == listed("Secret")
    assert secret["line"] == 2
    assert list(text) == listed("Redacted text")


@pytest.mark.usefixtures("samples")
def test_an_error_has_the_fields_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """It goes to stderr, so that what is on stdout is always an answer."""
    code = main(["show", "codex:no-such-session", "--json"])

    printed = capsys.readouterr()
    error = json.loads(printed.err)

    assert printed.out == ""
    assert list(error) == listed("Error")
    assert error["exit_code"] == code == 1


@pytest.mark.usefixtures("samples")
def test_what_is_published_has_the_fields_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pipelines check files with these."""
    folder = str(tmp_path / "shop")
    Path(folder).mkdir()
    store = open_store(Settings.load().store)
    store.projects.ensure(ProjectIdentity(folder, "directory"))
    store.notes.add("use tabs", project=folder, category="preference", author="person")
    store.close()

    [publication] = rows(["publish", "--project", folder], capsys)

    assert list(publication) == listed("Publication")


@pytest.mark.usefixtures("samples")
def test_what_was_told_has_the_fields_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever wants to know whether telling helps counts these."""
    rows(["recall", "--folder", "/home/mara/code/webshop"], capsys)
    with Memory.open() as memory:
        project = "github.com/acme/webshop"
        refs = [line.ref for line in memory.recall(project=project).lines]
        memory.injections.record("hook", "SessionStart", refs, agent="codex")

    [told] = rows(["told"], capsys)
    effects = rows(["told", "--effect"], capsys)

    assert list(told) == listed("Injection")
    assert {tuple(line) for line in told["lines"]} == {tuple(listed("Injection line"))}
    assert {tuple(effect) for effect in effects} == {tuple(listed("Effect"))}
    assert list(Share.__struct_fields__) == listed("Share")


def test_every_section_is_tested() -> None:
    """A new answer comes with its test."""
    inner = {
        "Tokens", "Git", "Event", "Tool call", "FixStep", "Pack line", "Problem", "Scrubbed",
        "RescannedValue", "Secret", "Redacted text", "Error",
        "Session task", "Task", "Evidence", "Run", "Trouble", "Room", "Leaving",
        "Publication", "Injection", "Injection line", "Effect", "Share",
        # These need a server: tests/share/postgres/test_commands.py.
        "Team status", "SharedProject", "Invitation", "Membership", "Share plan", "Sync", "Member",
        "Team hit",
    }  # fmt: skip

    assert {title for case, _ in CASES for title in case.split(" + ")} | inner == set(FIELDS)
    assert all(FIELDS.values())
