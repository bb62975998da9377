"""Saying yes to an engine is one line in config.toml, and so is saying no."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.serve.cli import main
from recollect.serve.install.engine import choose_engine
from recollect.settings import Settings


@pytest.mark.parametrize(
    "before",
    [
        "",
        '[llm]\nmodel = "x"\n',
        '[distill]\nidle_hours = 2\n\n[llm]\nmodel = "x"\n',
        '[distill] # mine\nengine = "llm"\nidle_hours = 2\n[watch]\ndebounce_ms = 5\n',
        'store = "/tmp/x.db"',
        "[llm]\n[distill]",
    ],
)
def test_one_line_changes_and_the_rest_stays(tmp_path: Path, before: str) -> None:
    """The file is the user's."""
    path = tmp_path / "recollect" / "config.toml"
    path.parent.mkdir()
    path.write_text(before)

    assert choose_engine(str(path), "claude-code")

    after = path.read_text()
    kept = [line for line in before.splitlines() if not line.startswith("engine")]
    assert [line for line in after.splitlines() if line in kept] == kept
    settings = Settings.load({"RECOLLECT_HOME": str(path.parent)})
    assert settings.text("distill.engine") == "claude-code"
    assert not choose_engine(str(path), "claude-code")


def test_installing_says_how_and_does_it_only_when_asked(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is off by default, and off again as easily."""
    folder = tmp_path / "own"
    monkeypatch.setenv("RECOLLECT_HOME", str(folder))
    config = folder / "config.toml"

    main(["install", "claude-code"])
    assert "recollect install claude-code --engine" in capsys.readouterr().err
    assert not config.exists()

    main(["install", "claude-code", "--engine"])
    assert 'engine = "claude-code"' in config.read_text()

    main(["uninstall", "claude-code", "--engine"])
    assert 'engine = "none"' in config.read_text()
