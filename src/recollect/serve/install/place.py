"""Where an integration goes: for the user or into one project, and how the agent is to call us."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module, resources
from typing import Any, Literal

from recollect.errors import RecollectError
from recollect.serve.agents import AGENTS
from recollect.serve.install import jsonc
from recollect.serve.install.command import line
from recollect.serve.install.files import Draft
from recollect.serve.install.parts import OwnFile
from recollect.system import platforms

HOOK_SECONDS = 5
Scope = Literal["user", "project"]


class Place:
    """One agent's settings in one scope, with what its installer needs to write them."""

    def __init__(
        self,
        agent: str,
        scope: Scope,
        *,
        folder: str,
        environ: Mapping[str, str],
        program: list[str],
    ) -> None:
        self.agent, self.scope, self.environ, self.program = agent, scope, environ, program
        self.home = platforms.user_home()
        self.project = project_of(folder)

    @property
    def for_user(self) -> bool:
        """Whether it is the user's own settings that are meant."""
        return self.scope == "user"

    @property
    def sensible(self) -> bool:
        """Whether there is such a place: a project that is the whole home
        would be the user's settings again.
        """
        return self.for_user or os.path.realpath(self.project) != os.path.realpath(self.home)

    def user_folder(self, name: str, variable: str = "") -> str:
        """A folder below the user's home, or where the variable says."""
        moved = self.environ.get(variable) if variable else None
        return (
            os.path.abspath(os.path.expanduser(moved)) if moved else os.path.join(self.home, name)
        )

    def folder(self, user: str, project: str, *, variable: str = "") -> str:
        """The folder of the agent's settings in this scope."""
        return (
            self.user_folder(user, variable)
            if self.for_user
            else os.path.join(self.project, project)
        )

    def hook(self, event: str) -> list[str]:
        """The words that report an event to us."""
        return [*self.program, "hook", self.agent, event]

    def hook_line(self, event: str) -> str:
        """The same for a shell."""
        return line(self.hook(event))

    def server(self) -> dict[str, Any]:
        """Our MCP server as a program with its arguments, which is how most agents want it."""
        return {"command": self.program[0], "args": [*self.program[1:], "mcp"]}

    def events(self) -> dict[str, str | None]:
        """The events of this agent that we answer, in its own words, each
        with the tools that it is about.
        """
        known = import_module(f"recollect.serve.agents.{AGENTS[self.agent]}")
        tools = "|".join(known.SHELL_TOOLS)
        return {
            event: tools if moment in ("command", "failure") else None
            for event, moment in known.EVENTS.items()
        }

    def groups(self, handler: Callable[[str], dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """A group for each event, for agents whose hooks come in groups
        that name the tools they are about.
        """
        return {
            event: {
                **({"matcher": tools} if tools else {}),
                "hooks": [{"type": "command", **handler(event)}],
            }
            for event, tools in self.events().items()
        }

    def skill(self, folder: str = "") -> OwnFile:
        """The skill that says when to recall.

        Without a folder, in the one that most agents read.
        """
        folder = folder or os.path.join(self.folder(".agents", ".agents"), "skills")
        text = (
            resources.files("recollect.serve.install")
            .joinpath("skill", "SKILL.md")
            .read_text(encoding="utf-8")
        )
        return OwnFile(
            "skill", os.path.join(folder, "recollect", "SKILL.md"), text, comment=("<!-- ", " -->")
        )


def project_of(folder: str) -> str:
    """The repository that a folder is in, or the folder itself.

    A home that is a repository is nobody's project.
    """
    at = folder = os.path.abspath(folder)
    while at not in (os.path.dirname(at), platforms.user_home()):
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        at = os.path.dirname(at)
    return folder


def read_json(path: str) -> dict[str, Any]:
    """What a settings file holds, for a look at it; nothing when it cannot be read."""
    try:
        text = Draft().read(path)
        return dict(jsonc.Document(text or "", path).root.value)
    except RecollectError:
        return {}
