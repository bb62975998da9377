"""`recollect team` as people type it, from nothing to two machines that share."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.serve.cli import main
from tests.docs.test_json import FIELDS
from tests.share.people import PROJECT, clone
from tests.share.servers import PASSWORD


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sits down at a machine: its home, in a clone of the project."""

    def sit(name: str) -> None:
        folder = tmp_path / name
        if not folder.exists():
            clone(folder / "shop")
        monkeypatch.setenv("RECOLLECT_HOME", str(folder))
        monkeypatch.chdir(folder / "shop")

    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return sit


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    def run(*words: str, typed: str = "") -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_two_machines_share_in_five_commands(
    machine: Any, run: Any, hub_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/team.md has it."""
    machine("laptop")
    run("memory", "add", "Use pnpm here, never npm")

    code, link, said = run("team", "init", hub_url)
    monkeypatch.setenv("RECOLLECT_TEAM_PASSWORD", link.partition("secret=")[2].strip())
    shared = run("team", "share", "notes")
    first = run("team", "sync")
    machine("workstation")
    joined = run("team", "join", typed=link)
    second = run("team", "sync")

    assert code == 0
    assert "its admin" in said
    assert shared[0] == 0
    assert first[1] == "1 shared\n"
    assert joined[1].startswith("You are ")
    assert second[1] == "1 came in\n"
    assert "Use pnpm here, never npm" in run("review")[1]


def test_answers_have_the_fields_of_the_page(
    machine: Any, run: Any, hub_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine("laptop")
    run("memory", "add", "Use pnpm here, never npm")

    def row(*words: str, typed: str = "") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run("team", *words, "--json", typed=typed)[1])
        return found

    invitation = row("init", hub_url)
    monkeypatch.setenv("RECOLLECT_TEAM_PASSWORD", invitation["link"].partition("secret=")[2])
    plan = row("share", "notes", "--project", PROJECT, "--dry-run")
    run("team", "share", "notes")
    sync, status, member = row("sync"), row(), row("members")
    hit = json.loads(run("search", "pnpm", "--team", "--json")[1])
    machine("workstation")
    membership = row("join", typed=invitation["link"])

    assert list(invitation) == FIELDS["Invitation"]
    assert list(plan) == FIELDS["Share plan"]
    assert list(hit) == FIELDS["Team hit"]
    assert list(sync) == FIELDS["Sync"]
    assert list(status) == FIELDS["Team status"]
    assert list(status["projects"][0]) == FIELDS["SharedProject"]
    assert list(member) == FIELDS["Member"]
    assert list(membership) == FIELDS["Membership"]


def test_a_password_on_the_command_line_is_refused(machine: Any, run: Any) -> None:
    """Everybody on the machine sees it there."""
    machine("laptop")

    code, _, said = run("team", "init", "postgresql://postgres:secret@localhost/db")

    assert code == 2
    assert "must not hold a password" in said


@pytest.mark.parametrize(
    "url", ["postgresql://me@db.acme.com/x?sslmode=disable", "http://db.acme.com",
            "postgresql://me@localhost/x?host=db.acme.com&sslmode=prefer"],
)  # fmt: skip
def test_nothing_goes_far_without_encryption(machine: Any, run: Any, url: str) -> None:
    machine("laptop")

    code, _, said = run("team", "init", url)

    assert code == 2
    assert "without encryption" in said


def test_a_store_without_a_team_says_how_to_get_one(machine: Any, run: Any) -> None:
    machine("laptop")

    code, _, said = run("team")

    assert code == 2
    assert "recollect team init URL" in said
