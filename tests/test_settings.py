"""Where a setting comes from: its default, config.toml or a file that was named, a variable,
and what was said for one run.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.errors import SettingsError
from recollect.memory import Memory
from recollect.serve.cli import COMMANDS, load, main, parser
from recollect.settings import KEYS, Settings, variable_of


def settings(folder: Path, **variables: str) -> Settings:
    return Settings.load({"RECOLLECT_HOME": str(folder), **variables})


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("store", "/srv/r.db", "/srv/r.db"),
        ("embed.provider", "onnx", "onnx"),
        ("embed.gpu_layers", "-1", -1),
        ("redact.enabled", "off", False),
        ("distill.second_look", "true", True),
        ("llm.max_cost_usd", "0.5", 0.5),
        ("llm.max_cost_usd", "2", 2),
        ("sources.agents", "codex, gemini-cli", ["codex", "gemini-cli"]),
        ("sources.excluded", '["/tmp/a,b", "*/old"]', ["/tmp/a,b", "*/old"]),
        ("domains", '{work = ["github.com/acme/*"]}', {"work": ["github.com/acme/*"]}),
    ],
)
def test_a_variable_is_stronger_than_the_file(
    tmp_path: Path, key: str, text: str, value: object
) -> None:
    """For one run nobody wants to edit a file, and a container may have none."""
    (tmp_path / "config.toml").write_text('store = "/x.db"\n[embed]\nprovider = "gguf"\n')

    assert settings(tmp_path, **{variable_of(key): text}).get(key) == value


def test_every_setting_has_a_variable_of_its_own() -> None:
    """Two keys with one variable would set each other."""
    assert len({variable_of(key) for key in KEYS}) == len(KEYS)
    assert variable_of("embed.gpu_layers") == "RECOLLECT_EMBED_GPU_LAYERS"


def test_an_empty_variable_sets_nothing(tmp_path: Path) -> None:
    """That is how a shell unsets one for a single command."""
    assert settings(tmp_path, RECOLLECT_EMBED_PROVIDER="").get("embed.provider") == "static"


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("RECOLLECT_EMBED_BATCH", "many", "RECOLLECT_EMBED_BATCH must be a whole number."),
        ("RECOLLECT_REDACT_ENABLED", "perhaps", "RECOLLECT_REDACT_ENABLED must be true or false."),
        ("RECOLLECT_EMBED_BATCH", "-2", "RECOLLECT_EMBED_BATCH is -2"),
        ("RECOLLECT_EMBED_BATCH", "1\nx = 2", "RECOLLECT_EMBED_BATCH must be a whole number."),
    ],
)
def test_a_variable_that_cannot_be_is_refused_by_name(
    tmp_path: Path, variable: str, text: str, said: str
) -> None:
    """Ignored, it would look as if it worked."""
    with pytest.raises(SettingsError) as refused:
        settings(tmp_path, **{variable: text})

    assert str(refused.value) == said


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_given_a_config_file(command: str) -> None:
    if command != "hook":
        assert "--config FILE" in parser(command, load(command)).format_help()


def test_a_named_file_is_read_instead_of_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not beside it: what the usual one says must not leak into somebody's experiment."""
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('store = "/x.db"\n[embed]\nprovider = "gguf"\n')
    other = tmp_path / "other.toml"
    other.write_text("[embed]\nbatch = 8\n")

    assert main(["config", "--json", "--config", str(other)]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    told = {row["key"]: row["value"] for row in rows}

    assert (told["config"], told["store"]) == (str(other), str(tmp_path / "recollect.db"))
    assert (told["embed.provider"], told["embed.batch"]) == ("static", 8)
    monkeypatch.setenv("RECOLLECT_CONFIG", str(other))
    assert Settings.load().get("embed.batch") == 8
    assert Settings.load().arguments() == [
        "--store", str(tmp_path / "recollect.db"), "--config", str(other),
    ]  # fmt: skip


def test_a_named_file_that_is_not_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Taken for an empty one, a slip would show the wrong store."""
    assert main(["sessions", "--config", str(tmp_path / "missing.toml")]) == 65
    assert "missing.toml cannot be read" in capsys.readouterr().err


def test_a_memory_can_be_opened_with_settings_of_its_own(tmp_path: Path) -> None:
    """A program has no config.toml; another process that it starts gets them as variables."""
    changed = {"embed.provider": "onnx", "embed.threads": 2}
    with Memory.open(
        environ={"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_EMBED_THREADS": "7"}, settings=changed
    ) as memory:
        again = settings(tmp_path, **memory.settings.variables())

    assert [again.get(key) for key in changed] == ["onnx", 2]
    with pytest.raises(SettingsError, match=r'There is no setting "embed\.colour"'):
        Memory.open(environ={"RECOLLECT_HOME": str(tmp_path)}, settings={"embed.colour": "red"})
