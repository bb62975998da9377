"""The agents that we serve: a file per agent, and the table of them.

Besides the adapters this is the only folder that names an agent. All that it
takes to serve one is the `AGENT` in its file: what its hooks pass and take, how
it is set up, how one of its sessions is resumed and which files of a project it
reads. A new agent is a new file and a row in `AGENTS`; what its file does not
say, we do not do for it.

A hook loads one of these files each time it runs. So they import nothing at
their top but this; what only setting up needs is imported inside functions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from recollect.model.publications import Target
    from recollect.serve.install.parts import InstallPart
    from recollect.serve.install.setup import Setup

    Moment = Literal["start", "prompt", "command", "failure", "pause", "end"]

# agent id: the file here that holds its `AGENT`.
AGENTS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "cursor": "cursor",
    "opencode": "opencode",
    "copilot-cli": "copilot_cli",
    "grok": "grok",
    "goose": "goose",
    "droid": "droid",
    "openhands": "openhands",
}


# What people type for an agent besides the first part of its id.
NICKNAMES = {"cc": "claude-code"}


def agent_called(name: str) -> str:
    """The id of the agent that people call so: `claude`, `cc`, `gemini`; else the name itself."""
    typed = name.lower()
    if typed in AGENTS:
        return typed
    found = [agent for agent in AGENTS if agent.partition("-")[0] == typed]
    return NICKNAMES.get(typed, found[0] if len(found) == 1 else name)


class Hooks:
    """What an agent's hooks pass and take.

    `events`: those of its events that we listen to, each with the moment it is to us.
    `fields`: where things are in the JSON that it passes.
    `shell_tools`: its tools that run a command.
    `answer`: makes the answer of an event and a context, all of them JSON.
    `failed`: tells from its output whether a command failed, at the events of that moment.
    `names_log`: a run that names no log keeps none.
    `context_tags`: what stands around a context that a prompt begins with.
    """

    __slots__ = (
        "answer", "context_tags", "events", "failed", "fields", "names_log", "shell_tools",
    )  # fmt: skip

    def __init__(
        self,
        *,
        events: dict[str, Moment],
        fields: dict[str, str],
        answer: Callable[[str, str], str],
        shell_tools: tuple[str, ...] = (),
        failed: Callable[[str], bool] = lambda output: True,
        names_log: bool = False,
        context_tags: tuple[str, str] | None = None,
    ) -> None:
        self.events, self.fields, self.answer = events, fields, answer
        self.shell_tools, self.failed = shell_tools, failed
        self.names_log, self.context_tags = names_log, context_tags

    def tools_by_event(self) -> dict[str, str | None]:
        """The events that we listen to, each with a pattern for the tools that it is about."""
        tools = "|".join(self.shell_tools)
        return {
            event: tools if moment in ("command", "failure") else None
            for event, moment in self.events.items()
        }


class Resume:
    """How an agent continues one of its sessions.

    `words` come before the session's id. The agent looks for sessions in the
    folder `home`, below the user's, or where the variable says. One that needs
    the folder looks only among the sessions of the folder it is started in.
    """

    __slots__ = ("home", "needs_folder", "variable", "words")

    def __init__(
        self, words: tuple[str, ...], home: str, variable: str = "", *, needs_folder: bool = False
    ) -> None:
        self.words, self.home, self.variable = words, home, variable
        self.needs_folder = needs_folder


class Installer:
    """What an agent is given by `recollect install`, and in which of its files.

    `plugin`: the plugin of ours that brings all of it, if that is switched on.
    `next_steps`: what is left for the user to do.
    """

    __slots__ = ("next_steps", "parts", "plugin")

    def __init__(
        self,
        parts: Callable[[Setup], list[InstallPart]],
        *,
        plugin: Callable[[Setup], str | None] = lambda setup: None,
        next_steps: Sequence[str],
    ) -> None:
        self.parts, self.plugin, self.next_steps = parts, plugin, next_steps


class Agent:
    """All that it takes to serve an agent.

    `publish_targets`: the files of a project that this agent reads, and not all others.
    `start`: the words before a prompt that begin a session with it, with a person at the terminal.
    """

    __slots__ = ("hooks", "installer", "publish_targets", "resume", "start")

    def __init__(
        self,
        *,
        hooks: Hooks | None = None,
        installer: Installer | None = None,
        resume: Resume | None = None,
        publish_targets: Callable[[], list[Target]] = list,
        start: tuple[str, ...] = (),
    ) -> None:
        self.hooks, self.installer, self.resume = hooks, installer, resume
        self.publish_targets, self.start = publish_targets, start


def find_agent(agent: str) -> Agent | None:
    """What we know about an agent, or None."""
    if agent not in AGENTS:
        return None
    # Not importlib: it would be one more module in every hook.
    module = __import__(f"recollect.serve.agents.{AGENTS[agent]}", fromlist=["AGENT"])
    found: Agent = module.AGENT
    return found


def served() -> dict[str, Agent]:
    """Every agent in the table, by its id."""
    return {name: agent for name in AGENTS if (agent := find_agent(name))}


def publish_targets() -> list[Target]:
    """The files of a project that single agents read."""
    return [target for agent in served().values() for target in agent.publish_targets()]


def nested_answer(event: str, context: str) -> str:
    """The answer of an event and a context that several agents have in common."""
    return f'{{"hookSpecificOutput":{{"hookEventName":{event},"additionalContext":{context}}}}}'
