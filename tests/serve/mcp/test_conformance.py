"""The protocol's own conformance suite, over HTTP. docs/mcp.md lists what is left out, and why."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import npm

ROOT = Path(__file__).parents[3]

# Of our server as it is.
OURS = [
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list",
    "server-sse-multiple-streams", "dns-rebinding-protection",
]  # fmt: skip
# Of our server with the suite's own tools, resources and prompts in it.
WITH_EVERYTHING = [
    "tools-call-simple-text", "tools-call-image", "tools-call-audio",
    "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error",
    "tools-call-with-progress", "json-schema-2020-12", "resources-read-text",
    "resources-read-binary", "resources-templates-read", "prompts-get-simple",
    "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
]  # fmt: skip


def suite() -> list[str]:
    """The command that runs the suite."""
    package = npm.require_package("@modelcontextprotocol/conformance")
    return [str(npm.node()), str(package / "dist" / "index.js")]


@contextmanager
def served(store: Path, *options: str) -> Iterator[str]:
    """The address of a server, for as long as it is needed."""
    command = [sys.executable, "-m", "tests.serve.mcp.conformance_server", str(store), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


def run(scenario: str, address: str, folder: Path) -> tuple[int, int]:
    """How many checks of a scenario passed, and how many failed."""
    command = [*suite(), "server", "--url", address, "--scenario", scenario]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=dict(os.environ), timeout=60
    )
    counts = re.search(r"Passed: (\d+)/\d+, (\d+) failed", done.stdout)
    assert counts, done.stdout + done.stderr
    return int(counts[1]), int(counts[2])


@pytest.mark.parametrize(
    ("options", "scenarios"),
    [((), OURS), (("--everything",), WITH_EVERYTHING)],
    ids=["ours", "everything"],
)
def test_every_scenario_that_applies_passes(
    options: tuple[str, ...], scenarios: list[str], store: Path, tmp_path: Path
) -> None:
    """Clients are written against the protocol, and this is the protocol's own word on it."""
    with served(store, *options) as address:
        came_to = {scenario: run(scenario, address, tmp_path) for scenario in scenarios}

    assert {
        scenario for scenario, (passed, failed) in came_to.items() if failed or not passed
    } == set()
