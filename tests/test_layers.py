"""Imports point one way; this reads them and says which arrow does not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "recollect"

# What each layer may import besides itself. Longest match wins.
BOTTOM = {"model", "errors", "settings", "system"}
INSTRUMENTS = {"redact", "embed", "llm"}
STORE = {"store"}
READING = {"reading"}
STAGES = {"capture", "distill", "learn", "publish", "recall", "retain"}
ALLOWED: dict[str, set[str]] = {
    **dict.fromkeys(BOTTOM, BOTTOM),
    **dict.fromkeys(INSTRUMENTS, BOTTOM),
    # What it reads of a long text is what the index reads.
    "reading": BOTTOM | {"store.text"},
    "store": BOTTOM | INSTRUMENTS,
    "capture": BOTTOM | INSTRUMENTS | STORE | {"capture.adapters", "capture.logs"},
    "recall": BOTTOM | INSTRUMENTS | READING | STORE,
    "distill": BOTTOM | INSTRUMENTS | READING | STORE,
    "learn": BOTTOM | INSTRUMENTS | READING | STORE,
    "publish": BOTTOM | READING | STORE,
    "retain": BOTTOM | STORE,
    "capture.adapters": {"model", "errors", "capture.logs"},
    "capture.logs": {"model"},
    "memory": BOTTOM | INSTRUMENTS | STORE | STAGES,
    # For those who test adapters: it imports logs as an import does.
    "testing": BOTTOM | {"memory", "capture"},
    "serve": BOTTOM | {"memory", "serve.hook"},
    # The one face that cannot afford the front door.
    "serve.hook": BOTTOM
    | {
        "store.spool",
        "store.told",
        "store.sqlite.ready",
        "recall.telling",
        "recall.shapes",
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


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports, for types alone or in earnest."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


@pytest.mark.parametrize(
    "agent",
    ["claude", "codex", "grok", "copilot", "opencode", "gemini", "goose", "openhands", "specstory"],
)
def test_nothing_outside_their_folders_names_an_agent(agent: str) -> None:
    """A new format, or a new agent to serve, is a new file; nothing else may have to know of it."""
    naming = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if not {"adapters", "agents", "install", "redact", "targets.py"} & set(path.parts)
        and _names(path, agent)
    ]

    assert naming == []


def _names(path: Path, agent: str) -> bool:
    """Whether code, not prose, speaks of an agent."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        # Help texts may show one as an example of a value.
        code = (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        )
        if code and agent in node.value.lower() and "such as" not in node.value:
            return True
        if isinstance(node, ast.Name) and agent in node.id.lower():
            return True
    return False
