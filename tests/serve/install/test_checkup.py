"""What `recollect doctor` says about the agents that we are installed in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.model.reports import HealthCheck, Integration
from recollect.serve.cli import main
from recollect.serve.install import install
from recollect.serve.install.checkup import findings

HERE = Integration(
    agent="claude-code",
    scope="user",
    hooks=True,
    mcp=True,
    skill=True,
    command="/usr/bin/recollect",
)
NOON = 1_794_830_400_000


def test_hooks_that_fired_are_listed_with_their_time() -> None:
    """The newest first: it tells whether the agent calls us at all."""
    fired = {
        ("claude-code", "SessionStart"): (NOON, None),
        ("claude-code", "Stop"): (NOON + 60_000, None),
    }

    assert findings([HERE], {**fired, ("codex", "Stop"): (NOON, None)}) == [
        HealthCheck(
            name="connected to claude-code",
            ok=True,
            detail=(
                "hooks, mcp, skill for you; Stop last ran 2026-11-16 12:01; SessionStart "
                "last ran 2026-11-16 12:00"
            ),
        )
    ]


def test_a_hook_that_ended_in_a_fault_says_so() -> None:
    """It is silent towards the agent, so nobody else would tell."""
    [finding] = findings([HERE], {("claude-code", "Stop"): (NOON, "TimeoutError")})

    assert finding.detail.endswith("Stop last ran 2026-11-16 12:00 and failed (TimeoutError)")


def test_hooks_that_never_fired_come_with_what_to_do() -> None:
    """Codex skips what was not trusted, without a word."""
    [finding] = findings([Integration(agent="codex", scope="user", hooks=True)], {})

    assert (finding.ok, finding.warning) == (False, True)
    assert finding.detail == "hooks for you; its hooks never ran"
    assert "/hooks" in finding.hint


def test_an_integration_without_hooks_is_not_expected_to_fire() -> None:
    """Somebody wants the server and no more."""
    [finding] = findings([Integration(agent="codex", scope="project", mcp=True)], {})

    assert finding == HealthCheck(name="connected to codex", ok=True, detail="mcp in this project")


def test_nothing_is_said_about_firing_when_the_store_cannot_tell() -> None:
    """A damaged store does not mean that no hook ran."""
    [finding] = findings([HERE], None)

    assert finding == HealthCheck(
        name="connected to claude-code", ok=True, detail="hooks, mcp, skill for you"
    )


def test_a_plugin_is_expected_to_fire_as_well() -> None:
    """It brings the hooks."""
    [finding] = findings(
        [Integration(agent="claude-code", scope="user", plugin="recollect@market")], {}
    )

    assert (finding.ok, finding.detail) == (
        False,
        "recollect@market for you; its hooks never ran",
    )


def test_doctor_finds_a_command_that_is_gone(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment it was installed in was deleted, and the
    agent has been calling nobody since.
    """
    monkeypatch.chdir(tmp_path)
    assert main(["import"]) == 0
    install("gemini-cli", folder=str(tmp_path), environ={}, call=["/gone/recollect"])
    capsys.readouterr()

    assert main(["doctor", "--json"]) == 65

    finding = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert finding == {
        "name": "connected to gemini-cli",
        "ok": False,
        "warning": False,
        "detail": "hooks, mcp, skill for you; its hooks never ran; the command that it calls is "
        "gone: /gone/recollect",
        "hint": "Bring the path up to date: recollect install gemini-cli",
    }
