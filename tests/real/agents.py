"""The real agents, each set up to talk to the stub from a home of its own.

An agent here is what a person has: a command, a home with its settings, and
a project's folder. The settings only say where the model is; `recollect
install` adds to the same files, as it would for that person.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

from tests import npm
from tests.real.steps import Call
from tests.real.stub import Stub

# Long enough for a slow machine; a run takes one to four seconds.
WAIT_SECONDS = 90
# Nobody listens there: whatever is not for the stub fails at once instead of leaving the machine.
NOWHERE = "http://127.0.0.1:9"


class Agent:
    """What all of them have in common."""

    agent: str
    cli: str
    # The tool that runs a command, and the name of its argument.
    shell_tool: str
    shell_argument = "command"
    # How a tool of our MCP server is called.
    mcp_tool: str

    def __init__(self, home: Path, stub: Stub) -> None:
        self.program = npm.require(self.cli)
        self.home = home
        self.stub = stub
        self.set_up()

    def set_up(self) -> None:
        """Write the settings that send this agent to the stub."""

    def variables(self) -> dict[str, str]:
        """What its environment must say."""
        return {}

    def words(self, prompt: str) -> list[str]:
        """The arguments that make it work on one prompt and end."""
        raise NotImplementedError

    def words_to_continue(self, command: list[str], prompt: str) -> list[str]:
        """The same, with the session that a command continues.

        The command itself opens a window and waits for a person.
        """
        return [*command[1:], *self.words(prompt)]

    def run(self, prompt: str, folder: Path, *options: str, **variables: str) -> str:
        """Let it work on a prompt, with every tool allowed; what it printed."""
        return self.start([*self.words(prompt), *options], folder, **variables)

    def go_on(self, command: list[str], prompt: str, folder: Path) -> str:
        """Let it work on a prompt in the session that a command continues."""
        return self.start(self.words_to_continue(command, prompt), folder)

    def start(self, words: list[str], folder: Path, **variables: str) -> str:
        """Run it to its end; what it printed."""
        ran = subprocess.run(
            [str(self.program), *words],
            cwd=folder,
            env=environment(self.home) | self.variables() | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def shell(self, command: str) -> Call:
        """The model's wish to run a command."""
        return Call(self.shell_tool, {self.shell_argument: command, **self.more_about_a_command})

    # Some tools want the model to say what a command is for.
    more_about_a_command: dict[str, str] = {"description": "what the stub asked for"}  # noqa: RUF012

    def ask(self, tool: str, **arguments: object) -> Call:
        """The model's wish to call a tool of ours."""
        return Call(self.mcp_tool.format(tool), arguments)

    def write_json(self, path: str, content: object) -> None:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content, indent=2) + "\n")


