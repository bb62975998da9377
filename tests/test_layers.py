"""Imports point one way; this reads them and says which arrow does not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from recollect.capture.adapters import BUILT_IN
from recollect.serve.agents import AGENTS

ROOT = Path(__file__).parents[1] / "src" / "recollect"

# What each layer may import besides itself. Longest match wins.
BOTTOM = {"model", "errors", "settings", "system"}
INSTRUMENTS = {"redact", "embed", "llm"}
STORE = {"store"}
READING = {"reading"}
STAGES = {"capture", "distill", "episodes", "publish", "recall", "retain", "share"}
ALLOWED: dict[str, set[str]] = {
    **dict.fromkeys(BOTTOM, BOTTOM),
    **dict.fromkeys(INSTRUMENTS, BOTTOM),
    # What it reads of a long text is what the index reads.
    "reading": BOTTOM | {"store.text"},
    "store": BOTTOM | INSTRUMENTS,
    "capture": BOTTOM | INSTRUMENTS | READING | STORE | {"capture.adapters", "capture.logs"},
    "recall": BOTTOM | INSTRUMENTS | READING | STORE,
    "distill": BOTTOM | INSTRUMENTS | READING | STORE,
    "episodes": BOTTOM | INSTRUMENTS | READING | STORE,
    "publish": BOTTOM | READING | STORE,
    "retain": BOTTOM | STORE,
    "share": BOTTOM | INSTRUMENTS | READING | STORE,
    "capture.adapters": {"model", "errors", "capture.logs"},
    "capture.logs": {"model"},
    # It names its handlers and imports none of them.
    "jobs": BOTTOM | STORE,
    "memory": BOTTOM | INSTRUMENTS | STORE | STAGES | {"jobs"},
    # For those who test adapters: it imports logs as an import does.
    "testing": BOTTOM | {"memory", "capture"},
    "serve": BOTTOM | {"memory", "serve.hook", "serve.mcp", "serve.web"},
    # One face does not import another: what two of them need is beside them.
    "serve.mcp": BOTTOM
    | {
        "memory",
        "serve.background",
        "serve.loopback",
        "serve.memory_thread",
        "serve.output",
        "serve.signals",
    },
    # The one face that cannot afford the front door.
    "serve.hook": BOTTOM
    | {
        "store.spool",
        "store.hook_lines",
        "store.sqlite.ready",
        "recall.hooks.prompts",
        "recall.hooks.frame",
        "recall.hooks.compaction",
        "reading.shapes",
        "reading.tokens",
        "serve.agents",
    },
}


def modules() -> list[Path]:
    return sorted(
        path
        for path in ROOT.rglob("*.py")
        if path.parent != ROOT or path.stem not in ("__init__", "__main__")
    )


def name_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path, *, for_types: bool = True) -> set[str]:
    """The modules of ours that a file imports, for types alone or in earnest."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _statements(tree, for_types=for_types):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] == "recollect"
        ):
            inner = node.module.removeprefix("recollect").lstrip(".")
            names = [f"{inner}.{alias.name}".lstrip(".") for alias in node.names]
            found |= {
                name
                if (ROOT / Path(*name.split("."))).exists()
                or (ROOT / (name.replace(".", "/") + ".py")).exists()
                else inner
                for name in names
            }
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.removeprefix("recollect.")
                for alias in node.names
                if alias.name.startswith("recollect.")
            }
    return found - {"", "__version__"}


def _statements(node: ast.AST, *, for_types: bool) -> Iterator[ast.AST]:
    """Everything in a tree, but for what only a type checker reads unless that is asked for."""
    for child in ast.iter_child_nodes(node):
        if for_types or not (isinstance(child, ast.If) and _is_for_types(child)):
            yield child
            yield from _statements(child, for_types=for_types)


def _is_for_types(condition: ast.If) -> bool:
    return isinstance(condition.test, ast.Name) and condition.test.id == "TYPE_CHECKING"


