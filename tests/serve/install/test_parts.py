"""What holds for every settings file: what install puts in, uninstall takes out to the byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given

from recollect.errors import FileRefused
from recollect.serve.install.jsonc import JsonFile
from recollect.serve.install.parts import InstallPart, JsonHooks, JsonServer, TomlServer
from tests.serve.install import test_jsonc, test_toml

ENTRY = {"command": "/opt/my tools/recollect", "args": ["mcp"]}
HOOK = {"type": "command", "command": "/opt/my tools/recollect", "args": ["hook", "codex", "Stop"]}
GROUPS = {"Stop": {"hooks": [HOOK]}, "Start": {"matcher": "x", "hooks": [HOOK]}}

JSON_PARTS: list[InstallPart] = [
    JsonHooks("settings", "codex", GROUPS),
    JsonServer("settings", "mcp", ENTRY),
]


def added(text: str, parts: list[InstallPart]) -> str:
    for part in parts:
        text = part.added(text)
    return text


def removed(text: str | None, parts: list[InstallPart], before: str | None) -> str | None:
    for part in parts:
        text = part.removed(text, before) if text is not None else None
    return text


@given(test_jsonc.files())
def test_json_comes_back_to_the_byte(file: tuple[str, dict[str, Any]]) -> None:
    """Whatever comments, commas, marks and blank places it has."""
    text, _ = file

    assert removed(added(text, JSON_PARTS), JSON_PARTS, text) == text


@given(test_jsonc.files())
def test_json_is_added_to_once(file: tuple[str, dict[str, Any]]) -> None:
    """A second time finds everything in place."""
    once = added(file[0], JSON_PARTS)

    assert added(once, JSON_PARTS) == once


@given(test_jsonc.files())
def test_without_the_copy_nothing_of_others_is_lost(file: tuple[str, dict[str, Any]]) -> None:
    """Somebody tidied up; we can no longer know which empty places were theirs."""
    text, held = file
    assume(held.get("mcp") != {} and held.get("hooks") != {})

    left = removed(added(text, JSON_PARTS), JSON_PARTS, None)

    assert left is None or JsonFile(left, "settings").root.value == held
    assert left is not None or not held


@given(test_toml.files())
def test_toml_comes_back_to_the_byte(text: str) -> None:
    """With or without a line end, and whatever looks like our table in it."""
    part = TomlServer("config", "mcp_servers", ENTRY)

    once = part.added(text)

    assert part.added(once) == once
    assert part.removed(once, text) == text


@pytest.mark.parametrize(
    "group", [{"hooks": []}, {"hooks": None}, {}, None, 7, {"hooks": [None, 7, {}]}]
)
def test_an_odd_group_of_others_is_not_taken_for_ours(group: object) -> None:
    """Half-finished settings are settings too."""
    text = json.dumps({"hooks": {"Stop": [group]}}, indent=2)
    [hooks, _] = JSON_PARTS

    assert hooks.found(text) is None
    assert hooks.removed(hooks.added(text), text) == text


def test_a_copy_that_does_not_parse_is_named() -> None:
    """Somebody edited it, and it is the one to mend or to delete."""
    [hooks, _] = JSON_PARTS

    with pytest.raises(FileRefused, match=r"^settings\.before-recollect, line 1: "):
        hooks.removed(hooks.added("{}"), "{")
