"""Somebody else's values become what we hoped for, or nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.capture.logs import values
from recollect.capture.logs.documents import BrokenDocument, parse_json, read_json
from recollect.capture.logs.editors import file_path, user_folders, workspace_folder
from recollect.capture.logs.lines import UnreadableSource
from recollect.capture.logs.tools import kind_of, target_of
from recollect.model.logs import ToolKind

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_780_000_000, 1_780_000_000_000),
        (1_780_000_000.25, 1_780_000_000_250),
        (1_780_000_000_123, 1_780_000_000_123),
        (1_780_000_000_123_456, 1_780_000_000_123),
        ("1780000000123", 1_780_000_000_123),
        ("2026-05-28T20:26:40Z", 1_780_000_000_000),
        ("2026-05-28T20:26:40", 1_780_000_000_000),
        (0, None),
        (True, None),
        (12.5, None),
        ("yesterday", None),
        (None, None),
        ([1_780_000_000], None),
        (math.nan, None),
        (math.inf, None),
    ],
)
def test_a_time_is_told_in_any_unit_and_never_invented(value: object, expected: int | None) -> None:
    """Agents write seconds, milliseconds and texts, and some change their mind between versions."""
    assert values.moment_of(value) == expected


@given(ANYTHING)
def test_no_value_upsets_a_reader(value: Any) -> None:
    """Any field may hold anything one day."""
    assert values.count_of(value) >= 0
    assert isinstance(values.content_text(value), str)
    assert isinstance(values.fields_of(value), dict)
    assert all(isinstance(item, dict) for item in values.objects_of(value))
    for kind in ("shell", "edit", "read", "search", "web", "task", "mcp", "other"):
        assert target_of(kind, value) is None or target_of(kind, value)
    (
        values.moment_of(value),
        values.whole_of(value),
        values.money_of(value),
        values.json_of(value),
        file_path(value),
    )


def test_what_was_not_paid_is_unknown() -> None:
    """Those who pay by the month are charged 0 a call, which is not what a call costs."""
    assert [values.money_of(cost) for cost in (0, 0.25, -1, None, "1", math.nan)] == [
        None,
        0.25,
        None,
        None,
        None,
        None,
    ]


def test_texts_are_found_in_parts_and_pictures_marked() -> None:
    parts = [
        "so",
        {"type": "text", "text": "it is"},
        {"type": "image", "data": "A" * 400},
        {"inlineData": {}},
        {"content": "!"},
        7,
    ]

    assert values.content_text(parts) == "so\nit is\n[image 300 bytes]\n[image]\n!"
    assert values.content_text("plain") == "plain"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Bash", "shell"),
        ("run_terminal_command", "shell"),
        ("runInTerminal", "shell"),
        ("developer__shell", "shell"),
        ("str_replace_editor", "edit"),
        ("functions.apply_patch", "edit"),
        ("vscode_readFile", "read"),
        ("grep_search", "search"),
        ("WebFetch", "web"),
        ("new_task", "task"),
        ("mcp__github__search", "mcp"),
        ("github__search_issues", "mcp"),
        ("update_plan", "other"),
        ("", "other"),
    ],
)
def test_a_tool_is_known_by_any_of_its_names(name: str, kind: ToolKind) -> None:
    assert kind_of(name) == kind


def test_the_target_of_a_call_is_what_it_is_about() -> None:
    assert target_of("shell", {"command": ["make", "test"]}) == "make test"
    assert target_of("edit", {"old_string": "a", "file_path": "/home/ada/a.py"}) == "/home/ada/a.py"
    assert target_of("read", {"uri": {"fsPath": "/home/ada/a.py"}}) == "/home/ada/a.py"
    assert target_of("other", {"count": 3}) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"a": ', "not JSON"),
        (b"\x00\x01\x02", "not JSON"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"[1]", "not the expected form"),
    ],
)
def test_what_is_no_document_is_called_broken(data: bytes, reason: str) -> None:
    with pytest.raises(BrokenDocument, match=reason):
        parse_json(data, dict[str, Any])


def test_a_number_beyond_all_measure_makes_a_document_broken() -> None:
    with pytest.raises(BrokenDocument):
        parse_json(b'\xef\xbb\xbf{"a": 1e999}')


def test_a_document_is_read_as_real_agents_write_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": NaN, "b": "\xff", "c": "half of a pair: \\ud83d"}')

    assert read_json(str(path)) == {"a": None, "b": "�", "c": "half of a pair: ?"}
    with pytest.raises(UnreadableSource, match="more than 3"):
        read_json(str(path), limit=3)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/ada/my%20shop", "/home/ada/my shop"),
        ("file:///c%3A/code/shop", "c:\\code\\shop"),
        ("vscode-remote://wsl%2Bdebian/home/ada/shop", "/home/ada/shop"),
        ("/home/ada/shop", "/home/ada/shop"),
        ("C:\\code", "C:\\code"),
        ("untitled:Untitled-1", None),
        ("https://example.com/x", None),
        ("", None),
    ],
)
def test_an_editor_names_folders_by_their_address(uri: str, path: str | None) -> None:
    assert file_path(uri) == path


def test_a_workspace_tells_its_folder(tmp_path: Path) -> None:
    one, two, none = (tmp_path / name for name in ("one.json", "two.json", "none.json"))
    one.write_text('{"folder": "file:///home/ada/shop"}')
    two.write_text('{"workspace": "file:///home/ada/shop/all.code-workspace"}')

    assert workspace_folder(str(one)) == workspace_folder(str(two)) == "/home/ada/shop"
    assert workspace_folder(str(none)) is None


def test_editors_are_looked_for_on_every_system() -> None:
    assert user_folders(
        "/home/ada", {"APPDATA": "/data", "VSCODE_PORTABLE": "/stick"}, ["Code"]
    ) == [
        "/stick/user-data/User",
        "/home/ada/.config/Code/User",
        "/home/ada/Library/Application Support/Code/User",
        "/data/Code/User",
    ]
