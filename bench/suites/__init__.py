"""One file per suite, one function per figure; each suite runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from bench.measure import Figure
from bench.plan import Plan

# In this order, because the full import and the embedding leave stores that the later ones use.
SUITES = {
    "import": "full_import",
    "size": "size",
    "small": "small_import",
    "databases": "databases",
    "sweep": "sweep",
    "grow": "grow",
    "digest": "digest",
    "episodes": "episodes",
    "retain": "retain",
    "search": "search",
    "hook": "hook",
    "redaction": "redaction",
    "encoding": "encoding",
    "meaning": "meaning",
    "mcp": "mcp",
    "web": "web",
    "terminal": "terminal",
    "vectors": "vectors",
    "million": "million",
}


def get_suite(name: str) -> Callable[[Plan], list[Figure]]:
    """The function that measures all figures of a suite."""
    measure: Callable[[Plan], list[Figure]] = import_module(f"bench.suites.{SUITES[name]}").figures
    return measure
