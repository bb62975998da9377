"""The plugins and the skill: what they say agrees with the package, and
without recollect they keep quiet.

Whether the agents take them is tried with the real ones, in tests/real.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

from recollect import __version__
from recollect.model.notes import Category
from recollect.serve.agents import served
from recollect.serve.cli import COMMANDS, load, parser
from recollect.serve.install.setup import HOOK_SECONDS, Setup

ROOT = Path(__file__).parents[2]
CLAUDE, GEMINI = ROOT / "plugins" / "claude-code", ROOT / "plugins" / "gemini-cli"
SKILL = ROOT / "src" / "recollect" / "serve" / "install" / "skill" / "SKILL.md"
ADVICE = "install it with `pip install .` in the repository that this plugin came from"


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def row_of(skill: str, tool: str) -> str:
    """The command that the skill gives for a tool, as somebody would type it."""
    found = re.search(rf"\| `{tool}` [^|]*\| `([^`]*)` \|", skill)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    "manifest",
    [CLAUDE / ".claude-plugin" / "plugin.json", GEMINI / "gemini-extension.json"],
    ids=str,
)
def test_a_plugin_has_the_version_of_the_package(manifest: Path) -> None:
    """An agent takes an update only when this number changes."""
    told = read(manifest)

    assert (told["name"], told["version"]) == ("recollect", __version__)


def test_the_marketplace_leads_to_the_plugin() -> None:
    """It stands at the root, so that the repository itself can be added as a marketplace."""
    (plugin,) = read(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]

    assert (plugin["name"], (ROOT / plugin["source"]).resolve()) == ("recollect", CLAUDE)


@pytest.mark.parametrize(
    ("plugin", "variable", "timeout"),
    [(CLAUDE, "CLAUDE_PLUGIN_ROOT", HOOK_SECONDS), (GEMINI, "extensionPath", HOOK_SECONDS * 1000)],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_plugin_has_the_hooks_that_installing_gives(
    plugin: Path, variable: str, timeout: int, home: Path
) -> None:
    """Both ways lead to the same events, for the same tools, with as much time."""
    script = f'sh "${{{variable}}}/recollect.sh"'
    hooks = served()[plugin.name].hooks
    assert hooks is not None
    setup = Setup(plugin.name, "user", folder=str(home), environ={}, program=["recollect"])
    groups = setup.groups(
        hooks.tools_by_event(),
        lambda event: {"command": f"{script} hook {plugin.name} {event}", "timeout": timeout},
    )

    assert read(plugin / "hooks" / "hooks.json")["hooks"] == {
        event: [group] for event, group in groups.items()
    }


def test_a_plugin_has_the_server() -> None:
    """Found in the same way as the hooks find it."""
    assert read(CLAUDE / ".mcp.json")["mcpServers"] == {
        "recollect": {"command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/recollect.sh", "mcp"]}
    }
    assert read(GEMINI / "gemini-extension.json")["mcpServers"] == {
        "recollect": {"command": "sh", "args": ["${extensionPath}/recollect.sh", "mcp"]}
    }


@pytest.mark.parametrize("plugin", [CLAUDE, GEMINI], ids=lambda plugin: plugin.name)
def test_copies_are_copies(plugin: Path) -> None:
    """An agent copies the folder of a plugin and nothing beside it, so each has its own.

    Links would lead nowhere.
    """
    assert (plugin / "skills" / "recollect" / "SKILL.md").read_bytes() == SKILL.read_bytes()
    assert (plugin / "recollect.sh").read_bytes() == (CLAUDE / "recollect.sh").read_bytes()
    assert [path for path in plugin.rglob("*") if path.is_symlink()] == []


def test_the_skill_is_valid() -> None:
    """By the Agent Skills specification, and short: it is read in the middle of other work."""
    _, head, body = SKILL.read_text().split("---\n", 2)
    fields = dict(
        line.split(": ", 1)
        for line in head.splitlines()
        if ": " in line and not line.startswith(" ")
    )

    assert fields["name"] == "recollect"
    assert 1 <= len(fields["description"]) <= 1024
    # A colon followed by a space would make it something else than text in YAML.
    assert ": " not in fields["description"]
    assert set(fields) <= {"name", "description", "license"}
    assert len(SKILL.read_text().splitlines()) < 60
    assert body.startswith("\n# ")


@pytest.mark.parametrize("tool", ["recall", "fix", "how", "blame", "search", "get"])
def test_the_commands_of_the_skill_can_be_typed(tool: str) -> None:
    """An agent without our server does just what it says."""
    program, name, *rest = shlex.split(row_of(SKILL.read_text(), tool))

    assert (program, name in COMMANDS) == ("recollect", True)
    parser(name, load(name)).parse_args(rest)


def test_the_skill_names_every_category() -> None:
    """In its own words they would be refused."""
    (line,) = (line for line in SKILL.read_text().splitlines() if line.startswith("Categories: "))

    assert re.findall(r"`(\w+)`", line) == list(get_args(Category))


def test_an_agent_is_not_told_to_speak_as_the_person() -> None:
    """What is added by command counts as the user's own word, and is
    told to every session from then on.
    """
    (line,) = (line for line in SKILL.read_text().splitlines() if "recollect memory" in line)

    assert "ask the user to run `recollect memory add" in line


class Shell:
    """The script of the plugins, in a home with nothing but the commands of the system."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = "/usr/bin:/bin"

    def run(self, *words: str, stdin: str = "{}") -> tuple[int, str, str]:
        done = subprocess.run(
            ["sh", CLAUDE / "recollect.sh", *words], input=stdin, env={"HOME": str(self.home),
            "PATH": self.path},
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def add(self, folder: Path) -> None:
        """A recollect that says how it was called."""
        folder.mkdir(parents=True)
        program = folder / "recollect"
        program.write_text('#!/bin/sh\necho "$# $*: $(cat)"\nexit 3\n')
        program.chmod(0o755)


@pytest.fixture
def shell(home: Path) -> Shell:
    if shutil.which("recollect", path="/usr/bin:/bin") or shutil.which("sh") is None:
        pytest.skip("needs a system shell, and no recollect among the system's commands")
    return Shell(home)


def test_a_plugin_finds_recollect_on_the_path(shell: Shell, tmp_path: Path) -> None:
    """It gets the words and the input, and its exit code counts."""
    shell.add(tmp_path / "bin")
    shell.path = f"{tmp_path / 'bin'}:{shell.path}"

    assert shell.run("hook", "claude-code", "a b", stdin="said") == (
        3,
        "3 hook claude-code a b: said\n",
        "",
    )


def test_a_plugin_finds_recollect_where_installers_put_it(shell: Shell, home: Path) -> None:
    """An agent started from a desktop does not have that folder on its path."""
    shell.add(home / ".local" / "bin")

    assert shell.run("mcp", stdin="said") == (3, "1 mcp: said\n", "")


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"])
def test_a_plugin_without_recollect_is_silent(shell: Shell, event: str) -> None:
    """An error at every prompt would be the plugin's only effect."""
    assert shell.run("hook", "claude-code", event, stdin='{"source":"startup"}') == (0, "", "")


def test_a_plugin_without_recollect_says_so_when_a_session_starts(shell: Shell) -> None:
    """To the person, not to the model; and not again when the session is resumed or compacted."""
    code, told, complaint = shell.run(
        "hook", "gemini-cli", "SessionStart", stdin='{"cwd":"/x","source":"startup"}'
    )

    assert (code, complaint, list(json.loads(told))) == (0, "", ["systemMessage"])
    assert ADVICE in json.loads(told)["systemMessage"]
    assert shell.run(
        "hook", "gemini-cli", "SessionStart", stdin='{"cwd":"/x","source":"resume"}'
    ) == (0, "", "")


def test_a_server_without_recollect_fails_with_the_reason(shell: Shell) -> None:
    """There the agent shows what went wrong to whoever looks."""
    code, told, complaint = shell.run("mcp")

    assert (code, told, ADVICE in complaint) == (127, "", True)