def layer_of(name: str) -> str:
    return max(
        (layer for layer in ALLOWED if name == layer or name.startswith(layer + ".")), key=len
    )


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_imports_only_what_is_below_it(path: Path) -> None:
    """Stages meet in the store, adapters know a format and nothing else."""
    own = layer_of(name_of(path))

    wrong = {
        name
        for name in imported(path)
        if layer_of(name) != own
        and not any(name == allowed or name.startswith(allowed + ".") for allowed in ALLOWED[own])
    }

    assert wrong == set(), f"{name_of(path)} may not import {', '.join(sorted(wrong))}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """A module can be understood with those below it, and is loaded whatever is loaded first.

    Imports for types alone do not count: they are never carried out.
    """
    left = {name_of(path): imported(path, for_types=False) for path in modules()}
    while leaves := {name for name, needs in left.items() if not needs & left.keys()}:
        left = {name: needs for name, needs in left.items() if name not in leaves}

    assert sorted(left) == []


def test_no_adapter_imports_another() -> None:
    """A format has a file or a folder of its own, so that two formats stay two."""
    folder = ROOT / "capture" / "adapters"
    wrong = []
    for path in folder.rglob("*.py"):
        family = path.relative_to(folder).parts[0].removesuffix(".py")
        for name in imported(path):
            other = name.removeprefix("capture.adapters.").split(".")[0]
            if (
                path != folder / "__init__.py"
                and name.startswith("capture.adapters.")
                and other != family
            ):
                wrong.append(f"{path.relative_to(folder)} -> {name}")

    assert wrong == []


# The folders that may speak of agents: one reads their logs, one serves them, and the
# keys of some have a shape of their own.
NAMING = ("capture/adapters/", "serve/agents/", "redact/")
# Words in the names of agents that mean something else as well.
ORDINARY = {"chat", "cli", "code", "continue", "cursor", "pi", "qwen", "vscode"}


@pytest.mark.parametrize("agent", sorted({*BUILT_IN, *AGENTS}))
def test_nothing_outside_their_folders_names_an_agent(agent: str) -> None:
    """A new format, or a new agent to serve, is a new file; nothing else may have to know of it."""
    named = spelling(agent)
    naming = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if not path.relative_to(ROOT).as_posix().startswith(NAMING) and named.search(text_of(path))
    ]

    assert naming == []


@pytest.mark.parametrize(
    "text",
    [
        "claude-code", "CLAUDE.md", "~/.claude/x", "CLAUDE_CONFIG_DIR", "the Claude way",
        "restart Cursor", ".cursor/rules", "continue_dev", "QwenCode", "goose", "ask copilot",
    ],
)  # fmt: skip
def test_a_name_is_recognised_however_it_is_written(text: str) -> None:
    """Otherwise the test above is green whatever the code says."""
    assert any(spelling(agent).search(as_words(text)) for agent in {*BUILT_IN, *AGENTS})


@pytest.mark.parametrize(
    "text", ["the next cursor", "continue there", "exit code", "api", "example", "an error of chat"]
)
def test_an_ordinary_word_is_no_name(text: str) -> None:
    """Some agents are called like things that every program has."""
    assert not any(spelling(agent).search(as_words(text)) for agent in {*BUILT_IN, *AGENTS})


def spelling(agent: str) -> re.Pattern[str]:
    """What names an agent: its id in any spelling, and each word of it that is no ordinary one."""
    module = BUILT_IN[agent][0] if agent in BUILT_IN else AGENTS[agent]
    names = {agent, module.replace("_", "-"), *agent.split("-")} - ORDINARY
    words = [re.escape(name).replace(r"\-", "[-_ ]?") for name in names]
    # An ordinary word stands for the agent as a folder, or with a capital in the middle of a text.
    words += [rf"\.{word}\b|(?-i:(?<=\w ){word.title()})" for word in ORDINARY & {agent}]
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(words)})(?![a-z0-9])", re.IGNORECASE)


@cache
def text_of(path: Path) -> str:
    """The names and strings in a file's code: not its comments, its docstrings and its examples."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    said = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            # Help texts may show one as an example of a value.
            example = id(node) in docstrings or "such as" in node.value
            said.append("" if example else node.value)
        names = (getattr(node, field, None) for field in ("id", "name", "attr", "arg"))
        said += [as_words(name) for name in names if isinstance(name, str)]
    return "\n".join(said)


def as_words(name: str) -> str:
    """A name in code with its words apart: QwenCode is Qwen_Code."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
