"""Adapters are laid out alike: who has read one finds the way in all of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from recollect.capture import adapters

PACKAGES = sorted(path.parent for path in Path(adapters.__file__).parent.glob("*/__init__.py"))
# What CONTRIBUTING explains under "Where things are in an adapter".
SHARED = {"adapter", "records", "reader", "tools", "prompts", "session", "turns", "tokens"}
# What one format has more: a module for each further store or generation, mostly.
OWN = {
    "antigravity": {"database"},
    "claude_code": {"tree"},
    "cline_roo": {"screen"},
    "codex": {"calls", "scripts"},
    "copilot_cli": {"documents"},
    "cursor": {"editor", "bubbles", "workspaces", "command_line", "transcripts"},
    "goose": {"database", "files"},
    "grok": {"updates", "chat", "database"},
    "kimi": {"cli", "code"},
    "opencode": {"database", "files"},
    "openhands": {"folder", "version_0"},
    "qwen_code": {"documents"},
    "vscode_copilot_chat": {"traces"},
}


def modules_in(package: Path) -> set[str]:
    return {path.stem for path in package.glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_module_of_an_adapter_has_the_name_that_it_has_in_all(package: Path) -> None:
    """Whoever looks for how prompts are recognised looks into `prompts`, whatever the agent."""
    more = modules_in(package) - SHARED

    assert more == OWN.get(package.name, set())
    assert {"adapter", "reader"} <= modules_in(package)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_says_what_its_own_modules_are_for(package: Path) -> None:
    """A name that no other adapter has is explained where a reader comes in."""
    said = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""

    assert [name for name in sorted(OWN.get(package.name, ())) if f"`{name}`" not in said] == []