def environment(home: Path) -> dict[str, str]:
    """A clean environment: nothing of this machine's but the path, and no way out of it."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TERM": "dumb",
        "NO_COLOR": "1",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        # Copilot and OpenCode look for packages of theirs; without
        # these they would try for a minute.
        "npm_config_registry": NOWHERE,
        "npm_config_fetch_retries": "0",
        # Nobody wants to wait a minute for what follows from a turn.
        "RECOLLECT_JOBS_QUIET_SECONDS": "0",
    }


class ClaudeCode(Agent):
    agent = "claude-code"
    cli = "claude"
    shell_tool = "Bash"
    mcp_tool = "mcp__recollect__{}"

    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.stub.url,
            "ANTHROPIC_API_KEY": "stub",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def words(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--allowedTools", "Bash", "Agent", "mcp__recollect"]


class Codex(Agent):
    agent = "codex"
    cli = "codex"
    shell_tool = "exec_command"
    shell_argument = "cmd"
    more_about_a_command: dict[str, str] = {}  # noqa: RUF012
    mcp_tool = "mcp__recollect/{}"
    # A person has looked at our hooks and trusts them; without that they do not run.
    trusted = True

    def set_up(self) -> None:
        config = self.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text(
            'model = "stub"\nmodel_provider = "stub"\n\n'
            f'[model_providers.stub]\nname = "stub"\nbase_url = "{self.stub.url}/v1"\nwire_api = '
            '"responses"\n'
        )

    def words(self, prompt: str) -> list[str]:
        trust = ["--dangerously-bypass-hook-trust"] if self.trusted else []
        return ["exec", prompt, *trust, "--dangerously-bypass-approvals-and-sandbox"]

    def words_to_continue(self, command: list[str], prompt: str) -> list[str]:
        first, *others = self.words(prompt)
        return [first, *command[1:], *others]

    def trust_hooks(self, folder: Path) -> None:
        """What a person does with /hooks: Codex shows each hook with a hash, and
        keeps the hash of those they trust.
        """
        asked = [
            {
                "id": 1,
                "method": "initialize",
                "params": {"clientInfo": {"name": "tests", "version": "1"}},
            },
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
        ]
        with subprocess.Popen(
            [str(self.program), "app-server"],
            env=environment(self.home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            # It ends when its input does, without answering what it was asked
            # last; so the answer is waited for.
            too_late = threading.Timer(WAIT_SECONDS, server.kill)
            too_late.start()
            try:
                assert server.stdin and server.stdout  # noqa: PT018
                server.stdin.write("".join(json.dumps(one) + "\n" for one in asked))
                server.stdin.flush()
                answer = next(
                    found for line in server.stdout if (found := json.loads(line)).get("id") == 2
                )
            finally:
                too_late.cancel()
                server.kill()
        with (self.home / ".codex" / "config.toml").open("a") as config:
            for hook in answer["result"]["data"][0]["hooks"]:
                assert hook["trustStatus"] == "untrusted"
                config.write(
                    f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'
                )


class GeminiCli(Agent):
    agent = "gemini-cli"
    cli = "gemini"
    shell_tool = "run_shell_command"
    mcp_tool = "mcp_recollect_{}"

    def set_up(self) -> None:
        self.write_json(
            ".gemini/settings.json",
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False},
            },
        )

    def variables(self) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "stub",
            "GOOGLE_GEMINI_BASE_URL": self.stub.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def words(self, prompt: str) -> list[str]:
        # Without a model it first asks another one which to use.
        return ["-p", prompt, "--yolo", "-m", "gemini-2.5-flash"]


class OpenCode(Agent):
    agent = "opencode"
    cli = "opencode"
    shell_tool = "bash"
    mcp_tool = "recollect_{}"

    def set_up(self) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stub",
            "options": {"baseURL": f"{self.stub.url}/v1", "apiKey": "stub"},
            "models": {"stub": {"name": "stub"}},
        }
        self.write_json(
            ".config/opencode/opencode.json",
            {
                "model": "stub/stub",
                "small_model": "stub/stub",
                "autoupdate": False,
                "provider": {"stub": provider},
            },
        )

    def variables(self) -> dict[str, str]:
        return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}

    def words(self, prompt: str) -> list[str]:
        return ["run", prompt]

    def words_to_continue(self, command: list[str], prompt: str) -> list[str]:
        return ["run", *command[1:], prompt]

    def start(self, words: list[str], folder: Path, **variables: str) -> str:
        # It ends while it still looks for packages, and leaves a lock
        # that it would wait a minute for.
        shutil.rmtree(self.home / ".local" / "state" / "opencode" / "locks", ignore_errors=True)
        return super().start(words, folder, **variables)


class CopilotCli(Agent):
    agent = "copilot-cli"
    cli = "copilot"
    shell_tool = "bash"
    mcp_tool = "recollect-{}"

    def variables(self) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{self.stub.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "stub",
            "COPILOT_MODEL": "gpt-4.1",
        }

    def words(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--allow-all", "--no-auto-update"]


AGENTS: dict[str, type[Agent]] = {
    kind.agent: kind for kind in (ClaudeCode, Codex, GeminiCli, OpenCode, CopilotCli)
}
