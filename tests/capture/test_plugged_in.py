"""Adapters of other packages, plugged in by an entry point."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from recollect.capture.adapters import BUILT_IN, agents, find_adapters, get_adapter
from recollect.errors import UsageError
from recollect.memory import Memory
from tests.builders.notebook import notebook


def plugged_in(folder: Path, monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Install a package, as pip leaves it, that brings adapters."""
    info = folder / "scribe_for_recollect-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: scribe-for-recollect\nVersion: 1.0\n"
    )
    lines = [f"{agent} = {target}" for agent, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[recollect.adapters]", *lines]) + "\n")
    monkeypatch.syspath_prepend(str(folder))


def test_an_adapter_of_another_package_imports_like_one_of_ours(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged_in(tmp_path / "packages", monkeypatch, notebook="tests.builders.notebook:Notebook")
    notebook(home / ".notebook" / "a.json", {"session": "a", "turns": [["1", "water the roses"]]})

    with Memory.open(home / "recollect.db") as mind:
        report = mind.import_logs()
        rows = {row.agent: (row.name, row.sources, row.sessions) for row in mind.agents.all()}

    assert (report.imported, report.turns) == (1, 1)
    assert rows["notebook"] == ("Notebook", 1, 1)
    assert agents()[-1] == "notebook"


def test_asking_for_one_agent_takes_none_from_those_who_ask_for_all(home: Path) -> None:
    """A process that stays imports one agent's log after another, and everything now and then."""
    with Memory.open(home / "recollect.db") as mind:
        mind.import_logs(agents=[next(iter(BUILT_IN))])

        assert [adapter.agent for adapter in mind.agents.adapters()] == list(BUILT_IN)


def test_one_that_cannot_be_loaded_stops_nobody_else(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An import of all agents goes on without it; who asks for it by name is told what to do."""
    plugged_in(
        tmp_path / "packages", monkeypatch, broken="nowhere.at_all:Adapter", idle="json:JSONDecoder"
    )

    with caplog.at_level(logging.WARNING):
        found = [adapter.agent for adapter in find_adapters()]

    assert found == list(BUILT_IN)
    assert [record.message for record in caplog.records] == ["an adapter was left out"] * 2
    with pytest.raises(
        UsageError, match="broken of scribe-for-recollect cannot be loaded: ModuleNotFoundError"
    ) as fault:
        get_adapter("broken")
    assert fault.value.hint == "Upgrade or uninstall scribe-for-recollect."
    with pytest.raises(
        UsageError, match="idle of scribe-for-recollect has no agent, name, version"
    ):
        get_adapter("idle")


def test_one_may_not_pass_for_another_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged_in(tmp_path / "packages", monkeypatch, diary="tests.builders.notebook:Notebook")

    with pytest.raises(UsageError, match="calls itself notebook"):
        get_adapter("diary")


def test_our_own_adapters_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = next(iter(BUILT_IN))
    plugged_in(tmp_path / "packages", monkeypatch, **{agent: "json:JSONDecoder"})

    assert get_adapter(agent).agent == agent
    assert agents().count(agent) == 1


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match='There is no agent "nobody"') as fault:
        get_adapter("nobody")

    assert next(iter(BUILT_IN)) in str(fault.value.hint)


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("clod", "claude-code"),
        ("claude", "claude-code"),
        ("codx", "codex"),
        ("Gemini", "gemini-cli"),
    ],
)
def test_an_agent_whose_name_was_mistyped_is_guessed(wanted: str, meant: str) -> None:
    with pytest.raises(UsageError) as fault:
        get_adapter(wanted)

    assert fault.value.hint == f"Did you mean {meant}?"
